package erp

import (
	"strings"
	"time"
)

// keyCondition is "is one of these keys", each part compared by term.
func keyCondition(cols []Column, keys [][]Value, term func(Column, Value) (string, *Error)) (string, *Error) {
	alternatives := make([]string, 0, len(keys))
	for _, key := range keys {
		all := make([]string, len(key))
		for i, v := range key {
			var bad *Error
			if all[i], bad = term(cols[i], v); bad != nil {
				return "", bad
			}
		}
		alternatives = append(alternatives, "("+strings.Join(all, " AND ")+")")
	}
	return "(" + strings.Join(alternatives, " OR ") + ")", nil
}

func notBindable(col Column) *Error {
	return failf(CodeOther, "a stored value of key column %s cannot be bound again", col.Name)
}

func failBound(since string) *Error {
	return failf(CodeOther, "the saved bound %q is no date or time; run a sweep", since)
}

// windowStart is where a window begins, in UTC digits; a column of days gets
// at least two.
func windowStart(w Window, days bool) (time.Time, *Error) {
	m, ok := parseMoment(w.Since)
	if !ok {
		return time.Time{}, failBound(w.Since)
	}
	lookback := max(w.Lookback, 0)
	if days {
		lookback = max(lookback, 48*time.Hour)
	}
	return m.at.Add(-lookback), nil
}
