package trade

import (
	"strings"
	"time"

	"github.com/shopspring/decimal"
)

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

// Sentence says what the row waits for, and where that stands: "waits for contract 01|000122, which
// was rejected: producer not linked to the wallet".
func (a Awaited) Sentence(lang Lang) string {
	w := wordsIn(lang)
	switch {
	case a.Ref == ProducerByDocument: // its code is a hash, which tells people nothing
		return Explain(Waiting, "ref:"+a.Ref, lang).What
	case a.Ref != "":
		return w.Causes["ref"].with(w.Kinds[a.Ref]).What + w.Code + a.Code
	case a.Job != "":
		return a.fill(w.Parents[a.standing()], (*Catalogue)(nil).parent(a, lang))
	}
	return strings.NewReplacer("{kind}", w.Kinds[a.Platform], "{id}", a.ID).Replace(w.Platform)
}

// adviceOf says what cures the parent, about which parent speaks: the row itself lacks nothing.
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

func (a Awaited) fill(text string, parent Advice) string {
	why := ""
	if parent.What != "" {
		why = ": " + parent.What
	}
	return strings.NewReplacer("{key}", a.Key, "{job}", a.Job, "{why}", why, "{do}", parent.Do).Replace(text)
}

// ProducerByDocument is the kind of the lookup of a producer by CPF or CNPJ (chapter 4, after the
// table), as the configuration and [Awaited] name it.
const ProducerByDocument = "producer_by_document"

// Lookup is what the platform answered to a question by document.
type Lookup struct {
	Code    string // keyed hash of the document; the document itself is not kept
	ID      string // of the record on the platform; "" when there is none
	Message string // the API's message key when there is none
	FirstAt time.Time
	AskedAt time.Time
	NextAt  time.Time // it is asked again then: an id is believed until then, and so is its absence
	Tries   int       // questions without an id in a row
}

// Shortage is a reference (de-para) without an id, and what it keeps from going.
type Shortage struct {
	Kind string // de-para kind
	// the ERP's code; "" in the total of a kind, which counts each row once however many of its
	// codes are missing
	Code    string
	Blocked map[Kind]*Load // rows that wait for it, and rows that wait for such a row, by kind of record
	Invalid map[Kind]*Load // rows that need it and are invalid besides: they would not go with it alone
}

// Rows is the number of rows that wait.
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
	Kilograms Decimal `json:"kg"`           // of the rows with a unit, exactly
	Unweighed int     `json:"without_unit"` // rows whose amount or unit cannot be read; they are not in Kilograms
}

// Add counts one row.
func (l *Load) Add(q Quantity) {
	l.Rows++
	kg, ok := q.Kilograms()
	if !ok {
		l.Unweighed++
		return
	}
	l.Kilograms = l.Kilograms.Add(kg)
}

// inKilograms are the units of grain: a saca is 60 kg by law of the trade, whatever it holds.
var inKilograms = map[Unit]decimal.Decimal{
	KG: decimal.NewFromInt(1), SC: decimal.NewFromInt(60),
	TON: decimal.NewFromInt(1000),
}

// Kilograms converts exactly; ok is false without a unit. The unit is taken in both of the API's
// spellings, upper and lower case.
func (q Quantity) Kilograms() (kg Decimal, ok bool) {
	factor, ok := inKilograms[Unit(strings.ToUpper(string(q.Unit)))]
	return Decimal{q.Amount.d.Mul(factor)}, ok
}

// Sacas returns a weight in kilograms as sacas of 60 kg, to scale digits after the point, and
// whether that is exact: 100 kg are no round number of sacas.
func (d Decimal) Sacas(scale int32) (sacas Decimal, exact bool) {
	out := Decimal{d.d.DivRound(inKilograms[SC], scale)}
	return out, out.d.Mul(inKilograms[SC]).Equal(d.d)
}

// Tonnes returns a weight in kilograms as tonnes, exactly.
func (d Decimal) Tonnes() Decimal { return Decimal{d.d.Shift(-3)} }
