package trade

import (
	"strings"
	"time"

	"github.com/shopspring/decimal"
)

// Awaited is one thing for which an entry waits: a reference, a parent, or a record of the
// platform.
type Awaited struct {
	Ref  string `json:"ref,omitempty"`  // de-para kind
	Code string `json:"code,omitempty"` // ERP code without an id
	// the table's code that differs from Code in capital letters only; of a parent, its key where that
	// differs from Key in the form of its accents only
	Spelled     string `json:"spelled,omitempty"`
	Job         string `json:"job,omitempty"` // the parent's job and key
	Key         string `json:"key,omitempty"`
	ParentState State  `json:"parent_state,omitempty"` // at the moment of reading; "" = not in the ledger
	// cause of that state; CauseReplaced if a recheck found it, CauseCutOver if a sweep did
	ParentCause string `json:"parent_cause,omitempty"`
	Platform    string `json:"platform,omitempty"` // kind of the platform's record, and its id
	ID          string `json:"id,omitempty"`
}

// Sentence returns what the row waits for, and the state of it: "waits for contract 01|000122,
// which was rejected: producer not linked to the wallet".
func (a Awaited) Sentence(lang Lang) string {
	switch {
	case a.Ref == ProducerByDocument: // its code is a hash, which means nothing to people
		return Explain(Waiting, "ref:"+a.Ref, lang).What
	case a.Ref != "":
		text := Explain(Waiting, "ref:"+a.Ref, lang).What + translate(lang, ": code ") + a.Code
		if a.Spelled != "" {
			text += strings.ReplaceAll(translate(lang, " (the de-para has {code}, which differs in capital letters only)"), "{code}", a.Spelled)
		}
		return text
	case a.Job != "":
		return a.fill(lang, find(lang, "parents."+string(a.parentState())), a.parent(lang))
	}
	return strings.NewReplacer("{kind}", find(lang, "kinds."+a.Platform), "{id}", a.ID).
		Replace(translate(lang, "waits for a record on the platform: {kind} {id}"))
}

// Advice returns why a row waits, who can cure it and how. For a parent it is the cure of the
// parent: the row itself lacks nothing.
func (a Awaited) Advice(lang Lang) Advice {
	switch {
	case a.Ref != "":
		return Explain(Waiting, "ref:"+a.Ref, lang)
	case a.Job == "":
		return Explain(Waiting, "", lang)
	}
	parent := a.parent(lang)
	out := adviceOf(lang, "solve."+string(a.parentState()))
	out.What, out.Do = a.fill(lang, out.What, parent), a.fill(lang, out.Do, parent)
	out.Fixer, out.Again = parent.Fixer, AgainAutomatic
	if out.Who == "" {
		out.Who, out.Where = parent.Who, parent.Where
	}
	if out.Where == "" {
		out.Where = find(lang, "causes."+CauseParent+".where")
	}
	if out.Fixer == "" { // the parent has no cause of its own
		switch a.parentState() {
		case "":
			out.Fixer = FixERP
		case Pending, Sending, Accepted, State(CauseCutOver):
			out.Fixer = FixNobody
		default:
			out.Fixer = FixAccounting
		}
	}
	return out
}

// parent returns the advice for the parent itself.
func (a Awaited) parent(lang Lang) Advice {
	switch a.ParentState {
	case Waiting, Invalid, Rejected, Held:
		return Explain(a.ParentState, a.ParentCause, lang)
	}
	return Advice{}
}

// parentState returns the parent's state, or why nothing may be sent under its record.
func (a Awaited) parentState() State {
	if a.BeforeCutOver() ||
		a.ParentState == Accepted && (a.ParentCause == CauseDeleted || a.ParentCause == CauseReplaced) {
		return State(a.ParentCause)
	}
	return a.ParentState
}

// BeforeCutOver reports whether the parent is not in the ledger because only the first day of its
// query leaves it out.
func (a Awaited) BeforeCutOver() bool { return a.ParentState == "" && a.ParentCause == CauseCutOver }

func (a Awaited) fill(lang Lang, text string, parent Advice) string {
	why := ""
	if parent.What != "" {
		why = ": " + parent.What
	}
	key := a.Key
	if a.Spelled != "" {
		key += translate(lang, " (alike on a screen, but its accents are stored in another form than in the job of the contracts: let the queries of both write one form, for example normalize(column, NFC))")
	}
	return strings.NewReplacer("{key}", key, "{job}", a.Job, "{why}", why, "{do}", parent.Do).Replace(text)
}

// ProducerByDocument is the name of the lookup of a producer by CPF or CNPJ (chapter 4, after the
// table), in the configuration and in [Awaited].
const ProducerByDocument = "producer_by_document"

// Lookup is the platform's answer to a lookup by document.
type Lookup struct {
	Code    string    `json:"code"` // keyed hash of the document, which itself is not stored
	ID      string    `json:"id"`   // of the record on the platform; "" if there is none
	Message string    `json:"-"`    // the API's message key if there is none
	FirstAt time.Time `json:"-"`
	AskedAt time.Time `json:"asked_at"`
	NextAt  time.Time `json:"-"` // when it is asked again; until then the answer, also a negative one, is used
	Tries   int       `json:"-"` // consecutive lookups without an id
}

// Shortage is a reference (de-para) without an id, with the rows that it blocks.
type Shortage struct {
	Kind string // de-para kind
	// the ERP's code; "" in the total of a kind, which counts each row once even if several of its
	// codes are missing
	Code    string
	Blocked map[Pile]*Load // rows that wait for it, or for such a row
	Invalid map[Pile]*Load // rows that need it, but are also invalid
	Sample  []int64        // ids of a few rows that need the code themselves: the first, and the last

	Since time.Time // when the first of all these rows was seen

	// how many of Blocked stand under another cause, because they lack something else too
	Elsewhere int
}

// Group names the code in a Selection; without a code all those of its kind.
func (s Shortage) Group() string { return "code:" + s.Kind + ":" + s.Code }

// Pile is a kind of records that are summed together. Fixations are the same grain as their contracts.
type Pile struct {
	Kind   Kind `json:"sends"`
	Fixing bool `json:"fixing"`
}

// Name names the pile in a Selection.
func (p Pile) Name() string {
	if p.Fixing {
		return string(p.Kind) + " fixing"
	}
	return string(p.Kind)
}

// Piles lists the piles in the order in which they are shown.
var Piles = []Pile{
	{Kind: OrderCommitments}, {Kind: OrderCommitments, Fixing: true}, {Kind: Deliveries}, {Kind: Traceability},
}

// ByKind sums loads up by kind of record, contracts together with their fixations.
func ByKind(piles map[Pile]*Load) map[Kind]*Load {
	out := map[Kind]*Load{}
	for of, l := range piles {
		if out[of.Kind] == nil {
			out[of.Kind] = &Load{}
		}
		to := out[of.Kind]
		to.Rows, to.Kilograms, to.Unweighed = to.Rows+l.Rows, to.Kilograms.Add(l.Kilograms), to.Unweighed+l.Unweighed
	}
	return out
}

// Rows returns the number of blocked rows.
func (s Shortage) Rows() int {
	n := 0
	for _, l := range s.Blocked {
		n += l.Rows
	}
	return n
}

// Load is a number of rows with their weight.
type Load struct {
	Rows      int     `json:"rows"`
	Kilograms Decimal `json:"kg"`           // of the rows with a unit, exact
	Unweighed int     `json:"without_unit"` // rows without readable amount or unit

	Values map[string]Decimal `json:"-"` // by currency, of the rows with a price
}

// Add counts one row, which has a weight or not.
func (l *Load) Add(kg Decimal, weighed bool) {
	l.Rows++
	if !weighed {
		l.Unweighed++
		return
	}
	l.Kilograms = l.Kilograms.Add(kg)
}

// inKilograms are the units of grain. By convention of the trade a saca is 60 kg, whatever it
// holds.
var inKilograms = map[Unit]decimal.Decimal{
	KG: decimal.NewFromInt(1), SC: decimal.NewFromInt(60),
	TON: decimal.NewFromInt(1000),
}

// Kilograms converts exactly; ok is false without a unit. It accepts both of the API's spellings of
// units, upper and lower case.
func (q Quantity) Kilograms() (kg Decimal, ok bool) {
	factor, ok := inKilograms[Unit(strings.ToUpper(string(q.Unit)))]
	return Decimal{q.Amount.d.Mul(factor)}, ok
}

// Known reports whether a unit is one of the API's, in capitals.
func (u Unit) Known() bool {
	_, ok := inKilograms[u]
	return ok
}

// PerUnit converts a price for one unit into the price for another, and rounds it to scale digits
// if that is given. exact is false if there is no scale, and no finite number of digits expresses
// the price: 100 for a saca are no such price for a ton.
func (d Decimal) PerUnit(from, to Unit, scale *int32) (price Decimal, exact bool) {
	weighed := d.d.Mul(inKilograms[to])
	if scale != nil {
		return Decimal{weighed.DivRound(inKilograms[from], *scale)}, true
	}
	// a factor of two or five in the divisor costs one digit: 1,000 = 2³·5³, 60 = 2²·5·3
	out := Decimal{weighed.DivRound(inKilograms[from], max(-weighed.Exponent(), 0)+4)}
	return out, out.d.Mul(inKilograms[from]).Equal(weighed)
}

// Sacas converts a weight in kilograms to sacas of 60 kg, with scale digits after the point, and
// reports whether the result is exact: 100 kg are not a finite number of digits of sacas.
func (d Decimal) Sacas(scale int32) (sacas Decimal, exact bool) {
	out := Decimal{d.d.DivRound(inKilograms[SC], scale)}
	return out, out.d.Mul(inKilograms[SC]).Equal(d.d)
}

// Tonnes converts a weight in kilograms to tonnes, exactly.
func (d Decimal) Tonnes() Decimal { return Decimal{d.d.Shift(-3)} }
