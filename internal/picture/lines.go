package picture

import (
	"github.com/safrasync/safrasync/trade"
)

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
