// Values of the ERP in the form in which the ledger keeps them.

package mapping

import (
	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/trade"
)

// cellLetters are the reader's kinds as the ledger stores them.
var cellLetters = map[erp.Kind]byte{
	erp.Text: 't', erp.Int: 'i', erp.Number: 'n', erp.Float: 'f', erp.Date: 'd', erp.Timestamp: 's', erp.Instant: 'z',
	erp.Bool: 'b', erp.Bytes: 'y',
}

var cellKinds = func() map[byte]erp.Kind {
	out := make(map[byte]erp.Kind, len(cellLetters))
	for kind, letter := range cellLetters {
		out[letter] = kind
	}
	return out
}()

// unreadable is the letter of a value that could not be read; its text is the reason.
const unreadable = '!'

// sealed is the letter of a document, of which only a keyed hash is kept: see seal.
const sealed = 'h'

// CellOf stores a value of the ERP.
func CellOf(v erp.Value) trade.Cell {
	switch {
	case v.Err != "":
		return trade.Cell{Kind: unreadable, Text: v.Err}
	case v.Kind == erp.Null:
		return trade.Cell{}
	}
	return trade.Cell{Kind: cellLetters[v.Kind], Text: v.Text}
}

// valueOf restores it.
func valueOf(c trade.Cell) erp.Value {
	switch c.Kind {
	case 0:
		return erp.Value{Kind: erp.Null}
	case unreadable:
		return erp.Value{Kind: erp.Text, Err: c.Text}
	case sealed:
		return erp.Value{Kind: erp.Text, Text: c.Text}
	}
	return erp.Value{Kind: cellKinds[c.Kind], Text: c.Text}
}

// KeyValues restores the parts of a key.
func KeyValues(parts []trade.Cell) []erp.Value {
	out := make([]erp.Value, len(parts))
	for i, c := range parts {
		out[i] = valueOf(c)
	}
	return out
}
