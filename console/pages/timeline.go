package pages

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"github.com/safrasync/safrasync/console/view"
	"github.com/safrasync/safrasync/trade"
)

// timelineStep is one event in the history of a row.
type timelineStep struct {
	At   time.Time
	Kind string // seen, sent, answered, silent, decided, told, changed: determines name and look
	Who  string
	What string // masked
	Why  string // a person's reason, masked
	Try  *attemptView
	Bad  bool
}

// attemptView is one attempt with its request and answer as they are shown.
type attemptView struct {
	trade.Attempt
	Request string
	Answer  string
}

// maxTimeline is how many of the latest steps of a row are shown; earlier ones are folded.
const maxTimeline = 15

// changedAfter are the flags for a row that changed in the ERP.
var changedAfter = []trade.Flag{trade.Changed, trade.MissingInERP, trade.Cancelled, trade.Replaced}

// timeline returns the history of a row, oldest first.
func (p *Pages) timeline(v view.Voice, page *rowPage) []timelineStep {
	e := page.Entry
	steps := []timelineStep{{At: e.FirstSeenAt, Kind: "seen"}}
	for _, a := range page.Doubt.Attempts {
		request := string(a.Payload)
		var b bytes.Buffer
		if json.Indent(&b, a.Payload, "", "  ") == nil {
			request = b.String()
		}
		steps = append(steps, timelineStep{
			At: a.StartedAt, Kind: "sent", What: v.Number(a.No),
			Try: &attemptView{a, page.Hide(request), page.Hide(a.AnswerBody)},
		})
		if a.FinishedAt.IsZero() {
			continue
		}
		outcome, phase := p.office.Attempt(a, v.Language())
		answer := timelineStep{
			At: a.FinishedAt, Kind: "answered", What: page.Hide(outcome), Bad: a.Outcome != trade.OutcomeCreated,
		}
		if a.Status == 0 {
			answer.Kind = "silent"
		}
		if a.Status == 0 && phase != "" {
			answer.What = v.T("doubt.phase." + phase)
		}
		steps = append(steps, answer)
	}
	for _, r := range page.History {
		steps = append(steps, timelineStep{
			At: r.At, Kind: "decided", Who: r.Who, What: v.ActName(r.Act), Why: page.Hide(v.Because(r)),
		})
	}
	for _, h := range page.Hints.Heard {
		steps = append(steps, timelineStep{At: h.At, Kind: "told", What: v.Event(h.Event), Why: v.EventWord(h.Word)})
	}
	for _, flag := range changedAfter {
		if e.Flags.Has(flag) {
			steps = append(steps, timelineStep{At: e.UpdatedAt, Kind: "changed", What: v.Flag(flag), Bad: true})
		}
	}
	slices.SortStableFunc(steps, func(a, b timelineStep) int { return a.At.Compare(b.At) })
	return steps
}
