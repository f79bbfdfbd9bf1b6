package picture

import (
	"math"
	"slices"
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

// Ticks is a strip of runs: a bar for each, as tall as its amount.
type Ticks struct {
	Title string
	Bars  []Bar
}

// fewTicks is the number of ticks from which a strip is as wide as its place.
const fewTicks = 20

// Strip returns the strip of the latest runs, oldest first. A run without an amount is a stub.
func Strip(title string, runs ...Mark) Ticks {
	most := largest(runs, Mark.amount)
	out := Ticks{Title: title}
	place := Wide / max(len(runs), fewTicks)
	from := Wide - len(runs)*place
	for i, m := range runs {
		tall := max(High/5, units(m.Amount, most, High))
		out.Bars = append(out.Bars, Bar{
			Mark: m, X: from + i*place, Y: High - tall, Width: place * 3 / 4, Height: tall,
		})
	}
	return out
}

// Glass is a picture of what a contract holds: its rim is what was agreed, what was delivered fills
// it, and a mark shows what has been fixed.
type Glass struct {
	Title    string
	Marks    []Mark // agreed, delivered, fixed
	Rim      int    // height at which the agreed amount is
	Fill     Bar
	Over     Bar // what was delivered beyond what was agreed; Height is 0 if nothing was
	Fixed    int // height of the mark
	HasFixed bool
}

// Filled returns the glass of a contract.
func Filled(title string, agreed, delivered, fixed Mark) Glass {
	marks := []Mark{agreed, delivered, fixed}
	most := largest(marks, Mark.amount)
	at := func(d trade.Decimal) int { return High - units(d, most, High) }
	out := Glass{
		Title: title, Marks: marks, Rim: at(agreed.Amount), Fixed: at(fixed.Amount),
		HasFixed: fixed.Amount.Sign() > 0,
	}
	top := at(delivered.Amount)
	out.Fill = Bar{Mark: delivered, Y: max(top, out.Rim), Width: High, Height: High - max(top, out.Rim)}
	if top < out.Rim {
		out.Over = Bar{Mark: delivered, Y: top, Width: High, Height: out.Rim - top}
	}
	return out
}

// Percent returns whole hundredths, which are 100 only if nothing is missing.
func Percent(part, whole trade.Decimal) int {
	if whole.Sign() <= 0 {
		return 0
	}
	return int(float(part) / float(whole) * 100)
}

// Step is a bar of a waterfall: an amount at which it stands, or by which it changes.
type Step struct {
	Mark
	Total bool // Amount is where it stands; otherwise it is added, or with a minus taken away
}

// Fall is a waterfall that lies on its side: totals begin at the axis, each change where the one before it
// ended. Where the totals differ by little, the axis begins at From, near them: it is broken there.
type Fall struct {
	Bars []Bar
	From trade.Decimal // zero: the axis is whole
}

// broken is the part of the largest amount below which the axis of a waterfall may be broken: what is left
// out would only hide what differs.
const broken = 0.5

// Falling returns a waterfall. Levels below the axis are drawn at the axis.
func Falling(steps ...Step) (out Fall) {
	var level, most trade.Decimal
	after := make([]trade.Decimal, len(steps))
	for i, s := range steps {
		level = level.Add(s.Amount)
		if s.Total {
			level = s.Amount
		}
		after[i] = level
		if level.Cmp(most) > 0 {
			most = level
		}
	}
	smallest := slices.MinFunc(append(after, most), trade.Decimal.Cmp)
	if differs := most.Sub(smallest); differs.Sign() > 0 && float(smallest) > broken*float(most) {
		exponent := int(math.Floor(math.Log10(float(differs))))
		from := smallest.Sub(differs.Mul(trade.NewDecimal(25, 2))) // a quarter stays
		out.From = from.Round(int32(-exponent))
		if out.From.Cmp(smallest) >= 0 {
			out.From = from.Round(int32(1 - exponent))
		}
	}
	at := func(amount trade.Decimal) int { return units(amount.Sub(out.From), most.Sub(out.From), Wide) }
	level = out.From
	for i, s := range steps {
		if s.Total {
			level = out.From
		}
		from, to := at(level), at(after[i])
		b := Bar{Mark: s.Mark, X: min(from, to), Width: max(from, to) - min(from, to), Height: High}
		if s.Amount.Sign() != 0 {
			b.Width = max(least, b.Width)
			b.X = min(b.X, Wide-b.Width)
		}
		out.Bars = append(out.Bars, b)
		level = after[i]
	}
	return out
}
