package pages

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/safrasync/safrasync/console/view"
	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/trade"
)

// rowRoutes are the page of one row.
type rowRoutes struct {
	rows    Rows
	audit   Audit
	jobs    Jobs
	words   Words
	fields  Fields
	doubts  Doubts
	unknown func(error) bool
}

func (p *rowRoutes) routes() []web.Route {
	return []web.Route{
		{Method: http.MethodGet, Path: "/rows/{id}", Needs: trade.Reader, Handle: p.showRow},
		{Method: http.MethodPost, Path: "/reveal/{id}", Needs: trade.Accountant, Handle: p.revealRow},
	}
}

// rowPage is one row with all that is known of it.
type rowPage struct {
	Entry      trade.Entry
	Shown      string // the key, documents masked
	Lead       string // what people are shown of it; the key where that is nothing
	Reason     string
	Advice     trade.Advice
	Fields     []Field
	Masked     bool // something is masked that may be shown
	Attempts   []attemptView
	Hints      hintsView
	WaitsFor   []waitView
	Dependents []rowLine
	More       bool // there are more of them
	History    []trade.AuditRecord
	Acts       []Act
	Desk       bool // it is decided at the desk for doubts whether the platform has it
	Job        *Job // nil: the configuration no longer has it

	hide func(string) string // masks documents, unless somebody asked for them
}

// Hide masks the documents in a text, unless somebody asked for them.
func (p *rowPage) Hide(text string) string { return p.hide(text) }

// attemptView is one attempt, its request and answer as they are shown.
type attemptView struct {
	trade.Attempt
	Ended   string
	Phase   string
	Request string
	Answer  string
}

// waitView is what a row waits for, and where that can be seen.
type waitView struct {
	Text string
	ID   int64 // of the parent's row; 0 = it has none
}

// How much of what may be much is shown.
const (
	dependentsShown = 50
	historyShown    = 100
)

func (p *rowRoutes) showRow(q *web.Request) error {
	entry, err := entryOf(q, p.rows, p.unknown)
	if err != nil {
		return err
	}
	page, err := p.rowPage(q, entry, false)
	if err != nil {
		return err
	}
	return q.Page(http.StatusOK, "row", page)
}

// revealRow shows a row with its documents. That somebody looked is kept in the audit, before
// anything is shown (C14).
func (p *rowRoutes) revealRow(q *web.Request) error {
	entry, err := entryOf(q, p.rows, p.unknown)
	if err != nil {
		return err
	}
	if err := p.audit.AppendAudit(q.Context(), q.Record("reveal", entry.Job+" "+entry.Key, "", "")); err != nil {
		return err
	}
	page, err := p.rowPage(q, entry, true)
	if err != nil {
		return err
	}
	return q.Page(http.StatusOK, "row", page)
}

// rowPage reads all that is known of a row.
func (p *rowRoutes) rowPage(q *web.Request, entry trade.Entry, revealed bool) (*rowPage, error) {
	page := &rowPage{Entry: entry, Shown: view.MaskKey(entry.Key), Job: jobNamed(p.jobs, entry.Job), hide: view.Mask}
	if revealed {
		page.Shown, page.hide = entry.Key, func(text string) string { return text }
	}
	page.Lead = page.hide(entry.Shown.Lead(page.Shown))
	page.Reason, page.Advice = page.hide(p.words.Reason(entry, q.Lang)), p.words.Advice(entry, q.Lang)
	page.Masked = !revealed && view.Masked(entry.Key+"\n"+entry.Shown.Line())
	if err := p.readFields(q, page, revealed); err != nil {
		return nil, err
	}
	attempts, err := p.rows.Attempts(q.Context(), entry.ID)
	if err != nil {
		return nil, err
	}
	for _, a := range attempts {
		v := attemptView{Attempt: a, Request: page.hide(pretty(a.Payload)), Answer: page.hide(a.AnswerBody)}
		v.Ended, v.Phase = p.words.Attempt(a, q.Lang)
		page.Attempts = append(page.Attempts, v)
	}
	slices.Reverse(page.Attempts)
	if page.Hints, err = hintsOf(q, p.doubts, entry, attempts); err != nil {
		return nil, err
	}
	if err := p.readFamily(q, page); err != nil {
		return nil, err
	}
	if page.History, err = p.audit.AuditOf(q.Context(), entry.Job+" "+entry.Key, historyShown); err != nil {
		return nil, err
	}
	if q.May(trade.Accountant) && page.Job != nil {
		page.Acts, page.Desk = actsFor(entry), undecided(entry)
	}
	return page, nil
}

// readFields reads the values of a row, documents masked unless they are to be revealed.
func (p *rowRoutes) readFields(q *web.Request, page *rowPage, revealed bool) (err error) {
	if page.Fields, err = p.fields.Fields(q.Context(), page.Entry); err != nil {
		return err
	}
	shown := func(value *string) *string {
		if value == nil {
			return nil
		}
		page.Masked = page.Masked || !revealed && view.Masked(*value)
		text := page.hide(*value)
		return &text
	}
	for i := range page.Fields {
		f := &page.Fields[i]
		for j, value := range f.ERP {
			f.ERP[j] = shown(value)
		}
		f.Sent, f.Now = shown(f.Sent), shown(f.Now)
	}
	return nil
}

// readFamily reads what a row waits for, and what waits for it.
func (p *rowRoutes) readFamily(q *web.Request, page *rowPage) error {
	for _, w := range page.Entry.WaitingFor {
		v := waitView{Text: page.hide(w.Sentence(q.Lang))}
		if w.Job != "" {
			if parent, err := p.rows.Entry(q.Context(), w.Job, w.Key); err == nil {
				v.ID = parent.ID
			} else if !p.unknown(err) {
				return err
			}
		}
		page.WaitsFor = append(page.WaitsFor, v)
	}
	dependents, err := p.rows.Dependents(q.Context(), page.Entry.Job, page.Entry.Key, dependentsShown+1)
	if err != nil {
		return err
	}
	if page.More = len(dependents) > dependentsShown; page.More {
		dependents = dependents[:dependentsShown]
	}
	for _, d := range dependents {
		page.Dependents = append(page.Dependents,
			rowLine{Entry: d, Shown: view.MaskKey(d.Key), Reason: page.hide(p.words.Reason(d, q.Lang))})
	}
	return nil
}

// actsFor are the acts that may be of use for a row as it stands; the plan of each says whether it
// can be done. What may be on the platform is decided at the desk for doubts.
func actsFor(e trade.Entry) []Act {
	offered := map[trade.State][]Act{
		trade.Pending: {Retry, Dismiss}, trade.Waiting: {Retry, Dismiss}, trade.Invalid: {Dismiss},
		trade.Rejected: {Retry, Dismiss},
		trade.Held:     {Retry, Dismiss}, trade.Dismissed: {Reopen},
	}[e.State]
	if e.State == trade.Pending && e.NextAttemptAt.IsZero() { // it goes anyway
		offered = []Act{Dismiss}
	}
	if slices.ContainsFunc(e.Flags, func(f trade.Flag) bool { return slices.Contains(trade.AcknowledgedByAct, f) }) &&
		decided(e) {
		offered = append(offered, Acknowledge)
	}
	return offered
}

// decided reports whether it is known what became of a row: flags of others wait until then.
func decided(e trade.Entry) bool { return e.State == trade.Accepted || e.State == trade.Dismissed }

// pretty writes a JSON document for people.
func pretty(doc json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, doc, "", "  ") != nil {
		return string(doc)
	}
	return b.String()
}
