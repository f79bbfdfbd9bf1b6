package picture

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
