// Times, numbers and texts in the form of a spreadsheet.

package workbook

import (
	"strings"
	"time"
	"unicode/utf16"

	"github.com/safrasync/safrasync/trade"
)

// SheetRows is the largest number of rows in a sheet of Excel, including the header.
const SheetRows = 1_048_576

// exactDigits is how many digits of a number a spreadsheet keeps. Of a longer number it gets so many
// decimals; what is longer without decimals is written as text.
const exactDigits = 15

// CellText is the largest number of characters in a cell of Excel.
const CellText = 32_767

// clip cuts a text to the length that a cell can hold.
func clip(text string) string {
	if len(text) <= CellText {
		return text
	}
	n := 0 // in UTF-16 code units, as Excel counts
	for i, r := range text {
		n += max(utf16.RuneLen(r), 1)
		if n > CellText {
			return text[:i]
		}
	}
	return text
}

// Time returns a time in the form of spreadsheets: days since 1899-12-30, with ten digits of
// fraction, which is a hundred thousandth of a second.
func Time(at time.Time) string {
	const day = 24 * 60 * 60
	seconds := at.Unix() - time.Date(1899, time.December, 30, 0, 0, 0, 0, time.UTC).Unix()
	part := (seconds%day*10_000_000_000 + day/2) / day
	return trade.NewDecimal(seconds/day, 0).Add(trade.NewDecimal(part, 10)).String()
}

var notDigits = strings.NewReplacer("-", "", ".", "")

// Number returns a number as text with the decimals that a spreadsheet keeps, and whether it keeps the
// text: whether it has at most 15 digits.
func Number(d trade.Decimal) (string, bool) {
	digits := func(text string) int { return len(strings.TrimLeft(notDigits.Replace(text), "0")) }
	text := d.String()
	_, decimals, _ := strings.Cut(text, ".")
	if over := digits(text) - exactDigits; over > 0 && len(decimals) >= over {
		text = d.Round(int32(len(decimals) - over)).String()
	}
	return text, digits(text) <= exactDigits
}
