package dialect

import (
	"strings"
	"time"

	"github.com/safrasync/safrasync/erp/fault"
)

// KeyCondition returns the condition "is one of these keys", each part compared by term, which returns ""
// for a value that cannot be bound.
func KeyCondition(b *Binder, cols []Column, keys [][]Value,
	term func(*Binder, Column, Value) string,
) (string, *fault.Error) {
	alternatives := make([]string, 0, len(keys))
	for _, key := range keys {
		all := make([]string, len(key))
		for i, v := range key {
			all[i] = term(b, cols[i], v)
			if all[i] == "" {
				return "", fault.Failf(fault.CodeOther, "a stored value of key column %s cannot be bound again", cols[i].Name)
			}
		}
		alternatives = append(alternatives, "("+strings.Join(all, " AND ")+")")
	}
	return "(" + strings.Join(alternatives, " OR ") + ")", nil
}

// FailBound returns the error for a saved bound that is not a time.
func FailBound(since string) *fault.Error {
	return fault.Failf(fault.CodeOther, "the saved bound %q is no date or time; run a sweep", since)
}

// WindowStart returns the start of a window, in UTC digits. If the column has days only, the
// lookback is at least two days. Rows before the day dated are in every window, so the start is never
// earlier: some types end shortly before the times that programs write for "none".
func WindowStart(w Window, days bool, dated string) (time.Time, *fault.Error) {
	m, ok := ParseMoment(w.Since)
	first, valid := ParseMoment(dated)
	if !ok || !valid {
		return time.Time{}, FailBound(w.Since)
	}
	lookback := max(w.Lookback, 0)
	if days {
		lookback = max(lookback, 48*time.Hour)
	}
	if low := m.At.Add(-lookback); low.After(first.At) {
		return low, nil
	}
	return first.At, nil
}
