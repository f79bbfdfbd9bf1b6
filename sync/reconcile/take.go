// The rows of a report, from the ledger.

package reconcile

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// takePage is how many rows are in memory.
const takePage = 500

// Cut is the moment of a snapshot's figures.
type Cut struct {
	Day  trade.Date // later documents are marked After; zero: none are
	Bare bool       // without the display columns, which are not stored permanently
}

// reportedActs are the acts of the audit that reports show: decisions about rows, and late answers that
// contradict them.
var reportedActs = []string{"dismiss", "reopen", "adopt", "resend", "acknowledge", "late answer"}

// act is an act on one row.
type act struct{ name, who string }

// taker makes the rows of a report from the entries of a ledger that stands still.
type taker struct {
	Sources
	ctx       context.Context
	cut       Cut
	day       string                  // of the cut; "" = none
	jobs      []JobHead               // in their order
	kinds     map[string][]trade.Kind // of the entries of each job
	specs     map[string]*mapping.Job
	refs      map[string]map[string]string
	acts      map[string][]act // by "job key", in their order
	contracts contracts
	// rows that were sent, and whose keys the ERP has no more, while the row under the new key is held
	renumbered map[trade.ParentKey]bool
}

// TakeSnapshot returns the rows of the ledger, which must stand still: a Moment of state.Store. They are read
// from it each time, and only while it is open. ctx is that of all these reads.
func TakeSnapshot(ctx context.Context, src Sources, cut Cut) (*Snapshot, error) {
	t := &taker{
		Sources: src, ctx: ctx, cut: cut, specs: map[string]*mapping.Job{}, acts: map[string][]act{},
		contracts:  contracts{map[trade.ParentKey]*contract{}, map[string]*contract{}},
		renumbered: map[trade.ParentKey]bool{},
	}
	for _, job := range src.Jobs {
		t.specs[job.Name()] = job
	}
	var err error
	t.refs, err = run.Codes(ctx, src.Ledger)
	if err != nil {
		return nil, err
	}
	held := trade.RowQuery{States: []trade.State{trade.Held}, Causes: []string{trade.CauseRetyped}}
	err = src.Ledger.Rows(ctx, held, func(e trade.Entry) error {
		if e.Error != nil && e.Error.Counterpart != nil && e.Error.Counterpart.Gone {
			t.renumbered[trade.ParentKey{Job: e.Error.Counterpart.Job, Key: e.Error.Counterpart.Key}] = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	head := Head{
		Form: formOfHead, ID: uuid.Must(uuid.NewV7()).String(), Name: src.Name, Program: src.Program,
		Zone: src.Zone.String(), At: src.Now.UTC().Truncate(time.Millisecond), Kind: NowKind,
	}
	if !cut.Day.IsZero() {
		t.day = cut.Day.String()
		head.Day = t.day
	}
	if src.Platform != nil {
		head.Asked = &Asked{}
	}
	head.ERP = src.ERP
	if head.ERP != nil {
		err = head.ERP.compare(ctx, t)
		if err != nil {
			return nil, err
		}
	}
	head.Acts = []Act{}
	err = t.Ledger.ActsBetween(t.ctx, reportedActs, time.Time{}, time.Time{}, func(r trade.AuditRecord) error {
		var detail struct {
			Before, After struct{ State trade.State }
			Given         json.RawMessage // the row that gave up its id
		}
		_ = json.Unmarshal([]byte(r.Detail), &detail) // what is no such detail has no states
		if r.Target != "" {
			t.acts[r.Target] = append(t.acts[r.Target], act{r.Act, r.Who})
		}
		name := r.Act
		if len(detail.Given) > 0 && string(detail.Given) != "null" {
			name = "moved"
		}
		head.Acts = append(head.Acts, Act{
			Seq: r.Seq, At: r.At, Who: r.Who, Act: name, Target: r.Target, Reason: r.Reason, Why: r.Why(),
			Before: string(detail.Before.State), After: string(detail.After.State),
		})
		return nil
	})
	if err != nil {
		return nil, err
	}
	// contracts come before their children: first the jobs of the configuration, then those that only the
	// ledger knows
	t.kinds, err = t.Ledger.KindsOf(t.ctx)
	if err != nil {
		return nil, err
	}
	for _, job := range t.Jobs {
		t.jobs = append(t.jobs, JobHead{Job: job.Name(), Sends: job.Spec.Sends})
	}
	for _, name := range slices.Sorted(maps.Keys(t.kinds)) {
		if t.specs[name] == nil {
			t.jobs = append(t.jobs, JobHead{Job: name, Sends: t.kinds[name][0]})
		}
	}
	slices.SortStableFunc(t.jobs,
		func(a, b JobHead) int { return slices.Index(trade.Kinds, a.Sends) - slices.Index(trade.Kinds, b.Sends) })
	for i := range t.jobs {
		job := &t.jobs[i]
		cursor, err := t.Ledger.Cursor(t.ctx, job.Job)
		if err != nil {
			return nil, err
		}
		if cursor.Sweep != nil && !cursor.SweptAt.IsZero() {
			at := cursor.SweptAt.UTC()
			job.SweptAt, job.InScope, job.SweepGone = &at, &cursor.Sweep.InScope, cursor.Sweep.Gone
			job.Unreadable, job.Read, job.Beside = cursor.Sweep.Unreadable, cursor.Sweep.Read, cursor.Sweep.Beside
		}
	}
	head.Jobs = slices.Clone(t.jobs)
	head.Messages, err = src.Ledger.MessageKeys(ctx)
	if err != nil {
		return nil, err
	}
	return &Snapshot{Head: head, zone: src.Zone, rows: t, counts: true, progress: src.Progress}, nil
}

// each implements rowReader, in pages of one job.
func (t *taker) each(kind trade.Kind, shown bool, only []int64, fn func(*Row) error) error {
	for _, job := range t.jobs {
		if kind != "" && !slices.Contains(t.kinds[job.Job], kind) {
			continue
		}
		// Of rows that are not shown, it does not look up when they were sent and what events told of them.
		emit := func(page []trade.Entry) error {
			page = slices.DeleteFunc(page,
				func(e trade.Entry) bool { return e.Job != job.Job || kind != "" && e.Sends != kind })
			var ids []int64
			for _, e := range page {
				if shown && (e.Attempts > 0 || e.State == trade.Accepted) {
					ids = append(ids, e.ID)
				}
			}
			outcomes := map[int64][]trade.Attempt{}
			if len(ids) > 0 {
				var err error
				outcomes, err = t.Ledger.Outcomes(t.ctx, ids)
				if err != nil {
					return err
				}
			}
			rows, err := t.rows(job, page, outcomes)
			if err != nil {
				return err
			}
			if shown {
				// what events reported about the rows until the moment of the report
				for _, status := range statuses[job.Sends] {
					event, named := status.Event()
					var ids []string
					seen := map[string]bool{}
					id := func(i int) string {
						switch status {
						case trade.ProducerESG:
							return rows[i].Request["producer_id"]
						case trade.FarmESG:
							return rows[i].Request["farm_id"]
						}
						return rows[i].RemoteID
					}
					for i := range rows {
						// many rows have the same producer
						if text := id(i); text != "" && !seen[text] {
							seen[text] = true
							ids = append(ids, text)
						}
					}
					told, err := t.Ledger.LastNotes(t.ctx, named, event, ids)
					if err != nil {
						return err
					}
					for i := range rows {
						if h, ok := told[id(i)]; ok {
							if rows[i].Told == nil {
								rows[i].Told = map[trade.ReportedStatus]ReportedStatus{}
							}
							rows[i].Told[status] = ReportedStatus{h.Word, h.At}
						}
					}
				}
			}
			for i := range rows {
				if err := fn(&rows[i]); err != nil {
					return err
				}
			}
			return nil
		}
		var err error
		if only == nil {
			err = run.InPages(takePage, func(add func(trade.Entry) error) error {
				return t.Ledger.Rows(t.ctx, trade.RowQuery{Jobs: []string{job.Job}}, add)
			}, emit)
		}
		for ids := range slices.Chunk(only, takePage) {
			entries, readErr := t.Ledger.Entries(t.ctx, ids)
			if readErr != nil {
				return readErr
			}
			entries = slices.DeleteFunc(entries, func(e trade.Entry) bool { return e.Job != job.Job })
			slices.SortFunc(entries, func(a, b trade.Entry) int {
				return cmp.Compare(slices.Index(ids, a.ID), slices.Index(ids, b.ID))
			})
			err = emit(entries)
			if err != nil {
				break
			}
		}
		if err != nil {
			return phrase.Errorf("job %s: %w", job.Job, err)
		}
	}
	return nil
}

// rows returns the report's rows of a page of entries, without what events told.
func (t *taker) rows(job JobHead, page []trade.Entry, attempts map[int64][]trade.Attempt) ([]Row, error) {
	requests := trade.Map(page, func(e trade.Entry) trade.Fields { return trade.SentFields(e.Payload) })
	needs := make([]need, 0, len(page))
	for i, e := range page {
		if e.Sends == trade.OrderCommitments {
			continue
		}
		var n need
		id := requests[i]["contract_id"]
		if e.Sends == trade.Traceability {
			id = e.Target
		}
		if parsed, err := uuid.Parse(id); err == nil {
			n.id, n.sent = parsed.String(), id
		}
		if job := t.specs[e.Job]; job != nil {
			n.parents = job.ParentOf(e.NewestValues())
		}
		needs = append(needs, n)
	}
	if err := t.find(needs); err != nil {
		return nil, err
	}
	out := make([]Row, len(page))
	for i, e := range page {
		r := Row{
			Job: e.Job, Sends: e.Sends, Key: e.Key, Seen: e.FirstSeenAt, Number: e.ID, Request: requests[i],
			SendingState: SendingState{
				State: e.State, Cause: e.Cause, Flags: e.Flags, Error: e.Error, WaitingFor: e.WaitingFor,
				RemoteID: e.RemoteID, Version: e.Version,
				Moved: e.MovedID != "", Gone: e.GoneSweeps > 0, Reduced: !e.ReducedAt.IsZero(),
				Since: job.SweptAt != nil && e.FirstSeenAt.After(*job.SweptAt),
				Renumbered: t.renumbered[trade.ParentKey{Job: e.Job, Key: e.Key}] && e.GoneSweeps == 0 &&
					!e.Flags.Has(trade.Replaced), // whose key holds another document by now
			},
			Acknowledged: e.Acknowledged,
			Cancelled:    e.Flags.Has(trade.Cancelled) || e.Acknowledged.Has(trade.Cancelled),
		}
		if !t.cut.Bare {
			r.Show = trade.Shown{Texts: e.Shown.Texts}
		}
		if parts := mapping.SplitCode(e.Key); len(parts) > 1 {
			r.Branch = parts[0]
		}
		t.facts(&r, e, r.Request)
		if r.State.MayBeOnPlatform() {
			body := requests[i].Text
			// no request was made before a person declared that the platform has the row as it was then
			if job := t.specs[e.Job]; len(e.Payload) == 0 && e.RecordedBy != 0 && job != nil {
				fields := job.RowFields(e.Values, t.refs)
				body = func(field string) string { return fields[field].Text }
			}
			for _, a := range attempts[e.ID] {
				if a.Outcome == trade.OutcomeCreated && !a.FinishedAt.IsZero() &&
					(r.RemoteID == "" || a.RemoteID == r.RemoteID) {
					at := a.FinishedAt
					r.SentAt = &at
				}
			}
			f := trade.FiguresOf(e.Sends, body)
			// without the flag `changed`, what was sent equals what the ERP has
			if f.Amount == nil && r.Reduced && e.Quantity.Unit != "" {
				amount := e.Quantity.Amount
				f.Amount, f.Unit = &amount, e.Quantity.Unit
			}
			r.Sent = &f
		}
		if r.State == trade.Accepted {
			for _, a := range t.acts[e.Job+" "+e.Key] {
				if a.name == "adopt" || a.name == "resend" && e.Generation > 1 {
					r.By = strings.TrimSpace(a.who)
				}
			}
		}
		if e.Sends != trade.OrderCommitments {
			t.contracts.inherit(&r, needs[0])
			needs = needs[1:]
		}
		r.After = t.day != "" && r.Day > t.day
		// a contract that was sent later has no answer
		if t.Platform != nil && r.Sends == trade.OrderCommitments && r.State == trade.Accepted && !r.After {
			r.Platform = t.Platform.of[r.RemoteID]
		}
		out[i] = r
	}
	return out, nil
}

// facts fills in the row's own document and figures, as the ERP has them or, if that is no longer
// known, as they were sent.
func (t *taker) facts(r *Row, e trade.Entry, sent map[string]string) {
	values := e.NewestValues()
	var fields map[string]mapping.RowField
	job := t.specs[e.Job]
	if job != nil {
		fields = job.RowFields(values, t.refs)
	}
	// a value that the ERP no longer has is not the one that was sent
	known := func(field string) bool {
		_, mapped := fields[field]
		return mapped && !values.Marked()
	}
	text := func(field string) string {
		if f := fields[field].Text; f != "" || known(field) {
			return f
		}
		return sent[field]
	}
	// people know the ERP's own code better than the platform's id
	label := func(field string) string {
		if f := cmp.Or(fields[field].ERP, fields[field].Text); f != "" || known(field) {
			return f
		}
		return sent[field]
	}
	switch e.Sends {
	case trade.OrderCommitments:
		r.OrderType, r.Product, r.Day = text("order_type"), text("product"), text("order_date")
		r.Harvest = e.Facts.Season // as lists are narrowed by it
		if e.Now == nil {
			r.Harvest = cmp.Or(trade.CutText(sent["haverst"]), r.Harvest)
		}
		r.Producer, r.Place, r.Wallet = label("producer_id"), label("delivery_place_id"), label("wallet_id")
		// the document that was sent, as its row was mapped
		if e.Now == nil || !e.State.MayBeOnPlatform() || job == nil || e.Values.Marked() {
			break
		}
		mapped, was := job.RowFields(e.Values, t.refs), r.Document
		was.OrderType, was.Product = mapped["order_type"].Text, mapped["product"].Text
		was.Harvest = mapped["haverst"].Text
		was.Producer = cmp.Or(mapped["producer_id"].ERP, mapped["producer_id"].Text)
		was.Place = cmp.Or(mapped["delivery_place_id"].ERP, mapped["delivery_place_id"].Text)
		if was != r.Document {
			r.SentAs = &was
		}
	case trade.Deliveries:
		r.Day, r.CAR = text("delivery_date"), text("car")
	case trade.Traceability:
		r.Producer = label("producer_id")
	}
	r.ERP = trade.FiguresOf(e.Sends, text)
	// the sums need it, so it is kept even if the values are not
	if r.ERP.Amount == nil && e.Quantity.Unit != "" {
		amount := e.Quantity.Amount
		r.ERP.Amount, r.ERP.Unit = &amount, e.Quantity.Unit
	}
}

// contractsMost is how many contracts are in memory. Those of later pages are often those of
// earlier ones.
const contractsMost = 20_000

// contracts finds contracts by their keys and platform ids in the ledger, page by page.
type contracts struct {
	byKey map[trade.ParentKey]*contract // nil = the ledger has no such contract
	byID  map[string]*contract
}

// contract is what is needed of a contract.
type contract struct {
	trade.ParentKey
	Document
}

// need are the contracts that a row may belong to: one with one of the keys, else the one with the id.
type need struct {
	parents  []trade.ParentKey
	id, sent string // in its canonical form, and as it was sent; "" = none
}

// find looks up the contracts that a page of rows needs.
func (t *taker) find(needs []need) error {
	if len(t.contracts.byKey)+len(t.contracts.byID) > contractsMost {
		t.contracts = contracts{map[trade.ParentKey]*contract{}, map[string]*contract{}}
	}
	keys := map[string][]string{} // by job
	var ids []string
	for _, n := range needs {
		for _, p := range n.parents {
			if _, known := t.contracts.byKey[p]; !known {
				t.contracts.byKey[p] = nil
				keys[p.Job] = append(keys[p.Job], p.Key)
			}
		}
		if _, known := t.contracts.byID[n.id]; n.id != "" && !known {
			t.contracts.byID[n.id] = nil
			ids = append(ids, n.id, n.sent)
		}
	}
	var found []int64
	for job, list := range keys {
		known, err := t.Ledger.Known(t.ctx, job, list)
		if err != nil {
			return err
		}
		for _, k := range known {
			found = append(found, k.ID)
		}
	}
	if len(found) > 0 {
		entries, err := t.Ledger.Entries(t.ctx, found)
		if err != nil {
			return err
		}
		for _, e := range entries {
			t.contracts.byKey[trade.ParentKey{Job: e.Job, Key: e.Key}] = t.contract(e)
		}
	}
	if len(ids) > 0 {
		entries, err := t.Ledger.EntriesWith(t.ctx, trade.OrderCommitments, ids)
		if err != nil {
			return err
		}
		for _, e := range entries { // the newest comes last
			if id, err := uuid.Parse(e.RemoteID); err == nil {
				t.contracts.byID[id.String()] = t.contract(e)
			}
		}
	}
	return nil
}

// contract returns what is needed of an entry; nil if it is no contract.
func (t *taker) contract(e trade.Entry) *contract {
	if e.Sends != trade.OrderCommitments {
		return nil
	}
	var r Row
	t.facts(&r, e, trade.SentFields(e.Payload))
	return &contract{trade.ParentKey{Job: e.Job, Key: e.Key}, r.Document}
}

// inherit copies the contract's data to a delivery or traceability record.
func (c contracts) inherit(r *Row, n need) {
	of := c.byID[n.id]
	for _, p := range slices.Backward(n.parents) { // the first one that the ledger has counts
		of = cmp.Or(c.byKey[p], of)
	}
	if of == nil { // the ledger has none
		if len(n.parents) > 0 {
			r.Parent, r.Contract = n.parents[0].Job, n.parents[0].Key
		}
		return
	}
	r.Parent, r.Contract = of.Job, of.Key
	r.Product, r.Harvest = of.Product, of.Harvest
	r.Place, r.Wallet = of.Place, of.Wallet
	r.Producer = cmp.Or(r.Producer, of.Producer)
	if r.Sends == trade.Traceability {
		r.Day = of.Day
	}
}
