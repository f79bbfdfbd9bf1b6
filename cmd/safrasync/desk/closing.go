package desk

import (
	"context"
	"net/url"
	"slices"
	"time"

	"github.com/safrasync/safrasync/console/pages"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/sync/reconcile/paper"
	"github.com/safrasync/safrasync/trade"
)

// MonthEnd parses a month and returns its last day.
func (*reports) MonthEnd(text string) (day trade.Date, ok bool) {
	return reconcile.MonthEnd(text)
}

// PlanClosing returns what closing a month would store.
func (r *reports) PlanClosing(ctx context.Context, day trade.Date) (plan pages.ClosingPlan, err error) {
	err = r.now(ctx, day, func(s *reconcile.Snapshot) error {
		plan, err = r.plan(s)
		return err
	})
	if err == nil {
		plan.Before, err = r.g.Store.Closings(ctx, day)
	}
	return plan, err
}

// plan returns the plan of a closing in the console's form.
func (r *reports) plan(s *reconcile.Snapshot) (pages.ClosingPlan, error) {
	p, err := s.PlanClosing(r.g.App.Config.Report.Tolerance())
	return planned(p, s.Zone()), err
}

func planned(p reconcile.ClosingPlan, zone *time.Location) pages.ClosingPlan {
	return pages.ClosingPlan{
		Day: p.Day, Rows: p.Rows, Mark: p.Mark, At: p.At, TooEarly: p.TooEarly(),
		Checks: checksOf(p, zone), Figures: figuresOf(p.Totals, nil, reconcile.Options{}),
	}
}

// CloseReport stores what a plan with this mark showed. If other people must agree, it asks them
// instead and returns the approval. It does neither if the plan has changed, does not add up, or
// comes too early; then id is empty and asked is nil.
func (r *reports) CloseReport(ctx context.Context, day trade.Date, mark string,
	who acts.Person,
) (id string, asked *trade.Approval, err error) {
	err = r.now(ctx, day, func(s *reconcile.Snapshot) error {
		p, err := s.PlanClosing(r.g.App.Config.Report.Tolerance())
		if err != nil || p.Mark != mark || len(p.Uneven) > 0 || p.TooEarly() {
			return err
		}
		asked, err = office.AskClosing(ctx, (&work{r.g}).acts(), day, p, false, who)
		if err != nil || asked != nil {
			return err
		}
		record, err := who.Record(office.Now(), reconcile.ActClose, day.String(), s.Kept())
		if err != nil {
			return err
		}
		closing, err := reconcile.Freeze(ctx, r.g.Store, s, who.Name, who.Reason, record)
		id = closing.ID
		return err
	})
	if err != nil {
		return "", nil, err
	}
	return id, asked, nil
}

// ReadClosing returns a closed report.
func (r *reports) ReadClosing(ctx context.Context, id string, lang trade.Lang,
	most int,
) (out pages.ClosedMonth, err error) {
	q := pages.ReportQuery{Closing: id}
	err = r.asked(ctx, q, func(s *reconcile.Snapshot) error {
		if out.Plan, err = r.plan(s); err != nil {
			return err
		}
		c := s.Head.Closed
		out.Closing = trade.Closing{
			ID: c.ID, Day: out.Plan.Day, At: c.At, Who: c.Who, Reason: c.Reason, Hash: c.Hash, Audit: c.Audit,
			Program: s.Head.Program, Rows: s.Head.Rows,
		}
		o := r.options(q, lang)
		o.By = []reconcile.By{reconcile.ByAll, reconcile.BySeason, reconcile.ByPlace} // by producer only in files
		out.Report, err = read(s, o, most)
		return err
	})
	return out, err
}

// ClosingStyle returns a style sheet that prints the identity of a closing on every page.
func (r *reports) ClosingStyle(ctx context.Context, id string, lang trade.Lang) (string, error) {
	list, err := r.g.Store.Closings(ctx, trade.Date{})
	if err != nil {
		return "", err
	}
	for _, c := range list {
		if c.ID == id {
			head := reconcile.Head{Day: c.Day.String(), Closed: &reconcile.Closed{At: c.At, Hash: c.Hash}}
			return paper.Style(reconcile.Heading{Head: head, Lang: lang, Zone: r.g.App.Config.Zone()}), nil
		}
	}
	return "", state.ErrNotFound
}

// stateChecks are the checks for open rows in certain states, in the order of the checklist.
var stateChecks = []struct {
	key    string
	states []trade.State
}{
	{"doubt", []trade.State{trade.InDoubt, trade.Sending}},
	{"held", []trade.State{trade.Held}},
	{"refused", []trade.State{trade.Rejected, trade.Invalid}},
	{"waiting", []trade.State{trade.Waiting, trade.Pending}},
}

// checksOf returns the checklist of a closing.
func checksOf(p reconcile.ClosingPlan, zone *time.Location) []pages.ClosingCheck {
	sweep, even := pages.ClosingCheck{Key: "sweep", OK: true}, pages.ClosingCheck{Key: "even", Blocks: true}
	keys := pages.ClosingCheck{Key: "keys"}
	open := make([]pages.ClosingCheck, len(stateChecks))
	for i, check := range stateChecks {
		open[i].Key = check.key
	}
	for _, s := range p.Summaries {
		of := url.Values{"job": {s.Job}}
		item := pages.ClosingItem{Job: s.Job, Kind: s.Sends, Path: "/runs?" + of.Encode()}
		if s.SweptAt != nil {
			item.At = *s.SweptAt
		}
		sweep.Items = append(sweep.Items, item)
		sweep.OK = sweep.OK && p.Day.Before(trade.DateOf(item.At.In(zone)))
		for i, check := range stateChecks {
			for _, part := range s.Open {
				if slices.Contains(check.states, part.State) {
					open[i].Items = append(open[i].Items, openItem(s, part))
				}
			}
		}
		keys.Items = append(keys.Items, keyless(s)...)
	}
	for _, u := range p.Uneven {
		even.Items = append(even.Items, pages.ClosingItem{
			Job: u.Job, N: u.Difference, Path: "/report?show=1&to=" + p.Day.String() + "#summary",
		})
	}
	differences := pages.ClosingCheck{Key: "differences"}
	if p.Divergences > 0 {
		differences.Items = append(differences.Items, pages.ClosingItem{
			N: p.Divergences, Path: "/report?show=1&to=" + p.Day.String() + "#divergences",
		})
	}
	out := append(append([]pages.ClosingCheck{sweep, even}, open...), differences, keys)
	for i := range out[1:] {
		out[i+1].OK = len(out[i+1].Items) == 0
	}
	return out
}

// openItem returns an item with a link to the open rows of a job in a state.
func openItem(s reconcile.Summary, part reconcile.Part) pages.ClosingItem {
	path := "/doubts"
	if part.State != trade.InDoubt {
		path = "/rows?" + url.Values{"job": {s.Job}, "state": {string(part.State)}}.Encode()
	}
	return pages.ClosingItem{
		Job: s.Job, Kind: s.Sends, Fixing: part.Fixing, State: part.State, Sums: part.Sums, Path: path,
	}
}

// keyless returns items for the rows of a job's query that have no key, or a key that is not
// unique.
func keyless(s reconcile.Summary) (out []pages.ClosingItem) {
	for _, b := range s.Beside {
		if b.Rows > 0 && (b.Why == trade.BesideNoKey || b.Why == trade.BesideDouble) {
			out = append(out, pages.ClosingItem{
				Job: s.Job, Kind: s.Sends, Why: b.Why, Sums: b.Sums, Keys: b.Keys,
				Path: bridgePath(s.Job, string(b.Why)),
			})
		}
	}
	if len(s.Beside) == 0 && s.Unreadable > 0 { // reports of older sweeps have only this number
		out = append(out, pages.ClosingItem{
			Job: s.Job, Kind: s.Sends, Why: trade.BesideNoKey, Sums: trade.Sums{Rows: s.Unreadable},
			Path: bridgePath(s.Job, string(trade.BesideNoKey)),
		})
	}
	return out
}
