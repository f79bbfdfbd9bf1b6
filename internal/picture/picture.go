package picture

import (
	"math"
	"strconv"

	"github.com/safrasync/safrasync/trade"
)

// Size of a picture in its own units.
const (
	Wide = 1000
	High = 200
)

// least is how wide or tall a shape of a small amount is, so that it is seen and can be clicked.
const least = 6

// Mark is an amount of a picture, with what a person reads of it.
type Mark struct {
	Class  string // what its colour means: sent, waiting, invalid, rejected, doubt, erp, none
	Name   string // "enviado"
	Said   string // "3.184 t"
	Path   string // address of its list; "" = none
	Amount trade.Decimal
}

// Bar is a mark with its rectangle.
type Bar struct {
	Mark
	X, Y, Width, Height int
}

// Stack is one horizontal bar of several parts.
type Stack struct {
	Title string
	Said  string // the sum in words
	Path  string // address of the list of what is said; "" = none
	Bars  []Bar
}

// Stacked returns a bar whose parts have the widths of their amounts, of which most would be as
// wide as the picture; zero: the sum of the parts. Parts without an amount have no bar.
func Stacked(title, said string, most trade.Decimal, marks ...Mark) Stack {
	if sum := sumOf(marks); most.Cmp(sum) < 0 {
		most = sum
	}
	out := Stack{Title: title, Said: said}
	for _, m := range marks {
		if m.Amount.Sign() > 0 {
			out.Bars = append(out.Bars, Bar{Mark: m, Width: max(least, units(m.Amount, most, Wide)), Height: High})
		}
	}
	width := 0
	for _, b := range out.Bars {
		width += b.Width
	}
	for ; width > Wide; width-- { // small ones have more than their share: the widest give it
		widest := 0
		for i, b := range out.Bars {
			if b.Width > out.Bars[widest].Width {
				widest = i
			}
		}
		out.Bars[widest].Width--
	}
	x := 0
	for i := range out.Bars {
		out.Bars[i].X = x
		x += out.Bars[i].Width
	}
	return out
}

func sumOf(marks []Mark) (sum trade.Decimal) {
	for _, m := range marks {
		sum = sum.Add(m.Amount)
	}
	return sum
}

// largest returns the largest amount of a list; zero if none is above it.
func largest[T any](list []T, amount func(T) trade.Decimal) (most trade.Decimal) {
	for _, one := range list {
		if a := amount(one); a.Cmp(most) > 0 {
			most = a
		}
	}
	return most
}

func (m Mark) amount() trade.Decimal { return m.Amount }

// units returns how many of so many units an amount is of the most; at least 0, at most all.
func units(amount, most trade.Decimal, all int) int {
	part, whole := float(amount), float(most)
	if whole <= 0 {
		return 0
	}
	return min(all, max(0, int(math.Round(part/whole*float64(all)))))
}

// float returns an amount for a place in a picture, which is no amount any more.
func float(d trade.Decimal) float64 {
	f, _ := strconv.ParseFloat(d.String(), 64) // a decimal is a number
	return f
}
