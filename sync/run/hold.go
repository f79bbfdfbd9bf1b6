// Holding an entry for a person.

package run

import (
	"fmt"
	"sort"

	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// Hold puts an entry into the state held, with a cause, a text for the person who decides, and what
// the row was compared with; nil: nothing.
func Hold(entry *trade.Entry, cause, text string, other *trade.Counterpart) {
	entry.State, entry.Cause = trade.Held, cause
	entry.Error = &trade.EntryError{Kind: trade.ConflictError, Text: text, Counterpart: other}
	entry.WaitingFor, entry.NextAttemptAt = nil, mapping.NoTime
}

// HoldDouble holds an entry whose key occurs n times in the ERP.
func HoldDouble(entry *trade.Entry, n int) {
	Hold(entry, trade.CauseDuplicateKey, DoubleText(entry.Key, n),
		&trade.Counterpart{Job: entry.Job, Key: entry.Key, Rows: n})
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
