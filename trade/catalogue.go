package trade

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/i18n"
)

// Fixer is who can cure something, as one word by which lists are grouped and filtered.
type Fixer string

// The fixers.
const (
	FixERP        Fixer = "erp"        // whoever maintains the document in the ERP
	FixReferences Fixer = "references" // whoever maintains the de-para
	FixPlatform   Fixer = "platform"   // the platform's administrator or its support
	FixIT         Fixer = "it"
	FixAccounting Fixer = "accounting" // accounting, by a decision
	FixNobody     Fixer = "nobody"
)

// Department is the part of a cooperative, or of those around it, that cures something.
type Department string

// The departments.
const (
	Accounting Department = "accounting"
	IT         Department = "it"
	OfPlatform Department = "platform" // the platform's administrator or its support
)

// Departments lists all departments in the order in which they are shown.
var Departments = []Department{Accounting, IT, OfPlatform}

// Department returns who cures what a fixer names; "" = it ends by itself.
func (f Fixer) Department() Department {
	switch f {
	case FixIT, FixReferences:
		return IT
	case FixPlatform:
		return OfPlatform
	case FixNobody:
		return ""
	}
	return Accounting
}

// Fixers lists all fixers in the order in which they are shown.
var Fixers = []Fixer{FixERP, FixReferences, FixPlatform, FixIT, FixAccounting, FixNobody}

// Label returns the fixer's name for people.
func (f Fixer) Label(lang Lang) string { return find(lang, "fixers."+string(f)) }

// Again is whether sending the row again is safe.
type Again string

// The values. They are derived from the row's state, so that no wording can make a second sending
// look safe.
const (
	AgainAutomatic Again = "automatic"  // nothing was created; it goes by itself when cured
	AgainSafe      Again = "safe"       // nothing was created: `retry` is safe after the cure
	AgainMayDouble Again = "may_double" // it may be on the platform: check there first
	AgainNo        Again = "no"         // it is on the platform, or on its way
	AgainNone      Again = "none"       // there is nothing to send
)

// Label returns the value in words.
func (a Again) Label(lang Lang) string { return find(lang, "again."+string(a)) }

// Explain returns the advice for a cause in a state. An unknown message key is shown as it is.
func Explain(state State, cause string, lang Lang) Advice {
	a := explain(state, cause, lang)
	if a.Fixer == "" {
		a.Fixer = fixerOf(state, cause)
	}
	a.Again = againOf(state, cause)
	return a
}

// ExplainTask returns what is known of a task: a problem of a field, a parent that rows wait for, or a cause.
func ExplainTask(state State, cause string, problem *Problem, awaited *Awaited, lang Lang) Advice {
	switch {
	case problem != nil:
		return problem.Advice(lang)
	case awaited != nil:
		return awaited.Advice(lang)
	}
	return Explain(state, cause, lang)
}

// ExplainEntry returns why a row does not go, who can cure it, where, how, and whether sending it again is
// safe. For a held row it names what the row was compared with. It ignores the stored cause in states
// in which that is only history.
func ExplainEntry(e Entry, lang Lang) Advice {
	switch e.State {
	case Pending, Sending, Dismissed, Withdrawn, Accepted:
		return Explain(e.State, "", lang)
	case Invalid:
		if e.Error != nil {
			for i, p := range e.Error.Fields {
				if p.Severity != Warning {
					return p.Advice(lang).notAlone(e.Error.Fields[i+1:], e.WaitingFor, lang)
				}
			}
		}
	case Held:
		if e.Error != nil && e.Error.Counterpart != nil {
			a := Explain(e.State, e.Cause, lang)
			c := e.Error.Counterpart
			name := "open"
			switch {
			case c.Rows > 0:
				name = "double"
			case c.RemoteID != "":
				name = "made"
			}
			if c.Job != e.Job {
				name += "_elsewhere"
			}
			named := strings.NewReplacer("{key}", c.Key, "{job}", c.Job, "{id}", c.RemoteID,
				"{rows}", strconv.Itoa(c.Rows))
			a.What += " (" + named.Replace(find(lang, "counterparts."+name)) + ")"
			return a
		}
	case Waiting:
		if e.Cause != CauseParent {
			break
		}
		for _, a := range e.WaitingFor {
			if a.Job != "" {
				return a.Advice(lang)
			}
		}
	}
	a := Explain(e.State, e.Cause, lang)
	if kind, ok := strings.CutPrefix(e.Cause, "ref:"); ok && e.State == Waiting {
		if i := slices.IndexFunc(e.WaitingFor, func(w Awaited) bool { return w.Ref == kind }); i >= 0 {
			return a.notAlone(nil, slices.Delete(slices.Clone(e.WaitingFor), i, i+1), lang)
		}
	}
	return a
}

// notAlone returns the advice for a row that has more faults: it names them, and does not promise
// that the row goes after this cure.
func (a Advice) notAlone(fields []Problem, awaited []Awaited, lang Lang) Advice {
	var more []string
	for _, p := range fields {
		if p.Severity != Warning {
			more = append(more, p.Sentence(lang))
		}
	}
	for _, w := range awaited {
		if w.ParentState != Accepted {
			more = append(more, w.Sentence(lang))
		}
	}
	if len(more) == 0 {
		return a
	}
	for _, promise := range []i18n.Key{
		"; the next run sends the row.", ". The next run sends the row.", "; the next run sends the rows.",
	} {
		a.Do = strings.Replace(a.Do, translate(lang, promise), ".", 1)
	}
	a.Do += " " + strings.Replace(translate(lang, "That alone does not let the row go: {what}."), "{what}", strings.Join(more, "; "), 1)
	return a
}

// ExplainFlag returns what a flag means and what to do.
func ExplainFlag(f Flag, lang Lang) Advice {
	a := adviceOf(lang, "remarks."+string(f))
	a.Fixer, a.Again = FixAccounting, AgainNo
	if f == Forced || f == Moved {
		a.Fixer = FixNobody
	}
	return a
}

// ExplainStop returns why a job has stopped and what to do, by the code of the stop. The text may contain
// {job} for the name of the job.
func ExplainStop(code string, lang Lang) Advice {
	a := adviceOf(lang, "stops."+code)
	if a.Do == "" {
		code = ""
		a = adviceOf(lang, "stops."+code)
	}
	a.Fixer, a.Again = stopFixers[code], AgainNone
	return a
}

// stopFixers are who can cure the cause of a stop, by its code; "" is for codes without words.
var stopFixers = map[string]Fixer{
	"brake_canary":      FixAccounting,
	"brake_most":        FixAccounting,
	"brake_new_rows":    FixAccounting,
	"brake_retyped":     FixAccounting,
	"in_doubt":          FixAccounting,
	"paused":            FixAccounting,
	"refusals":          FixAccounting,
	"":                  FixIT,
	"answers":           FixIT,
	"api_address":       FixIT,
	"api_certificate":   FixIT,
	"api_key":           FixIT,
	"brake_absent":      FixIT,
	"brake_changed_key": FixIT,
	"brake_new_job":     FixIT,
	"brake_new_journal": FixIT,
	"columns":           FixIT,
	"empty_sweep":       FixIT,
	"erp":               FixIT,
	"ledger":            FixIT,
	"malformed":         FixIT,
	"platform":          FixIT,
	"references":        FixIT,
	"uneven":            FixIT,
	"witness":           FixIT,
	"api_throttled":     FixNobody,
	"api_unreachable":   FixNobody,
	"interrupted":       FixNobody,
	"lease":             FixNobody,
	"process_gone":      FixNobody,
	"api_key_inside":    FixPlatform,
	"api_module":        FixPlatform,
	"api_permission":    FixPlatform,
}

// KnowsMessage reports whether there are words for exactly this message key of the API. A key that
// only matches a pattern is explained by the pattern, and is not known.
func KnowsMessage(message string) bool {
	return find(English, "causes."+message+".do") != "" && !strings.Contains(message, "*")
}

// SeenMessage is a message key that the platform has answered.
type SeenMessage struct {
	Key   string    `json:"key"`
	Count int       `json:"count"` // attempts that were answered with it
	Known bool      `json:"known"` // there are words for it; set by the caller
	Last  time.Time `json:"last_seen_at"`
}

// fixers are who can cure a cause; other causes match a pattern, or are unknown.
var fixers = map[string]Fixer{
	"ref:" + ProducerByDocument: FixPlatform,

	CauseParent: FixAccounting, CauseDuplicateKey: FixERP, CauseRetyped: FixAccounting, CauseTwin: FixAccounting,
	CauseOtherJob: FixAccounting, CauseVanished: FixAccounting, CauseExists: FixAccounting,
	CauseUnknown: FixAccounting,

	"message.duplicate.key": FixAccounting, "message.internal.error": FixAccounting,
	"message.malformed-request": FixIT, "message.integration.connection.refused": FixNobody,
	"message.name.mandatory": FixERP, "message.producer.social-identity.invalid": FixERP,
}

// fixerOf returns who can cure a cause.
func fixerOf(state State, cause string) Fixer {
	if f, ok := fixers[cause]; ok && state != Dismissed {
		return f
	}
	known := find(English, "causes."+cause+".do") != ""
	switch {
	case state == Dismissed || state == Pending || state == Sending || state == Withdrawn || state == Accepted:
		return FixNobody
	case strings.HasPrefix(cause, "rule:"), state == Invalid:
		return FixERP
	case strings.HasPrefix(cause, "ref:"):
		return FixReferences
	case strings.HasSuffix(cause, ".mandatory"), strings.HasSuffix(cause, ".invalid"):
		return FixERP
	case strings.HasPrefix(cause, "message.") && (known || messagePattern(cause) != ""):
		return FixPlatform
	case state == Held, state == InDoubt, state == Waiting:
		return FixAccounting
	}
	return FixIT
}

// messagePattern returns the pattern that a message key follows (chapter 7); "" if none.
func messagePattern(key string) string {
	if !strings.HasPrefix(key, "message.") || strings.Count(key, ".") < 2 {
		return ""
	}
	for _, end := range []string{"mandatory", "invalid", "not-found", "not-linked"} {
		if strings.HasSuffix(key, "."+end) || end == "not-linked" && strings.HasSuffix(key, "-not-linked") {
			return "message.*." + end
		}
	}
	return ""
}

// messageSubject returns what a key of a pattern is about, in people's words:
// "message.payday.mandatory" is about the payday.
func messageSubject(key string, lang Lang) string {
	parts := strings.Split(key, ".")
	name := strings.ReplaceAll(strings.Join(parts[1:len(parts)-1], "."), "-", "_")
	for _, field := range []string{name, name + "_id"} {
		if label := find(lang, "fields."+field); label != "" {
			return label
		}
	}
	return strings.ReplaceAll(name, "_", " ")
}

// againOf returns whether a row may be sent again, from what is known of its record.
func againOf(state State, cause string) Again {
	switch state {
	case Accepted, Sending:
		return AgainNo
	case InDoubt:
		return AgainMayDouble
	case Held:
		if cause == CauseDuplicateKey || cause == CauseVanished {
			return AgainAutomatic
		}
		return AgainMayDouble
	case Dismissed:
		return AgainNone
	case Rejected:
		if strings.HasSuffix(cause, ".not-found") || strings.HasSuffix(cause, "not-linked") {
			return AgainAutomatic
		}
		return AgainSafe
	}
	return AgainAutomatic
}
