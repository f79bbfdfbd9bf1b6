package pages

import (
	"net/url"
	"slices"
	"time"

	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/trade"
)

// Closing is the plan of a closing, as a page shows it.
type Closing struct {
	reconcile.ClosingPlan
	Checks []ClosingCheck
	Table  []accountRow // what would be stored, in t and money
	Open   bool         // the month has not ended yet
	Needs  int          // people, in all
}

// closingOf returns the plan of a closing, as a page shows it.
func (p *Pages) closingOf(q *web.Request, plan reconcile.ClosingPlan, past bool) Closing {
	sweep, even := ClosingCheck{Key: "sweep", OK: true}, ClosingCheck{Key: "even", Blocks: true}
	now := ClosingCheck{Key: "erp", OK: plan.ERP != nil && len(plan.ERP.Jobs) == 0}
	if plan.ERP != nil {
		now.Items = []ClosingItem{{At: plan.ERP.At}}
	}
	keys := ClosingCheck{Key: "keys"}
	open := make([]ClosingCheck, len(stateChecks))
	for i, check := range stateChecks {
		open[i].Key = check.key
	}
	for _, s := range plan.Summaries {
		of := url.Values{"job": {s.Job}}
		item := ClosingItem{Job: s.Job, Kind: s.Sends, Path: "/routines?" + of.Encode()}
		if s.SweptAt != nil {
			item.At = *s.SweptAt
		}
		sweep.Items = append(sweep.Items, item)
		sweep.OK = sweep.OK && plan.Day.Before(trade.DateOf(item.At.In(q.Site.Zone)))
		for i, check := range stateChecks {
			for _, part := range s.Open {
				if slices.Contains(check.states, part.State) {
					open[i].Items = append(open[i].Items, ClosingItem{
						Job: s.Job, Kind: s.Sends, Fixing: part.Fixing, State: part.State, Sums: part.Sums,
						Path: figurePath(part.Figure(s.Job, plan.Day).Of),
					})
				}
			}
		}
		for _, b := range s.Beside {
			if b.Rows > 0 && (b.Why == trade.BesideNoKey || b.Why == trade.BesideDouble) {
				keys.Items = append(keys.Items, ClosingItem{
					Job: s.Job, Kind: s.Sends, Why: b.Why, Sums: b.Sums, Keys: b.Keys,
					Path: bridgePath(s.Job, string(b.Why)),
				})
			}
		}
		for _, job := range plan.ERP.Differ() {
			if job.Job == s.Job {
				unread := i18n.InBrowser(q.Lang, p.office.Voice(q.Lang).Say(job.Unread))
				now.Items = append(now.Items, ClosingItem{Job: s.Job, At: item.At, ERP: job, Unread: unread})
			}
		}
	}
	for _, u := range plan.Uneven {
		even.Items = append(even.Items, ClosingItem{
			Job: u.Job, N: u.Difference, Path: "/report?show=1&to=" + plan.Day.String() + "&part=summary",
		})
	}
	differences := ClosingCheck{Key: "differences"}
	if plan.Divergences > 0 {
		differences.Items = append(differences.Items, ClosingItem{
			N: plan.Divergences, Path: "/report?show=1&to=" + plan.Day.String() + "&part=divergences",
		})
	}
	checks := append(append([]ClosingCheck{sweep, now, even}, open...), differences, keys)
	for i := range checks[2:] {
		checks[i+2].OK = len(checks[i+2].Items) == 0
	}
	slices.SortStableFunc(checks, func(a, b ClosingCheck) int { return trade.CompareBool(a.OK, b.OK) })
	// what a closing says is of its day: the ledger of today has other rows behind it
	by := accountingOf(q.Voice(), p.office.ReportOptions(office.ReportQuery{}, q.Lang), true, plan.Accounts)
	var rows []accountRow
	for _, a := range plan.Accounts {
		for _, unit := range []string{inTonnes, inMoney} {
			if (unit == inMoney) == (a.Measure == reconcile.Worth) && !a.Empty() {
				rows = append(rows, by.row(a, unit))
			}
		}
	}
	for _, check := range checks {
		for i := range check.Items {
			if past {
				check.Items[i].Path = ""
			}
		}
	}
	today := trade.DateOf(q.Site.Now().In(q.Site.Zone))
	return Closing{plan, checks, tableOf(rows, true), !plan.Day.Before(today), p.office.ClosingNeeds(plan)}
}

// Blocked reports whether a failed check prevents the closing.
func (p Closing) Blocked() bool {
	return slices.ContainsFunc(p.Checks, func(c ClosingCheck) bool { return c.Blocks && !c.OK })
}

// Failed returns the number of failed checks.
func (p Closing) Failed() int {
	n := 0
	for _, c := range p.Checks {
		if !c.OK {
			n++
		}
	}
	return n
}

// ClosingCheck is one line of the checklist of a closing.
type ClosingCheck struct {
	Key    string // key of its text: sweep, erp, even, doubt, held, refused, waiting, differences or keys
	OK     bool
	Blocks bool // nothing can be closed while it fails
	Items  []ClosingItem
}

// ClosingItem is one thing that a check found.
type ClosingItem struct {
	Job    string // "" = all jobs
	Kind   trade.Kind
	Fixing bool        // of contracts: their fixations, which are the same grain
	State  trade.State // the state of the rows; "" = not about a state
	Sums   trade.Sums
	At     time.Time // of a sweep or reading
	N      int       // divergences, or the difference of a sum
	Why    trade.BesideKind
	Keys   []string
	Unread string           // why the ERP could not be read, in words
	ERP    reconcile.ERPJob // what the ERP has now other than the figures
	Path   string           // address of the list
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
