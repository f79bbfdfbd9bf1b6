package mapping

import (
	"runtime/debug"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/trade"
)

// Evaluator maps and checks rows of one job with one set of references, as of one day.
type Evaluator struct {
	Job        *Job
	Refs       Codes
	MappedWith string // fingerprint of the mapping and version of the references
	Today      trade.Date
	Log        *zap.Logger
	LookupKey  []byte // of the hashes that stand for documents
}

// Evaluate fills in what the mapping and the rules say of a row: state, cause, error, payload. It
// touches nothing else of the entry. A row on which the program itself fails becomes invalid; the
// others go on. parents has what the row may hang on, as package run looks it up.
func (e *Evaluator) Evaluate(entry *trade.Entry, values trade.Values, parents Parents) {
	values = e.Seal(values)
	defer func() {
		if r := recover(); r != nil {
			e.Log.Error("a row made the mapping fail", zap.String("job", e.Job.Name()), zap.String("key", entry.Key),
				zap.ByteString("stack", debug.Stack()))
			e.fill(entry, values, trade.Draft{}, request{}, []trade.Problem{{Rule: trade.RuleInternal, Mapping: true}})
		}
	}()
	draft := e.Job.Mapping.Draft(ColumnsIn(values), e.Refs, parents)
	record, problems := trade.Check(draft, e.Job.Spec.Checks, e.Today)
	if trade.Refused(problems) || len(draft.Missing) > 0 {
		e.fill(entry, values, draft, request{}, problems)
		return
	}
	r, err := requestOf(record)
	if err != nil {
		problems = append(problems, trade.Problem{Rule: trade.RuleInternal, Detail: err.Error(), Mapping: true})
	}
	for _, f := range draft.Fields {
		r.parent += f.Parent // one field has one at most
	}
	e.fill(entry, values, draft, r, problems)
}

func (e *Evaluator) fill(entry *trade.Entry, values trade.Values, draft trade.Draft, r request,
	problems []trade.Problem,
) {
	entry.Values, entry.MappedWith, entry.Quantity = values, e.MappedWith, draft.Quantity()
	entry.Target, entry.Payload, entry.PayloadHash, entry.Content = "", nil, "", 0
	entry.WaitingFor, entry.NextAttemptAt = draft.Missing, NoTime
	var refused []trade.Problem
	entry.Warnings = nil
	for _, p := range problems {
		if p.Severity == trade.Warning {
			entry.Warnings = append(entry.Warnings, p)
		} else {
			refused = append(refused, p)
		}
	}
	switch {
	case len(refused) > 0:
		kind := trade.ValidationError
		for _, p := range refused {
			if p.Mapping {
				kind = trade.MappingError
			}
		}
		entry.State, entry.Cause = trade.Invalid, trade.Cause(refused)
		entry.Error = &trade.EntryError{Kind: kind, Fields: refused, Text: trade.Sentences(refused, trade.English)}
	case len(draft.Missing) > 0:
		entry.State, entry.Cause, entry.Error = trade.Waiting, causeOfWaiting(draft.Missing), nil
	default:
		entry.State, entry.Cause, entry.Error = trade.Pending, "", nil
		entry.Target, entry.Payload, entry.PayloadHash = r.target, r.body, trade.PayloadHash(r.target, r.body)
		entry.Content = trade.ContentNumber(e.Job.Spec.Sends, r.parent, r.target, r.body)
	}
}

// causeOfWaiting names the thing that somebody can cure here: a reference before a parent, which
// has a cause of its own.
func causeOfWaiting(missing []trade.Awaited) string {
	for _, m := range missing {
		if m.Ref != "" {
			return "ref:" + m.Ref
		}
	}
	return trade.CauseParent
}

// ColumnsIn reads stored values.
func ColumnsIn(values trade.Values) ColumnsOf {
	return func(column string) (erp.Value, bool) {
		c, ok := values[column]
		return valueOf(c), ok
	}
}

// Quantity reads a row's amount and unit, for the sums.
func (e *Evaluator) Quantity(values trade.Values) trade.Quantity {
	return e.Job.Mapping.Draft(ColumnsIn(values), e.Refs, nil).Quantity()
}
