// The season: what the documents of the ERP come to, for pictures.

package reconcile

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// Season is what the documents of the ERP of one season come to at one moment. Grain is that of contracts
// (COMPRA and A_FIXAR), in kilograms; money is the value of what is fixed, in BRL. Seasons are never added up.
type Season struct {
	Harvest  string        // "" = unknown
	Products []StateSum    // by product, the heaviest first
	Branches []StateSum    // by branch, the heaviest first
	Missing  trade.Decimal // value that the platform does not have
	Ages     map[trade.Department]*[AgeBands]trade.Figure

	newest, rows int // of its contracts: how many are among the newest of all, and how many there are
}

// newestRows is how many of the newest contracts tell the present season.
const newestRows = 50

// StateSum is a sum by state.
type StateSum struct {
	Name   string // of the product or branch; "" = unknown
	States map[trade.State]trade.Sums
	of     trade.Selection
}

// Figure returns what there is of some states, or of all if none is named, with its rows.
func (s StateSum) Figure(states ...trade.State) trade.Figure {
	out := trade.Figure{Of: trade.RowQuery{States: states, Of: s.of}}
	for state, sums := range s.States {
		if among(states, state) {
			out.Join(sums)
		}
	}
	return out
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

// Seasons counts the seasons: first the present one, which most of the newest contracts have, and last the unknown
// one. fixer returns who cures what keeps a row; "" = nobody need.
func (s *Snapshot) Seasons(fixer func(trade.Entry) trade.Fixer) (out []*Season, err error) {
	seasons := map[string]*Season{}
	newest := map[int64]*Season{} // by the numbers of contracts
	err = s.rows.each("", false, nil, func(r *Row) error {
		if !r.counts() {
			return nil
		}
		in := seasons[r.Harvest]
		if in == nil {
			in = &Season{
				Harvest: r.Harvest, Ages: map[trade.Department]*[AgeBands]trade.Figure{},
			}
			seasons[r.Harvest], out = in, append(out, in)
		}
		of := trade.Selection{Harvest: named(r.Harvest)}
		if r.stuck() {
			who := fixer(r.Entry()).Department()
			if in.Ages[who] == nil {
				in.Ages[who] = &[AgeBands]trade.Figure{}
			}
			kg, _ := weight(r.ERP)
			n := band(s.Head.At.Sub(r.Seen))
			age := &in.Ages[who][n]
			age.Of.Of = of
			age.Of.Of.Who, age.Of.Of.Age = string(who), strconv.Itoa(n)
			age.Join(trade.Sums{Rows: 1, Kilograms: kg})
		}
		if r.Sends != trade.OrderCommitments {
			return nil
		}
		in.rows++
		if r.Harvest != "" {
			newest[r.Number] = in
		}
		value, priced := r.ERP.Value()
		if priced && r.ERP.Currency == seasonCurrency && value.Sign() > 0 && fixed(r.OrderType) && !r.onPlatform() {
			in.Missing = in.Missing.Add(value)
		}
		if kg, ok := weight(r.ERP); ok && contracted(r.OrderType) {
			of.Measure, of.Line = string(Contracted), InERP
			product, branch := of, of
			product.Product, branch.Branch = named(r.Product), named(branchOf(r))
			in.Products = stateSums(in.Products, r.Product, product, r.State, kg)
			in.Branches = stateSums(in.Branches, branchOf(r), branch, r.State, kg)
		}
		return nil
	})
	for _, in := range out {
		for _, list := range [][]StateSum{in.Products, in.Branches} {
			slices.SortFunc(list, func(a, b StateSum) int {
				return cmp.Or(b.Figure().Kilograms.Cmp(a.Figure().Kilograms), cmp.Compare(a.Name, b.Name))
			})
		}
	}
	numbers := slices.Sorted(maps.Keys(newest))
	for _, n := range numbers[max(0, len(numbers)-newestRows):] {
		newest[n].newest++
	}
	odd := func(s *Season) bool { return s.Harvest == "" || trade.MaskDocuments(s.Harvest) != s.Harvest }
	slices.SortFunc(out, func(a, b *Season) int {
		return cmp.Or(trade.CompareBool(odd(a), odd(b)), cmp.Compare(b.newest, a.newest),
			cmp.Compare(b.rows, a.rows), cmp.Compare(b.Harvest, a.Harvest))
	})
	return out, err
}

// stateSums returns sums with a contract of a state added to that of its name.
func stateSums(list []StateSum, name string, of trade.Selection, state trade.State, kg trade.Decimal) []StateSum {
	i := slices.IndexFunc(list, func(s StateSum) bool { return s.Name == name })
	if i < 0 {
		i, list = len(list), append(list, StateSum{name, map[trade.State]trade.Sums{}, of})
	}
	one := trade.Sums{Rows: 1, Kilograms: kg}
	one.Join(list[i].States[state])
	list[i].States[state] = one
	return list
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
