package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/console/view"
	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/pending"
	"github.com/safrasync/safrasync/trade"
)

// pendingRoutes are the page of what keeps rows from going.
type pendingRoutes struct {
	rows   Rows
	causes Causes
	acts   Acts
}

func (p *pendingRoutes) routes() []web.Route {
	return []web.Route{
		web.Get("/pending", trade.Reader, p.showPending),
		web.Get("/pending/retry", trade.Accountant, p.showRetry),
		web.Post("/pending/retry", trade.Accountant, p.doRetry),
	}
}

// retryMost is how many rows of a cause one order tries again: more would keep a person waiting.
// The next order takes the next ones.
const retryMost = 2000

// pendingPage is what the page shows.
type pendingPage struct {
	At     time.Time
	Causes []causeShown
	Rows   int // of all causes
	Moving int
	Who    []helper // who can see to how much
	Here   string   // that is filtered by; "" = all

	Reading int    // rows that are being read; nothing else is known yet
	Again   string // address of the same page
}

// causeShown is a cause with what the page needs beside it.
type causeShown struct {
	Cause
	Task    task
	Doubt   bool          // it is decided row by row
	Samples []trade.Entry // the first few rows
	Kinds   []kindSums
}

func (p *pendingRoutes) showPending(q *web.Request) error {
	stuck, err := p.causes.Stuck(q.Context(), q.Lang, q.Told() != "")
	if err != nil {
		return err
	}
	page := pendingPage{At: stuck.At, Moving: stuck.Moving, Here: q.FormValue("who"), Reading: stuck.Reading}
	if page.Reading > 0 {
		page.Again = q.URL.RequestURI()
		return q.Page(http.StatusOK, "pending", page)
	}
	page.Who = todayOf(stuck).Helpers
	for _, c := range stuck.Causes {
		shown := causeShown{
			Cause: c, Task: taskOf(c), Doubt: c.State == trade.InDoubt || c.State == trade.Held, Kinds: kindsOf(c),
		}
		if page.Here == "" || page.Here == shown.Task.Helper {
			page.Rows += c.Rows()
			page.Causes = append(page.Causes, shown)
		}
	}
	slices.SortStableFunc(page.Causes, func(a, b causeShown) int { return byWeight(a.Task, b.Task) })
	if err := p.samples(q, page.Causes); err != nil {
		return err
	}
	return q.Page(http.StatusOK, "pending", page)
}

// samples reads the first few rows of all causes at once.
func (p *pendingRoutes) samples(q *web.Request, causes []causeShown) error {
	var ids []int64
	for _, c := range causes {
		ids = append(ids, c.Cause.Samples...)
	}
	entries, err := p.rows.Entries(q.Context(), ids)
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
	}
	return nil
}

// kindSums are the rows of a cause in one kind of record, with what they are by product.
type kindSums struct {
	Kind   trade.Kind
	Fixing bool
	Rows   int
	Sums   []pending.Sum
}

// kindsOf groups the sums of a cause by kind of record.
func kindsOf(c Cause) []kindSums {
	var out []kindSums
	for _, s := range c.Sums {
		i := slices.IndexFunc(out, func(o kindSums) bool { return o.Kind == s.Kind && o.Fixing == s.Fixing })
		if i < 0 {
			out = append(out, kindSums{Kind: s.Kind, Fixing: s.Fixing})
			i = len(out) - 1
		}
		out[i].Rows += s.Rows
		out[i].Sums = append(out[i].Sums, s)
	}
	return out
}

// Blocks says how many records of each kind the cause keeps: "38 contratos, 112 entregas".
func (c causeShown) Blocks(v view.Voice) string {
	parts := make([]string, len(c.Kinds))
	for i, k := range c.Kinds {
		parts[i] = v.Records(k.Kind, k.Fixing, k.Rows)
	}
	return strings.Join(parts, ", ")
}

// partRows leads to the rows that have a cause themselves, of one job in one state.
type partRows struct {
	pending.Part
	Path string
}

// Parts lead to the list of rows. A cause is finer there than here only for rows with errors: the
// list has all that is wrong with the same field.
func (c causeShown) Parts() []partRows {
	out := make([]partRows, len(c.Own))
	for i, p := range c.Own {
		f := RowFilter{Job: p.Job, State: string(p.State), Cause: c.Cause.Cause}
		if p.State == trade.InDoubt { // they are one task, whatever the last answer was
			f.Cause = ""
		}
		out[i] = partRows{p, "/rows?" + f.values("").Encode()}
	}
	return out
}

// Anchor names the place of the cause on the page.
func (c causeShown) Anchor() string { return causeAnchor(c.Key) }

// RetryPath is where the rows of the cause are tried again.
func (c causeShown) RetryPath() string { return "/pending/retry?cause=" + url.QueryEscape(c.Key) }

// RefPath leads to the de-para table that has what is missing; to one code of it, where it is only
// one and the person may fill it in.
func (c causeShown) RefPath(fill bool) string {
	kind, missing := strings.CutPrefix(c.Cause.Cause, "ref:")
	if field, broken := strings.CutPrefix(c.Cause.Cause, "rule:"); broken && len(c.Kinds) > 0 {
		rule, _ := trade.Rule(c.Kinds[0].Kind, field)
		kind = rule.Platform
	}
	switch {
	case !slices.Contains(trade.ReferenceKinds, kind):
		return "/references"
	// an address stays in histories
	case fill && missing && len(c.Subjects) == 1 && c.More == 0 && !view.Masked(c.Subjects[0].Text):
		return "/references/" + kind + "?code=" + url.QueryEscape(c.Subjects[0].Text) + "#add"
	}
	return "/references/" + kind
}

// retryPage is the plan of one act for all rows of a cause.
type retryPage struct {
	Cause  causeShown
	Plans  []Plan
	Rows   int // that can be tried again now
	Typed  bool
	Cut    bool // there are more than one order takes
	Reason string
	Fault  string
}

// Shown are the first steps of the plans that can be done.
func (p retryPage) Shown() []acts.RowStep {
	var out []acts.RowStep
	for _, plan := range p.Plans {
		for _, s := range plan.Steps {
			if s.Refused == "" && len(out) < 20 {
				out = append(out, s)
			}
		}
	}
	return out
}

// planRetry plans to try again what can be of a cause, job by job.
func (p *pendingRoutes) planRetry(q *web.Request, key string) (retryPage, error) {
	stuck, err := p.causes.Stuck(q.Context(), q.Lang, true)
	if err != nil {
		return retryPage{}, err
	}
	i := slices.IndexFunc(stuck.Causes, func(c Cause) bool { return c.Key == key })
	if i < 0 || stuck.Causes[i].Retry() == 0 {
		return retryPage{}, nil
	}
	page := retryPage{Cause: causeShown{Cause: stuck.Causes[i], Kinds: kindsOf(stuck.Causes[i])}}
	jobs := map[string]bool{}
	for _, part := range stuck.Causes[i].Own {
		if part.Retry == 0 || jobs[part.Job] {
			continue
		}
		jobs[part.Job] = true
		order := Order{
			Act: Retry, Job: part.Job, States: []trade.State{trade.Waiting, trade.Rejected},
			Causes: []string{stuck.Causes[i].Cause}, Most: retryMost,
		}
		plan, err := p.acts.Plan(q.Context(), order)
		if err != nil {
			return retryPage{}, err
		}
		page.Plans = append(page.Plans, plan)
		page.Rows += plan.Possible()
		page.Cut = page.Cut || len(plan.Steps) == retryMost
	}
	page.Typed = page.Rows > typeAbove
	return page, nil
}

func (p *pendingRoutes) showRetry(q *web.Request) error {
	page, err := p.planRetry(q, q.FormValue("cause"))
	switch {
	case err != nil:
		return err
	case page.Rows == 0:
		q.Tell("pending.nothing")
		return q.Redirect("/pending")
	}
	return q.Page(http.StatusOK, "pending_retry", page)
}

// doRetry tries the rows again of which a person saw the plan. What has moved since is shown anew,
// and nothing of that job is done.
func (p *pendingRoutes) doRetry(q *web.Request) error {
	page, err := p.planRetry(q, q.PostFormValue("cause"))
	if err != nil {
		return err
	}
	var fault string
	page.Reason, fault = Reason(q)
	switch {
	case page.Rows == 0:
		q.Tell("pending.nothing")
		return q.Redirect("/pending")
	case fault != "":
		page.Fault = fault
	case !TypedFits(q, page.Rows):
		page.Fault = "desk.count.wrong"
	}
	if page.Fault != "" {
		return q.Page(http.StatusUnprocessableEntity, "pending_retry", page)
	}
	moved, others, err := doPlans(q, p.acts, page.Plans, page.Reason)
	if err != nil {
		return err
	}
	if moved {
		if page, err = p.planRetry(q, q.PostFormValue("cause")); err != nil {
			return err
		}
		page.Fault = "desk.moved"
		return q.Page(http.StatusConflict, "pending_retry", page)
	}
	if others != nil {
		return Asked(q, others)
	}
	q.Tell("pending.retried")
	return q.Redirect("/pending")
}
