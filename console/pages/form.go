package pages

import (
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/trade"
)

const (
	// pageRows is the number of rows on a page of a list.
	pageRows  = 50
	typeAbove = 50 // above so many rows a person must type their number

	// the limits of a reason, in characters
	reasonLeast = 5
	reasonMost  = 500

	// what is wrong with a form
	planMoved  = "Something has changed since this page was shown, and nothing was done. Check again."
	notChecked = "Tick that you have checked: this act may double a record."
	wrongCount = "The number that you typed does not match the number of documents. Check and type it again."
)

// Reason returns the reason that a person typed. fault is the key of a phrase if it is too short or
// too long.
func Reason(q *web.Request) (text, fault string) {
	text = strings.TrimSpace(q.PostForm.Get("reason"))
	switch n := utf8.RuneCountInString(text); {
	case !utf8.ValidString(text), n < reasonLeast:
		return text, "Write a reason of at least 5 characters: it is recorded in the audit."
	case n > reasonMost:
		return text, "The reason is longer than 500 characters."
	}
	return text, ""
}

// Number parses a whole number above zero from a form or an address; it returns 0 for any other
// text.
func Number(text string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// after returns the id from the address at which the previous page ended.
func after(q *web.Request) string {
	if n := Number(q.Form.Get("after")); n > 0 {
		return strconv.FormatInt(n, 10)
	}
	return ""
}

// typedFits reports whether a person typed the right number of rows (F160).
func typedFits(q *web.Request, rows int) bool {
	digits := strings.NewReplacer(".", "", ",", "", " ", "").Replace(q.PostForm.Get("count"))
	return digits == strconv.Itoa(rows)
}

// orderForm is the form below a plan, with which a person orders what it shows. Warn, Check, Label,
// Button, Leave and Fault are keys of phrases.
type orderForm struct {
	Path    string     // to which it goes
	Hidden  url.Values // sent again with the order
	Mark    string     // of the plan; "" = nothing can be ordered
	Count   int        // rows of the plan: above typeAbove the number must be typed
	Exact   bool       // it must be typed however small it is
	Warn    string     // what the order may double
	Check   string     // what must be declared; "" = nothing
	Checked bool
	Proof   string // address to return to when the identity was proved; "" = no proof is needed
	Label   string // of the reason
	Suggest string // a reason to choose
	Reason  string
	Button  string
	Back    string
	Leave   string // text of the link to Back
	Fault   string
}

// Typed reports whether the number of rows must be typed.
func (f orderForm) Typed() bool { return f.Exact || f.Count > typeAbove }

// read reads what a person typed, and reports whether the order is complete.
func (f *orderForm) read(q *web.Request) bool {
	f.Reason, f.Fault = Reason(q)
	f.Checked = q.PostForm.Get("checked") == "1"
	switch {
	case f.Fault != "":
	case f.Check != "" && !f.Checked:
		f.Fault = notChecked
	case f.Typed() && !typedFits(q, f.Count):
		f.Fault = wrongCount
	}
	return f.Fault == ""
}

// entryOf returns the row whose id is in the path.
func (p *Pages) entryOf(q *web.Request) (trade.Entry, error) {
	id, err := strconv.ParseInt(q.PathValue("id"), 10, 64)
	if err != nil || id < 1 {
		return trade.Entry{}, web.ErrNotFound
	}
	return p.office.EntryByID(q.Context(), id)
}

// revealed returns the row whose id is in the path, to be shown with its documents. The audit records that first.
func (p *Pages) revealed(q *web.Request) (trade.Entry, error) {
	entry, err := p.entryOf(q)
	if err != nil {
		return entry, err
	}
	return entry, p.office.AppendAudit(q.Context(), q.Record("reveal", entry.Job+" "+entry.Key, ""))
}

// upload returns the file of a form.
func upload(q *web.Request) ([]byte, error) {
	file, _, err := q.FormFile("file")
	if err != nil {
		return nil, web.BadRequest("form")
	}
	defer func() { _ = file.Close() }() // it was only read
	data, err := io.ReadAll(file)
	if err != nil {
		return nil, &web.Fault{Status: http.StatusRequestEntityTooLarge, Code: "long", Cause: err}
	}
	return data, nil
}

// jobNamed returns a configured job; nil if there is none with that name.
func (p *Pages) jobNamed(name string) *office.Job {
	for _, j := range p.office.Jobs() {
		if j.Name == name {
			return &j
		}
	}
	return nil
}

// attach begins an answer that browsers save as a file.
func attach(q *web.Request, name, contentType string) {
	q.Answered = true
	q.Writer.Header().Set("Content-Type", contentType)
	q.Writer.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
}

// Asked redirects to the approval that other people must give first.
func Asked(q *web.Request, a *trade.Approval) error {
	return q.Done("approvals.asked", "/approvals/"+strconv.FormatInt(a.ID, 10))
}
