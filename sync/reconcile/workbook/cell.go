// Times, numbers and texts as a spreadsheet keeps them.

package workbook

import (
	"strings"
	"time"
	"unicode/utf16"

	"github.com/safrasync/safrasync/trade"
)

// SheetRows is how many rows a sheet of Excel holds, the header included.
const SheetRows = 1_048_576

// exactDigits is how many digits a spreadsheet's number keeps; longer ones are written as text.
const exactDigits = 15

// CellText is how many characters a cell of Excel holds.
const CellText = 32_767

// Clip cuts a text to what a cell holds.
func Clip(text string) string {
	if len(text) <= CellText {
		return text
	}
	n := 0 // as Excel counts
	for i, r := range text {
		if n += max(utf16.RuneLen(r), 1); n > CellText {
			return text[:i]
		}
	}
	return text
}

// WallClock returns a time as the zone's clock shows it: spreadsheets know no zones.
func WallClock(at time.Time, zone *time.Location) time.Time {
	at = at.In(zone)
	return time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), 0, time.UTC)
}

// Time is a moment as spreadsheets count: days, and the part of one with ten digits, a
// hundred thousandth of a second.
func Time(at time.Time) string {
	const day = 24 * 60 * 60
	seconds := at.Unix() - time.Date(1899, time.December, 30, 0, 0, 0, 0, time.UTC).Unix()
	part := (seconds%day*10_000_000_000 + day/2) / day
	return trade.NewDecimal(seconds/day, 0).Add(trade.NewDecimal(part, 10)).String()
}

var notDigits = strings.NewReplacer("-", "", ".", "")

// Number returns a number that a spreadsheet keeps as it is: one of no more than 15
// digits.
func Number(d trade.Decimal) (string, bool) {
	text := d.String()
	return text, len(strings.TrimLeft(notDigits.Replace(text), "0")) <= exactDigits
}

// Width is the width of a column in characters, as excelize has it.
//
//nolint:forbidigo // the width of a column, no amount
func Width(characters int) float64 { return float64(characters) }
