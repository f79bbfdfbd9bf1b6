package pages

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

const (
	// PageRows is how many rows of a list a page has.
	PageRows  = 50
	typeAbove = 50 // from how many rows on a person types their number

	// the bounds of a reason, in characters: less says nothing, more is a document
	reasonLeast = 5
	reasonMost  = 500
)

// Reason is why a person orders something; fault is the key of a phrase when it will not do.
func Reason(q *web.Request) (text, fault string) {
	text = strings.TrimSpace(q.PostFormValue("reason"))
	switch n := utf8.RuneCountInString(text); {
	case !utf8.ValidString(text), n < reasonLeast:
		return text, "desk.reason.short"
	case n > reasonMost:
		return text, "desk.reason.long"
	}
	return text, ""
}

// Person is who asks, for the audit.
func Person(q *web.Request, reason string) acts.Person {
	return acts.Person{Name: q.Login.User.Name, From: "console " + q.From, Reason: strings.TrimSpace(reason)}
}

// Number reads a whole number above zero out of a form or an address; 0 where there is none.
func Number(text string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// after is where the page before ended, as the address has it.
func after(q *web.Request) string {
	if n := Number(q.FormValue("after")); n > 0 {
		return strconv.FormatInt(n, 10)
	}
	return ""
}

// TypedFits reports whether a person typed the number of rows that an act is for, where that must
// be typed (F160).
func TypedFits(q *web.Request, rows int) bool {
	digits := strings.NewReplacer(".", "", ",", "", " ", "").Replace(q.PostFormValue("count"))
	return rows <= typeAbove || digits == strconv.Itoa(rows)
}

// entryOf returns the row that the path names by its number.
func entryOf(q *web.Request, rows Rows) (trade.Entry, error) {
	id, err := strconv.ParseInt(q.PathValue("id"), 10, 64)
	if err != nil || id < 1 {
		return trade.Entry{}, web.ErrNotFound
	}
	return rows.EntryNo(q.Context(), id)
}

// jobNamed returns a job of the configuration; nil: there is none of that name.
func jobNamed(jobs Jobs, name string) *Job {
	for _, j := range jobs.Jobs() {
		if j.Name == name {
			return &j
		}
	}
	return nil
}

// doPlans does what a person saw of plans, each by the mark that its job has in the form. moved
// tells that something of a job has moved since: nothing of that job was done. asked: others have
// to agree first to what was ordered for some job.
func doPlans(q *web.Request, acts Acts, plans []Plan, why string) (moved bool, asked *trade.Approval, err error) {
	for _, plan := range plans {
		done, err := acts.Do(q.Context(), plan.Order, q.PostFormValue("mark."+plan.Order.Job), Person(q, why))
		if err != nil {
			return moved, asked, err
		}
		moved = moved || done.Moved
		if done.Asked != nil {
			asked = done.Asked
		}
	}
	return moved, asked, nil
}

// Attach begins an answer that browsers keep as a file.
func Attach(q *web.Request, name, contentType string) {
	q.Answered = true
	q.Writer.Header().Set("Content-Type", contentType)
	q.Writer.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
}

// Asked says that others have to agree to what a person ordered, and leads there.
func Asked(q *web.Request, a *trade.Approval) error {
	q.Tell("approvals.asked")
	return q.Redirect("/approvals/" + strconv.FormatInt(a.ID, 10))
}
