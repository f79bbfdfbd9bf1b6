package words

import (
	"fmt"
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/trade"
)

// Since returns what the ERP did to a row after it was sent, and what to do about it.
func (v Voice) Since(e trade.Entry, changes []trade.Difference) []string {
	out := v.SinceSent(e, changes)
	if len(e.Acknowledged) > 0 {
		var labels []string
		for _, f := range e.Acknowledged {
			labels = append(labels, f.Label(v.Lang))
		}
		out = append(out, v.Text("since.acked", strings.Join(labels, ", ")))
	}
	for _, f := range trade.AcknowledgedByAct {
		if e.State == trade.Accepted && e.Flags.Has(f) {
			return append(out, v.Text("since.advice", e.Job, e.Key))
		}
	}
	return out
}

// SinceSent returns what the ERP did to a row after it was sent.
func (v Voice) SinceSent(e trade.Entry, changes []trade.Difference) []string {
	var out []string
	for _, d := range changes {
		sent, now := v.fieldValue(d.Sent, d.ERPSent, d.Field == ""), v.fieldValue(d.Now, d.ERPNow, d.Field == "")
		switch {
		case d.WaitsFor != nil:
			now = v.Text("since.waits", d.ERPNow, d.WaitsFor.Sentence(v.Lang))
		case trade.IsParent(d.Field) && d.Now != nil:
			now = v.Text("since.parent", *d.Now, d.ERPNow)
		}
		if d.Acknowledged == nil {
			out = append(out, v.Text("since.changed", v.fieldName(d), sent, now))
			continue
		}
		out = append(out, v.Text("since.dealt", v.fieldName(d), sent, *d.Acknowledged, now))
	}
	if e.Flags.Has(trade.MissingInERP) {
		out = append(out, v.Text("since.missing"))
	}
	if e.Flags.Has(trade.Cancelled) {
		out = append(out, v.Text("since.cancelled"))
	}
	return out
}

// fieldName returns the label of a field with its source columns.
func (v Voice) fieldName(d trade.Difference) string {
	columns := v.Text("since.column", strings.Join(d.Columns, ", "))
	if d.Field == "" {
		return columns
	}
	return fmt.Sprintf("%s (%s)", trade.FieldLabel(d.Field, v.Lang), columns)
}

// fieldValue returns a field's value in the API's form or, without one, the ERP's value. raw means
// that only the ERP's value can be known.
func (v Voice) fieldValue(text *string, erp string, raw bool) string {
	switch {
	case text != nil:
		return *text
	case erp == "":
		return v.Text("since.nothing")
	case raw:
		return erp
	}
	return v.Text("since.no_value", erp)
}

// Brake returns the text of what a brake found.
func (v Voice) Brake(code string, b trade.Brake) string {
	samples := strings.Join(b.Samples, ", ")
	switch code {
	case "brake_new_rows":
		return v.Text("brake.new_rows", b.Rows, b.Usual, b.Limit, samples, b.Job)
	case "brake_retyped":
		return v.Text("brake.retyped", b.Rows, samples, b.Job)
	case "brake_changed_key":
		return v.Text("brake.changed_key", v.Identity(b.Identity), v.Identity(b.Was), b.Known, b.Known-b.Found, b.Rows,
			samples, b.Job)
	case "brake_new_job":
		if b.Was != nil && b.Identity != nil {
			return v.Text("brake.space", b.Job, b.Known, b.Was.Space, b.Identity.Space, b.Job, b.Was.Space)
		}
		var former []string
		advice := v.Text("brake.split")
		for _, k := range b.Former {
			text := v.Text("brake.former", k.Job, k.Accepted, k.InDoubt)
			if k.Gone > 0 {
				text = v.Text("brake.gone", k.Job, k.Accepted, k.InDoubt, k.Gone)
			} else {
				advice = v.Text("brake.renamed", k.Job, b.Job)
			}
			if k.Apart {
				text += v.Text("brake.apart")
			}
			former = append(former, text)
		}
		return v.Text("brake.new_job", b.Job, strings.Join(former, ", "), advice, b.Job)
	case "brake_most":
		return v.Text("brake.most", v.freight(b.Freight), v.freight(b.Most), samples, b.Job)
	case "brake_new_journal":
		return v.Text("brake.new_journal", v.Moment(b.Until), b.Job, b.Job, b.Job)
	case "brake_canary":
		return v.Text("brake.canary", b.Rows, samples, b.Job)
	}
	return v.Text("brake.sweep", b.Found, b.Known, b.Job, b.Job)
}

// freight returns what a run would send, or may send; what has no limit is left out.
func (v Voice) freight(f *trade.Freight) string {
	if f == nil {
		return "-"
	}
	var parts []string
	if f.Rows > 0 {
		parts = append(parts, v.Text("freight.rows", f.Rows))
	}
	if f.Kilograms.Sign() > 0 {
		parts = append(parts, v.Tonnes(f.Kilograms))
	}
	for _, currency := range config.SortedKeys(f.Value) {
		parts = append(parts, currency+" "+v.Number(f.Value[currency]))
	}
	return strings.Join(parts, ", ")
}

// Identity returns a job's identity as text: its key columns and its tables.
func (v Voice) Identity(i *trade.Identity) string {
	if i == nil {
		return "-"
	}
	return v.Text("brake.identity", strings.Join(i.Key, ", "), strings.Join(i.Tables, ", "))
}

// Age returns a duration in days, hours or minutes.
func (v Voice) Age(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return v.Text("late.days", int(d.Hours()/24))
	case d >= 2*time.Hour:
		return v.Text("late.hours", int(d.Hours()))
	}
	return v.Text("late.other", int(d.Minutes()))
}

// Number formats a decimal for the language: 4.310,5 or 4,310.5.
func (v Voice) Number(d trade.Decimal) string {
	return strings.Replace(trade.NumberText(d.String(), v.Lang), "−", "-", 1)
}

// Tonnes formats a weight in kilograms as tonnes, to the kilogram; a rounded value is marked with ≈.
func (v Voice) Tonnes(kg trade.Decimal) string {
	whole := kg.Round(0)
	text := v.Text("freight.tonnes", v.Number(whole.Tonnes()))
	if whole.Cmp(kg) != 0 {
		return "≈ " + text
	}
	return text
}

// OrAbsent returns a text, or the phrase for a missing one.
func (v Voice) OrAbsent(text *string) string {
	if text == nil {
		return v.Text("since.nothing")
	}
	return *text
}
