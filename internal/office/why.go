package office

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/sync/dryrun"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// Story is everything that is known about one key, from the ERP to the platform: `why --json`.
type Story struct {
	dryrun.Reasons
	ERPError  *string         `json:"erp_error"` // why the ERP could not be read; null if it was read
	Row       *RowDetail      `json:"row"`       // null if the ledger has never seen the key
	JobStatus trade.JobStatus `json:"job_status"`
	NextRun   *time.Time      `json:"next_run"`  // null for a job that is no longer configured
	English   []string        `json:"sentences"` // the sentences in English; whoever prints them sets it

	Sends    trade.Kind         `json:"-"`
	Entry    *trade.Entry       `json:"-"` // of the row
	Attempts []trade.Attempt    `json:"-"`
	Changes  []trade.Difference `json:"-"` // where the ERP's row differs from what was sent
	Hints    Hints              `json:"-"`

	typed   string           // the key as it was asked for
	erpErr  error            // ERPError
	former  bool             // the key has another number of columns than the job's keys have now
	parents []dryrun.Reasons // of the rows that it waits for and that the ledger does not have
}

// Why returns everything about one row. It needs an engine. Of a job that is no longer configured, and
// of a key of another form than the job's, it returns what the ledger has, or trade.ErrNotFound.
func (o *Office) Why(ctx context.Context, job, key string) (Story, error) {
	s := Story{typed: key, Reasons: dryrun.Reasons{Job: job, Key: key, Excluded: []string{}}}
	compiled, spec := o.job(job)
	if compiled != nil {
		s.Sends, s.former = spec.Sends, len(mapping.CodeParts(key)) != len(spec.Key)
		if !s.former {
			reasons, err := o.engine.Why(ctx, job, key)
			if ledger := new(state.Error); ctx.Err() != nil || errors.As(err, &ledger) {
				return s, err
			}
			s.erpErr = err
			if err != nil {
				s.ERPError = new(err.Error())
			}
			if reasons.Job != "" {
				s.Reasons = reasons
			}
		}
		schedule, err := clock.ParseSchedule(spec.Schedule, o.conf.Zone())
		if err != nil {
			return s, err
		}
		s.NextRun = trade.OrNull(schedule.Next(o.now()).UTC())
	}
	entry, err := o.store.Entry(ctx, job, s.Key)
	if errors.Is(err, trade.ErrNotFound) && compiled != nil && !s.former {
		s.JobStatus, err = o.store.JobStatus(ctx, job)
		return s, err
	}
	if err != nil {
		return s, err
	}
	s.Entry, s.Sends = &entry, entry.Sends
	s.Attempts, err = o.store.Attempts(ctx, entry.ID)
	if err != nil {
		return s, err
	}
	if entry.Now != nil {
		refs, err := run.Codes(ctx, o.store)
		if err != nil {
			return s, err
		}
		differences, err := run.Differences(ctx, o.store, o.jobNamed, []trade.Entry{entry}, refs)
		if err != nil {
			return s, err
		}
		s.Changes = differences[0]
	}
	s.Hints, err = o.Hints(ctx, entry, s.Attempts)
	if err != nil {
		return s, err
	}
	s.Row = o.detail(entry, s.Attempts, s.Changes, s.Hints)
	for _, w := range entry.WaitingFor {
		if w.Job == "" || w.ParentState != "" || s.erpErr != nil || o.jobNamed(w.Job) == nil {
			continue
		}
		parent, err := o.engine.Why(ctx, w.Job, w.Key)
		if err != nil {
			return s, err
		}
		s.parents = append(s.parents, parent)
	}
	s.JobStatus, err = o.store.JobStatus(ctx, job)
	return s, err
}

// Request returns the request that would be sent for a row as it is in the ERP now, and the state of
// the row in the ledger, "" if it has none. It needs an engine. Its error is dryrun.ErrNotInQuery if
// the job's query does not return the key.
func (o *Office) Request(ctx context.Context, job, key string) (dryrun.Preview, trade.State, error) {
	p, err := o.engine.Preview(ctx, job, key)
	if err != nil {
		return p, "", err
	}
	entry, err := o.store.Entry(ctx, job, p.Key)
	if errors.Is(err, trade.ErrNotFound) {
		err = nil
	}
	return p, entry.State, err
}

// Tried is a job, a row as a case for its tests, and what the mapping makes of it.
type Tried struct {
	Job     *mapping.Job
	Case    dryrun.Case
	Verdict dryrun.Judged
}

// CaseOf tries a row as the ERP has it now. It needs an engine.
func (o *Office) CaseOf(ctx context.Context, name, key string) (Tried, error) {
	c, err := o.engine.CaseOf(ctx, name, key)
	if err != nil {
		return Tried{}, err
	}
	return Mapping(o.jobs).Try(name, c)
}

// Mapping is what the configuration makes of rows, without ledger, ERP or secret.
type Mapping []*mapping.Job

// Try maps and checks the row of a case. It returns trade.ErrNotFound if there is no such job; other
// errors are for a case that does not fit the job.
func (m Mapping) Try(name string, c dryrun.Case) (Tried, error) {
	i := slices.IndexFunc(m, func(j *mapping.Job) bool { return j.Name() == name })
	if i < 0 {
		return Tried{}, trade.ErrNotFound
	}
	verdict, err := dryrun.Try(m[i], c)
	return Tried{m[i], c, verdict}, err
}

// Sentences returns the story, from the ERP to what happens next.
func (s Story) Sentences(v words.Voice) []string {
	var out []string
	say := func(p i18n.Key, args ...any) { out = append(out, v.Text(p, args...)) }
	var shown trade.Shown
	if s.Entry != nil {
		shown = s.Entry.Shown
	}
	say("%s (%s)", v.Subject(s.Job, s.Key, shown), s.Sends.Label(v.Lang))
	r := s.Reasons
	if r.Key != s.typed {
		say(`In the ERP the key of this row is "%s", written so; "%s" is another spelling. A row that names the other spelling does not find this one.`, r.Key, s.typed)
	}
	switch {
	case s.NextRun == nil:
		say("This job is no longer in the configuration; what follows is what was recorded.")
	case s.former:
		say("The configuration now distinguishes the rows by other columns (`key`), and this key is of the former form: the ERP was not asked; what follows is what was recorded.")
	case s.erpErr != nil:
		say("The ERP could not be read now: %v", s.erpErr)
	case r.InQuery && r.Cancelled:
		say("The row is in the ERP, but cancelled: cancelled rows are not sent.")
	case r.InQuery:
		say("The row is in the ERP, and the job's query returns it.")
	case !r.Asked:
		say("It is unknown whether the job's query returns this key: the database did not accept the check; `safrasync check` tells more.")
	case r.InERP == nil:
		say("The job's query does not return this key. For a query of this kind it is not known why, or whether the row is in the ERP.")
	case *r.InERP && len(r.Excluded) == 0:
		say("The row exists in the ERP, but the job's query leaves it out. For a query of this kind the condition is not known.")
	case *r.InERP:
		say("The row exists in the ERP, but the job's query leaves it out. The conditions that exclude it:")
		out = append(out, excluding(v, r.Excluded)...)
	default:
		say("No table of the query has this key. Check the key: its parts are separated by |, and a | or \\ inside a part is written with a \\ before it.")
	}
	e := s.Entry
	if e == nil { // the ledger has never seen the key
		say("safrasync has never recorded this row; nothing was sent.")
		if r.InQuery && !r.Cancelled {
			say("The next run processes it (of the service: %s); `safrasync sync` does it now.", v.Moment(*s.NextRun))
		}
		return append(append(out, whyPreview(v, s)...), whyJob(v, s)...)
	}
	say("State: %s, since %s.", e.State.Label(v.Lang), v.Moment(e.UpdatedAt))
	if text := v.Reason(*e); text != "" {
		say("Reason: %s.", text)
	}
	for _, p := range s.parents { // which are not in the ledger because their queries leave them out
		if p.InERP != nil && *p.InERP && len(p.Excluded) > 0 {
			say("The row that it waits for (%s %s) is in the ERP, but the job's query leaves it out. Conditions that exclude it:", p.Job, p.Key)
			out = append(out, excluding(v, p.Excluded)...)
		}
	}
	byAttempt := func(t trade.Attempt) bool { return reflect.DeepEqual(t.Reason, e.Error.Why) }
	if e.Error != nil && e.Error.Why.Code != "" && e.Error.Counterpart == nil && // which the reason names
		!slices.ContainsFunc(s.Attempts, byAttempt) {
		say("Detail: %s.", v.Say(e.Error.Why))
	}
	for _, t := range s.Attempts {
		at := t.FinishedAt
		if at.IsZero() {
			at = t.StartedAt
		}
		outcome := v.Text("outcome." + words.OutcomeName(t.Outcome))
		say("Attempt %d, %s: %s (%s).", t.No, v.Moment(at), outcome, v.Say(t.Reason))
	}
	if e.RemoteID != "" {
		say("Id on the platform: %s.", e.RemoteID)
	}
	if e.MovedID != "" {
		out = append(out, strings.TrimSpace(v.Text("  former id: %s; the record now belongs to the renumbered row (`safrasync report --audit` shows who decided)", e.MovedID)))
	}
	out = append(out, v.Since(*e, s.Changes)...)
	switch { // what happens next, and who does it
	case e.State == trade.Accepted:
		say("Nothing more to do: a row that was sent is never sent again.")
	case e.State == trade.Rejected && e.NextAttemptAt.After(v.Now):
		say("It is retried automatically at %s.", v.Moment(e.NextAttemptAt))
	}
	if advice := v.Advice(*e); advice.Do != "" {
		say("Who resolves it: %s. %s", advice.Who, advice.Do)
	}
	if !e.State.MayBeOnPlatform() {
		out = append(out, whyPreview(v, s)...)
	}
	return append(out, whyJob(v, s)...)
}

// excluding returns a line for each condition of the query that leaves a row out.
func excluding(v words.Voice, conditions []string) []string {
	var out []string
	for _, condition := range conditions {
		line := "  - " + condition
		if date := dryrun.CutOver(condition); date != "" {
			line += v.Text(" (before the cut-over date, %s: it is not sent)", date)
		}
		out = append(out, line)
	}
	return out
}

// whyPreview explains what the row would become with the ERP's present data and the present
// mapping, if that differs from its state.
func whyPreview(v words.Voice, s Story) []string {
	p := s.Preview
	if p == nil || p.Cancelled || s.Entry != nil && s.Entry.State == p.State && s.Entry.Cause == p.Cause {
		return nil
	}
	switch p.State {
	case trade.Pending:
		if s.Entry != nil && staysAsItIs(*s.Entry, p.Request) {
			return nil
		}
		return []string{v.Text("With the current data it would be sent in the next run.")}
	case trade.Invalid:
		return []string{v.Text("With the current data it would not be sent: %s.", trade.Sentences(p.Problems, v.Lang))}
	}
	if p.State == trade.Held {
		return []string{v.Text("With the current data it would not be sent: %s.", trade.Explain(p.State, p.Cause, v.Lang).What)}
	}
	return trade.Map(v.Awaited(p.WaitingFor), func(text string) string {
		return v.Text("With the current data it would wait: %s.", text)
	})
}

// staysAsItIs reports whether a row does not go with the next run although its data is valid,
// because a person must decide, or because the platform has refused exactly this request.
func staysAsItIs(e trade.Entry, request json.RawMessage) bool {
	switch e.State {
	case trade.InDoubt, trade.Dismissed, trade.Sending:
		return true
	case trade.Held:
		return e.Cause != trade.CauseDuplicateKey && e.Cause != trade.CauseVanished
	case trade.Rejected, trade.Waiting:
		var was, would bytes.Buffer
		return json.Compact(&was, e.Payload) == nil && json.Compact(&would, request) == nil &&
			bytes.Equal(was.Bytes(), would.Bytes()) &&
			(e.State == trade.Rejected || !strings.HasPrefix(e.Cause, "ref:"))
	}
	return false
}

// whyJob explains that the job is not running rows, if it is stopped, paused or backing off.
func whyJob(v words.Voice, s Story) []string {
	if s.JobStatus.State == trade.Idle || s.JobStatus.State == trade.Running {
		return nil
	}
	text := ""
	if s.JobStatus.Stop != nil {
		text = v.Stop(*s.JobStatus.Stop)
	}
	return []string{v.Text("The job is not sending (%s): %s",
		v.Text("job.state."+string(s.JobStatus.State)), text)}
}
