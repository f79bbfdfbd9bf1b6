package pages

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/trade"
)

// runPage is one pass.
type runPage struct {
	Run    trade.RunReport
	States []runSum
	Flags  []flagCount
	Sum    int // of the states
	Stop   *trade.Advice
	Notes  []string
	Open   bool // it has no end: it goes on, or was interrupted
	Goes   bool
	Live   live
	Now    *liveShown // its progress, if it runs in this process
	Groups []ranGroup // what it sent and changed
	More   bool       // it sent or changed further rows
}

// ranGroup is the rows with which a pass did the same.
type ranGroup struct {
	Key  string // of a phrase: sent, refused, doubt, open, held, invalid, changed
	Rows []office.RanRow
	All  int // number of rows, also of those that are not listed; 0 = not known
}

// ranOutcomes and ranStates are the groups of the rows of a pass, by the outcome of a request; without a
// request, by the row's state.
var (
	ranOutcomes = map[trade.Outcome]string{
		trade.OutcomeCreated: "sent", trade.OutcomeUnknown: "doubt", trade.OutcomeNotCreated: "refused",
	}
	ranStates = map[trade.State]string{trade.Held: "held", trade.Invalid: "invalid"}
)

// ranListed is how many rows of a pass are listed.
const ranListed = 300

// runSum is how many rows were in a state after the pass.
type runSum struct {
	State trade.State
	Rows  int
}

func (p *Pages) showRun(q *web.Request) error {
	run, err := p.office.Run(q.Context(), q.PathValue("id"))
	if err != nil {
		return err
	}
	page := runPage{Run: run, Open: run.EndedAt.IsZero()}
	if page.Open {
		page.Live = p.liveNow(q)
		page.Goes, err = p.office.Goes(q.Context(), run)
		if err != nil {
			return err
		}
		if page.Goes {
			page.Now = page.Live.of(run.Job)
		}
	}
	for _, state := range trade.States {
		if n := run.States[state]; n > 0 {
			page.States = append(page.States, runSum{state, n})
			page.Sum += n
		}
	}
	for _, flag := range trade.AllFlags {
		if n := run.Flags[flag]; n > 0 {
			page.Flags = append(page.Flags, flagCount{Flag: flag, Rows: n})
		}
	}
	if run.Stopped != nil {
		page.Stop = new(p.office.AdviseStop(*run.Stopped, q.Lang))
	}
	ran, err := p.office.Ran(q.Context(), run, ranListed)
	if err != nil {
		return err
	}
	page.More = ran.More
	groups := []ranGroup{ // by what a person asks first
		{Key: "doubt", All: ran.Sent[trade.OutcomeUnknown]},
		{Key: "refused", All: ran.Sent[trade.OutcomeNotCreated]},
		{Key: "held"},
		{Key: "invalid"},
		{Key: "sent", All: ran.Sent[trade.OutcomeCreated]},
		{Key: "open", All: ran.Sent[trade.OutcomeNotSent] + ran.Sent[trade.OutcomeOpen]},
		{Key: "changed"},
	}
	for _, r := range ran.Rows {
		key := cmp.Or(ranStates[r.State], "changed")
		if r.Attempt != nil {
			key = cmp.Or(ranOutcomes[r.Attempt.Outcome], "open")
		}
		i := slices.IndexFunc(groups, func(g ranGroup) bool { return g.Key == key })
		groups[i].Rows = append(groups[i].Rows, r)
	}
	for i := range groups {
		if !ran.More {
			groups[i].All = len(groups[i].Rows)
		}
	}
	page.Groups = slices.DeleteFunc(groups, func(g ranGroup) bool { return g.All+len(g.Rows) == 0 })
	for _, note := range run.Notes {
		page.Notes = append(page.Notes, p.office.Voice(q.Lang).Say(note))
	}
	return q.Page(http.StatusOK, "run", page)
}
