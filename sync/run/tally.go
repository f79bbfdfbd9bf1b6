// Sums of rows as texts.

package run

import (
	"fmt"
	"sort"

	"github.com/safrasync/safrasync/trade"
)

// TallyText returns sums as sorted lines, so that two of them can be compared.
func TallyText(tallies []trade.Tally) []string {
	var out []string
	for _, t := range tallies {
		if t.Count != 0 {
			out = append(out, fmt.Sprintf("%s %d %s %s", t.State, t.Count, t.Quantity.Amount, t.Quantity.Unit))
		}
	}
	sort.Strings(out)
	return out
}
