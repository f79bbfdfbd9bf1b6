package workbook

import (
	"bytes"
	"errors"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
)

// A list cannot go on in a further sheet: one that Excel could not open is refused.
func TestF167AListThatIsTooLargeForASheetIsRefused(t *testing.T) {
	t.Parallel()
	l := must.Get(NewList(&bytes.Buffer{}, ListForm{Name: "rows", Columns: []ListColumn{{Title: "a"}}}))(t)
	l.(*listBook).book.SheetMost = 32 << 10
	for range 10_000 {
		if err := l.Row([]string{"0123456789"}); err != nil {
			if !errors.Is(err, ErrTooLarge) {
				t.Error(err)
			}
			return
		}
	}
	t.Error("nothing is refused")
}
