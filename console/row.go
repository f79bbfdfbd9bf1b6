package console

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"github.com/safrasync/safrasync/trade"
)

var rowRoutes = []route{
	{method: http.MethodGet, path: "/rows/{id}", needs: trade.Reader, handle: showRow},
	{method: http.MethodPost, path: "/reveal/{id}", needs: trade.Accountant, handle: revealRow},
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

// row finds the row that the path names.
func (q *request) row() (trade.Entry, error) {
	id, err := strconv.ParseInt(q.PathValue("id"), 10, 64)
	if err != nil || id < 1 {
		return trade.Entry{}, errNotFound
	}
	entry, err := q.c.Ledger.EntryNo(q.Context(), id)
	if err != nil && q.c.Unknown(err) {
		return entry, errNotFound
	}
	return entry, err
}

func showRow(q *request) error {
	entry, err := q.row()
	if err != nil {
		return err
	}
	page, err := q.rowPage(entry, false)
	if err != nil {
		return err
	}
	return q.page(http.StatusOK, "row", page)
}

// revealRow shows a row with its documents. That somebody looked is kept in the audit, before
// anything is shown (C14).
func revealRow(q *request) error {
	entry, err := q.row()
	if err != nil {
		return err
	}
	if err := q.c.People.AppendAudit(q.Context(), q.record("reveal", entry.Job+" "+entry.Key, "", "")); err != nil {
		return err
	}
	page, err := q.rowPage(entry, true)
	if err != nil {
		return err
	}
	return q.page(http.StatusOK, "row", page)
}

func (q *request) rowPage(entry trade.Entry, revealed bool) (*rowPage, error) {
	ctx := q.Context()
	hide := maskText
	page := &rowPage{Entry: entry, Shown: maskKey(entry.Key)}
	if revealed {
		hide = func(text string) string { return text }
		page.Shown = entry.Key
	}
	page.hide, page.Lead = hide, hide(entry.Shown.Lead(page.Shown))
	page.Reason, page.Advice = hide(q.c.Work.Reason(entry, q.lang)), q.c.Work.Advice(entry, q.lang)
	page.Masked = !revealed && masked(entry.Key+"\n"+entry.Shown.Line())
	for _, job := range q.c.Work.Jobs() {
		if job.Name == entry.Job {
			page.Job = &job
		}
	}
	var err error
	if page.Fields, err = q.c.Work.Fields(ctx, entry); err != nil {
		return nil, err
	}
	for i, f := range page.Fields {
		for j, value := range f.ERP {
			if value != nil {
				page.Masked = page.Masked || !revealed && masked(*value)
				text := hide(*value)
				page.Fields[i].ERP[j] = &text
			}
		}
		for _, value := range []**string{&page.Fields[i].Sent, &page.Fields[i].Now} {
			if *value != nil {
				page.Masked = page.Masked || !revealed && masked(**value)
				text := hide(**value)
				*value = &text
			}
		}
	}
	attempts, err := q.c.Ledger.Attempts(ctx, entry.ID)
	if err != nil {
		return nil, err
	}
	for _, a := range attempts {
		v := attemptView{Attempt: a, Request: hide(pretty(a.Payload)), Answer: hide(a.AnswerBody)}
		v.Ended, v.Phase = q.c.Work.Attempt(a, q.lang)
		page.Attempts = append(page.Attempts, v)
	}
	slices.Reverse(page.Attempts)
	if page.Hints, err = q.hints(entry, attempts); err != nil {
		return nil, err
	}
	for _, w := range entry.WaitingFor {
		view := waitView{Text: hide(w.Sentence(q.lang))}
		if w.Job != "" {
			if parent, err := q.c.Ledger.Entry(ctx, w.Job, w.Key); err == nil {
				view.ID = parent.ID
			} else if !q.c.Unknown(err) {
				return nil, err
			}
		}
		page.WaitsFor = append(page.WaitsFor, view)
	}
	dependents, err := q.c.Ledger.Dependents(ctx, entry.Job, entry.Key, dependentsShown+1)
	if err != nil {
		return nil, err
	}
	if page.More = len(dependents) > dependentsShown; page.More {
		dependents = dependents[:dependentsShown]
	}
	for _, d := range dependents {
		page.Dependents = append(page.Dependents,
			rowLine{Entry: d, Shown: maskKey(d.Key), Reason: hide(q.c.Work.Reason(d, q.lang))})
	}
	if page.History, err = q.c.Ledger.AuditOf(ctx, entry.Job+" "+entry.Key, historyShown); err != nil {
		return nil, err
	}
	if q.login.User.Role.May(trade.Accountant) && page.Job != nil {
		page.Acts, page.Desk = actsFor(entry), undecided(entry)
	}
	return page, nil
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
