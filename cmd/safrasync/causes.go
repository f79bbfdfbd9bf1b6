package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// trouble is one cause with everything that it keeps from going: one task for a person, however many rows it blocks.
type trouble struct {
	State    trade.State // of the row that the cause met first; of its siblings only where all wait
	Cause    string      // as in trade.Entry
	Problem  *trade.Problem
	Awaited  *trade.Awaited // the parent of the first row, where the rows wait for parents
	Rows     int
	Oldest   time.Time     // first sight of the oldest row
	Samples  []trade.Entry // the first few
	Volumes  []volume
	Subjects []subject // which codes or values, the most frequent first; empty where the cause has none
	subjects map[string]int
}

// troubleSamples is how many rows each trouble remembers.
const troubleSamples = 3

// volume is a sum of one product in one unit. Other products and units are other volumes: they are never added.
type volume struct {
	Product string
	Unit    trade.Unit
	Amount  trade.Decimal
	Rows    int
}

// subject is a code or value of the ERP that is to blame.
type subject struct {
	Text string
	Rows int
}

// troubles groups rows by what keeps them. It remembers the groups, not the rows, however many there are.
type troubles struct {
	specs  map[string]engine.JobSpec
	grain  func(trade.Entry) string // the product of a row; "" = its record has none
	byKey  map[string]*trouble
	groups []*trouble
}

func newTroubles(jobs []engine.JobSpec) *troubles {
	t := &troubles{specs: map[string]engine.JobSpec{}, byKey: map[string]*trouble{}}
	for _, spec := range jobs {
		t.specs[spec.Name] = spec
	}
	t.grain = func(e trade.Entry) string { return productOf(e, t.specs[e.Job]) }
	return t
}

// add counts a row. Each stands in one group, by its first problem, so that the groups add up to the rows.
func (t *troubles) add(e trade.Entry) {
	key, problem := causeKey(e)
	g := t.byKey[key]
	if g == nil {
		g = &trouble{State: e.State, Cause: e.Cause, Problem: problem, Awaited: parentOf(e), subjects: map[string]int{}}
		t.byKey[key] = g
		t.groups = append(t.groups, g)
	}
	g.Rows++
	if g.Oldest.IsZero() || e.FirstSeenAt.Before(g.Oldest) {
		g.Oldest = e.FirstSeenAt
	}
	if g.State == trade.Waiting {
		g.State = e.State // those that wait for a record of the platform are siblings of the row that asked for it
	}
	if g.Awaited != nil && g.Awaited.ParentState == trade.Waiting {
		g.Awaited = parentOf(e) // the same of parents
	}
	if len(g.Samples) < troubleSamples {
		g.Samples = append(g.Samples, e)
	}
	g.Volumes = addVolume(g.Volumes, e, t.grain(e))
	if text := subjectOf(e, problem, t.specs[e.Job]); text != "" {
		g.subjects[text]++
	}
}

// sorted gives the groups, the most frequent cause first.
func (t *troubles) sorted() []*trouble {
	for _, g := range t.groups {
		g.Subjects = g.Subjects[:0]
		for _, text := range slices.Sorted(maps.Keys(g.subjects)) {
			g.Subjects = append(g.Subjects, subject{text, g.subjects[text]})
		}
		slices.SortStableFunc(g.Subjects, func(a, b subject) int { return cmp.Compare(b.Rows, a.Rows) })
		sortVolumes(g.Volumes)
	}
	slices.SortStableFunc(t.groups, func(a, b *trouble) int {
		return cmp.Or(cmp.Compare(b.Rows, a.Rows), cmp.Compare(a.Cause, b.Cause))
	})
	return t.groups
}

// troublesOf groups rows that are at hand.
func troublesOf(entries []trade.Entry, jobs []engine.JobSpec) []*trouble {
	t := newTroubles(jobs)
	for _, e := range entries {
		t.add(e)
	}
	return t.sorted()
}

// causeKey tells causes apart that ask for different acts: a price that is missing is not a price below zero.
func causeKey(e trade.Entry) (string, *trade.Problem) {
	if e.State == trade.Invalid && e.Error != nil {
		for _, p := range e.Error.Fields {
			if p.Severity != trade.Warning {
				return e.Cause + " " + p.Rule, &p
			}
		}
	}
	if e.Cause == "" {
		return string(e.State), nil
	}
	if parent := parentOf(e); parent != nil { // the cure is the parent's
		return e.Cause + " " + cmp.Or(parent.ParentCause, string(parent.ParentState)), nil
	}
	return e.Cause, nil // a rejected row and those that wait for the same record are one task
}

// parentOf is the parent that a row waits for, when that is all that keeps it.
func parentOf(e trade.Entry) *trade.Awaited {
	if e.State != trade.Waiting || e.Cause != trade.CauseParent {
		return nil
	}
	for _, a := range e.WaitingFor {
		if a.Job != "" {
			return &a
		}
	}
	return nil
}

// advice says what the group's cause means, who can cure it and what to do.
func (g *trouble) advice(v voice) trade.Advice {
	switch {
	case g.Problem != nil:
		return v.own.Problem(*g.Problem, v.lang)
	case g.Awaited != nil:
		return v.own.Awaited(*g.Awaited, v.lang)
	}
	return v.own.Explain(g.State, g.Cause, v.lang)
}

// detail is what one entry adds to the advice of its group: where the ERP has the wrong value, or all that is wrong if that is more than one
// thing; "" when its number says enough.
func (g *trouble) detail(e trade.Entry, lang trade.Lang) string {
	if e.State != trade.Invalid || e.Error == nil {
		return ""
	}
	fields := e.Error.Fields
	waits := stillAwaited(e)
	if len(fields) != 1 || len(waits) > 0 {
		text := trade.Sentences(fields, lang)
		for _, w := range waits {
			text += ". " + w.Sentence(lang)
		}
		return text
	}
	_, where, _ := strings.Cut(fields[0].Sentence(lang), "; ")
	return where
}

// cause names a trouble with the codes or values that are to blame, and how many rows each blocks.
func (v voice) cause(g *trouble) string {
	const most = 4
	what := g.advice(v).What
	if len(g.Subjects) == 0 {
		return what
	}
	var out []string
	for _, s := range g.Subjects[:min(most, len(g.Subjects))] {
		if g.Awaited != nil && s.Rows == 1 {
			out = append(out, s.Text)
			continue
		}
		out = append(out, fmt.Sprintf("%s (%d)", s.Text, s.Rows))
	}
	if more := len(g.Subjects) - most; more > 0 {
		out = append(out, v.text(causeMore, more))
	}
	if g.Awaited != nil { // what is wrong with the parents, then their keys
		return what + " – " + strings.Join(out, ", ")
	}
	return what + ": " + strings.Join(out, ", ")
}

// messageFields are the fields that the platform's refusals speak of (chapter 4 rule 2), to show the ERP's code instead of the platform's id.
var messageFields = map[string][]string{
	"message.wallet.not-found":           {"wallet_id"},
	"message.wallet.producer-not-linked": {"producer_id", "wallet_id"},
	"message.producer.not-found":         {"producer_id"},
	"message.delivery-place.not-found":   {"delivery_place_id"},
	"message.user.not-found":             {"issuer_id", "user_id"},
	"message.farm.not-found":             {"farm_id"},
}

// subjectOf names what is to blame in the ERP's own words, "" when it is the row itself.
func subjectOf(e trade.Entry, problem *trade.Problem, spec engine.JobSpec) string {
	switch {
	case problem != nil && (problem.Rule == trade.RuleUnmapped || problem.Rule == trade.RuleOneOf):
		return problem.Value
	case problem != nil:
		return ""
	}
	for _, a := range e.WaitingFor { // what the cause names, among all that is awaited
		switch {
		case a.Ref == trade.ProducerByDocument: // its code is a hash, which tells people nothing
		case a.Ref != "" && e.Cause == "ref:"+a.Ref:
			return a.Code
		case a.Job != "" && e.Cause == trade.CauseParent:
			return a.Key
		}
	}
	var parts []string
	for _, field := range messageFields[e.Cause] {
		if text := erpText(e, spec, field); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, " – ")
}

// erpText is what the ERP has in the columns of a field; "" for a document, of which the ledger has a hash only.
func erpText(e trade.Entry, spec engine.JobSpec, field string) string {
	if spec.Fields[field].Lookup != "" {
		return ""
	}
	var parts []string
	for _, column := range spec.Fields[field].Columns {
		parts = append(parts, strings.TrimSpace(e.Values[column].Text))
	}
	return strings.Join(parts, "|")
}

// addVolume adds an entry to the sum of its product and unit. An amount that cannot be read counts as a row without an amount.
func addVolume(list []volume, e trade.Entry, product string) []volume {
	for i := range list {
		if list[i].Product == product && list[i].Unit == e.Quantity.Unit {
			list[i].Amount = list[i].Amount.Add(e.Quantity.Amount)
			list[i].Rows++
			return list
		}
	}
	return append(list, volume{product, e.Quantity.Unit, e.Quantity.Amount, 1})
}

// productOf is the platform's name of an entry's product where the map has one, else what the ERP has.
func productOf(e trade.Entry, spec engine.JobSpec) string {
	text := erpText(e, spec, "product")
	for from, to := range spec.Fields["product"].Values {
		if strings.EqualFold(from, text) {
			return to
		}
	}
	if c := spec.Fields["product"].Const; c != nil {
		return *c
	}
	return text
}

func sortVolumes(list []volume) {
	slices.SortFunc(list, func(a, b volume) int {
		return cmp.Or(cmp.Compare(a.Product, b.Product), cmp.Compare(a.Unit, b.Unit))
	})
}
