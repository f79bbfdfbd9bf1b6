package words

import (
	"fmt"
	"regexp"
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

// ShortTimes formats times without their year.
func (v Voice) ShortTimes(times []time.Time) []string {
	form := "02/01 15:04"
	if v.Lang == trade.English {
		form = "01-02 15:04"
	}
	return trade.Map(times, func(t time.Time) string { return t.In(v.Zone).Format(form) })
}

// ExplainCron returns usual schedules in words. For any other it returns a phrase only: the times
// that are shown beside it must explain it.
func (v Voice) ExplainCron(text string) string {
	zone := ""
	if name, rest, ok := strings.Cut(text, " "); ok &&
		(strings.HasPrefix(name, "CRON_TZ=") || strings.HasPrefix(name, "TZ=")) {
		_, place, _ := strings.Cut(name, "=")
		zone, text = v.Text(", in the zone %s", place), strings.TrimSpace(rest)
	}
	if d, ok := strings.CutPrefix(text, "@every "); ok {
		return v.Text("every %s, counted from the last run", d) + zone
	}
	text = strings.Join(strings.Fields(text), " ")
	if m := everyMinutes.FindStringSubmatch(text); m != nil {
		return v.Text("every %s {minute|minutes}", m[1]) + zone
	}
	if m := someMinutes.FindStringSubmatch(text); m != nil {
		return v.Text("every %s {minute|minutes}, from %s:00 to %s:59", m[1], m[2], m[3]) + zone
	}
	if m := minutesFrom.FindStringSubmatch(text); m != nil {
		return v.Text("every %s {minute|minutes}, from minute %s to %s of each hour", m[3], m[1], m[2]) + zone
	}
	if m := everyHour.FindStringSubmatch(text); m != nil {
		return v.Text("every hour, at minute %s", m[1]) + zone
	}
	if m := everyDay.FindStringSubmatch(text); m != nil {
		return v.Text("every day at %s:%s", twoDigits(m[2]), twoDigits(m[1])) + zone
	}
	return v.Text("minute, hour, day, month, weekday") + zone
}

// Span formats a duration, rounded up to whole seconds.
func (v Voice) Span(d time.Duration) string {
	return (time.Duration(RoundUp(d)) * time.Second).String()
}

// RoundUp returns a duration in seconds, rounded up.
func RoundUp(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

var (
	everyMinutes = regexp.MustCompile(`^\*/(\d+) \* \* \* \*$`)
	minutesFrom  = regexp.MustCompile(`^(\d+)-(\d+)/(\d+) \* \* \* \*$`)
	everyHour    = regexp.MustCompile(`^(\d+) \* \* \* \*$`)
	everyDay     = regexp.MustCompile(`^(\d+) (\d+) \* \* \*$`)
	someMinutes  = regexp.MustCompile(`^\*/(\d+) (\d+)-(\d+) \* \* \*$`)
)

func twoDigits(text string) string {
	if len(text) < 2 {
		return "0" + text
	}
	return text
}
