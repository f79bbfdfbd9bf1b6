package trade

import "strings"

// Awaited names one thing an entry waits for: a reference, a parent, or a record of the platform.
type Awaited struct {
	Ref         string `json:"ref,omitempty"`  // de-para kind
	Code        string `json:"code,omitempty"` // ERP code without an id
	Job         string `json:"job,omitempty"`  // the parent's job and key
	Key         string `json:"key,omitempty"`
	ParentState State  `json:"parent_state,omitempty"` // as it is when somebody looks; "" = the ledger has no such row
	ParentCause string `json:"parent_cause,omitempty"` // why the parent is in that state; of a last look: CauseReplaced
	Platform    string `json:"platform,omitempty"`     // kind of the platform's record, and its id
	ID          string `json:"id,omitempty"`
}

// Sentence says what the row waits for, and where that stands: "waits for contract 01|000122, which was rejected: producer not linked to the wallet".
func (a Awaited) Sentence(lang Lang) string {
	w := wordsIn(lang)
	switch {
	case a.Ref == ProducerByDocument: // its code is a hash, which tells people nothing
		return Explain(Waiting, "ref:"+a.Ref, lang).What
	case a.Ref != "":
		return w.Causes["ref"].with(w.Kinds[a.Ref]).What + w.Code + a.Code
	case a.Job != "":
		return a.fill(w.Parents[a.standing()], a.parentAdvice(lang))
	}
	return strings.NewReplacer("{kind}", w.Kinds[a.Platform], "{id}", a.ID).Replace(w.Platform)
}

// Advice says what keeps the row, who can cure it and how, in the program's own words. For a parent it is the cure of the parent: the row itself lacks nothing.
func (a Awaited) Advice(lang Lang) Advice { return (*Catalogue)(nil).Awaited(a, lang) }

func (a Awaited) adviceOf(lang Lang, parent Advice) Advice {
	out := wordsIn(lang).Solve[a.standing()]
	out.What, out.Do = a.fill(out.What, parent), a.fill(out.Do, parent)
	out.Fixer, out.Again = parent.Fixer, AgainAutomatic
	if out.Who == "" {
		out.Who, out.Where = parent.Who, parent.Where
	}
	if out.Where == "" {
		out.Where = wordsIn(lang).Causes[CauseParent].Where
	}
	if out.Fixer == "" {
		out.Fixer = parentFixer(a.standing())
	}
	return out
}

// standing is where the parent stands: its state, or why nothing may go under its record.
func (a Awaited) standing() State {
	if a.ParentState == Accepted && (a.ParentCause == CauseDeleted || a.ParentCause == CauseReplaced) {
		return State(a.ParentCause)
	}
	return a.ParentState
}

// parentFixer says who can cure a parent that has no cause of its own.
func parentFixer(state State) Fixer {
	switch state {
	case "":
		return FixERP
	case Pending, Sending, Accepted:
		return FixNobody
	}
	return FixAccounting
}

// parentAdvice is what would be said of the parent itself.
func (a Awaited) parentAdvice(lang Lang) Advice {
	return (*Catalogue)(nil).parent(a, lang)
}

func (a Awaited) fill(text string, parent Advice) string {
	why := ""
	if parent.What != "" {
		why = ": " + parent.What
	}
	return strings.NewReplacer("{key}", a.Key, "{job}", a.Job, "{why}", why, "{do}", parent.Do).Replace(text)
}
