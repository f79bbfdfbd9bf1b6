// Holding an entry for a person.

package run

import (
	"fmt"
	"sort"

	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// Hold puts an entry into the state held, with a cause and a text for the person who decides.
func Hold(entry *trade.Entry, cause, text string) {
	entry.State, entry.Cause = trade.Held, cause
	entry.Error = &trade.EntryError{Kind: trade.ConflictError, Text: text}
	entry.WaitingFor, entry.NextAttemptAt = nil, mapping.NoTime
}

// DoubleText returns the text for a key that occurs n times.
func DoubleText(key string, n int) string {
	return fmt.Sprintf(
		"key %s stands %d times in the ERP; correct the ERP so that it stands once, or add a column to the key", key, n)
}

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
