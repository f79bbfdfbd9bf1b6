// Which codes the de-para lacks, and what each of them keeps from going.

package pending

import (
	"cmp"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/trade"
)

// code is one line of a de-para table; an empty code means the whole table.
type code struct{ kind, code string }

// lacking counts what each missing code keeps.
type lacking struct {
	board *Board
	have  map[string]map[string]string // ids by kind and code
	sums  map[code]*trade.Shortage
}

// missing returns the codes that keep a row, and those that keep the rows for which it waits (a delivery
// waits for its contract, which waits for its wallet), sorted.
func (l *lacking) missing(f *fact) []code {
	var out []code
	next, seen := []*fact{f}, map[*fact]bool{f: true}
	for len(next) > 0 {
		f, next = next[len(next)-1], next[:len(next)-1]
		for _, c := range f.codes {
			if _, there := l.have[c.kind][c.code]; !there {
				out = append(out, c)
			}
		}
		for _, p := range f.parents {
			if above := l.board.keys[p.ParentKey]; above != nil && above.state == trade.Waiting && !seen[above] {
				seen[above] = true
				next = append(next, above)
			}
		}
	}
	slices.SortFunc(out, func(a, b code) int {
		return cmp.Or(strings.Compare(a.kind, b.kind), strings.Compare(a.code, b.code))
	})
	return slices.Compact(out) // one code may occur in two fields
}

func (l *lacking) count(c code, f *fact, on string) {
	sum := l.sums[c]
	if sum == nil {
		sum = &trade.Shortage{
			Kind: c.kind, Code: c.code, Blocked: map[trade.Pile]*trade.Load{}, Invalid: map[trade.Pile]*trade.Load{},
		}
		l.sums[c] = sum
	}
	loads := sum.Blocked
	switch {
	case f.state == trade.Invalid:
		loads = sum.Invalid
	case on != "ref:"+c.kind:
		sum.Elsewhere++
	}
	pile := trade.Pile{Kind: f.job.Spec.Sends, Fixing: f.fixing}
	if loads[pile] == nil {
		loads[pile] = &trade.Load{}
	}
	loads[pile].Add(f.kg, f.weighed)
}
