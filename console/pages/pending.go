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
	"github.com/safrasync/safrasync/sync/pending"
	"github.com/safrasync/safrasync/trade"
)

// pendingPage is the data of the page.
type pendingPage struct {
	At     time.Time
	Causes []causeShown
	Quiet  []causeShown // that somebody takes care of, until a day
	Fault  string       // phrase of what is wrong about an owner
	Rows   int          // that have one of the causes themselves, but for the quiet ones
	Moving int
	Who    []helper // departments, with how much each can cure
	Here   string   // department that is filtered by; "" = all

	Reading int    // number of rows being read; the rest is not known yet
	Again   string // address of the same page
	Ran     ran
}

// causeShown is a cause with what the page shows beside it.
type causeShown struct {
	office.Cause
	Task    task
	Doubt   bool          // it is decided row by row
	Samples []trade.Entry // the first few rows
	Names   []string      // of the codes in the ERP, as [trade.NamesOf] returns them
	Form    ownerForm
}

// ownerForm is what the form about the owner of a cause begins with.
type ownerForm struct {
	Owner, Note string
	Due         string // a day, as forms have it; "" = none
	Seen        int64  // when somebody took the cause, in milliseconds; 0: nobody has
}

func (p *Pages) showPending(q *web.Request) error { return p.pending(q, "") }

// pending shows the page, with a fault of what was sent.
func (p *Pages) pending(q *web.Request, fault string) error {
	stuck, err := p.causes.Stuck(q.Context(), q.Lang, q.PopFlash() != "")
	if err != nil {
		return err
	}
	page := pendingPage{
		At: stuck.At, Moving: stuck.Moving, Here: q.Form.Get("who"), Reading: stuck.Reading, Fault: fault,
	}
	page.Ran, err = p.orderRan(q, false)
	if err != nil {
		return err
	}
	if page.Reading > 0 {
		page.Again = q.URL.RequestURI()
		return q.Page(http.StatusOK, "pending", page)
	}
	page.Who = helpersOf(stuck.Causes)
	for _, c := range stuck.Causes {
		shown := causeShown{
			Cause: c, Task: taskOf(c), Doubt: c.State == trade.InDoubt || c.State == trade.Held,
		}
		shown.Form = ownerForm{Owner: c.Owner.Owner, Note: c.Owner.Note}
		if c.Owner.Until.After(q.Site.Now()) {
			shown.Form.Due = c.Owner.Until.In(q.Site.Zone).Format(time.DateOnly)
		}
		if !c.Owner.At.IsZero() {
			shown.Form.Seen = c.Owner.At.UnixMilli()
		}
		if fault != "" && c.Key == q.PostForm.Get("cause") { // what was typed is not lost
			shown.Form.Owner, shown.Form.Note = q.PostForm.Get("owner"), q.PostForm.Get("note")
			shown.Form.Due = q.PostForm.Get("until")
		}
		switch {
		case page.Here != "" && (shown.Task.Urgent || page.Here != string(shown.Task.Helper)):
		case c.Quiet:
			page.Quiet = append(page.Quiet, shown)
		default:
			page.Rows += shown.Task.Rows
			page.Causes = append(page.Causes, shown)
		}
	}
	slices.SortStableFunc(page.Causes, func(a, b causeShown) int { return byWeight(a.Task, b.Task) })
	slices.SortStableFunc(page.Quiet, func(a, b causeShown) int { return a.Owner.Until.Compare(b.Owner.Until) })
	if err := errors.Join(p.samples(q, page.Causes), p.samples(q, page.Quiet)); err != nil {
		return err
	}
	if fault != "" {
		return q.Page(http.StatusUnprocessableEntity, "pending", page)
	}
	return q.Page(http.StatusOK, "pending", page)
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
	return q.Done("owner.told", "/pending#"+causeAnchor(ask.Key))
}

// samples reads the first few rows of all causes, and those of their codes, with one query.
func (p *Pages) samples(q *web.Request, causes []causeShown) error {
	var ids []int64
	for _, c := range causes {
		ids = append(ids, c.Cause.Samples...)
		for _, s := range c.Subjects {
			ids = append(ids, s.Sample...)
		}
	}
	entries, err := p.office.Entries(q.Context(), ids)
	if err != nil {
		return err
	}
	byID := make(map[int64]trade.Entry, len(entries))
	for _, e := range entries {
		byID[e.ID] = e
	}
	for i, c := range causes {
		for _, id := range c.Cause.Samples {
			if e, ok := byID[id]; ok {
				causes[i].Samples = append(causes[i].Samples, e)
			}
		}
		codes := make([][]int64, len(c.Subjects))
		for j, s := range c.Subjects {
			if c.Cause.Cause != trade.CauseParent { // a contract is no code
				codes[j] = s.Sample
			}
		}
		causes[i].Names = trade.NamesOf(entries, codes)
	}
	return nil
}

// Blocks returns how many records of each kind the cause blocks: "38 contratos, 112 entregas".
func (c causeShown) Blocks(v view.Voice) string {
	return v.Listed(trade.Map(addKinds(nil, c.Kinds()), func(k pending.KindSum) string {
		return v.Records(k.Kind, k.Fixing, k.Rows)
	}))
}

// partRows is a link to the rows of one job in one state that have a cause themselves.
type partRows struct {
	pending.Part
	Path string
}

// Parts returns links to the list of rows.
func (c causeShown) Parts() []partRows {
	return trade.Map(c.Own, func(p pending.Part) partRows { return partRows{p, figurePath(p.Of(c.Key))} })
}

// Path returns the address of the list of the rows of one kind.
func (c causeShown) Path(k pending.KindSum) string { return figurePath(k.Of) }

// Anchor returns the anchor of the cause on the page.
func (c causeShown) Anchor() string { return causeAnchor(c.Key) }

// RetryPath returns the address of the plan to retry the rows of the cause.
func (c causeShown) RetryPath() string { return "/act/retry?cause=" + url.QueryEscape(c.Key) }

// ResyncPath returns the address of the plan to read the rows of the cause again.
func (c causeShown) ResyncPath() string { return ResyncPath("cause", c.Key) }

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
