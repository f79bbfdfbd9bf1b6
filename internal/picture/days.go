package picture

import (
	"time"

	"github.com/safrasync/safrasync/trade"
)

// Day is an amount of one day.
type Day struct {
	Mark
	At  time.Time
	Dot bool // something of that day asks for attention
}

// Cell is a day in its place.
type Cell struct {
	Day
	X, Y, Level   int // Level is 0 to 4, by the amount
	Middle, Below int // of the dot
}

// Calendar is a picture of days: a column for each week, a line for each weekday.
type Calendar struct {
	Title         string
	Cells         []Cell
	Months        []Tick // where each month begins
	Width, Height int
	Side          int // of a cell
}

// Sizes of a calendar.
const (
	cellSide  = 14
	cellPlace = 17
	monthTall = 16
)

// Days returns the calendar of consecutive days, of which weeks begin on Sunday as calendars here
// do. month returns the name of a month.
func Days(title string, month func(time.Time) string, days ...Day) Calendar {
	out := Calendar{Title: title, Side: cellSide, Height: monthTall + 7*cellPlace}
	most := largest(days, func(d Day) trade.Decimal { return d.Amount })
	week := 0
	for i, d := range days {
		if i > 0 && d.At.Weekday() == time.Sunday {
			week++
		}
		c := Cell{Day: d, X: week * cellPlace, Y: monthTall + int(d.At.Weekday())*cellPlace}
		c.Middle, c.Below = c.X+cellSide/2, c.Y+cellSide/2
		if d.Amount.Sign() > 0 {
			c.Level = max(1, units(d.Amount, most, 4))
		}
		if d.At.Day() == 1 {
			out.Months = append(out.Months, Tick{c.X, month(d.At)})
		}
		out.Cells = append(out.Cells, c)
	}
	out.Width = (week+1)*cellPlace + cellPlace // the last month's name needs some place
	return out
}

// Ticks is a strip of runs: a bar for each, as tall as its amount.
type Ticks struct {
	Title string
	Bars  []Bar
}

// tickPlace is the width of a tick with its gap.
const tickPlace = 16

// Strip returns the strip of the latest runs, oldest first. A run without an amount is a stub.
func Strip(title string, runs ...Mark) Ticks {
	most := largest(runs, Mark.amount)
	out := Ticks{Title: title}
	from := Wide - len(runs)*tickPlace
	for i, m := range runs {
		tall := max(High/5, units(m.Amount, most, High))
		out.Bars = append(out.Bars, Bar{
			Mark: m, X: from + i*tickPlace, Y: High - tall, Width: tickPlace * 3 / 4, Height: tall,
		})
	}
	return out
}
