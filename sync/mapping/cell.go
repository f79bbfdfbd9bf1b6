// Values of the ERP as the ledger stores them.

package mapping

import (
	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/trade"
)

// cellLetters are the letters that the ledger stores for the kinds of values.
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

// unreadable is the letter of a value that could not be read; its text holds the reason.
const unreadable = '!'

// Sealed is the letter of a document, of which only a keyed hash is stored: see Seal.
const Sealed = 'h'

// CellOf returns a value of the ERP as the ledger stores it.
func CellOf(v erp.Value) trade.Cell {
	switch {
	case v.Err != "":
		return trade.Cell{Kind: unreadable, Text: string(v.Err)}
	case v.Kind == erp.Null:
		return trade.Cell{}
	}
	return trade.Cell{Kind: cellLetters[v.Kind], Text: v.Text}
}

// valueOf returns a stored value as a value of the ERP.
func valueOf(c trade.Cell) erp.Value {
	switch c.Kind {
	case 0:
		return erp.Value{Kind: erp.Null}
	case unreadable:
		return erp.Value{Kind: erp.Text, Err: phrase.Packed(c.Text)}
	case Sealed:
		return erp.Value{Kind: erp.Text, Text: c.Text}
	}
	return erp.Value{Kind: cellKinds[c.Kind], Text: c.Text}
}

// KeyValues returns the stored parts of a key as values of the ERP.
func KeyValues(parts []trade.Cell) []erp.Value {
	out := make([]erp.Value, len(parts))
	for i, c := range parts {
		out[i] = valueOf(c)
	}
	return out
}
