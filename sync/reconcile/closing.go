// Closing a report: the plan, and what prevents it.

package reconcile

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/trade"
)

// ClosingPlan is what a person is shown before a report is closed.
type ClosingPlan struct {
	Overview // of the totals only those overall, by product
	Day      trade.Date
	At       time.Time // the moment of the figures
	Rows     int
	Open     int      // rows that are neither sent, nor dismissed, nor withdrawn
	Uneven   []Uneven // jobs whose equation does not balance; nothing may be closed then
	Unswept  []string // jobs without a complete sweep, for which it is unknown
	States   []StateCount
	ERP      *ERPNow // the ERP, read for this plan; nil: it was not
	// hash of all sums, but not of when they were made: a closing ordered with it closes what was
	// shown, or nothing
	Mark string
	// Before are earlier closings of the same month, newest first, for who closes it now.
	Before []trade.Closing `json:"-"`
}

// StateCount is how many rows are open in a state.
type StateCount struct {
	State trade.State
	Rows  int
}

// TooEarly reports whether there is no document up to the cut-off.
func (p ClosingPlan) TooEarly() bool { return p.First == "" || p.First > p.Day.String() }

// MonthEnd parses a month as people write it (2026-10 or 10/2026), or its last day, and returns its
// last day. ok is false for anything else, including a day within a month.
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

// Uneven is a job whose equation does not balance.
type Uneven struct {
	Job        string
	Difference int
}

// Settled are the states in which nothing remains to be done about a row.
var Settled = []trade.State{trade.Accepted, trade.Dismissed, trade.Withdrawn}

// PlanClosing returns what the closed report would contain.
func (s *Snapshot) PlanClosing(tolerance Tolerance) (ClosingPlan, error) {
	day, err := s.cutOff()
	if err != nil {
		return ClosingPlan{}, err
	}
	view, err := s.Overview(Options{Tolerance: tolerance})
	if err != nil {
		return ClosingPlan{}, err
	}
	plan := ClosingPlan{Overview: view, Day: day, At: s.Head.At, Rows: view.Selected, ERP: s.Head.ERP}
	plan.Totals = slices.DeleteFunc(slices.Clone(view.Totals), func(t Total) bool { return t.By != ByAll })
	view.Summaries = slices.Clone(view.Summaries)
	for i := range view.Summaries { // a new sweep alone changes no figure
		view.Summaries[i].SweptAt = nil
	}
	for _, sum := range plan.Summaries {
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
		if n > 0 && !slices.Contains(Settled, state) {
			plan.States = append(plan.States, StateCount{state, n})
			plan.Open += n
		}
	}
	text, err := json.Marshal(struct {
		Day  string
		Rows int
		View Overview
		ERP  []ERPJob
	}{s.Head.Day, plan.Rows, view, plan.ERP.Differ()})
	if err != nil {
		return ClosingPlan{}, phrase.Errorf("plan the closing: %w", err)
	}
	sum := sha256.Sum256(text)
	plan.Mark = hex.EncodeToString(sum[:])
	return plan, nil
}

// The audit's names of acts on reports.
const (
	ActExport = "report export"
	ActClose  = "report close"
)

// Export is what the audit stores about a report that was written as a file: which figures somebody
// exported.
type Export struct {
	Report  string         `json:"report"`
	Kind    FigureKind     `json:"kind"`
	Day     string         `json:"day"` // cut-off; "" = none
	Format  string         `json:"format"`
	Rows    int            `json:"rows"`
	Failed  bool           `json:"failed,omitempty"` // only the rows that need a decision
	Filters map[string]any `json:"filters"`          // the selection, by flag names
}

// Export returns the audit's detail for a report in a format.
func (s *Snapshot) Export(format string, o Options) (Export, error) {
	_, err := s.sum(o) // the head must have its counts
	out := Export{Report: s.Head.ID, Kind: s.Head.Kind, Day: s.Head.Day, Format: format, Rows: s.Head.Rows}
	selected, jsonErr := json.Marshal(struct {
		Filter
		Sections []SectionID `json:"section,omitempty"`
		By       []By        `json:"by,omitempty"`
	}{o.Filter, o.Sections, o.By})
	return out, errors.Join(err, jsonErr, json.Unmarshal(selected, &out.Filters))
}
