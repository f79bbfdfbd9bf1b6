package picture

import (
	"math"
	"slices"

	"github.com/safrasync/safrasync/trade"
)

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
