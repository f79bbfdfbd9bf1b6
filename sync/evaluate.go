package sync

import (
	"runtime/debug"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/trade"
)

// evaluator maps and checks rows of one job with one set of references, as of one day.
type evaluator struct {
	job        *Job
	refs       codes
	mappedWith string // fingerprint of the mapping and version of the references
	today      trade.Date
	log        *zap.Logger
	lookupKey  []byte // of the hashes that stand for documents
}

// evaluate fills in what the mapping and the rules say of a row: state, cause, error, payload. It touches nothing else of the entry. A row on
// which the program itself fails becomes invalid; the others go on. parents has what the row may hang on, as [jobRun.parentsOf] gives it.
func (e *evaluator) evaluate(entry *trade.Entry, values trade.Values, parents parents) {
	values = e.seal(values)
	defer func() {
		if r := recover(); r != nil {
			e.log.Error("a row made the mapping fail", zap.String("job", e.job.Name()), zap.String("key", entry.Key), zap.ByteString("stack", debug.Stack()))
			e.fill(entry, values, trade.Draft{}, request{}, []trade.Problem{{Rule: trade.RuleInternal, Mapping: true}})
		}
	}()
	draft := e.job.mapping.draft(columnsIn(values), e.refs, parents)
	record, problems := trade.Check(draft, e.job.Spec.Checks, e.today)
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

func (e *evaluator) fill(entry *trade.Entry, values trade.Values, draft trade.Draft, r request, problems []trade.Problem) {
	entry.Values, entry.MappedWith, entry.Quantity = values, e.mappedWith, draft.Quantity()
	entry.Target, entry.Payload, entry.PayloadHash, entry.Content = "", nil, "", 0
	entry.WaitingFor, entry.NextAttemptAt = draft.Missing, noTime
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
		entry.Content = trade.ContentNumber(e.job.Spec.Sends, r.parent, r.target, r.body)
	}
}

// causeOfWaiting names the thing that somebody can cure here: a reference before a parent, which has a cause of its own.
func causeOfWaiting(missing []trade.Awaited) string {
	for _, m := range missing {
		if m.Ref != "" {
			return "ref:" + m.Ref
		}
	}
	return trade.CauseParent
}

// columnsIn reads stored values.
func columnsIn(values trade.Values) columnsOf {
	return func(column string) (erp.Value, bool) {
		c, ok := values[column]
		return valueOf(c), ok
	}
}
