package trade

import (
	"cmp"
	"strings"
)

// CompareCodes orders codes and keys of the ERP as people do: runs of digits by their value, so that 2 comes before 10, everything else by its bytes. Codes
// that differ in leading zeros alone have the shorter first; only equal texts give 0.
func CompareCodes(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		m, n := digitsAt(x), digitsAt(y)
		if m > 0 && n > 0 {
			left, right := strings.TrimLeft(x[:m], "0"), strings.TrimLeft(y[:n], "0")
			if c := cmp.Or(len(left)-len(right), strings.Compare(left, right)); c != 0 {
				return c
			}
			x, y = x[m:], y[n:]
			continue
		}
		if x[0] != y[0] {
			return cmp.Compare(x[0], y[0])
		}
		x, y = x[1:], y[1:]
	}
	return cmp.Or(len(x)-len(y), len(a)-len(b), strings.Compare(a, b))
}

// digitsAt counts the digits at the beginning of a text.
func digitsAt(text string) int {
	n := 0
	for n < len(text) && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	return n
}
