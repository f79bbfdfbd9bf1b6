package pages

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/safrasync/safrasync/console/view"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// wayStep is one event in the history of a row.
type wayStep struct {
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

// wayShown is how many of the latest steps of a row are shown; earlier ones are folded.
const wayShown = 15

// changedAfter are the flags for a row that changed in the ERP.
var changedAfter = []trade.Flag{trade.Changed, trade.MissingInERP, trade.Cancelled, trade.Replaced}

// way returns the history of a row, oldest first.
func (p *rowRoutes) way(v view.Voice, page *rowPage, attempts []trade.Attempt) []wayStep {
	e := page.Entry
	steps := []wayStep{{At: e.FirstSeenAt, Kind: "seen"}}
	for _, a := range attempts {
		steps = append(steps, wayStep{
			At: a.StartedAt, Kind: "sent", What: v.Number(a.No),
			Try: &attemptView{a, page.hide(pretty(a.Payload)), page.hide(a.AnswerBody)},
		})
		if a.FinishedAt.IsZero() {
			continue
		}
		outcome, phase := p.words.Attempt(a, v.Language())
		answer := wayStep{
			At: a.FinishedAt, Kind: "answered", What: page.hide(outcome), Bad: a.Outcome != trade.OutcomeCreated,
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
		steps = append(steps, wayStep{
			At: r.At, Kind: "decided", Who: r.Who, What: v.ActName(r.Act), Why: page.hide(r.Reason),
		})
	}
	for _, h := range page.Hints.Heard {
		steps = append(steps, wayStep{At: h.At, Kind: "told", What: v.Event(h.Event), Why: v.EventWord(h.Word)})
	}
	for _, flag := range changedAfter {
		if e.Flags.Has(flag) {
			steps = append(steps, wayStep{At: e.UpdatedAt, Kind: "changed", What: v.Flag(flag), Bad: true})
		}
	}
	slices.SortStableFunc(steps, func(a, b wayStep) int { return a.At.Compare(b.At) })
	return steps
}

// fieldView is a field as the ERP has it, as it was sent, and as the platform showed it.
type fieldView struct {
	Field
	There *string
	Off   bool // it has a problem, or the three differ
}

// compare adds the platform's values to the fields, and separates the fields that differ.
func (page *rowPage) compare(fields []Field) {
	there := page.there()
	page.There = len(there) > 0
	for _, f := range fields {
		view := fieldView{Field: f, Off: f.Problem != nil || f.Differs}
		if text, ok := there[f.Name]; ok {
			rule, _ := trade.Rule(page.Entry.Sends, f.Name)
			view.Off = view.Off || f.Sent != nil && !acts.EqualTexts(rule, *f.Sent, text)
			text = page.hide(text)
			view.There = &text
		}
		if view.Off {
			page.Off = append(page.Off, view)
		} else {
			page.Even = append(page.Even, view)
		}
	}
}

// there returns the platform's last known values of the record: from the reading that a person
// confirmed, or else from an answer or a read-back.
func (page *rowPage) there() map[string]string {
	for _, r := range page.History {
		var detail struct {
			Reading *acts.Readback `json:"reading"`
		}
		if r.Act != Adopt || json.Unmarshal([]byte(r.Detail), &detail) != nil || detail.Reading == nil {
			continue
		}
		out := map[string]string{}
		for _, f := range detail.Reading.Fields {
			if f.There != nil {
				out[f.Field] = *f.There
			}
		}
		return out
	}
	return page.Hints.There
}
