package workbook

import (
	"errors"
	"io"
	"testing"

	"github.com/xuri/excelize/v2"
)

func TestF167AWorkbookThatExcelCannotOpenIsRefused(t *testing.T) {
	t.Parallel()
	book := excelize.NewFile()
	defer book.Close()
	if err := write(io.Discard, book, 100); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a workbook that is too large: %v", err)
	}
	if err := Write(io.Discard, book); err != nil {
		t.Error(err)
	}
}
