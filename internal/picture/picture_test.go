package picture_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/safrasync/safrasync/internal/picture"
	"github.com/safrasync/safrasync/trade"
)

func amount(n int64) trade.Decimal { return trade.NewDecimal(n, 0) }

func mark(name string, n int64) picture.Mark {
	return picture.Mark{Class: "sent", Name: name, Said: name, Amount: amount(n)}
}

// Whatever the amounts: no part is missing, none overlaps another, none is too thin to be clicked, and
// all stay inside the picture.
func TestAStackHasAPlaceForEachPart(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		amounts := rapid.SliceOfN(rapid.Int64Range(0, 1_000_000_000), 1, 12).Draw(t, "amounts")
		var marks []picture.Mark
		some := 0
		for _, n := range amounts {
			marks = append(marks, mark("x", n))
			if n > 0 {
				some++
			}
		}
		s := picture.Stacked("", "", amount(rapid.Int64Range(0, 2_000_000_000).Draw(t, "most")), marks...)
		if len(s.Bars) != some {
			t.Fatalf("%d parts of %v", len(s.Bars), amounts)
		}
		end := 0
		for _, b := range s.Bars {
			if b.X != end || b.Width < 5 {
				t.Fatalf("a part at %d, %d wide, after %d", b.X, b.Width, end)
			}
			end += b.Width
		}
		if end > picture.Wide {
			t.Fatalf("%d units wide", end)
		}
	})
}

func TestAStackIsInProportion(t *testing.T) {
	t.Parallel()
	s := picture.Stacked("Soja", "", trade.Decimal{}, mark("enviado", 750), mark("aguarda", 250), mark("nada", 0))
	if len(s.Bars) != 2 || s.Bars[0].Width != 750 || s.Bars[1].X != 750 || s.Bars[1].Width != 250 {
		t.Errorf("%+v", s.Bars)
	}
	half := picture.Stacked("Soja", "", amount(2000), mark("enviado", 1000))
	if half.Bars[0].Width != 500 {
		t.Errorf("of twice as much: %+v", half.Bars)
	}
}

// Each bar of a waterfall begins where the one before it ended, and a total stands on the ground.
func TestAWaterfallEndsAtItsTotals(t *testing.T) {
	t.Parallel()
	steps := func(erp, outside, less, sent int64) picture.Fall {
		return picture.Falling(
			picture.Step{Mark: mark("ERP", erp), Total: true}, picture.Step{Mark: mark("fora", -outside)},
			picture.Step{Mark: mark("volume negativo", less)}, picture.Step{Mark: mark("enviado", sent), Total: true})
	}
	whole := steps(100, 80, 10, 30)
	if b := whole.Bars; whole.From.Sign() != 0 || b[0].Width != picture.Wide || b[3].Width != 300 || b[1].X != 200 ||
		b[2].X != 200 || b[2].X+b[2].Width != b[3].Width {
		t.Errorf("on a whole axis: %+v", whole)
	}
	cut := steps(1000, 50, 10, 960)
	if b := cut.Bars; cut.From.Cmp(amount(940)) != 0 || b[0].Width != picture.Wide || b[1].X+b[1].Width != b[0].Width ||
		b[1].X < 100 || b[3].Width != b[2].X+b[2].Width {
		t.Errorf("on a broken axis: %+v", cut)
	}
	if same := steps(100, 0, 0, 100); same.From.Sign() != 0 || same.Bars[3].Width != picture.Wide {
		t.Errorf("of what does not differ: %+v", same)
	}
}

func TestAStripEndsAtTheRight(t *testing.T) {
	t.Parallel()
	s := picture.Strip("", mark("a", 0), mark("b", 10))
	last := s.Bars[1]
	if s.Bars[0].Height == 0 || last.Height != picture.High || last.X+last.Width > picture.Wide || last.X < 900 {
		t.Errorf("%+v", s.Bars)
	}
}

// What was delivered beyond the contract stands above its rim.
func TestAGlassOverflows(t *testing.T) {
	t.Parallel()
	g := picture.Filled("", mark("contratado", 100), mark("entregue", 32), mark("fixado", 0))
	if g.Rim != 0 || g.Fill.Height != 64 || g.Over.Height != 0 || g.HasFixed {
		t.Errorf("%+v", g)
	}
	whole := trade.NewDecimal(100, 0)
	for _, part := range []int64{32, 50, 125} {
		if got := picture.Percent(trade.NewDecimal(part, 0), whole); got != int(part) {
			t.Errorf("%d%% of it are %d%%", part, got)
		}
	}
	g = picture.Filled("", mark("contratado", 100), mark("entregue", 125), mark("fixado", 50))
	if g.Rim != 40 || g.Fill.Y != 40 || g.Over.Height != 40 || g.Fixed != 120 {
		t.Errorf("%+v", g)
	}
}
