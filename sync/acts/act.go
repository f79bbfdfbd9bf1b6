// The frame of all acts on rows: plan, show, execute.

package acts

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// Ledger is the part of the ledger that the acts on rows, and those on jobs, need.
type Ledger interface {
	run.CodeKeeper
	run.ParentKeeper
	// Dependents returns rows that wait for a row and, after them, those that went under its record.
	Dependents(ctx context.Context, e trade.Entry, limit int) ([]trade.Entry, error)
	// Entry returns one entry by its job and key. If it is unknown, it returns trade.ErrNotFound.
	Entry(ctx context.Context, job, key string) (trade.Entry, error)
	// Keyed returns the entries of a job that have one of some keys, in no order.
	Keyed(ctx context.Context, job string, keys []string) ([]trade.Entry, error)
	// Rows calls fn for the entries that a filter selects.
	Rows(ctx context.Context, filter trade.RowQuery, fn func(trade.Entry) error) error
	Attempts(ctx context.Context, entryID int64) ([]trade.Attempt, error)
	// Holder returns the row that has a platform id, or had it in an answer, except for one entry;
	// the zero key if there is none.
	Holder(ctx context.Context, sends trade.Kind, remoteID string, except int64) (trade.ParentKey, error)
	// FormerReferences and Labelled tell which ids codes had, and the names of codes.
	FormerReferences(ctx context.Context) (map[string]map[string][]string, error)
	Labelled(ctx context.Context, codes []trade.Reference) ([]trade.Reference, error)
	// Records returns the records that count and that a query selects.
	Records(ctx context.Context, q trade.RecordQuery) (out []trade.Record, alone bool, err error)
	run.Quarantine
	// Act stores acts in one transaction, each together with its audit record. done reports for
	// each whether it was stored: it was not if its entry or job has changed since it was planned.
	// Act returns *trade.LeasedError if an act would change the cursor of a job that a process is
	// running.
	Act(ctx context.Context, acts []trade.Act) (done []bool, err error)
}

// JobLedger is the part of the ledger that the acts on jobs need in addition.
type JobLedger interface {
	Cursor(ctx context.Context, job string) (trade.Cursor, error)
	JobStatus(ctx context.Context, job string) (trade.JobStatus, error)
	// JobsOfLedger returns the jobs that have entries.
	JobsOfLedger(ctx context.Context) ([]trade.KnownJob, error)
	// MoveJob gives a job another name, together with its audit record. If apply is false, or the
	// other name is taken, it only returns what it would do. It returns *trade.LeasedError while a
	// process runs either job.
	MoveJob(ctx context.Context, from, to string, apply bool, record trade.AuditRecord) (trade.JobMove, error)
}

// Reader reads records from the platform. Every error is an *apiclient.CallError.
type Reader interface {
	GetOrderCommitment(ctx context.Context, id string) (apiclient.ReadBack, error)
}

// Acts are what people do to rows and jobs, from the command line and the console alike. Each act
// is planned first: the plan holds what it would do to each row, or why it cannot. Only what the
// plan showed is executed: a row or job that has changed since is left alone and reported.
type Acts struct {
	Ledger    Ledger
	JobLedger JobLedger
	Jobs      []*mapping.Job
	Now       func() time.Time

	// Only Resend and Adopt need the following.
	Boot     string      // id of the clock, see trade.Owner
	Clock    clock.Clock // the clock of that boot
	Limits   run.Limits  // for the quarantine
	Platform Reader      // reads an order commitment back
	Rows     Remapper    // maps a row as it is in the ERP now

	Rules     Rules // which acts need several people
	Approvals Approvals
	Others    map[string]OtherAct // acts that can be approved here but are done elsewhere
}

// RowPlan is what an act would do to rows, or has done.
type RowPlan struct {
	Act   string
	Job   string
	Order Order // from which it can be planned again
	Steps []RowStep
	Weak  int             // rows refused in no form of the API, which a filter left out
	Asked *trade.Approval // set if others must agree first; nothing was done then
	Whole trade.Decimal   // R$ of all plans that are done together, which decides whether others must agree
}

// RowStep is what an act would do to one row, or has done.
type RowStep struct {
	Key           string
	Refused       Refusal
	Done          bool        // it was executed
	Before, After trade.Entry // zero for an unknown row
	Differences   []trade.Difference

	Attempts []trade.Attempt // its requests; not read for rows that never made a record
	// Counterpart is what a held row was compared with; nil: nothing is known.
	Counterpart *Counterpart
	// Under is what would go under the record of a row whose key another document has; nil otherwise.
	Under *Under
	// MayDouble means that the act may make a second record of one document: a person must declare
	// to have checked that it does not.
	MayDouble bool

	Remaining  time.Duration   // of the quarantine
	Problems   []trade.Problem // of a row that would be sent again, as it is in the ERP now
	WaitingFor []trade.Awaited // the same
	Holder     trade.ParentKey // the row that has the id
	Reading    *Readback       // what the platform has under the id; nil if it was not read
	// new version of Holder, whose row is no longer in the ERP or was replaced by another one: its
	// record belongs to this row from then on. nil if no row gives up an id
	GivesUp *trade.Update

	resend bool
	ask    []trade.Block
	newest func() (trade.Prints, error) // fingerprints of the row as it was read last
}

// Sums returns what the row carries: its weight, and its value if it has a price.
func (s RowStep) Sums() (out trade.Sums) {
	f := trade.Figures{Amount: &s.Before.Quantity.Amount, Unit: s.Before.Quantity.Unit}
	out.Add(f)
	if currency, value, ok := s.Before.Value(); ok {
		out.Values = map[string]trade.Decimal{currency: value}
	}
	return out
}

// Possible reports whether the act can be done to at least one row.
func (p RowPlan) Possible() bool { return p.Count() > 0 }

// Count returns to how many rows the act can be done.
func (p RowPlan) Count() int {
	n := 0
	for _, s := range p.Steps {
		if s.Refused == NotRefused {
			n++
		}
	}
	return n
}

var errNoReason = errors.New("an act of a person needs a name and a reason")

func named(who trade.Person) error {
	if strings.TrimSpace(who.Name) == "" || strings.TrimSpace(who.Reason) == "" {
		return errNoReason
	}
	return nil
}

// HeldFor returns the rows that are held because each may be the document of a record that has lost its
// row, by the row of that record. It reads them with rows.
func HeldFor(ctx context.Context, rows func(context.Context, trade.RowQuery, func(trade.Entry) error) error) (
	map[trade.ParentKey]trade.Entry, error,
) {
	out := map[trade.ParentKey]trade.Entry{}
	return out, rows(ctx, trade.RowQuery{
		States: []trade.State{trade.Held}, Causes: []string{trade.CauseRetyped, trade.CauseOtherJob},
	}, func(e trade.Entry) error {
		if e.Error != nil && e.Error.Counterpart != nil {
			out[trade.ParentKey{Job: e.Error.Counterpart.Job, Key: e.Error.Counterpart.Key}] = e
		}
		return nil
	})
}

// Acknowledge plans that a person has dealt with what the ERP did to rows after they were sent or
// dismissed: their flags are removed until the row changes again.
func (a *Acts) Acknowledge(ctx context.Context, job string, keys []string) (RowPlan, error) {
	open := map[trade.ParentKey]bool{} // under whose record rows do not go until it is acknowledged
	filter := trade.RowQuery{States: []trade.State{trade.Waiting}, Causes: []string{trade.CauseParent}}
	err := a.Ledger.Rows(ctx, filter, func(e trade.Entry) error {
		for _, w := range e.WaitingFor {
			if w.ParentCause == trade.CauseReplaced {
				open[trade.ParentKey{Job: w.Job, Key: w.Key}] = true
			}
		}
		return nil
	})
	if err != nil {
		return RowPlan{}, err
	}
	held, err := HeldFor(ctx, a.Ledger.Rows)
	if err != nil {
		return RowPlan{}, err
	}
	return a.plan(ctx, ActAcknowledge, job, keys, func(step *RowStep) error {
		entry := &step.After
		replaced := entry.Flags.Has(trade.Replaced) || open[trade.ParentKey{Job: entry.Job, Key: entry.Key}]
		other, paired := held[trade.ParentKey{Job: entry.Job, Key: entry.Key}] // nobody has decided about the pair
		flagged := slices.ContainsFunc(entry.Flags,
			func(f trade.Flag) bool { return slices.Contains(trade.AcknowledgedByAct, f) })
		switch {
		case !flagged:
			step.Refused = NothingToAck
			return nil
		case !slices.Contains(trade.AcknowledgedIn, entry.State):
			step.Refused = NotAccepted
			return nil
		case paired && entry.State == trade.Accepted && (entry.Flags.Has(trade.MissingInERP) || replaced):
			step.Refused, step.Counterpart = HeldForIt, &Counterpart{Job: other.Job, Key: other.Key, Entry: other}
			return nil
		case replaced && len(keys) > 1:
			step.Refused = Alone
			return nil
		}
		if replaced && entry.State == trade.Accepted {
			hang, err := a.Ledger.Dependents(ctx, step.Before, underMost)
			if err != nil {
				return err
			}
			step.Under = &Under{}
			for _, e := range hang {
				if e.State == trade.Waiting {
					step.Under.Rows++
				}
			}
			if id := mapping.SentTexts(step.Before)["producer_id"]; id != nil {
				code, err := a.codeOf(ctx, "producers", *id)
				step.Under.Producer = cmp.Or(code, *id)
				if err != nil {
					return err
				}
			}
		}
		for _, flag := range trade.AcknowledgedByAct {
			if !entry.Flags.Has(flag) {
				continue
			}
			entry.Flags, entry.Acknowledged = entry.Flags.With(flag, false), entry.Acknowledged.With(flag, true)
			if flag == trade.Changed {
				entry.AckValues = entry.Now
				entry.Flags = entry.Flags.With(trade.Replaced, false)
			}
		}
		if !entry.Acknowledged.Has(trade.Changed) {
			return nil
		}
		newest, err := step.newest() // the record is that of the row as it is now
		entry.Newest = newest
		return err
	})
}

// plan makes the steps of a plan; change turns step.After into what the act makes of the row, or
// refuses the row.
func (a *Acts) plan(ctx context.Context, act, job string, keys []string, change func(*RowStep) error) (RowPlan, error) {
	plan := RowPlan{Act: act, Job: job, Order: Order{Act: act, Job: job}}
	seen := map[string]bool{}
	for _, key := range keys {
		if !seen[key] {
			plan.Order.Keys = append(plan.Order.Keys, key)
		}
		seen[key] = true
	}
	entries, err := a.Ledger.Keyed(ctx, job, plan.Order.Keys)
	if err != nil {
		return plan, err
	}
	var refs mapping.Codes
	if slices.ContainsFunc(entries, func(e trade.Entry) bool { return e.Now != nil }) { // it is mapped again
		refs, err = run.Codes(ctx, a.Ledger)
		if err != nil {
			return plan, err
		}
	}
	changes, err := run.Differences(ctx, a.Ledger, a.job, entries, refs)
	if err != nil {
		return plan, err
	}
	at := map[string]int{}
	for i, e := range entries {
		at[e.Key] = i
	}
	for _, key := range plan.Order.Keys {
		i, there := at[key]
		if !there {
			plan.Steps = append(plan.Steps, RowStep{Key: key, Refused: UnknownRow})
			continue
		}
		entry := entries[i]
		step := RowStep{Key: key, Before: entry, After: entry, Differences: changes[i]}
		step.newest = func() (trade.Prints, error) { return run.Newest(ctx, a.Ledger, a.job(job), entry, refs) }
		// Of many rows the requests of those whose state says enough are left out.
		once := entry.State == trade.Rejected && entry.Generation == 1 && !entry.Weak()
		if len(keys) == 1 || slices.Contains(sent, entry.State) && !once {
			step.Attempts, err = a.Ledger.Attempts(ctx, entry.ID)
			if err != nil {
				return plan, phrase.Errorf("%s %s: %w", entry.Job, entry.Key, err)
			}
		}
		step.Counterpart, err = a.Counterpart(ctx, entry)
		if err != nil {
			return plan, err
		}
		if err := change(&step); err != nil {
			return plan, phrase.Errorf("%s %s: %w", job, key, err)
		}
		step.newest = nil // it has the whole de-para, and the plan is remembered
		plan.Steps = append(plan.Steps, step)
	}
	return plan, nil
}

func (a *Acts) job(name string) *mapping.Job {
	i := slices.IndexFunc(a.Jobs, func(j *mapping.Job) bool { return j.Name() == name })
	if i < 0 {
		return nil
	}
	return a.Jobs[i]
}

// actsTogether is the largest number of acts that are stored in one transaction.
const actsTogether = 500

// Do executes a plan on each row that has not changed since it was planned, each together with its
// audit record. The returned plan states for each row whether it was done; rows that changed
// meanwhile are refused. After an error some may have been done. If others must agree first,
// nothing is done, and the returned plan holds the approval that was asked for.
func (a *Acts) Do(ctx context.Context, plan RowPlan, who trade.Person) (RowPlan, error) {
	if err := named(who); err != nil {
		return plan, err
	}
	asked, err := a.askRows(ctx, plan, who)
	if err != nil || asked != nil {
		plan.Asked = asked
		return plan, err
	}
	plan.Steps = slices.Clone(plan.Steps)
	var steps []int
	for i, s := range plan.Steps {
		if s.Refused == NotRefused {
			steps = append(steps, i)
		}
	}
	for chunk := range slices.Chunk(steps, actsTogether) {
		var acts []trade.Act
		for _, i := range chunk {
			s := plan.Steps[i]
			now := a.Now()
			after := s.After
			after.UpdatedAt = now
			detail := rowDetail{Before: ViewOf(s.Before), After: ViewOf(s.After), Reading: s.Reading}
			for _, d := range s.Differences {
				detail.Changes = append(detail.Changes, fieldChange{d.Field, d.Columns, d.Sent, d.Now})
			}
			if s.GivesUp != nil {
				detail.Given = &formerOwner{s.Holder.Job, s.Holder.Key, ViewOf(s.GivesUp.Entry)}
			}
			record, err := who.Record(now, plan.Act, plan.Job+" "+s.Key, detail)
			if err != nil {
				return plan, err
			}
			act := trade.Act{
				Update: &trade.Update{From: s.Before.State, Entry: after}, Gives: s.GivesUp, Ask: s.ask,
				Audit: record,
			}
			if s.resend {
				act.Resend = &trade.Resend{Boot: a.Boot, Ticks: a.Clock.Boot(), Least: a.Limits.LeastQuarantine()}
			}
			acts = append(acts, act)
		}
		done, err := a.Ledger.Act(ctx, acts)
		if err != nil {
			return plan, err
		}
		for n, ok := range done {
			s := &plan.Steps[chunk[n]]
			s.Done = ok
			if !ok {
				s.Refused = Moved
			}
		}
	}
	return plan, nil
}

// rowDetail is what the audit stores about an act on a row. Of the ERP's values it has only the
// fields that the act is about, in the API's form.
type rowDetail struct {
	Before  EntryView     `json:"before"`
	After   EntryView     `json:"after"`
	Changes []fieldChange `json:"changes,omitempty"`
	Reading *Readback     `json:"reading,omitempty"`
	Given   *formerOwner  `json:"given,omitempty"`
}

// formerOwner is the row that gave up its id.
type formerOwner struct {
	Job   string    `json:"job"`
	Key   string    `json:"key"`
	After EntryView `json:"after"`
}

// EntryView is what the audit stores about an entry: no payload, no values of the ERP (I10).
type EntryView struct {
	State        trade.State `json:"state"`
	Cause        string      `json:"cause,omitempty"`
	RemoteID     string      `json:"remote_id,omitempty"`
	MovedID      string      `json:"moved_id,omitempty"`
	Generation   int         `json:"generation"`
	Flags        trade.Flags `json:"flags"`
	Acknowledged trade.Flags `json:"acknowledged"`
	SourceHash   trade.Hash  `json:"source_hash"`
	PayloadHash  trade.Hash  `json:"payload_hash"`
	Version      int64       `json:"version"`
}

// ViewOf returns an entry as the audit stores it.
func ViewOf(e trade.Entry) EntryView {
	return EntryView{
		State: e.State, Cause: e.Cause, RemoteID: e.RemoteID, MovedID: e.MovedID, Generation: e.Generation,
		Flags:        append(trade.Flags{}, e.Flags...),
		Acknowledged: append(trade.Flags{}, e.Acknowledged...), SourceHash: e.SourceHash, PayloadHash: e.PayloadHash,
		Version: e.Version,
	}
}

type fieldChange struct {
	Field   string   `json:"field,omitempty"`
	Columns []string `json:"columns"`
	Sent    *string  `json:"sent"`
	Now     *string  `json:"now"`
}
