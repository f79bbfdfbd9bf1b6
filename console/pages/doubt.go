package pages

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/safrasync/safrasync/console/view"
	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// queue is which rows a person decides about, one after the other: those in doubt, those held for one
// cause, or "": both.
type queue string

// queueOf returns the queue of the address or the form.
func queueOf(q *web.Request) (queue, error) {
	only := q.Form.Get("only")
	if only != "" && only != string(trade.InDoubt) && !slices.Contains(office.HeldCauses, only) {
		return "", web.BadRequest("filter")
	}
	return queue(only), nil
}

// query returns what selects the rows of the queue, oldest first.
func (of queue) query() trade.RowQuery {
	query := trade.RowQuery{States: trade.Undecided, Sort: trade.OldestFirst}
	switch of {
	case "":
	case queue(trade.InDoubt):
		query.States = []trade.State{trade.InDoubt}
	default:
		query.States, query.Causes = []trade.State{trade.Held}, []string{string(of)}
	}
	return query
}

// Path returns the address of the list of the queue; add is what follows /doubts.
func (of queue) Path(add string) string {
	if of == "" {
		return "/doubts" + add
	}
	return "/doubts" + add + "?only=" + url.QueryEscape(string(of))
}

// doubtsPage lists the rows that a person must decide about, by kind, oldest first.
type doubtsPage struct {
	Kinds []doubtKind
	Only  queue
	Next  string
}

// doubtKind is one kind of them, with its first rows.
type doubtKind struct {
	Queue queue
	What  string // the rows have in common
	Sums  trade.Sums
	Rows  []doubtShown
	Same  int // of the rows on the page: they are, in all that goes, the records of keys that are gone
}

// doubtShown is a row of which a person must say whether the platform has it.
type doubtShown struct {
	Entry trade.Entry
	Doubt office.Doubt
	Since time.Time // when the last request was sent
	Why   string    // why it is held; "" = it is not
}

func (p *Pages) showDoubts(q *web.Request) error {
	only, err := queueOf(q)
	if err != nil {
		return err
	}
	page, kinds, most := doubtsPage{Only: only}, []queue{only}, pageRows
	if only == "" {
		kinds = []queue{queue(trade.InDoubt)}
		for _, cause := range office.HeldCauses {
			kinds = append(kinds, queue(cause))
		}
		most = changedFew
	}
	for _, of := range kinds {
		kind, query := doubtKind{Queue: of}, of.query()
		sums, err := p.office.RowSums(q.Context(), query, true)
		if err != nil {
			return err
		}
		for _, s := range sums {
			kind.Sums.Join(s)
		}
		if kind.Sums.Rows == 0 {
			continue
		}
		query.After, query.Limit = after(q), most
		rows, err := p.office.RowPage(q.Context(), query)
		if err != nil {
			return err
		}
		for _, entry := range rows.Rows {
			shown, err := p.doubt(q, entry)
			if err != nil {
				return err
			}
			if shown.Doubt.Same {
				kind.Same++
			}
			kind.Rows = append(kind.Rows, shown)
			kind.What = p.office.Advice(trade.Entry{State: entry.State, Cause: entry.Cause}, q.Lang).What
		}
		if only != "" && rows.Next != "" {
			page.Next = "/doubts?" + url.Values{"only": {string(only)}, "after": {rows.Next}}.Encode()
		}
		page.Kinds = append(page.Kinds, kind)
	}
	return q.Page(http.StatusOK, "doubts", page)
}

func (p *Pages) doubt(q *web.Request, entry trade.Entry) (doubtShown, error) {
	doubt, err := p.office.Doubt(q.Context(), entry)
	shown := doubtShown{Entry: entry, Doubt: doubt, Since: entry.UpdatedAt}
	shown.Entry.Quantity = office.AskedQuantity(entry)
	for _, a := range doubt.Attempts {
		shown.Since = a.StartedAt
	}
	if entry.State == trade.Held {
		shown.Why = view.Mask(trade.SayBlanks(p.office.Voice(q.Lang).Reason(entry), q.Lang))
	}
	return shown, err
}

// chooseSame chooses, of the rows that a form marks in the list of doubts, those that are in all that goes
// the records of keys that are gone: each is to get the id of its own.
func (p *Pages) chooseSame(q *web.Request, page *actPage) error {
	only, err := queueOf(q)
	if err != nil {
		return err
	}
	page.Hidden = url.Values{"row": q.Form["row"], "only": {string(only)}}
	page.Back, page.Several, page.Exact = only.Path(""), true, true
	page.versions = map[trade.ParentKey]int64{}
	ids := trade.Map(q.Form["row"], Number)
	if len(ids) > pageRows {
		return web.BadRequest("form")
	}
	entries, err := p.office.Entries(q.Context(), ids)
	if err != nil {
		return err
	}
	for _, e := range entries {
		doubt, err := p.office.Doubt(q.Context(), e)
		if err != nil {
			return err
		}
		if doubt.Same {
			order := acts.Order{Act: acts.ActAdopt, Job: e.Job, Keys: []string{e.Key}, ID: doubt.Other.ID}
			page.Orders = append(page.Orders, order)
			page.versions[trade.ParentKey{Job: e.Job, Key: e.Key}] = e.Version
		}
	}
	if len(page.Orders) == 0 && !q.PostForm.Has("mark") {
		return web.ErrNotFound
	}
	return nil
}

// doubtPage is the page on which a person decides about one row.
type doubtPage struct {
	doubtShown
	progress
	What     string             // a sentence about the row
	Open     bool               // a person can still decide
	Unsent   bool               // it was not sent: the only decision here is that it is there already
	Ask      ask                // the question
	Do       string             // what to do, if there is nothing to decide here
	Decided  *trade.AuditRecord // who decided; nil: nobody, or unknown
	NeedsID  bool               // the platform's record can be read back
	Identify []lookFor          // fields by which people find it on the platform
	Rest     []lookFor          // the other fields
	rowContext
	veil
}

// Copies reports whether a text is shown whole, so that it can be copied.
func (p doubtPage) Copies(text string) bool { return p.Hide(text) == text }

// Compared reports whether the page shows the row side by side with the one that it was compared with.
func (p doubtPage) Compared() bool { return p.Beside != nil && p.Beside.Rows == 0 }

// Masked reports whether something is masked that may be revealed.
func (p doubtPage) Masked() bool {
	hidden := func(l lookFor) bool {
		return !p.Copies(l.Label) || !p.Copies(l.ERP) || !l.IsID() && !p.Copies(l.Sent)
	}
	return slices.ContainsFunc(p.Entry.Shown.Texts, func(t trade.ShownText) bool { return !p.Copies(t.Text) }) ||
		slices.ContainsFunc(p.Identify, hidden) || slices.ContainsFunc(p.Rest, hidden) || p.Beside.masked()
}

// progress is the progress of a person who decides one doubt after the other.
type progress struct {
	Only  queue
	Done  int // number of doubts decided before this one
	Place int // number of this one, including those
	Of    int
}

// Way returns the part of an address that keeps the progress.
func (p progress) Way() string {
	way := "done=" + strconv.Itoa(p.Done)
	if p.Only != "" {
		way += "&only=" + url.QueryEscape(string(p.Only))
	}
	return way
}

// lookFor is one field to look for on the platform, with the ERP's value for it: people know the
// ERP's names and codes, not the platform's ids.
type lookFor struct {
	Field string
	Sent  string
	ERP   string
	Label string
}

// IsID reports whether the value sent is an id of the platform, which people do not search by.
func (l lookFor) IsID() bool {
	_, err := trade.ParseID(l.Sent)
	return err == nil
}

// identifying are the fields by which people find a record on the platform, in the order in which
// they search.
var identifying = []string{
	"producer_id", "product", "amount", "unit_of_measurement", "price", "order_date",
	"wallet_id", "delivery_place_id", "delivered_volume", "delivery_date", "car", "allocated_volume",
	"contract_id", "farm_id",
}

// Resendable reports whether an earlier request may have made a record, so that the row can be sent
// again only in a new generation.
func (p doubtPage) Resendable() bool {
	return p.Entry.State == trade.InDoubt || slices.ContainsFunc(p.Doubt.Attempts, trade.Attempt.Undecided)
}

// Doubles returns what a person must declare before the row is sent, as a part of a phrase's key.
func (p doubtPage) Doubles() string { return doublesOf(p.Ask) }

// Taken returns the id of the only record that the row may be; "" if there are none or several.
func (p doubtPage) Taken() string {
	if len(p.Hints.Like) != 1 {
		return ""
	}
	return p.Hints.Like[0].ID
}

// doubtPage returns the page of a row, on which it can be decided by an act; "" is any.
func (p *Pages) doubtPage(q *web.Request, entry trade.Entry, act string) (doubtPage, error) {
	shown, err := p.doubt(q, entry)
	if err != nil {
		return doubtPage{}, err
	}
	page := doubtPage{
		doubtShown: shown,
		progress:   progress{Done: int(Number(q.Form.Get("done")))},
		Open:       decidable(entry, act),
		Unsent:     !undecided(entry),
		NeedsID:    entry.Sends == trade.OrderCommitments,
	}
	page.Ask = askOf(entry, shown.Doubt.Attempts)
	if page.Unsent {
		page.Ask = askPlatform
	}
	var of office.Sides
	page.rowContext, of, err = p.rowContextOf(q, entry, shown.Doubt.Attempts)
	if err != nil {
		return doubtPage{}, err
	}
	if page.Ask == askERP {
		page.Do = p.office.Advice(entry, q.Lang).Do
	}
	if undecided(entry) {
		page.Only, err = queueOf(q)
		if err != nil {
			return doubtPage{}, err
		}
		query := page.Only.query()
		if !slices.Contains(query.States, entry.State) ||
			query.Causes != nil && !slices.Contains(query.Causes, entry.Cause) { // it stands in the queue of all
			page.Only = ""
			query = page.Only.query()
		}
		page.Place, page.Of, err = p.office.Place(q.Context(), entry, query.States, query.Causes...)
		if err != nil {
			return doubtPage{}, err
		}
		page.Place, page.Of = page.Place+page.Done, page.Of+page.Done
	}
	fields := of.Fields
	for _, r := range shown.Doubt.Sent {
		one := lookFor{Field: r.Field}
		if r.Sent != nil {
			one.Sent = *r.Sent
		}
		for _, f := range fields {
			if f.Name == r.Field && !f.Secret {
				one.Label, one.ERP = f.Code.Label, f.Line()
				if f.Differs { // the ERP has another value now than the one that was sent
					one.ERP = f.Code.Code
				}
			}
		}
		if one.ERP == one.Sent {
			one.ERP = ""
		}
		named := func(t trade.ShownText) bool { return t.Text == one.Label }
		if slices.ContainsFunc(entry.Shown.Texts, named) { // it is shown above
			one.Label = ""
		}
		if slices.Contains(identifying, r.Field) {
			page.Identify = append(page.Identify, one)
		} else {
			page.Rest = append(page.Rest, one)
		}
	}
	slices.SortStableFunc(page.Identify, func(a, b lookFor) int {
		return slices.Index(identifying, a.Field) - slices.Index(identifying, b.Field)
	})
	page.What = view.Mask(sentence(q.Voice(), entry, office.AskedQuantity(entry), fields, office.Field.Asked))
	if !page.Open {
		page.Decided, err = p.decided(q, entry)
		if err != nil {
			return doubtPage{}, err
		}
	}
	return page, nil
}

// nextDoubt redirects to the doubt after one, or to the oldest.
func (p *Pages) nextDoubt(q *web.Request) error {
	only, err := queueOf(q)
	if err != nil {
		return err
	}
	path, err := p.next(q, after(q), progress{Only: only, Done: int(Number(q.Form.Get("done")))})
	if err != nil {
		return err
	}
	return q.Redirect(path)
}

// next returns the path of the row to decide after the one with an id. After the last it returns the
// first, and the list of all queues if there is none.
func (p *Pages) next(q *web.Request, after string, at progress) (string, error) {
	query := at.Only.query()
	query.Limit = 1
	for _, query.After = range []string{after, ""} {
		found, err := p.office.RowPage(q.Context(), query)
		if err != nil {
			return "", err
		}
		if len(found.Rows) > 0 {
			return fmt.Sprintf("/doubts/%d?%s", found.Rows[0].ID, at.Way()), nil
		}
	}
	return "/doubts", nil
}

// undecided reports whether a person must decide whether the platform has the row.
func undecided(e trade.Entry) bool { return slices.Contains(trade.Undecided, e.State) }

// mayKnow reports whether a person may say that the platform has the row.
func mayKnow(e trade.Entry) bool { return slices.Contains(trade.Decidable, e.State) }

// decidable reports whether a person may decide about a row by an act, which may be "": any. What was not
// sent can only be there already.
func decidable(e trade.Entry, act string) bool {
	return mayKnow(e) && (act == "" || act == acts.ActAdopt || undecided(e))
}

// decided returns the audit record of the latest decision about a row; nil if there is none.
func (p *Pages) decided(q *web.Request, entry trade.Entry) (*trade.AuditRecord, error) {
	records, err := p.office.AuditOf(q.Context(), entry.Job+" "+entry.Key, 20)
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		if slices.Contains([]string{acts.ActAdopt, acts.ActResend, acts.ActRetry, acts.ActDismiss}, r.Act) {
			return &r, nil
		}
	}
	return nil, nil //nolint:nilnil // nobody decided
}

func (p *Pages) showDoubt(q *web.Request) error {
	entry, err := p.entryOf(q)
	if err != nil {
		return err
	}
	return p.doubtFor(q, entry, "")
}

// doubtFor shows the page of a row. If it can no longer be decided by an act, the page has who decided it
// (F157).
func (p *Pages) doubtFor(q *web.Request, entry trade.Entry, act string) error {
	page, err := p.doubtPage(q, entry, act)
	status := http.StatusOK
	if !page.Open {
		status = http.StatusConflict
	}
	if err != nil {
		return err
	}
	return q.Page(status, "doubt", page)
}

// revealDoubt shows the page with the documents by which people search. The audit records that first.
func (p *Pages) revealDoubt(q *web.Request) error {
	entry, err := p.entryOf(q)
	if err != nil {
		return err
	}
	page, err := p.doubtPage(q, entry, "")
	if err != nil {
		return err
	}
	if err := p.office.AppendAudit(q.Context(), q.Record("reveal", entry.Job+" "+entry.Key, "")); err != nil {
		return err
	}
	page.Revealed = true
	if page.Beside != nil {
		page.Beside.Revealed = true
	}
	return q.Page(http.StatusOK, "doubt", page)
}
