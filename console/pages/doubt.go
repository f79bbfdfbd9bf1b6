package pages

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// queue is which rows a person decides about, one after the other: those in doubt, those held for one
// cause, or "": both.
type queue string

// queues are those of one kind, in the order of the list.
var queues = trade.Map(append([]string{string(trade.InDoubt)}, office.HeldCauses...), func(only string) queue {
	return queue(only)
})

// queueFor returns the queue of the kind of a row.
func queueFor(state trade.State, cause string) queue {
	if state == trade.InDoubt {
		return queue(state)
	}
	return queue(cause)
}

// queueOf returns the queue of the address or the form.
func queueOf(q *web.Request) (queue, error) {
	only := q.Form.Get("only")
	if only != "" && !slices.Contains(queues, queue(only)) {
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
	Sums  []rowTotal // of all of them, by job
	Only  queue
	Next  string
}

// doubtKind is one kind of them, with its first rows.
type doubtKind struct {
	Queue queue
	What  string     // the rows have in common
	All   int        // rows
	Sums  []rowTotal // of them, by job
	Rows  []doubtShown
	Same  int // of the rows on the page: they are, in all that goes, the records of keys that are gone
}

// doubtShown is a row of which a person must say whether the platform has it.
type doubtShown struct {
	Entry trade.Entry
	Doubt office.Doubt
	Why   string // why it is held; "" = it is not
}

// doubtsFew is how many rows of each kind are shown, where all kinds are.
const doubtsFew = 20

func (p *Pages) showDoubts(q *web.Request) error {
	only, err := queueOf(q)
	if err != nil {
		return err
	}
	page, kinds, most := doubtsPage{Only: only}, []queue{only}, pageRows
	if only == "" {
		kinds, most = queues, doubtsFew
	}
	whole, err := p.office.RowSums(q.Context(), only.query(), true)
	if err != nil {
		return err
	}
	left, all := totalsOf(whole)
	page.Sums = all
	for _, of := range kinds {
		kind, query := doubtKind{Queue: of}, of.query()
		sums, err := p.office.RowSums(q.Context(), query, true)
		if err != nil {
			return err
		}
		kind.All, kind.Sums = totalsOf(sums)
		if kind.All == 0 {
			continue
		}
		query.After, query.Limit = after(q), most
		rows, err := p.office.RowPage(q.Context(), query)
		if err != nil {
			return err
		}
		kind.Rows, err = p.doubtsOf(q, rows.Rows)
		if err != nil {
			return err
		}
		for _, shown := range kind.Rows {
			if shown.Doubt.Same {
				kind.Same++
			}
			what := p.office.Advice(trade.Entry{State: shown.Entry.State, Cause: shown.Entry.Cause}, q.Lang).What
			kind.What, _, _ = strings.Cut(what, " (") // what else it says stands on the page of the causes
		}
		if only != "" && rows.Next != "" {
			page.Next = "/doubts?" + url.Values{"only": {string(only)}, "after": {rows.Next}}.Encode()
		}
		left -= kind.All
		page.Kinds = append(page.Kinds, kind)
	}
	if left > 0 { // a rebuild holds rows for other causes, until the ERP is read again
		page.Kinds = append(page.Kinds, doubtKind{
			What: p.office.Advice(trade.Entry{State: trade.Held}, q.Lang).What, All: left,
		})
	}
	return q.Page(http.StatusOK, "doubts", page)
}

// totalsOf returns the sums of the jobs that have rows, and how many these are.
func totalsOf(sums map[string]trade.Sums) (rows int, out []rowTotal) {
	for _, job := range slices.Sorted(maps.Keys(sums)) {
		if n := sums[job].Rows; n > 0 {
			rows, out = rows+n, append(out, rowTotal{job, sums[job]})
		}
	}
	return rows, out
}

// doubtsOf reads what is known of rows. Of several that may be one record, a person chooses one.
func (p *Pages) doubtsOf(q *web.Request, entries []trade.Entry) ([]doubtShown, error) {
	out, times := make([]doubtShown, len(entries)), map[string]int{}
	for i, e := range entries {
		doubt, err := p.office.Doubt(q.Context(), e)
		if err != nil {
			return nil, err
		}
		out[i] = doubtShown{Entry: e, Doubt: doubt}
		if e.State == trade.Held {
			out[i].Why = p.reasonOf(q, e, veil{})
		}
		if doubt.Same {
			times[doubt.Other.ID]++
		}
	}
	for i := range out {
		doubt := &out[i].Doubt
		doubt.Same = doubt.Same && times[doubt.Other.ID] == 1
	}
	return out, nil
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
	shown, err := p.doubtsOf(q, entries)
	if err != nil {
		return err
	}
	for _, s := range shown {
		if e := s.Entry; s.Doubt.Same {
			order := acts.Order{Act: acts.ActAdopt, Job: e.Job, Keys: []string{e.Key}, ID: s.Doubt.Other.ID}
			page.Orders = append(page.Orders, order)
			page.versions[trade.ParentKey{Job: e.Job, Key: e.Key}] = e.Version
		}
	}
	return nil
}

// doubtPage is the page on which a person decides about one row.
type doubtPage struct {
	rowContext
	progress
	Open    bool               // a person can still decide
	Unsent  bool               // it was not sent: the only decision here is that it is there already
	Ask     ask                // the question
	Do      string             // what to do, if there is nothing to decide here
	Decided *trade.AuditRecord // who decided; nil: nobody, or unknown
	NeedsID bool               // the platform's record can be read back
	Look    []lookFor          // by what people find it on the platform
}

// Compared reports whether the page shows the row side by side with the one that it was compared with.
func (p doubtPage) Compared() bool { return p.Beside != nil && p.Beside.Rows == 0 }

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

// lookFor is a line of what was sent, by which people find the record on the platform.
type lookFor struct {
	Field, Text string
	ID          bool // of the platform
}

// looks are the fields of these lines, by kind: the last is an id, which people copy.
var looks = map[trade.Kind][][]string{
	trade.OrderCommitments: {
		{"product"}, {"amount", "unit_of_measurement"}, {"price", "currency"}, {"order_date"}, {"producer_id"},
	},
	trade.Deliveries: {
		{"delivered_volume", "delivered_volume_unit_of_measure"}, {"delivery_date"}, {"car"}, {"contract_id"},
	},
	trade.Traceability: {
		{"allocated_volume", "unit_of_measurement"}, {"farm_id"}, {"producer_id"}, {"order_commitment_id"},
	},
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
func (p *Pages) doubtPage(q *web.Request, entry trade.Entry, act string, revealed bool) (page doubtPage, err error) {
	page = doubtPage{
		progress: progress{Done: int(Number(q.Form.Get("done")))}, Open: decidable(entry, act),
		Unsent: !undecided(entry), NeedsID: entry.Sends == trade.OrderCommitments,
	}
	page.rowContext, err = p.rowContextOf(q, entry, revealed)
	if err != nil {
		return page, err
	}
	page.Ask = askOf(entry, page.Doubt.Attempts)
	if page.Unsent {
		page.Ask = askPlatform
	}
	if page.Ask == askERP {
		page.Do = p.office.Advice(entry, q.Lang).Do
	}
	if undecided(entry) {
		page.Only, err = queueOf(q)
		if err != nil {
			return page, err
		}
		kind, kinds := queueFor(entry.State, entry.Cause), []queue{page.Only}
		if page.Only != kind { // it stands in the queue of all
			page.Only, kinds = "", queues
		}
		for _, of := range kinds {
			place, all, err := p.office.Place(q.Context(), entry, of.query().States, of.query().Causes...)
			if err != nil {
				return page, err
			}
			if of == kind {
				page.Place = page.Of + place
			}
			page.Of += all
		}
		page.Place, page.Of = page.Place+page.Done, page.Of+page.Done
	}
	for _, fields := range looks[entry.Sends] {
		line := lookFor{Field: fields[0], ID: strings.HasSuffix(fields[0], "_id")}
		for _, field := range fields {
			switch sent := page.Doubt.Sent[field]; {
			case sent == nil, field == "currency" && line.Text == "": // a currency without a price is none
			case field == "currency":
				line.Text = trade.Symbol(*sent) + line.Text
			default:
				line.Text += " " + q.Voice().Said(field, *sent)
			}
		}
		line.Text = page.Hide(strings.TrimSpace(line.Text))
		if line.Text != "" {
			page.Look = append(page.Look, line)
		}
	}
	if page.Open {
		return page, nil
	}
	records, err := p.office.AuditOf(q.Context(), entry.Job+" "+entry.Key, 20)
	decisions := []string{acts.ActAdopt, acts.ActResend, acts.ActRetry, acts.ActDismiss}
	for _, r := range records {
		if page.Decided == nil && slices.Contains(decisions, r.Act) {
			page.Decided = &r
		}
	}
	return page, err
}

// nextDoubt redirects to the doubt after one, or to the oldest.
func (p *Pages) nextDoubt(q *web.Request) error {
	only, err := queueOf(q)
	if err != nil {
		return err
	}
	from, err := p.office.EntryByID(q.Context(), Number(q.Form.Get("after")))
	if err != nil && !errors.Is(err, trade.ErrNotFound) {
		return err
	}
	path, err := p.next(q, from, progress{Only: only, Done: int(Number(q.Form.Get("done")))})
	if err != nil {
		return err
	}
	return q.Redirect(path)
}

// next returns the path of the row to decide after another one, in the order of the list. After the last it
// returns the first, and the list of all queues if there is none.
func (p *Pages) next(q *web.Request, from trade.Entry, at progress) (string, error) {
	order := []queue{at.Only, at.Only}
	if at.Only == "" {
		i := max(0, slices.Index(queues, queueFor(from.State, from.Cause)))
		order = slices.Concat(queues[i:], queues[:i+1], []queue{""})
	}
	for i, of := range order {
		query := of.query()
		query.Limit = 1
		if i == 0 {
			query.After = strconv.FormatInt(from.ID, 10)
		}
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
	page, err := p.doubtPage(q, entry, act, false)
	status := http.StatusOK
	if !page.Open {
		status = http.StatusConflict
	}
	if err != nil {
		return err
	}
	return q.Page(status, "doubt", page)
}

// revealDoubt shows the page with the documents by which people search.
func (p *Pages) revealDoubt(q *web.Request) error {
	entry, err := p.revealed(q)
	if err != nil {
		return err
	}
	page, err := p.doubtPage(q, entry, "", true)
	return q.Show("doubt", page, err)
}
