package picture

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/safrasync/safrasync/trade"
)

// Point is an amount at a time.
type Point struct {
	Mark
	Short string // the time below the picture; "" = Name
}

// Area is a picture of an amount over time.
type Area struct {
	Title  string
	Line   string // its points
	Ticks  []Tick
	Names  []string // some of the times, at equal distances
	Points []Point
}

// namesMost is how many times have their name below a line: more would not fit on a phone.
const namesMost = 5

// Over returns a picture of an amount over time.
func Over(title string, say Format, points ...Point) Area {
	top, ticks := scale(largest(points, func(p Point) trade.Decimal { return p.Amount }), say)
	out := Area{Title: title, Points: points, Ticks: ticks}
	line := make([]string, len(points))
	for i, p := range points {
		x := Wide
		if len(points) > 1 {
			x = i * Wide / (len(points) - 1)
		}
		line[i] = fmt.Sprintf("%d,%d", x, High-units(p.Amount, top, High))
	}
	out.Line = strings.Join(line, " ")
	steps := min(namesMost, len(points)) - 1
	for i := 0; i <= steps; i++ {
		at := 0
		if steps > 0 {
			at = i * (len(points) - 1) / steps
		}
		out.Names = append(out.Names, cmp.Or(points[at].Short, points[at].Name))
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
