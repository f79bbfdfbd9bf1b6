// Closing a report: the plan, and what stands in its way.

package reconcile

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// ClosingPlan is what a person is shown before a report is closed.
type ClosingPlan struct {
	Day         trade.Date
	At          time.Time // of which the rows tell
	Rows        int
	Open        int      // rows that are neither sent, nor dismissed, nor withdrawn
	Divergences int      // above the tolerance
	Uneven      []Uneven // jobs whose sum does not close to zero: then nothing may be closed
	Unswept     []string // jobs without a complete sweep, of which that cannot be said
	Totals      []Total  // overall, by product
	States      []StateCount
	Summaries   []Summary // what each job has, and what of it is open
	First       string    // the day of the earliest document; "" = there is none
	// of all sums, but not of when they were made: who orders a closing with it gets what was
	// shown, or nothing
	Mark string
}

// StateCount is how many rows are open in a state.
type StateCount struct {
	State trade.State
	Rows  int
}

// TooEarly reports whether the first document is of a later month.
func (p ClosingPlan) TooEarly() bool { return p.First == "" || p.First > p.Day.String() }

// MonthEnd reads a month as people write it: 2026-10 or 10/2026, or its last day. ok is false for
// anything else, a day within a month among them.
func MonthEnd(text string) (day trade.Date, ok bool) {
	for _, form := range []string{"2006-01", "01/2006", time.DateOnly, "02/01/2006"} {
		at, err := time.Parse(form, strings.TrimSpace(text))
		if err != nil {
			continue
		}
		end := time.Date(at.Year(), at.Month()+1, 0, 0, 0, 0, 0, time.UTC)
		return trade.DateOf(end), !strings.Contains(form, "02") || at.Equal(end)
	}
	return day, false
}

// Uneven is a job whose sum does not close to zero.
type Uneven struct {
	Job        string
	Difference int
}

// settled are the states in which nothing is left to do about a row.
var settled = []trade.State{trade.Accepted, trade.Dismissed, trade.Withdrawn}

// PlanClosing says what the closed report would keep.
func (s *Snapshot) PlanClosing(tolerance Tolerance) (ClosingPlan, error) {
	day, err := s.cutOff()
	if err != nil {
		return ClosingPlan{}, err
	}
	view, err := s.Overview(Options{Tolerance: tolerance})
	if err != nil {
		return ClosingPlan{}, err
	}
	plan := ClosingPlan{
		First: view.First, Day: day, At: s.Head.At, Rows: s.Head.Rows, Divergences: view.Divergences,
		Summaries: view.Summaries,
	}
	for _, sum := range view.Summaries {
		if d := sum.Difference(); d != nil && *d != 0 {
			plan.Uneven = append(plan.Uneven, Uneven{sum.Job, *d})
		}
		if sum.InScope == nil {
			plan.Unswept = append(plan.Unswept, sum.Job)
		}
	}
	for _, state := range summaryOrder {
		n := 0
		for _, sum := range view.Summaries {
			n += sum.States[state]
		}
		if n > 0 && !slices.Contains(settled, state) {
			plan.States = append(plan.States, StateCount{state, n})
			plan.Open += n
		}
	}
	for _, total := range view.Totals {
		if total.By == ByAll {
			plan.Totals = append(plan.Totals, total)
		}
	}
	text, err := json.Marshal(struct {
		Day  string
		Rows int
		View Overview
	}{s.Head.Day, plan.Rows, view})
	if err != nil {
		return ClosingPlan{}, fmt.Errorf("plan the closing: %w", err)
	}
	sum := sha256.Sum256(text)
	plan.Mark = hex.EncodeToString(sum[:])
	return plan, nil
}

// The acts of the audit about reports.
const (
	ActExport = "report export"
	ActClose  = "report close"
)

// Export is what the audit keeps of a report that was written as a file: which figures somebody
// took out.
type Export struct {
	Report  string         `json:"report"`
	Kind    Kind           `json:"kind"`
	Day     string         `json:"day"` // cut-off; "" = none
	Format  string         `json:"format"`
	Rows    int            `json:"rows"`
	Failed  bool           `json:"failed,omitempty"` // the rows that need a decision, instead of the report
	Filters map[string]any `json:"filters"`          // what was selected, by the names of the command's flags
}

// Export is the record of a report in a format.
func (s *Snapshot) Export(format string, o Options) Export {
	return Export{
		Report: s.Head.ID, Kind: s.Head.Kind, Day: s.Head.Day, Format: format, Rows: s.Head.Rows,
		Filters: o.chosen(),
	}
}

// Kept is what the audit keeps of a report that was closed.
type Kept struct {
	Report string `json:"report"`
	Rows   int    `json:"rows"`
}

// Kept is the record of a report that is closed.
func (s *Snapshot) Kept() Kept { return Kept{s.Head.ID, s.Head.Rows} }

// chosen is what was selected, by the names of the command's flags.
func (o Options) chosen() map[string]any {
	out := map[string]any{}
	f := o.Filter
	for name, list := range map[string][]string{
		"job": f.Jobs, "harvest": f.Harvests, "product": f.Products, "branch": f.Branches, "producer": f.Producers,
		"place": f.Places, "wallet": f.Wallets,
		"state": texts(f.States), "section": texts(o.Sections), "by": texts(o.By),
	} {
		if len(list) > 0 {
			out[name] = list
		}
	}
	for name, day := range map[string]trade.Date{"from": f.From, "to": f.To} {
		if !day.IsZero() {
			out[name] = day.String()
		}
	}
	return out
}

func texts[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, one := range list {
		out[i] = string(one)
	}
	return out
}
