package picture

import "github.com/safrasync/safrasync/trade"

// Columns is a picture of columns, one for each name, of several parts each.
type Columns struct {
	Title string
	Names []string // below the columns
	Ticks []Tick   // beside them, from the top
	Bars  []Bar
}

// Group is a column.
type Group struct {
	Name  string
	Marks []Mark // from the bottom
}

// Standing returns columns as tall as the sums of their parts.
func Standing(title string, say Say, groups ...Group) Columns {
	most := largest(groups, func(g Group) trade.Decimal { return sumOf(g.Marks) })
	top, ticks := scale(most, say)
	out := Columns{Title: title, Ticks: ticks}
	for i, g := range groups {
		out.Names = append(out.Names, g.Name)
		x, width := slot(i, len(groups))
		y := High
		for _, m := range g.Marks {
			if m.Amount.Sign() > 0 {
				tall := min(y, max(least, units(m.Amount, top, High)))
				y -= tall
				out.Bars = append(out.Bars, Bar{Mark: m, X: x, Y: y, Width: width, Height: tall})
			}
		}
	}
	return out
}

// slot returns where the i-th of n columns stands: it takes two thirds of its place.
func slot(i, n int) (x, width int) {
	place := Wide / n
	width = place * 2 / 3
	return i*Wide/n + (place-width)/2, width
}

// Step is a bar of a waterfall: an amount at which it stands, or by which it changes.
type Step struct {
	Mark
	Total bool // Amount is where it stands; otherwise it is added, or with a minus taken away
}

// Fall is a waterfall: totals stand on the ground, each change begins where the one before it ended.
type Fall struct {
	Title string
	Ticks []Tick
	Bars  []Bar
	Links []Link // from the end of each bar to the next
	Steps []Step
}

// Link is a level line.
type Link struct{ X1, X2, Y int }

// Falling returns a waterfall. Levels below the ground are drawn at the ground.
func Falling(title string, say Say, steps ...Step) Fall {
	var level trade.Decimal
	after := make([]trade.Decimal, len(steps))
	for i, s := range steps {
		level = level.Add(s.Amount)
		if s.Total {
			level = s.Amount
		}
		after[i] = level
	}
	top, ticks := scale(largest(after, func(d trade.Decimal) trade.Decimal { return d }), say)
	out := Fall{Title: title, Steps: steps, Ticks: ticks}
	level = trade.Decimal{}
	for i, s := range steps {
		from, to := High-units(level, top, High), High-units(after[i], top, High)
		if s.Total {
			from = High
		}
		x, width := slot(i, len(steps))
		b := Bar{Mark: s.Mark, X: x, Y: min(from, to), Width: width, Height: max(from, to) - min(from, to)}
		if s.Amount.Sign() != 0 {
			b.Height = max(2, b.Height)
		}
		out.Bars = append(out.Bars, b)
		if i+1 < len(steps) {
			next, _ := slot(i+1, len(steps))
			out.Links = append(out.Links, Link{x + width, next, to})
		}
		level = after[i]
	}
	return out
}
