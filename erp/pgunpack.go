package erp

import (
	"bytes"
	"slices"
	"time"
	"unicode/utf8"
)

// unpacker takes the texts of composite values apart. The values of some rows
// share two pieces of memory: one with the values, one with all their texts.
type unpacker struct {
	items []selectItem
	zone  *time.Location
	list  []string // the expressions to select, each once
	of    []int    // which of them is each item's

	batch [][]Value // the rows so far
	slab  []Value   // for the next rows
	whole int       // as many rows of batch have their texts
	text  []byte    // those of the others, one after another
	spans []span    // where in it the text of each of their values is

	fields [][]byte // of one row; nil is NULL
	plain  []byte   // those of them that had doubled characters
}

type span struct{ from, to int }

func newUnpacker(items []selectItem, zone *time.Location) *unpacker {
	u := &unpacker{items: items, zone: zone}
	for _, it := range items {
		at := slices.Index(u.list, it.sql)
		if at < 0 {
			at = len(u.list)
			u.list = append(u.list, it.sql)
		}
		u.of = append(u.of, at)
	}
	u.fields = make([][]byte, len(u.list))
	return u
}

// slabRows is how many rows share their memory: each of them keeps that of all.
// A slab with more text than slabText ends before.
const (
	slabRows = 32
	slabText = 16 << 10
)

// add takes a row, of which it keeps nothing.
func (u *unpacker) add(row []byte) error {
	if !u.split(row) {
		return errUnpack()
	}
	n := len(u.items)
	if len(u.slab) < n {
		u.slab = make([]Value, slabRows*n)
	}
	values := u.slab[:n:n]
	u.slab = u.slab[n:]
	for i := range u.items {
		from := len(u.text)
		if field := u.fields[u.of[i]]; field != nil {
			u.put(&u.items[i], field, &values[i])
		}
		u.spans = append(u.spans, span{from, len(u.text)})
	}
	u.batch = append(u.batch, values)
	if len(u.batch)-u.whole == slabRows || len(u.text) > slabText {
		u.finish()
	}
	return nil
}

// take gives the rows that were added since the last time.
func (u *unpacker) take() [][]Value {
	u.finish()
	batch := u.batch
	u.batch, u.whole = make([][]Value, 0, len(batch)), 0
	return batch
}

// finish gives the rows their texts.
func (u *unpacker) finish() {
	text, at := string(u.text), 0
	for _, values := range u.batch[u.whole:] {
		for i := range values {
			s := u.spans[at]
			values[i].Text = text[s.from:s.to]
			at++
		}
	}
	u.whole, u.text, u.spans = len(u.batch), u.text[:0], u.spans[:0]
}

// put makes a value of a field. What is not of the item's common form, the item
// itself converts.
func (u *unpacker) put(it *selectItem, field []byte, v *Value) {
	switch it.form {
	case asItIs:
		v.Kind, u.text = it.kind, append(u.text, field...)
		return
	case textForm:
		if len(field) <= maxTextBytes && utf8.Valid(field) {
			v.Kind, u.text = it.kind, append(u.text, field...)
			return
		}
	case numberForm:
		if last := len(field) - 1; last >= 0 && isDigit(field[last]) {
			v.Kind, u.text = it.kind, append(u.text, field...)
			return
		}
	case dayForm:
		if len(field) == 10 {
			if _, _, _, ok := fixedDay(field); ok {
				v.Kind, u.text = it.kind, append(u.text, field...)
				return
			}
		}
	case timestampForm:
		if _, zoned, ok := fixedMoment(field); ok && !zoned {
			at := len(u.text) + len("2006-01-02")
			v.Kind, u.text = it.kind, append(u.text, field...)
			u.text[at] = 'T'
			return
		}
	case instantForm:
		if m, zoned, ok := fixedMoment(field); ok && zoned {
			v.Kind, u.text = it.kind, appendInstant(u.text, m, u.zone)
			return
		}
	}
	*v = it.text(string(field))
	u.text = append(u.text, v.Text...)
}

func errUnpack() error {
	return failf(CodeOther, "the database wrote a row in a form that it does not document; report this as a fault of the program")
}

// split finds the fields of a row: between commas, those with blanks and special
// characters in quotes, which are doubled within, as backslashes are. A field
// without anything is NULL; an empty text is two quotes.
func (u *unpacker) split(row []byte) bool {
	last := len(row) - 1
	if last < 1 || row[0] != '(' || row[last] != ')' {
		return false
	}
	u.plain = u.plain[:0]
	at := 1
	for i := range u.fields {
		if at > last {
			return false
		}
		switch row[at] {
		case ',', ')':
			u.fields[i] = nil
		case '"':
			field, next, ok := u.quoted(row, at+1)
			if !ok {
				return false
			}
			u.fields[i], at = field, next
		default:
			from := at
			for row[at] != ',' && row[at] != ')' { // it ends with one
				at++
			}
			u.fields[i] = row[from:at]
		}
		if end := i == len(u.fields)-1; at > last || end != (at == last) || !end && row[at] != ',' {
			return false
		}
		at++
	}
	return true
}

// quoted reads a text in quotes from behind the first one, and tells where it goes on.
func (u *unpacker) quoted(row []byte, from int) (text []byte, next int, ok bool) {
	n := bytes.IndexByte(row[from:], '"')
	if n < 0 {
		return nil, 0, false
	}
	end := from + n
	double := end+1 < len(row) && row[end+1] == '"'
	if !double && bytes.IndexByte(row[from:end], '\\') < 0 {
		return row[from:end], end + 1, true
	}
	return u.unquoted(row, from)
}

// unquoted is quoted for a text that has doubled characters.
func (u *unpacker) unquoted(row []byte, from int) (text []byte, next int, ok bool) {
	if cap(u.plain)-len(u.plain) < len(row) { // what is there already stays where it is
		u.plain = make([]byte, 0, 2*len(row))
	}
	begin := len(u.plain)
	for at := from; at < len(row); at++ {
		c := row[at]
		double := (c == '"' || c == '\\') && at+1 < len(row) && row[at+1] == c
		switch {
		case double:
			at++
		case c == '"':
			return u.plain[begin:len(u.plain):len(u.plain)], at + 1, true
		case c == '\\':
			return nil, 0, false
		}
		u.plain = append(u.plain, c)
	}
	return nil, 0, false
}
