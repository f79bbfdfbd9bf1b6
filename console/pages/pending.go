package pages

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/safrasync/safrasync/console/view"
	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/trade"
)

// pendingPage is the data of the page.
type pendingPage struct {
	office.Stuck
	Causes []task
	Quiet  []task // that somebody takes care of, until a day
	Fault  string // phrase of what is wrong about an owner
	Rows   int    // of the causes that are shown, which have them themselves
	Behind int    // that wait for others with these causes
	All    int    // of all causes but for the quiet ones
	Who    []task // departments, with how much each can cure
	Here   string // department that is filtered by; "" = all
	Ran    ran
}

// causeShown is a cause that is open.
type causeShown struct {
	task
	All   string // address of the list of its rows
	Count int    // of them
	Rows  []causeRow
	Names []trade.Shown // of the codes in the ERP
	Form  url.Values    // what the form about its owner begins with
}

// causeRow is one of the first rows of a cause, with what it adds to its sums.
type causeRow struct {
	doubtShown
	Adds trade.Sums
}

func (p *Pages) showPending(q *web.Request) error { return p.pending(q, "") }

// pending shows the page, with a fault of what was sent.
func (p *Pages) pending(q *web.Request, fault string) error {
	stuck, err := p.causes.Stuck(q.Context(), q.Lang, q.PopFlash() != "")
	if err != nil {
		return err
	}
	page := pendingPage{Stuck: stuck, Here: q.Form.Get("who"), Fault: fault}
	page.Ran, err = p.orderRan(q, false)
	if err != nil {
		return err
	}
	if page.Reading > 0 {
		return q.Page(http.StatusOK, "pending", page)
	}
	page.Who = helpersOf(stuck.Causes)
	for _, c := range stuck.Causes {
		t := taskOf(c)
		if !c.Quiet {
			page.All += t.Rows
		}
		if page.Here != "" && (t.Urgent || page.Here != string(t.Helper)) {
			continue
		}
		here := url.Values{"cause": {c.Key}}
		if page.Here != "" {
			here.Set("who", page.Here)
		}
		if c.Key == q.Form.Get("cause") {
			here.Del("cause") // its link closes it
			t.Open, err = p.openCause(q, t, fault)
			if err != nil {
				return err
			}
		}
		t.Path = "/pending?" + here.Encode() + "#" + t.Anchor
		if c.Quiet {
			page.Quiet = append(page.Quiet, t)
			continue
		}
		page.Rows += t.Rows
		page.Behind += t.Behind
		page.Causes = append(page.Causes, t)
	}
	slices.SortStableFunc(page.Causes, byWeight)
	slices.SortStableFunc(page.Quiet, func(a, b task) int { return a.Owner.Until.Compare(b.Owner.Until) })
	named(q.Voice(), page.Causes)
	named(q.Voice(), page.Quiet)
	if fault != "" {
		return q.Page(http.StatusUnprocessableEntity, "pending", page)
	}
	return q.Page(http.StatusOK, "pending", page)
}

// openCause returns what the page shows of the cause that is open.
func (p *Pages) openCause(q *web.Request, t task, fault string) (*causeShown, error) {
	c := t.Cause
	out := &causeShown{task: t, Form: url.Values{"owner": {c.Owner.Owner}, "note": {c.Owner.Note}}}
	if c.Owner.Until.After(q.Site.Now()) {
		out.Form.Set("until", c.Owner.Until.In(q.Site.Zone).Format(time.DateOnly))
	}
	if fault != "" { // what was typed is not lost
		out.Form = q.PostForm
	}
	out.Form.Set("seen", "0") // when somebody took the cause; 0: nobody has
	if !c.Owner.At.IsZero() {
		out.Form.Set("seen", strconv.FormatInt(c.Owner.At.UnixMilli(), 10))
	}
	query := trade.RowQuery{Of: trade.Selection{Group: c.Key}}
	out.Count = t.Rows
	if t.Rows == 0 { // its rows wait for one that is not here
		first := c.Kinds()[0]
		query, out.Count = first.Of, first.Rows
	}
	out.All = figurePath(query)
	query, chosen, err := p.office.Chosen(q.Context(), query)
	if err != nil {
		return nil, err
	}
	query.Limit = 20 // the others are a link away
	found, err := p.office.RowPage(q.Context(), query)
	if err != nil {
		return nil, err
	}
	rows := trade.Map(found.Rows, func(e trade.Entry) doubtShown { return doubtShown{Entry: e} })
	if t.Urgent {
		rows, err = p.doubtsOf(q, found.Rows)
	}
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		key := trade.ParentKey{Job: row.Entry.Job, Key: row.Entry.Key}
		out.Rows = append(out.Rows, causeRow{row, chosen.Each[key]})
	}
	codes := make([][]int64, len(c.Subjects))
	for i, s := range c.Subjects {
		if c.Cause != trade.CauseParent { // a contract is no code
			codes[i] = s.Sample
		}
	}
	entries, err := p.office.Entries(q.Context(), slices.Concat(codes...))
	out.Names = trade.NamesOf(entries, codes)
	return out, err
}

// own says who takes care of a cause, or that nobody does any more.
func (p *Pages) own(q *web.Request) error {
	ask := office.Owning{
		Key: q.PostForm.Get("cause"), Owner: q.PostForm.Get("owner"), Note: q.PostForm.Get("note"),
	}
	if q.PostForm.Has("leave") {
		ask.Owner = ""
	} else if strings.TrimSpace(ask.Owner) == "" {
		ask.Owner = q.Login.User.Name
	}
	if at, err := strconv.ParseInt(q.PostForm.Get("seen"), 10, 64); err == nil && at != 0 {
		ask.Seen = time.UnixMilli(at).UTC()
	}
	if text := q.PostForm.Get("until"); text != "" {
		var err error
		ask.Until, err = trade.ParseDate(text)
		if err != nil {
			return p.pending(q, "The day must come after today, and within a year.")
		}
	}
	fault, err := p.office.OwnCause(q.Context(), ask, q.Lang, q.Person(""))
	switch {
	case errors.Is(err, trade.ErrNobody):
		return q.Done("owner.gone", "/pending")
	case err != nil:
		return err
	case fault != "":
		return p.pending(q, fault)
	}
	return q.Done("owner.told", "/pending?cause="+url.QueryEscape(ask.Key)+"#"+causeAnchor(ask.Key))
}

// RefPath returns the path of the de-para table in which a code is missing. If it is only one code
// and the person may fill it in, the path includes the code.
func (c causeShown) RefPath(fill bool) string {
	kind, missing := strings.CutPrefix(c.Cause.Cause, "ref:")
	if field, broken := strings.CutPrefix(c.Cause.Cause, "rule:"); broken && len(c.Sums) > 0 {
		rule, _ := trade.Rule(c.Sums[0].Kind, field)
		kind = rule.RefersTo
	}
	switch {
	case !slices.Contains(trade.ReferenceKinds, kind):
		return "/references"
	case fill && missing && len(c.Subjects) == 1 && c.More == 0:
		return refPath(kind, c.Subjects[0].Text)
	}
	return refPath(kind, "")
}

// refPath returns the path of a de-para table, with a code to fill in. There are no documents in addresses, which
// browsers store in their history.
func refPath(kind, code string) string {
	if code == "" || view.Masked(code) {
		return "/references/" + kind
	}
	return "/references/" + kind + "?code=" + url.QueryEscape(code) + "#add"
}
