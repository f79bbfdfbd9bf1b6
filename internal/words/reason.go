package words

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/trade"
)

// Reason returns one line about why an entry is in its state; "" if there is nothing to explain.
func (v Voice) Reason(e trade.Entry) string {
	var parts []string
	state := e.State
	if unfound(e) {
		parts, state = append(parts, v.Text("the last sweep did not find it in the ERP")), trade.Accepted
	}
	switch state {
	case trade.Accepted:
	case trade.Invalid:
		if e.Error != nil {
			parts = append(parts, trade.Sentences(e.Error.Fields, v.Lang))
		}
		parts = append(parts, v.Awaited(stillAwaited(e))...)
	case trade.Waiting:
		if !strings.HasPrefix(e.Cause, "ref:") && e.Cause != trade.CauseParent {
			parts = append(parts, trade.Explain(e.State, e.Cause, v.Lang).What)
		}
		parts = append(parts, v.Awaited(stillAwaited(e))...)
	default:
		parts = append(parts, v.Advice(e).What)
	}
	switch next := e.NextAttemptAt; {
	case next.IsZero():
	case next.After(v.Now):
		parts = append(parts, v.Text("next attempt at %s", v.Moment(next)))
	default:
		parts = append(parts, v.Text("next attempt in the next run"))
	}
	parts = append(parts, v.labels(e.Flags)...)
	return strings.Join(parts, "; ")
}

// Advice returns what to do about an entry; for an accepted entry it is empty.
func (v Voice) Advice(e trade.Entry) trade.Advice {
	if e.State == trade.Accepted {
		return trade.Advice{}
	}
	advice := trade.ExplainEntry(e, v.Lang)
	if unfound(e) {
		advice = trade.Explain(trade.Pending, "", v.Lang)
		advice.What, advice.Do = v.Text("the last sweep did not find it in the ERP"), v.Text("Nothing: if it does not come back to the ERP, it is withdrawn after the next sweep.")
	}
	return advice
}

// unfound reports whether the last sweep did not find a row that was to go: what it lacked then no
// longer counts.
func unfound(e trade.Entry) bool {
	return e.GoneSweeps > 0 && slices.Contains([]trade.State{trade.Pending, trade.Waiting, trade.Invalid}, e.State)
}

// stillAwaited returns what an entry still waits for. If something else blocks the row, it omits
// the parents that now have an id.
func stillAwaited(e trade.Entry) []trade.Awaited {
	if e.Cause == trade.CauseParent {
		return e.WaitingFor
	}
	return slices.DeleteFunc(slices.Clone(e.WaitingFor),
		func(a trade.Awaited) bool { return a.Job != "" && a.ParentState == trade.Accepted })
}

// Awaited returns a sentence for each thing that an entry waits for.
func (v Voice) Awaited(things []trade.Awaited) []string {
	return trade.Map(things, func(w trade.Awaited) string { return w.Sentence(v.Lang) })
}

func (v Voice) labels(flags []trade.Flag) []string {
	return trade.Map(flags, func(f trade.Flag) string { return f.Label(v.Lang) })
}

// Stop returns why a job stopped and what to do. In Portuguese the words for the kind of stop come
// before those of this case.
func (v Voice) Stop(s trade.Stop) string {
	why := s.Sentence()
	text := v.Say(why)
	general := trade.Say("stop." + s.Code)
	if v.Lang != trade.English && s.Brake == nil && why.Code != general.Code &&
		i18n.Sentences.Has(general.Code) {
		text = v.Say(general)
		if why.Code != "" && why.Known(v.Lang) {
			text += " (" + v.Say(why) + ")"
		}
	}
	if !s.Until.IsZero() {
		text += v.Text("; next attempt at %s", v.Moment(s.Until))
	}
	return text
}

// PhaseOf returns how far a request got; "" if that was not stored.
func PhaseOf(evidence json.RawMessage) string {
	var e struct{ Phase string }
	if json.Unmarshal(evidence, &e) != nil || !i18n.CLI.Has("phase."+e.Phase) {
		return ""
	}
	return e.Phase
}

// OutcomeName returns the name of an outcome in JSON and in the keys of texts.
func OutcomeName(o trade.Outcome) string {
	if o == trade.OutcomeOpen {
		return "open"
	}
	return string(o)
}
