// The season: what the documents of the ERP come to, for pictures.

package reconcile

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// Season is what the documents of the ERP come to at one moment. Grain is that of contracts (COMPRA
// and A_FIXAR), in kilograms; money is the value of what is fixed, in BRL.
type Season struct {
	At       time.Time
	Products []Stand // by product, the heaviest first
	Branches []Stand // by branch, the heaviest first
	Whole    Stand
	// Beside is what the last complete sweeps found beside Whole: rows without a key, and keys that stand
	// twice.
	Beside trade.Sums
	Lost   map[string]trade.Figure // by the stage that it has not reached
	Days   []SeasonDay             // days of documents, the earliest first
	Ages   map[trade.Department]*[AgeBands]trade.Figure
}

// Stand is a sum by state.
type Stand struct {
	Name   string // of the product or branch; "" = unknown
	All    trade.Sums
	States map[trade.State]trade.Sums
	of     trade.Selection
}

// Figure returns what there is of some states, with its rows.
func (s Stand) Figure(states ...trade.State) trade.Figure {
	out := trade.Figure{Of: trade.RowQuery{States: states, Of: s.of}}
	for _, state := range states {
		out.Join(s.States[state])
	}
	return out
}

// grain is the selection of the contracts of a season.
var grain = trade.Selection{Measure: string(Contracted), Line: inERP}

// SeasonDay is the value of the documents of one day.
type SeasonDay struct {
	Day       string
	ERP, Sent trade.Decimal
}

// AgeBands is the number of bands of [Season.Ages]: up to a day, a week, thirty days, and above.
const AgeBands = 4

func band(age time.Duration) int {
	const day = 24 * time.Hour
	switch {
	case age <= day:
		return 0
	case age <= 7*day:
		return 1
	case age <= 30*day:
		return 2
	}
	return 3
}

// seasonCurrency is the currency of the values of a season.
const seasonCurrency = "BRL"

// Season counts the season. fixer returns who cures what keeps a row; "" = nobody need.
func (s *Snapshot) Season(fixer func(trade.Entry) trade.Fixer) (*Season, error) {
	out := &Season{
		At: s.Head.At, Ages: map[trade.Department]*[AgeBands]trade.Figure{}, Lost: map[string]trade.Figure{},
		Whole: Stand{States: map[trade.State]trade.Sums{}, of: grain},
	}
	products, branches, days := map[string]*Stand{}, map[string]*Stand{}, map[string]*SeasonDay{}
	for _, job := range s.Head.Jobs {
		for _, beside := range job.Beside {
			if beside.Why == trade.BesideCancelled {
				continue
			}
			for _, p := range beside.Products {
				if job.Sends == trade.OrderCommitments && contracted(p.OrderType) {
					out.Beside.Rows += p.Rows
					out.Beside.Kilograms = out.Beside.Kilograms.Add(p.Kilograms)
				}
			}
		}
	}
	err := s.rows.each("", false, nil, func(r *Row) error {
		if !r.counts() {
			return nil
		}
		if r.stuck() {
			who := fixer(r.Entry()).Department()
			if out.Ages[who] == nil {
				out.Ages[who] = &[AgeBands]trade.Figure{}
			}
			kg, _ := weight(r.ERP)
			n := band(out.At.Sub(r.Seen))
			out.Ages[who][n].Of.Of = trade.Selection{Who: string(who), Age: strconv.Itoa(n)}
			out.Ages[who][n].Join(trade.Sums{Rows: 1, Kilograms: kg})
		}
		if r.Sends != trade.OrderCommitments {
			return nil
		}
		value, priced := r.ERP.Value()
		if priced && r.ERP.Currency == seasonCurrency && value.Sign() > 0 && r.Day != "" && fixed(r.OrderType) {
			if days[r.Day] == nil {
				days[r.Day] = &SeasonDay{Day: r.Day}
			}
			days[r.Day].ERP = days[r.Day].ERP.Add(value)
			if r.onPlatform() {
				days[r.Day].Sent = days[r.Day].Sent.Add(value)
			}
		}
		if kg, ok := weight(r.ERP); ok && contracted(r.OrderType) {
			one := trade.Sums{Rows: 1, Kilograms: kg}
			out.Whole.add(r.State, one)
			product, branch, stage := grain, grain, grain
			product.Product, branch.Branch, stage.Stage = named(r.Product), named(branchOf(r)), r.stage()
			of(products, r.Product, product).add(r.State, one)
			of(branches, branchOf(r), branch).add(r.State, one)
			if stage.Stage != "" {
				lost := trade.Figure{Sums: out.Lost[stage.Stage].Sums, Of: trade.RowQuery{Of: stage}}
				lost.Join(one)
				out.Lost[stage.Stage] = lost
			}
		}
		return nil
	})
	out.Products, out.Branches = heaviest(products), heaviest(branches)
	out.Days = trade.ValuesOf(days)
	slices.SortFunc(out.Days, func(a, b SeasonDay) int { return cmp.Compare(a.Day, b.Day) })
	return out, err
}

func of(list map[string]*Stand, name string, is trade.Selection) *Stand {
	if list[name] == nil {
		list[name] = &Stand{Name: name, States: map[trade.State]trade.Sums{}, of: is}
	}
	return list[name]
}

func (s *Stand) add(state trade.State, one trade.Sums) {
	s.All.Join(one)
	one.Join(s.States[state])
	s.States[state] = one
}

// branchOf returns the name of a row's branch as its job shows it, else the first part of its key.
func branchOf(r *Row) string {
	for _, t := range r.Show.Texts {
		if strings.EqualFold(t.Label, "filial") && t.Text != "" {
			return t.Text
		}
	}
	return r.Branch
}

func heaviest(list map[string]*Stand) []Stand {
	out := trade.ValuesOf(list)
	slices.SortFunc(out, func(a, b Stand) int {
		return cmp.Or(b.All.Kilograms.Cmp(a.All.Kilograms), cmp.Compare(a.Name, b.Name))
	})
	return out
}
