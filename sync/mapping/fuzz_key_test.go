package mapping

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/trade"
)

// FuzzRowKey: whatever the ERP has in its key columns, two rows have one key exactly when each part
// is the same, numbers by their value; and a key comes apart into what it was made of.
func FuzzRowKey(f *testing.F) {
	f.Add(uint8(1), "1.50", uint8(0), "a|b", uint8(1), "1.5", uint8(0), " a|b ")
	f.Add(uint8(1), "NaN", uint8(2), "1e3", uint8(1), "nan", uint8(2), "1000")
	f.Add(uint8(0), `a\`, uint8(0), "", uint8(0), "a", uint8(0), `\`)
	f.Add(uint8(0), "1.0", uint8(3), "7", uint8(1), "1.0", uint8(3), "7")
	kinds := []erp.Kind{erp.Text, erp.Number, erp.Float, erp.Int, erp.Null}
	columns := []string{"a", "b"}
	f.Fuzz(func(t *testing.T, k1 uint8, t1 string, k2 uint8, t2 string, k3 uint8, t3 string, k4 uint8, t4 string) {
		// the reader gives such values an error
		if slices.ContainsFunc([]string{t1, t2, t3, t4}, func(s string) bool { return !utf8.ValidString(s) }) {
			return
		}
		value := func(k uint8, text string) erp.Value {
			return erp.Value{Kind: kinds[int(k)%len(kinds)], Text: text}
		}
		one, other := []erp.Value{value(k1, t1), value(k2, t2)}, []erp.Value{value(k3, t3), value(k4, t4)}
		row, err := rowJob(columns, nil).Row(erp.NewRow(columns, one))
		if err != nil {
			return
		}
		key := row.Key
		if diff := cmp.Diff([]string{PlainText(one[0]), PlainText(one[1])}, SplitCode(key)); diff != "" ||
			len(row.Parts()) != 2 || !Keepable(key) {
			t.Fatalf("%+v has the key %q, with other parts (-want +got):\n%s", one, key, diff)
		}
		second, err := keyOf(erp.NewRow(columns, other), columns)
		if err != nil {
			return
		}
		if same := samePart(one[0], other[0]) && samePart(one[1], other[1]); same != (key == second) {
			t.Errorf("%+v and %+v have the keys %q and %q", one, other, key, second)
		}
	})
}

// samePart tells in another way than plainText whether two values are one part of a key: a number
// is its value, everything else its text without blanks around.
func samePart(a, b erp.Value) bool {
	read := func(v erp.Value) (trade.Decimal, string, bool) {
		text := strings.TrimSpace(v.Text)
		if v.Kind != erp.Number && v.Kind != erp.Float {
			return trade.Decimal{}, text, false
		}
		n, err := trade.ParseDecimal(text)
		return n, text, err == nil
	}
	n, s, isNumber := read(a)
	m, u, other := read(b)
	switch {
	case isNumber && other:
		return n.Equal(m)
	case isNumber:
		s = n.String()
	case other:
		u = m.String()
	}
	return s == u
}
