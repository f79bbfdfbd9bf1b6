package office

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// ColumnsInOrder returns the columns of a row, in the order of the fields to which they are mapped,
// then the columns that are mapped to none.
func ColumnsInOrder(jobs []mapping.JobSpec, e trade.Entry) []string {
	values := e.NewestValues()
	var out []string
	add := func(names ...string) {
		for _, name := range names {
			if _, ok := values[name]; ok && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	for _, spec := range jobs {
		if spec.Name == e.Job {
			for _, rule := range trade.Rules(spec.Sends) {
				add(spec.Fields[rule.Field].Columns...)
			}
		}
	}
	add(slices.Sorted(maps.Keys(values))...)
	return out
}

// Sides is a row as the ERP has it, as it was sent, and as the platform has it, and of when each
// of them is.
type Sides struct {
	Fields  []Field
	ERP     Reading
	SentAt  time.Time // zero: it was never sent, or not by this ledger
	AskedAt time.Time // when the platform was last asked, or answered; zero: never
	Told    bool      // its values were in that answer
}

// Reading is when the ERP was read for a job.
type Reading struct {
	At    time.Time   // of the last reading that came to its end; zero: none is known
	Whole time.Time   // if that read only what had changed: of the last complete one
	Tried time.Time   // of a later pass that has not read it to its end; zero: there is none
	Why   *trade.Stop // of that pass; nil: it goes on, or was interrupted
	Goes  bool        // that pass goes on
}

// Field is one field of the API beside its source columns in the ERP.
type Field struct {
	Name    string // in the API; "" for columns that are not mapped to a field alone
	Columns []string
	ERP     []*string // value of each column in the newest reading of the ERP; nil for NULL
	Numbers []bool    // which of them are numbers in the database
	Reduced bool      // retention has removed the values
	Sent    *string   // in the API's form; what would be sent if nothing was; nil: absent
	Now     *string   // what would be sent now; only with Differs
	Differs bool      // the ERP's row differs from what was sent
	Problem *trade.Problem
	Secret  bool            // documents and the like: masked unless revealed
	Code    trade.Reference // the de-para entry that produced Sent; empty: none
	NowCode trade.Reference // the de-para entry of the ERP's present code; empty: none
	There   *string         // what the platform has, as it was last read; nil: not read
	Apart   bool            // it is not what was sent
	// the row that the ERP names now, while it is open whether it is that of Sent, renumbered
	Renumbered trade.Entry
}

// Fill copies the values of some columns from the newest reading of a row; it omits columns that the
// row does not have.
func (f *Field) Fill(entry trade.Entry, columns []string) {
	values := entry.NewestValues()
	for _, name := range columns {
		cell, ok := values[name]
		if !ok {
			continue
		}
		f.Columns = append(f.Columns, name)
		var value *string
		switch cell.Kind {
		case 0:
		case trade.Marked:
			f.Reduced = true
		default:
			value = &cell.Text
		}
		f.ERP, f.Numbers = append(f.ERP, value), append(f.Numbers, strings.IndexByte("inf", cell.Kind) >= 0)
	}
}

// Said returns the value of a column of the ERP, formatted for people. Numbers that the ERP stores
// as text remain unchanged.
func (f Field) Said(v Teller, column int) string {
	value := f.ERP[column]
	switch {
	case value == nil:
		return ""
	case f.Raw(column):
		return *value
	}
	return v.Said(f.Name, *value)
}

// Hide replaces each text of the field by what a function returns for it, which masks documents. The
// function is also given the name of the column, or of the field.
func (f *Field) Hide(hidden func(name, text string) string) {
	hide := func(name string, text *string) *string {
		if text == nil {
			return nil
		}
		shown := hidden(name, *text)
		return &shown
	}
	f.ERP = slices.Clone(f.ERP)
	all := f.Name
	for i, text := range f.ERP {
		f.ERP[i] = hide(f.Columns[i], text)
		all += " " + f.Columns[i]
	}
	f.Sent, f.Now, f.There = hide(all, f.Sent), hide(all, f.Now), hide(all, f.There)
	for _, c := range []*trade.Reference{&f.Code, &f.NowCode} {
		c.Code, c.Label = hidden("", c.Code), hidden("", c.Label)
	}
}

// Raw reports whether a column has a number that the ERP stores as text, which is shown as it is.
func (f Field) Raw(column int) bool {
	value := f.ERP[column]
	if value == nil || f.Numbers[column] {
		return false
	}
	_, err := trade.ParseDecimal(*value)
	return err == nil
}

// Would returns what would be sent now, if that differs from what was sent and is not what the ERP
// is shown to have.
func (f Field) Would(v Teller) string {
	if !f.Differs || f.Now == nil {
		return ""
	}
	text := v.Said(f.Name, *f.Now)
	if len(f.ERP) == 1 && f.Said(v, 0) == text {
		return ""
	}
	return text
}

// Named returns what the de-para calls an id of this field: its label, or else its code; "" if it has none, and
// if the code had another id: then only the ids tell the two apart.
func (f Field) Named(id *string) string {
	if f.Code.Code == f.NowCode.Code && f.Code.ID != f.NowCode.ID && f.Code.ID != "" && f.NowCode.ID != "" {
		return ""
	}
	for _, c := range []trade.Reference{f.Code, f.NowCode} {
		if id != nil && c.ID == *id {
			return cmp.Or(c.Label, c.Code)
		}
	}
	return ""
}

// Line returns the values of the columns joined with |, as in codes.
func (f Field) Line() string {
	var parts []string
	for _, value := range f.ERP {
		if value != nil {
			parts = append(parts, strings.TrimSpace(*value))
		}
	}
	return strings.Join(parts, "|")
}

// Asked returns the field's value as it was sent or, if nothing was, as the ERP has it.
func (f Field) Asked() string {
	if f.Sent != nil {
		return *f.Sent
	}
	return f.erp()
}

// Newest returns the field's value as it would be sent now or, if it cannot be, as the ERP has it.
func (f Field) Newest() string {
	switch {
	case !f.Differs:
		return f.Asked()
	case f.Now != nil:
		return *f.Now
	}
	return f.erp()
}

func (f Field) erp() string {
	if len(f.ERP) == 1 && f.ERP[0] != nil {
		return strings.TrimSpace(*f.ERP[0])
	}
	return ""
}

// Teller formats a value of a field of the API for its reader.
type Teller interface {
	Said(field, value string) string
}

// The texts that the console shares with the command line.

// Stop returns why a job is stopped and who must act, without a command.
func (o *Office) Stop(stop trade.Stop, lang trade.Lang) string {
	v := o.Voice(lang)
	advice := o.AdviseStop(&stop, lang)
	text := advice.What
	switch {
	case stop.Code == string(trade.Paused): // the text states who paused it, and why
		text = v.Say(stop.Why)
	case advice.Fixer == trade.FixIT:
		text += v.Text(". Tell IT")
	}
	if !stop.Until.IsZero() {
		text += v.Text("; next attempt at %s", v.Moment(stop.Until))
	}
	return text
}

// Advice returns what to do about a row. For a row that was sent it is about what happened
// afterwards.
func (o *Office) Advice(entry trade.Entry, lang trade.Lang) trade.Advice {
	for _, flag := range append([]trade.Flag{trade.Moved, trade.Replaced}, trade.AcknowledgedByAct...) {
		if entry.State == trade.Accepted && entry.Flags.Has(flag) {
			return trade.ExplainFlag(flag, lang)
		}
	}
	return o.Voice(lang).Advice(entry)
}

// Attempt returns how an attempt ended, with the platform's answer, and phaseOf.
func (o *Office) Attempt(attempt trade.Attempt, lang trade.Lang) (outcome, phase string) {
	v := o.Voice(lang)
	outcome = v.Text("outcome." + words.OutcomeName(attempt.Outcome))
	if len(attempt.Messages) > 0 {
		outcome += ": " + trade.Explain(trade.Rejected, attempt.Messages[0], lang).What
	}
	return outcome, phaseOf(attempt)
}

// phaseOf returns how far the request of an attempt got, or that the answer proves that it created nothing.
func phaseOf(a trade.Attempt) string {
	if a.Outcome == trade.OutcomeNotCreated {
		return string(a.Outcome)
	}
	return words.PhaseOf(a.Evidence)
}

// HeldCauses are the causes of held rows.
var HeldCauses = []string{
	trade.CauseRetyped, trade.CauseOtherJob, trade.CauseTwin, trade.CauseDuplicateKey, trade.CauseVanished,
	trade.CauseExists, trade.CauseReplaced,
}

// CauseName says in words what a cause means.
func (o *Office) CauseName(cause string, lang trade.Lang) string {
	state := trade.Rejected
	switch {
	case strings.HasPrefix(cause, "rule:"):
		state = trade.Invalid
	case strings.HasPrefix(cause, "ref:"), cause == trade.CauseParent:
		state = trade.Waiting
	case cause == trade.CauseUnknown:
		state = trade.InDoubt
	case slices.Contains(HeldCauses, cause):
		state = trade.Held
	}
	return o.Advice(trade.Entry{State: state, Cause: cause}, lang).What
}
