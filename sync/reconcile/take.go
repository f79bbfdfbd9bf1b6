// Take: a snapshot of the ledger.

package reconcile

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// takePage is how many rows are in memory while a snapshot is taken.
const takePage = 500

// takeTries is how often a snapshot is taken again because a sweep ended meanwhile.
const takeTries = 3

// Cut is the moment of a snapshot's figures.
type Cut struct {
	Day  trade.Date // later documents are marked After; zero: none are
	Bare bool       // without the display columns, which are not stored permanently
	// as things were at the end of Day, as far as that can be derived; else as they are now
	Derived bool
}

// taker goes through the ledger once.
type taker struct {
	Sources
	cut      Cut
	end      time.Time // end of Day, if Derived
	head     Head
	specs    map[string]*mapping.Job
	refs     map[string]map[string]string
	acts     map[string][]act // by "job key", in their order
	out      *spool
	contract *contracts
}

// Take returns a snapshot of the ledger. The caller must close it.
func Take(ctx context.Context, src Sources, cut Cut) (*Snapshot, error) {
	for try := 1; ; try++ {
		s, swept, err := take(ctx, src, cut)
		if err != nil || !swept || try == takeTries {
			return s, err
		}
		if err := s.Close(); err != nil { // its rows would be compared with another sweep
			return nil, err
		}
	}
}

func take(ctx context.Context, src Sources, cut Cut) (s *Snapshot, swept bool, err error) {
	t := &taker{
		Sources: src, cut: cut, specs: map[string]*mapping.Job{}, acts: map[string][]act{},
		contract: newContracts(src.Folder),
	}
	t.head = Head{
		Form: formOfHead, ID: newID(), Name: src.Name, Program: src.Program, Zone: src.Zone.String(),
		At: src.Now.UTC().Truncate(time.Millisecond), Kind: NowKind,
		Jobs: []JobHead{}, Acts: []Act{}, Messages: []trade.SeenMessage{},
	}
	if !cut.Day.IsZero() {
		t.head.Day = cut.Day.String()
	}
	if cut.Derived {
		t.head.Kind = DerivedKind
		t.end = cut.Day.In(src.Zone).AddDate(0, 0, 1)
	}
	if src.Platform != nil {
		t.head.Asked = &Asked{}
	}
	if t.refs, err = run.Codes(ctx, src.Ledger); err != nil {
		return nil, false, err
	}
	if err := t.readActs(ctx); err != nil {
		return nil, false, err
	}
	jobs, err := t.order(ctx)
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, t.contract.close()) }()
	if s, err = newSnapshot(src.Folder); err != nil {
		return nil, false, err
	}
	s.zone = src.Zone
	t.out = s.spool()
	for _, job := range jobs {
		if err == nil {
			err = t.job(ctx, job)
		}
	}
	if err == nil {
		t.head.Messages, err = src.Ledger.MessageKeys(ctx)
	}
	if err = errors.Join(err, t.out.close()); err == nil {
		swept, err = t.sweptMeanwhile(ctx)
	}
	if err != nil {
		return nil, false, errors.Join(err, s.Close())
	}
	s.Head = t.head
	return s, swept, nil
}

func newID() string {
	id, err := uuid.NewV7()
	if err != nil {
		return uuid.NewString()
	}
	return id.String()
}

// order returns the jobs with contracts before their children: first those of the configuration,
// then those that only the ledger knows.
func (t *taker) order(ctx context.Context) ([]JobHead, error) {
	known, err := t.Ledger.Jobs(ctx)
	if err != nil {
		return nil, err
	}
	var out []JobHead
	for _, job := range t.Jobs {
		t.specs[job.Name()] = job
		out = append(out, JobHead{Job: job.Name(), Sends: job.Spec.Sends})
	}
	for _, name := range known {
		if t.specs[name] == nil {
			sends := trade.Kind("")
			err := t.Ledger.Rows(ctx, trade.RowFilter{Job: name, Limit: 1},
				func(e trade.Entry) error { sends = e.Sends; return nil })
			if err != nil {
				return nil, err
			}
			if sends != "" {
				out = append(out, JobHead{Job: name, Sends: sends})
			}
		}
	}
	slices.SortStableFunc(out,
		func(a, b JobHead) int { return slices.Index(trade.Kinds, a.Sends) - slices.Index(trade.Kinds, b.Sends) })
	return out, nil
}

// job reads the rows of one job.
func (t *taker) job(ctx context.Context, job JobHead) error {
	cursor, err := t.Ledger.Cursor(ctx, job.Job)
	if err != nil {
		return err
	}
	if cursor.Sweep != nil && !cursor.SweptAt.IsZero() && !t.cut.Derived {
		at := cursor.SweptAt.UTC()
		job.SweptAt, job.InScope, job.SweepGone, job.Unreadable = &at, &cursor.Sweep.InScope, cursor.Sweep.Gone,
			cursor.Sweep.Unreadable
		job.Read, job.Beside = cursor.Sweep.Read, cursor.Sweep.Beside
	}
	var page []trade.Entry
	flush := func() error {
		rows, err := t.rows(ctx, job, page)
		for _, r := range rows {
			if err == nil {
				err = t.out.row(r)
			}
		}
		job.Rows += len(rows)
		t.head.Rows += len(rows)
		page = page[:0]
		if t.Progress != nil {
			t.Progress(t.head.Rows)
		}
		return err
	}
	err = t.Ledger.Rows(ctx, trade.RowFilter{Job: job.Job}, func(e trade.Entry) error {
		if page = append(page, e); len(page) < takePage {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	if err != nil {
		return fmt.Errorf("job %s: %w", job.Job, err)
	}
	t.head.Jobs = append(t.head.Jobs, job)
	return nil
}

// sweptMeanwhile reports whether a sweep has ended since a job's rows were read.
func (t *taker) sweptMeanwhile(ctx context.Context) (bool, error) {
	for _, job := range t.head.Jobs {
		cursor, err := t.Ledger.Cursor(ctx, job.Job)
		if err != nil {
			return false, err
		}
		if job.SweptAt != nil && !cursor.SweptAt.Equal(*job.SweptAt) {
			return true, nil
		}
	}
	return false, nil
}

// rows returns the report's rows for a page of entries.
func (t *taker) rows(ctx context.Context, job JobHead, page []trade.Entry) ([]Row, error) {
	ids := make([]int64, 0, len(page))
	for _, e := range page {
		if e.Attempts > 0 || e.State == trade.Accepted || t.cut.Derived {
			ids = append(ids, e.ID)
		}
	}
	outcomes := map[int64][]trade.Attempt{}
	if len(ids) > 0 {
		var err error
		if outcomes, err = t.Ledger.Outcomes(ctx, ids); err != nil {
			return nil, err
		}
	}
	out := make([]Row, 0, len(page))
	bodies := make([]map[string]string, 0, len(page)) // of the rows' requests
	for _, e := range page {
		if t.cut.Derived && !e.FirstSeenAt.Before(t.end) {
			continue // it was not known then
		}
		sent := sentFields(e)
		r, err := t.row(job, e, outcomes[e.ID], sent)
		if err != nil {
			return nil, err
		}
		if t.Platform != nil && r.Sends == trade.OrderCommitments && r.State == trade.Accepted &&
			r.RemoteID != "" && !r.After {
			if err := t.ask(ctx, &r); err != nil {
				return nil, err
			}
		}
		switch r.Basis {
		case Derived:
			t.head.Derived++
		case Unknown:
			t.head.Unknown++
		}
		if r.Reduced {
			t.head.Reduced++
		}
		out, bodies = append(out, r), append(bodies, sent)
	}
	return out, t.addStatuses(ctx, job.Sends, out, bodies)
}

// row returns the report's row of an entry. sent are the fields of its request.
func (t *taker) row(job JobHead, e trade.Entry, attempts []trade.Attempt, sent map[string]string) (Row, error) {
	r := Row{
		Job: e.Job, Sends: e.Sends, Key: e.Key,
		Standing: Standing{
			State: e.State, Cause: e.Cause, Flags: e.Flags, Error: e.Error, WaitingFor: e.WaitingFor,
			RemoteID: e.RemoteID, Version: e.Version,
			Moved: e.MovedID != "", Gone: e.GoneSweeps > 0, Reduced: !e.ReducedAt.IsZero(),
			Since: job.SweptAt != nil && e.FirstSeenAt.After(*job.SweptAt),
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
	acts := t.acts[e.Job+" "+e.Key]
	if t.cut.Derived {
		stand := stateAt(e, attempts, acts, t.end)
		if r.Basis = stand.basis; r.Basis != Exact {
			r.State, r.Cause, r.Error, r.WaitingFor, r.Flags, r.RemoteID, r.Moved, r.Gone = stand.state, "", nil, nil,
				nil, stand.remoteID, false, false
			r.Acknowledged, r.Cancelled = nil, false
		}
	}
	if err := t.facts(&r, e, sent); err != nil {
		return r, err
	}
	r.sent(e, attempts, t.stated(e, sent))
	r.by(acts, e)
	if t.head.Day != "" && r.Day > t.head.Day {
		r.After = true
	}
	if r.Sends == trade.OrderCommitments {
		return r, t.contract.add(e, &r)
	}
	return r, nil
}

// facts fills in the row's document and figures, as the ERP has them or, if that is no longer
// known, as they were sent.
func (t *taker) facts(r *Row, e trade.Entry, sent map[string]string) error {
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
	number := func(field string) *trade.Decimal { return decimalOf(text(field)) }
	switch e.Sends {
	case trade.OrderCommitments:
		r.OrderType, r.Product, r.Harvest, r.Day = text("order_type"), text("product"), text("haverst"),
			text("order_date")
		r.Producer, r.Place, r.Wallet = label("producer_id"), label("delivery_place_id"), label("wallet_id")
		t.sentAs(r, e)
		r.ERP = Figures{
			Amount: number("amount"), Unit: unitOf(text("unit_of_measurement")), Price: number("price"),
			Currency: text("currency"),
		}
	case trade.Deliveries:
		r.Day, r.CAR = text("delivery_date"), text("car")
		r.ERP = Figures{Amount: number("delivered_volume"), Unit: unitOf(text("delivered_volume_unit_of_measure"))}
	case trade.Traceability:
		r.Producer = label("producer_id")
		r.ERP = Figures{Amount: number("allocated_volume"), Unit: unitOf(text("unit_of_measurement"))}
	}
	// the sums need it, so it is kept even if the values are not
	if r.ERP.Amount == nil && e.Quantity.Unit != "" {
		amount := e.Quantity.Amount
		r.ERP.Amount, r.ERP.Unit = &amount, e.Quantity.Unit
	}
	if e.Sends != trade.OrderCommitments {
		id := sent["contract_id"]
		if e.Sends == trade.Traceability {
			id = e.Target
		}
		var parents []trade.ParentKey
		if job != nil {
			parents = job.ParentOf(values)
		}
		return t.contract.inherit(r, parents, id)
	}
	return nil
}

// sentAs fills in the document that was sent, as its row was mapped, if it is another than the one
// that the ERP has now.
func (t *taker) sentAs(r *Row, e trade.Entry) {
	job := t.specs[e.Job]
	if e.Now == nil || !e.State.Created() || job == nil || e.Values.Marked() {
		return
	}
	fields, was := job.RowFields(e.Values, t.refs), r.Document
	label := func(field string) string { return cmp.Or(fields[field].ERP, fields[field].Text) }
	was.OrderType, was.Product, was.Harvest = fields["order_type"].Text, fields["product"].Text, fields["haverst"].Text
	was.Producer, was.Place = label("producer_id"), label("delivery_place_id")
	if was != r.Document {
		r.SentAs = &was
	}
}

// stated returns the fields of an entry's request or, of a row for which none was made before a
// person declared that the platform has it, those of the row at that time.
func (t *taker) stated(e trade.Entry, sent map[string]string) map[string]string {
	job := t.specs[e.Job]
	if len(e.Payload) > 0 || e.RecordedBy == 0 || job == nil {
		return sent
	}
	out := map[string]string{}
	for name, field := range job.RowFields(e.Values, t.refs) {
		out[name] = field.Text
	}
	return out
}

// sent fills in what was sent and when, for a row that is on the platform or may be.
func (r *Row) sent(e trade.Entry, attempts []trade.Attempt, body map[string]string) {
	if !r.State.Created() {
		return
	}
	for _, a := range attempts {
		if a.Outcome == trade.OutcomeCreated && !a.FinishedAt.IsZero() &&
			(r.RemoteID == "" || a.RemoteID == r.RemoteID) {
			at := a.FinishedAt
			r.SentAt = &at
		}
	}
	names := figureFields[e.Sends]
	f := Figures{
		Amount: decimalOf(body[names[0]]), Unit: unitOf(body[names[1]]), Price: decimalOf(body["price"]),
		Currency: body["currency"],
	}
	// without the flag `changed`, what was sent equals what the ERP has
	if f.Amount == nil && r.Reduced && e.Quantity.Unit != "" {
		amount := e.Quantity.Amount
		f.Amount, f.Unit = &amount, e.Quantity.Unit
	}
	r.Sent = &f
}

// figureFields are the fields with the amount and its unit (chapter 2).
var figureFields = map[trade.Kind][2]string{
	trade.OrderCommitments: {"amount", "unit_of_measurement"},
	trade.Deliveries:       {"delivered_volume", "delivered_volume_unit_of_measure"},
	trade.Traceability:     {"allocated_volume", "unit_of_measurement"},
}

// sentFields returns the fields of the request's body as texts.
func sentFields(e trade.Entry) map[string]string {
	var body map[string]json.RawMessage
	if len(e.Payload) == 0 || json.Unmarshal(e.Payload, &body) != nil {
		return nil
	}
	out := make(map[string]string, len(body))
	for field, raw := range body {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			text = string(raw)
		}
		out[field] = text
	}
	return out
}

func decimalOf(text string) *trade.Decimal {
	d, err := trade.ParseDecimal(text)
	if err != nil {
		return nil
	}
	return &d
}
