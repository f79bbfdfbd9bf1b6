package pages

import (
	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/trade"
)

// runPage is one pass, with the first rows with which it did the same.
type runPage struct {
	runLine
	Stop  *trade.Advice
	Said  []string // remarks for IT
	Live  live
	Parts []office.RunPart
	Here  office.RunPart // of which the rows are
	Rows  []runRow
	// Causes are those that the rows of the part have now, if they have several.
	Causes []runCause
	After  []runState
}

// runState is how many rows of the job were in a state when a run ended.
type runState struct {
	State trade.State
	Rows  int
	More  trade.Decimal // than when the one before ended; zero: as many, or there is none before
}

// runCause is a cause of rows of a part.
type runCause struct {
	Name, Path string
	trade.Sums
}

// runRow is a row, and why it is in its state.
type runRow struct {
	trade.Entry
	Why string
}

// runListed is how many rows of a part are listed.
const runListed = 20

func (p *Pages) showRun(q *web.Request) error {
	run, err := p.office.Run(q.Context(), q.PathValue("id"))
	if err != nil {
		return err
	}
	page := runPage{runLine: runLine{RunReport: run}, Live: p.liveNow(q)}
	page.Said = trade.Map(run.Notes, p.office.Voice(q.Lang).Say)
	page.Goes, err = p.office.Goes(q.Context(), run)
	if err != nil {
		return err
	}
	if page.Goes {
		page.Now = page.Live.of(run.Job)
	}
	older, err := p.office.RunsBefore(q.Context(), run.ID)
	if err != nil {
		return err
	}
	page.Left = leftBy(run, older)
	before := runBefore(run, older)
	for _, state := range trade.States {
		one := runState{State: state, Rows: run.States[state]}
		if before.ID != "" {
			one.More = trade.NewDecimal(int64(one.Rows-before.States[state]), 0)
		}
		if one.Rows > 0 || one.More.Sign() != 0 {
			page.After = append(page.After, one)
		}
	}
	page.Stop = p.office.AdviseStop(run.Stopped, q.Lang)
	page.Parts, err = p.office.RunParts(q.Context(), run)
	if err != nil || len(page.Parts) == 0 {
		return q.Show("run", page, err)
	}
	page.Here = page.Parts[0]
	for _, part := range page.Parts {
		if string(part.Result) == q.Form.Get("part") {
			page.Here = part
		}
	}
	causes, err := p.office.RunCauses(q.Context(), page.Here)
	if err != nil {
		return err
	}
	if len(causes) > 1 {
		page.Causes = trade.Map(causes, func(c trade.Figure) runCause {
			return runCause{p.office.CauseName(c.Of.Causes[0], q.Lang), figurePath(c.Of), c.Sums}
		})
	}
	rows := page.Here.Of
	rows.Sort, rows.Limit = trade.NewestFirst, runListed
	found, err := p.office.RowPage(q.Context(), rows)
	for _, e := range found.Rows {
		page.Rows = append(page.Rows, runRow{e, q.Voice().Key(p.office.Voice(q.Lang).Reason(e))})
	}
	return q.Show("run", page, err)
}
