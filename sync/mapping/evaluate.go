// The evaluation of a row: draft, checked record, request, or what is wrong with it.

package mapping

import (
	"runtime/debug"
	"slices"
	"strings"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/trade"
)

// Evaluator maps and checks rows of one job with one set of references, as of one day.
type Evaluator struct {
	Job        *Job
	Refs       Codes
	MappedWith string // fingerprint of the mapping and version of the references
	Today      trade.Date
	Log        *zap.Logger
	LookupKey  []byte // for the keyed hashes of documents
}

// Evaluate maps and checks a row, and stores the result in the entry: values, state, cause, error,
// warnings, payload and what it waits for. It changes nothing else of the entry, and
// nothing at all if the entry was sent, or may have been, or a person dismissed it. If the program
// itself panics on a row, that row becomes invalid and the others go on. parents are the rows on
// which the row may depend, as package run reads them.
func (e *Evaluator) Evaluate(entry *trade.Entry, values trade.Values, parents Parents) {
	values = e.Seal(values)
	defer func() {
		if r := recover(); r != nil {
			e.Log.Error("a row made the mapping fail", zap.String("job", e.Job.Name()),
				zap.Int64("row", entry.ID), zap.ByteString("stack", debug.Stack()))
			e.fill(entry, values, trade.Draft{}, request{}, []trade.Problem{{Rule: trade.RuleInternal, Mapping: true}})
		}
	}()
	draft := e.Job.Mapping.Draft(ColumnsIn(values), e.Refs, parents)
	fields, problems := trade.Check(draft, e.Job.Spec.Checks, e.Today)
	if p := e.Job.declared(ColumnsIn(values)); p != nil {
		if p.Rule == trade.RuleDeclared { // it says why a value is missing; that it is missing says no more
			problems = slices.DeleteFunc(problems, func(p trade.Problem) bool {
				return strings.HasPrefix(p.Rule, trade.RuleRequired)
			})
		}
		problems = slices.Insert(problems, 0, *p)
	}
	if trade.Refused(problems) || len(draft.Missing) > 0 {
		e.fill(entry, values, draft, request{}, problems)
		return
	}
	body, err := apiclient.Encode(draft.Sends, fields)
	r := request{target: fields["order_commitment_id"], body: body}
	if err != nil {
		r = request{}
		why := phrase.Packed(err.Error())
		problems = append(problems, trade.Problem{Rule: trade.RuleInternal, Detail: why, Mapping: true})
	}
	e.fill(entry, values, draft, r, problems)
}

// EvaluateRow is Evaluate for a row as it was read in the ERP.
func (e *Evaluator) EvaluateRow(entry *trade.Entry, row *Row, parents Parents) {
	e.Evaluate(entry, row.Values(), parents)
	entry.Shown, entry.SourceHash = row.Shown, row.SourceHash
	row.AddFacts(&entry.Facts)
}

// Would returns what an entry would be with these values, whatever it is now: pending, waiting or
// invalid.
func (e *Evaluator) Would(entry trade.Entry, values trade.Values, parents Parents) trade.Entry {
	would := entry.As("")
	e.Evaluate(&would, values, parents)
	return would
}

// Remap returns an entry after it was mapped again. It stays as it was where the new mapping alone
// decides nothing.
func (e *Evaluator) Remap(old trade.Entry, values trade.Values, parents Parents) trade.Entry {
	fresh := old
	e.Evaluate(&fresh, values, parents)
	samePayload := fresh.PayloadHash != "" && fresh.PayloadHash == old.PayloadHash
	switch {
	// the refusal was in no form of the API: an earlier step may have happened, so a change of the row
	// alone does not make it go
	case old.Weak(),
		samePayload && (old.State == trade.Rejected || old.State == trade.Pending),
		// an edit alone does not make it another document
		old.State == trade.Held && (old.Cause == trade.CauseRetyped || old.Cause == trade.CauseTwin ||
			old.Cause == trade.CauseOtherJob && old.MappedWith != ""), // else rebuilt from the journal
		samePayload && old.State == trade.Waiting && old.WaitsForPlatform():
		fresh.TakeState(old)
	}
	return fresh
}

// RemapRow returns an entry as Remap does, from its row as it is in the ERP now. That it differed from
// what was sent, or was cancelled, is from a time when it may have been sent.
func (e *Evaluator) RemapRow(old trade.Entry, row *Row, parents Parents) trade.Entry {
	fresh := e.Remap(old, row.Values(), parents)
	fresh.SourceHash, fresh.Shown = row.SourceHash, row.Shown
	row.AddFacts(&fresh.Facts)
	fresh.Flags, fresh.Now = fresh.Flags.With(trade.Changed, false).With(trade.Cancelled, false), nil
	return fresh
}

func (e *Evaluator) fill(entry *trade.Entry, values trade.Values, draft trade.Draft, r request,
	problems []trade.Problem,
) {
	var refused, warnings []trade.Problem
	for _, p := range problems {
		if p.Severity == trade.Warning {
			warnings = append(warnings, p)
		} else {
			refused = append(refused, p)
		}
	}
	var moved bool
	switch {
	case len(refused) > 0:
		moved = entry.Refuse(refused, draft.Missing...)
	case len(draft.Missing) > 0:
		for i, m := range draft.Missing { // what the last sweep found of absent parents stays
			if slices.ContainsFunc(entry.WaitingFor, func(a trade.Awaited) bool {
				return a.BeforeCutOver() && a.Job == m.Job && a.Key == m.Key
			}) {
				draft.Missing[i].ParentCause = trade.CauseCutOver
			}
		}
		// a reference can be cured here; a parent has a cause of its own
		cause := trade.CauseParent
		if i := slices.IndexFunc(draft.Missing, func(a trade.Awaited) bool { return a.Ref != "" }); i >= 0 {
			cause = "ref:" + draft.Missing[i].Ref
		}
		moved = entry.Wait(cause, NoTime, draft.Missing...)
	default:
		moved = entry.Pend()
	}
	if !moved {
		return
	}
	entry.Values, entry.MappedWith = values, e.MappedWith
	entry.Quantity, entry.Warnings = draft.Quantity(), warnings
	entry.Facts.AddDraft(draft)
	fresh := trade.Entry{
		Sends: e.Job.Spec.Sends, Target: r.target, Payload: r.body, PayloadHash: trade.PayloadHash(r.target, r.body),
	}
	pairs := fresh.Prints().Pairs(fresh.Sends)
	fresh.Content = pairs[0] ^ pairs[1]
	entry.TakePayload(fresh)
}

// ColumnsIn returns a function that reads stored values.
func ColumnsIn(values trade.Values) ColumnsOf {
	return func(column string) (erp.Value, bool) {
		c, ok := values[column]
		return valueOf(c), ok
	}
}

// Measure sets an entry's quantity and facts to those of a version of its row, for sums and lists.
func (e *Evaluator) Measure(entry *trade.Entry, values trade.Values) {
	draft := e.Job.Mapping.Draft(ColumnsIn(values), e.Refs, nil)
	entry.Quantity = draft.Quantity()
	entry.Facts.AddDraft(draft)
}

// Draft maps all fields of one row.
func (m *Mapping) Draft(get ColumnsOf, refs Codes, known Parents) trade.Draft {
	d := trade.Draft{Sends: m.Sends, Fields: make(map[string]trade.DraftField, len(m.Fields))}
	for i := range m.Fields {
		f := &m.Fields[i]
		out, problem, missing := f.Apply(get, refs, known)
		if problem != nil {
			problem.Field, problem.Mapping = f.Rule.Field, true
			problem.Column, problem.Value = strings.Join(out.Origin.Columns, ", "), shorten(out.Origin.Value)
			if problem.Rule == trade.RuleDocument {
				problem.Value = "" // a wrong document may still be most of a real one (I10)
			}
			d.Problems = append(d.Problems, *problem)
		}
		if missing != nil {
			d.Missing = append(d.Missing, *missing)
		}
		out.Failed = problem != nil || missing != nil
		d.Fields[f.Rule.Field] = out
	}
	return d
}

// Apply maps one field. It returns the draft field, and a problem or what the field waits for, if
// any.
func (f *fieldMapping) Apply(get ColumnsOf, refs Codes,
	known Parents,
) (trade.DraftField, *trade.Problem, *trade.Awaited) {
	if f.Spec.Const != nil {
		return trade.DraftField{Text: *f.Spec.Const, Origin: trade.Origin{Value: *f.Spec.Const, Via: "const"}}, nil, nil
	}
	if len(f.Spec.SentBy) > 0 {
		return f.applyParent(get, known)
	}
	out := trade.DraftField{Origin: trade.Origin{Columns: f.Spec.Columns, Via: f.via()}}
	values := make([]erp.Value, len(f.Spec.Columns))
	texts := make([]string, len(f.Spec.Columns))
	blank := true
	for i, column := range f.Spec.Columns {
		v := get.part(column)
		if v.Err != "" {
			return out, &trade.Problem{Rule: trade.RuleUnreadable, Detail: v.Err}, nil
		}
		values[i] = v
		if v.Kind != erp.Null {
			texts[i] = PlainText(v)
		}
		_, constant := ConstOf(column)
		blank = blank && (constant || texts[i] == "" || f.isEmpty(v, texts[i]))
	}
	out.Origin.Value = texts[0]
	if len(texts) > 1 {
		out.Origin.Value = JoinCode(texts)
	}
	if blank {
		if f.Spec.Default != nil {
			out.Text, out.Origin.Via = *f.Spec.Default, "default"
		}
		return out, nil, nil
	}
	if f.Spec.Lookup != "" {
		text := texts[0]
		if len(text) < CodeLength {
			out.Origin.Value = ""
			return out, &trade.Problem{Rule: trade.RuleDocument}, nil
		}
		code, reason, wrong := strings.Cut(text, " ")
		out.Origin.Value = code
		if wrong {
			return out, &trade.Problem{Rule: trade.RuleDocument, Detail: phrase.Packed(reason)}, nil
		}
		id, ok := refs[f.Spec.Lookup][code]
		if !ok {
			return out, nil, &trade.Awaited{Ref: f.Spec.Lookup, Code: code}
		}
		out.Text = id
		return out, nil, nil
	}
	if f.Spec.Ref != "" {
		code := JoinCode(texts)
		id, ok := refs[f.Spec.Ref][code]
		if !ok {
			return out, nil, &trade.Awaited{Ref: f.Spec.Ref, Code: code, Spelled: otherCapitals(code, refs[f.Spec.Ref])}
		}
		parsed, err := trade.ParseID(id)
		if err != nil {
			return out, &trade.Problem{Rule: trade.RuleUUID, Detail: phrase.Packed("de-para " + f.Spec.Ref)}, nil
		}
		out.Text = parsed
		return out, nil, nil
	}
	text, problem := f.read(values[0], texts[0])
	out.Text = text
	if f.per != nil && problem == nil {
		per, problem, _ := f.per.Apply(get, nil, nil)
		if len(per.Origin.Columns) > 0 {
			out.Origin.Columns = append(slices.Clone(out.Origin.Columns), per.Origin.Columns...)
			out.Origin.Value = JoinCode([]string{out.Origin.Value, per.Origin.Value})
		}
		if problem != nil {
			return out, problem, nil
		}
		in, problem, _ := f.in.Apply(get, nil, nil)
		from, to := trade.Unit(strings.ToUpper(per.Text)), trade.Unit(strings.ToUpper(in.Text))
		if problem != nil || !to.Known() {
			return out, nil, nil // the unit of the record is wrong, which makes the row invalid by itself
		}
		if !from.Known() {
			return out, &trade.Problem{Rule: trade.RuleOneOf, Detail: "SC, KG, TON"}, nil
		}
		price, err := trade.ParseDecimal(out.Text)
		if err != nil {
			return out, &trade.Problem{Rule: trade.RuleNumber, Detail: phrase.Packed(f.number.sample)}, nil
		}
		price, exact := price.PerUnit(from, to, f.Spec.Scale)
		if !exact {
			return out, &trade.Problem{Rule: trade.RuleInexact, Detail: phrase.Packed(from + " → " + to)}, nil
		}
		out.Text = price.String()
		return out, nil, nil
	}
	return out, problem, nil
}

// otherCapitals returns the code of a table that differs in capital letters only; "" if there is none.
func otherCapitals(code string, table map[string]string) (found string) {
	if strings.ToLower(code) == strings.ToUpper(code) {
		return "" // no letters: the table need not be searched
	}
	for known := range table {
		if strings.EqualFold(known, code) && (found == "" || known < found) {
			found = known
		}
	}
	return found
}

// read converts one value to the form of its field.
func (f *fieldMapping) read(v erp.Value, text string) (string, *trade.Problem) {
	if len(f.Spec.Values) > 0 {
		to, ok := f.values[Fold(text)]
		if !ok {
			table := phrase.Pack("values of the field")
			if f.Spec.ValuesName != "" {
				table = phrase.Pack("values %s", f.Spec.ValuesName)
			}
			return "", &trade.Problem{Rule: trade.RuleUnmapped, Detail: table}
		}
		return to, nil
	}
	switch f.Rule.Type {
	case trade.Number:
		n, err := f.number.Read(v, text)
		if err != nil {
			return "", &trade.Problem{Rule: trade.RuleNumber, Detail: phrase.Packed(f.number.sample)}
		}
		if f.Spec.Scale != nil && f.per == nil { // a price is converted first
			n = n.Round(*f.Spec.Scale)
		}
		return n.String(), nil
	case trade.Day:
		d, err := f.date.read(v, text)
		if err != nil {
			return "", &trade.Problem{Rule: trade.RuleDate, Detail: phrase.Packed(f.date.sample)}
		}
		return d.String(), nil
	}
	return text, nil
}

// request is what is sent for one record: the body, and the id in the path.
type request struct {
	target string // the order commitment of a traceability record; it is in the path
	body   []byte
}
