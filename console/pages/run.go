package pages

import (
	"slices"

	"github.com/safrasync/safrasync/console/view"
	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/trade"
)

// runPage is one pass, with the first rows with which it did the same.
type runPage struct {
	words.Voice
	Run   trade.RunReport
	Stop  *trade.Advice
	Open  bool // it has no end: it goes on, or was interrupted
	Goes  bool
	Live  live
	Now   *liveShown // its progress, if it runs in this process
	Parts []office.RunPart
	Here  office.RunPart // of which the rows are
	Rows  []trade.Entry
}

// runListed is how many rows of a part are listed.
const runListed = 20

func (p *Pages) showRun(q *web.Request) error {
	run, err := p.office.Run(q.Context(), q.PathValue("id"))
	if err != nil {
		return err
	}
	page := runPage{Voice: p.office.Voice(q.Lang), Run: run, Open: run.EndedAt.IsZero(), Live: p.liveNow(q)}
	if page.Open {
		page.Goes, err = p.office.Goes(q.Context(), run)
		if err != nil {
			return err
		}
		if page.Goes {
			page.Now = page.Live.of(run.Job)
		}
	}
	if run.Stopped != nil {
		page.Stop = new(p.office.AdviseStop(*run.Stopped, q.Lang))
	}
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
	rows := page.Here.Of
	rows.Sort, rows.Limit = trade.NewestFirst, runListed
	found, err := p.office.RowPage(q.Context(), rows)
	page.Rows = found.Rows
	return q.Show("run", page, err)
}

// Path returns the address of the list of the rows of a part.
func (runPage) Path(part office.RunPart) string { return figurePath(part.Of) }

// Why returns why a row is in its state.
func (p runPage) Why(f view.Frame, row trade.Entry) string { return f.Key(p.Reason(row)) }

// After returns the states of the rows of the job after the pass, with a count each.
func (p runPage) After() []trade.State {
	return slices.DeleteFunc(slices.Clone(trade.States), func(s trade.State) bool { return p.Run.States[s] == 0 })
}
