package erp

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// everyItem has a column of each form that PostgreSQL writes.
func everyItem(p *postgres) (items []selectItem) {
	for i, typ := range []string{"int8", "numeric", "float8", "bool", "date", "timestamp", "timestamptz", "uuid", "bpchar", "text", "money", "bytea", "interval"} {
		items = append(items, p.item(Column{Name: fmt.Sprintf("c%d", i), Type: typ}, false))
	}
	return items
}

func pgOfSaoPaulo(t testing.TB) *postgres {
	zone, err := time.LoadLocation("America/Sao_Paulo")
	if err != nil {
		t.Fatal(err)
	}
	return &postgres{opt: Options{TimeZone: zone}}
}

var packedRows = []string{
	`(1,1.50,0.1,true,2026-10-18,"2026-10-18 10:20:30.302674","2026-10-18 10:20:30.302674-03",db5b5fab-8f4d-4e27-9da1-494c73cf256d,"01    ","São Paulo",12.30,"",1 day)`,
	`(,,,,,,,,,,,,)`,
	`(-1,NaN,-0,false,infinity,infinity,-infinity,x,"""\\","a""b\\c,d(e)f",Infinity,,"")`,
	`(0,-Infinity,1e300,t,"0044-03-15 BC","2026-01-01 24:00:00","1900-01-01 08:53:32-03:06:28",,"","` + "\xff" + `",,,)`,
	`(9007199254740993,.5,x,f,12026-01-01,"2026-02-30 00:00:00","9999-12-31 23:59:59.999999+14:30",,é,"` + strings.Repeat("x", 2000) + `",1,2,3)`,
	`(1,2,3,4,2026-1-01,"2026-01-01 10:00:00.1234567","2026-01-01 10:00:00+24",1,2,3,4,5,6)`,
	`(1,2,3,4,2024-02-29,"2024-02-29 10:00:00.","2026-01-01 10:00:00.1+05:60",1,2,3,4,5,6)`,
	`(1,2,3,4,2023-02-29,"2024-02-29 10:00:60","2026-01-01 10:00:00Z",1,2,3,4,5,6)`,
	`(1)`, `()`, `(`, ``, `(1,2,3,4,5,6,7,8,9,10,11,12,13,14)`, `(1,2,3,4,5,6,7,8,9,10,11,12,13) `, `("1,2`, `("\a",,,,,,,,,,,,)`, `(a)b,,,,,,,,,,,,)`,
}

// What an unpacker makes of rows is what each value's own conversion makes of its text, for any text and however many rows come together.
func sameValues(t *testing.T, p *postgres, items []selectItem, rows []string) {
	t.Helper()
	u := newUnpacker(items, p.opt.TimeZone)
	var want [][]Value
	for _, row := range rows {
		values := make([]Value, len(items))
		bad := slowUnpack(row, items, values)
		raw := []byte(row)
		err := u.add(raw)
		clear(raw) // the driver uses its memory again
		if (err != nil) != (bad != nil) {
			t.Fatalf("%q: %v, want %v", row, err, bad)
		}
		if err == nil {
			want = append(want, values)
		}
	}
	if diff := cmp.Diff(want, u.take()); diff != "" && len(want) > 0 {
		t.Fatalf("(-want +got)\n%s", diff)
	}
	if rest := u.take(); len(rest) != 0 {
		t.Fatalf("%d rows come again", len(rest))
	}
}

func TestRowsAreUnpackedAsTheirValuesAreRead(t *testing.T) {
	t.Parallel()
	p := pgOfSaoPaulo(t)
	var many []string
	for range 30 {
		many = append(many, packedRows...)
	}
	sameValues(t, p, everyItem(p), many)
	for _, row := range packedRows {
		sameValues(t, p, everyItem(p), []string{row})
		sameValues(t, p, []selectItem{p.item(Column{Name: "c", Type: "text"}, false)}, []string{row})
	}
}

func FuzzUnpack(f *testing.F) {
	for _, row := range packedRows {
		f.Add(row, row)
	}
	p := pgOfSaoPaulo(f)
	items := everyItem(p)
	f.Fuzz(func(t *testing.T, a, b string) {
		sameValues(t, p, items, []string{a, b, a})
		sameValues(t, p, items[9:10], []string{a, b, `("` + strings.NewReplacer(`"`, `""`, `\`, `\\`).Replace(a) + `")`})
		for _, item := range items { // a text alone, as a database would quote it
			sameValues(t, p, []selectItem{item}, []string{`("` + strings.NewReplacer(`"`, `""`, `\`, `\\`).Replace(a) + `")`})
		}
	})
}

// The time of change is selected once, as the column's value and as the text of a bound.
func TestATimeOfChangeIsSelectedOnce(t *testing.T) {
	t.Parallel()
	p := pgOfSaoPaulo(t)
	em := Column{Name: "em", Type: "timestamptz"}
	u := newUnpacker([]selectItem{p.item(Column{Name: "k", Type: "int4"}, true), p.item(em, false), p.item(Column{Name: "t", Type: "text"}, false), p.rawItem(em)}, p.opt.TimeZone)
	if len(u.list) != 3 {
		t.Errorf("selected: %q", u.list)
	}
	for _, row := range []string{`(1,"2026-10-18 10:20:30+00",x)`, `(2,,y)`} {
		if err := u.add([]byte(row)); err != nil {
			t.Fatal(err)
		}
	}
	want := [][]Value{
		{{Kind: Int, Text: "1"}, {Kind: Instant, Text: "2026-10-18T07:20:30-03:00"}, {Kind: Text, Text: "x"}, {Kind: Text, Text: "2026-10-18 10:20:30+00"}},
		{{Kind: Int, Text: "2"}, {}, {Kind: Text, Text: "y"}, {}},
	}
	if diff := cmp.Diff(want, u.take()); diff != "" {
		t.Error(diff)
	}
}

func BenchmarkUnpack(b *testing.B) {
	p := pgOfSaoPaulo(b)
	items := everyItem(p)
	row := []byte(packedRows[0])
	b.Run("row", func(b *testing.B) {
		b.ReportAllocs()
		u := newUnpacker(items, p.opt.TimeZone)
		for n := 1; b.Loop(); n++ {
			if err := u.add(row); err != nil {
				b.Fatal(err)
			}
			if n%fetchRows == 0 {
				u.take()
			}
		}
	})
	b.Run("slowly", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := slowUnpack(string(row), items, make([]Value, len(items))); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// slowUnpack is what an unpacker does, a value at a time. It takes the text of a composite value apart: fields between commas, those
// with blanks and special characters in quotes, which are doubled within, as
// backslashes are. A field without anything is NULL; an empty text is two quotes.
func slowUnpack(row string, items []selectItem, into []Value) error {
	if len(row) < 2 || row[0] != '(' || row[len(row)-1] != ')' {
		return errUnpack()
	}
	at := 1
	for i := range items {
		if at >= len(row) {
			return errUnpack()
		}
		switch row[at] {
		case ',', ')': // NULL
		case '"':
			text, next, ok := slowQuoted(row, at+1)
			if !ok {
				return errUnpack()
			}
			into[i], at = items[i].text(text), next
		default:
			end := at + strings.IndexAny(row[at:], ",)")
			into[i], at = items[i].text(row[at:end]), end
		}
		if last := i == len(items)-1; at >= len(row) || last != (at == len(row)-1) || !last && row[at] != ',' {
			return errUnpack()
		}
		at++
	}
	return nil
}

// slowQuoted reads a text in quotes from behind the first one, and tells where it goes on.
func slowQuoted(row string, from int) (text string, next int, ok bool) {
	for at := from; at < len(row); at++ {
		switch {
		case row[at] == '\\', row[at] == '"' && at+1 < len(row) && row[at+1] == '"':
			return slowUnquoted(row, from)
		case row[at] == '"':
			return row[from:at], at + 1, true
		}
	}
	return "", 0, false
}

// slowUnquoted is slowQuoted for a text that has doubled characters.
func slowUnquoted(row string, from int) (text string, next int, ok bool) {
	var b strings.Builder
	for at := from; at < len(row); at++ {
		c := row[at]
		double := (c == '"' || c == '\\') && at+1 < len(row) && row[at+1] == c
		switch {
		case double:
			at++
		case c == '"':
			return b.String(), at + 1, true
		case c == '\\':
			return "", 0, false
		}
		b.WriteByte(c)
	}
	return "", 0, false
}
