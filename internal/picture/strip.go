package picture

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
