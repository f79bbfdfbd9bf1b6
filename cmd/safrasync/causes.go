package main

import (
	"cmp"
	"slices"
	"strings"

	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// trouble is one cause with everything that it keeps from going: one task for a person, however many rows it blocks.
type trouble struct {
	State    trade.State // of the first entry
	Cause    string      // as in trade.Entry
	Problem  *trade.Problem
	Entries  []trade.Entry
	Volumes  []volume
	Subjects []subject // which codes or values, the most frequent first; empty where the cause has none
}

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

// troublesOf sorts entries by what keeps them, the most frequent cause first. Each entry stands in one group, by its first problem, so that the
// groups add up to the entries.
func troublesOf(entries []trade.Entry, jobs []engine.JobSpec) []*trouble {
	specs := map[string]engine.JobSpec{}
	for _, spec := range jobs {
		specs[spec.Name] = spec
	}
	byKey := map[string]*trouble{}
	var groups []*trouble
	for _, e := range entries {
		key, problem := causeKey(e)
		g := byKey[key]
		if g == nil {
			g = &trouble{State: e.State, Cause: e.Cause, Problem: problem}
			byKey[key] = g
			groups = append(groups, g)
		}
		g.Entries = append(g.Entries, e)
		g.Volumes = addVolume(g.Volumes, e, specs[e.Job])
		if text := subjectOf(e, problem, specs[e.Job]); text != "" {
			g.Subjects = addSubject(g.Subjects, text)
		}
	}
	for _, g := range groups {
		slices.SortStableFunc(g.Subjects, func(a, b subject) int { return cmp.Compare(b.Rows, a.Rows) })
		sortVolumes(g.Volumes)
	}
	slices.SortStableFunc(groups, func(a, b *trouble) int {
		return cmp.Or(cmp.Compare(len(b.Entries), len(a.Entries)), cmp.Compare(a.Cause, b.Cause))
	})
	return groups
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
	return e.Cause, nil // a rejected row and those that wait for the same record are one task
}

// advice says what the group's cause means, who can cure it and what to do.
func (g *trouble) advice(lang trade.Lang) trade.Advice {
	a := trade.Explain(g.State, g.Cause, lang)
	if g.Problem == nil {
		return a
	}
	a.What, _, _ = strings.Cut(g.Problem.Sentence(lang), "; ") // what is wrong, without the place, which differs from row to row
	own, ok := ruleAdvice[lang][g.Problem.Rule]
	if !ok {
		return a
	}
	fill := strings.NewReplacer("{field}", trade.FieldLabel(g.Problem.Field, lang))
	return trade.Advice{What: cmp.Or(fill.Replace(own.What), a.What), Who: own.Who, Do: fill.Replace(own.Do)}
}

// detail is what one entry adds to the advice of its group: where the ERP has the wrong value, or all that is wrong if that is more than one
// thing; "" when its number says enough.
func (g *trouble) detail(e trade.Entry, lang trade.Lang) string {
	if e.State != trade.Invalid || e.Error == nil {
		return ""
	}
	fields := e.Error.Fields
	if len(fields) != 1 || len(e.WaitingFor) > 0 {
		text := trade.Sentences(fields, lang)
		for _, w := range e.WaitingFor {
			text += ". " + trade.Explain(trade.Waiting, "ref:"+w.Ref, lang).What + ": " + w.Code
		}
		return text
	}
	if fields[0].Rule == trade.RuleUnreadable { // its column is not empty, its value only cannot be shown
		return voice{lang: lang}.text(causeColumn, fields[0].Column)
	}
	_, where, _ := strings.Cut(fields[0].Sentence(lang), "; ")
	return where
}

// messageFields are the fields that the platform's refusals speak of (chapter 4 rule 2), to show the ERP's code instead of the platform's id.
var messageFields = map[string][]string{
	"message.wallet.not-found":           {"wallet_id"},
	"message.wallet.producer-not-linked": {"producer_id", "wallet_id"},
	"message.producer.not-found":         {"producer_id"},
	"message.delivery-place.not-found":   {"delivery_place_id"},
	"message.user.not-found":             {"issuer_id"},
}

// subjectOf names what is to blame in the ERP's own words, "" when it is the row itself.
func subjectOf(e trade.Entry, problem *trade.Problem, spec engine.JobSpec) string {
	switch {
	case problem != nil && (problem.Rule == trade.RuleUnmapped || problem.Rule == trade.RuleOneOf):
		return problem.Value
	case problem != nil:
		return ""
	case len(e.WaitingFor) > 0 && e.WaitingFor[0].Ref != "":
		return e.WaitingFor[0].Code
	}
	var parts []string
	for _, field := range messageFields[e.Cause] {
		if text := erpText(e, spec, field); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, " – ")
}

// erpText is what the ERP has in the columns of a field.
func erpText(e trade.Entry, spec engine.JobSpec, field string) string {
	var parts []string
	for _, column := range spec.Fields[field].Columns {
		parts = append(parts, strings.TrimSpace(e.Values[column].Text))
	}
	return strings.Join(parts, "|")
}

func addSubject(list []subject, text string) []subject {
	for i := range list {
		if list[i].Text == text {
			list[i].Rows++
			return list
		}
	}
	return append(list, subject{text, 1})
}

// addVolume adds an entry to the sum of its product and unit. An amount that cannot be read counts as a row without an amount.
func addVolume(list []volume, e trade.Entry, spec engine.JobSpec) []volume {
	product := productOf(e, spec)
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
