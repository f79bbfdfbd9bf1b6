package words

import (
	"fmt"
	"strings"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// Since returns what the ERP did to a row after it was sent, and what to do about it.
func (v Voice) Since(e trade.Entry, changes []trade.Difference) []string {
	out := v.SinceSent(e, changes)
	if len(e.Acknowledged) > 0 {
		out = append(out, v.Text("resolved: %s", strings.Join(v.labels(e.Acknowledged), ", ")))
	}
	if e.State == trade.Accepted && e.Flags.Has(trade.Replaced) {
		return append(out, trade.ExplainFlag(trade.Replaced, v.Lang).Do)
	}
	for _, f := range trade.AcknowledgedByAct {
		if e.State == trade.Accepted && e.Flags.Has(f) {
			return append(out, v.Text("once it is corrected on the platform by hand: `safrasync acknowledge %s '%s' --reason TEXT`", e.Job, e.Key))
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
			now = v.Text("“%s” in the ERP (%s)", d.ERPNow, d.WaitsFor.Sentence(v.Lang))
		case trade.IsParent(d.Field) && d.Now != nil:
			now = v.Text("%s (“%s” in the ERP)", *d.Now, d.ERPNow)
		}
		if d.Acknowledged == nil {
			out = append(out, v.Text("changed in the ERP after it was sent: %s: sent %s, now %s", v.fieldName(d), sent, now))
			continue
		}
		out = append(out, v.Text("changed in the ERP after it was sent: %s: sent %s, resolved with %s, now %s", v.fieldName(d), sent, *d.Acknowledged, now))
	}
	switch producer := len(changes) == 1 && changes[0].Field == "producer_id"; {
	case e.Flags.Has(trade.Replaced) && producer:
		out = append(out, v.Text("the producer of this row has changed: the same contract, or another one?"))
	case e.Flags.Has(trade.Replaced):
		out = append(out, trade.ExplainFlag(trade.Replaced, v.Lang).What)
	}
	if e.Flags.Has(trade.MissingInERP) {
		out = append(out, v.Text("it is no longer in the ERP; the record is still on the platform"))
	}
	if e.Flags.Has(trade.Cancelled) {
		out = append(out, v.Text("it is cancelled in the ERP; the record is still on the platform"))
	}
	return out
}

// fieldName returns the label of a field with its source columns.
func (v Voice) fieldName(d trade.Difference) string {
	columns := v.Text("column %s", strings.Join(d.Columns, ", "))
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
		return v.Text("nothing")
	case raw:
		return erp
	}
	return v.Text(`"%s" in the ERP, which cannot be mapped`, erp)
}

// Identity returns a job's identity as text: its key columns and its tables.
func (v Voice) Identity(i *trade.Identity) string {
	if i == nil {
		return "-"
	}
	return v.Say(i.Sentence())
}

// Age returns a duration in days, hours or minutes.
func (v Voice) Age(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return v.Text("%d {day|days}", int(d.Hours()/24))
	case d >= 2*time.Hour:
		return v.Text("%d {hour|hours}", int(d.Hours()))
	}
	return v.Text("%d {minute|minutes}", int(d.Minutes()))
}

// Number formats a decimal for the language: 4.310,5 or 4,310.5.
func (v Voice) Number(d trade.Decimal) string {
	return strings.Replace(trade.NumberText(d.String(), v.Lang), "−", "-", 1)
}

// Tonnes is [trade.TonnesText].
func (v Voice) Tonnes(kg trade.Decimal) string { return trade.TonnesText(kg, v.Lang) }

// OrAbsent returns a text, or the phrase for a missing one.
func (v Voice) OrAbsent(text *string) string {
	if text == nil {
		return v.Text("nothing")
	}
	return *text
}
