// The file of a workbook.

package workbook

import (
	"archive/zip"
	"bufio"
	"errors"
	"io"
	"math"
	"strings"

	"github.com/xuri/excelize/v2"
)

// partMost is the largest size in bytes of a part of the file, such as a sheet: Excel refuses files
// with a part whose size is stored in 64 bits, as Go's archives do for larger parts.
const partMost = math.MaxUint32

// ErrTooLarge means that a workbook would be larger than Excel can open.
var ErrTooLarge = errors.New(
	"the workbook would have more than 4 GiB, which Excel does not open; choose fewer rows, or another form, such as csv")

// Write writes a workbook as it is compressed. excelize alone would build the file in memory.
func Write(to io.Writer, book *excelize.File) error { return write(to, book, partMost) }

func write(to io.Writer, book *excelize.File, most uint64) error {
	out := bufio.NewWriterSize(to, 1<<16)
	book.ZipWriter = func(io.Writer) excelize.ZipWriter { return &archive{zip.NewWriter(out), most} }
	return errors.Join(book.Write(io.Discard), out.Flush())
}

// archive is the file, of whose parts none is too large.
type archive struct {
	*zip.Writer
	most uint64
}

// Create begins a part.
func (a *archive) Create(path string) (io.Writer, error) {
	to, err := a.Writer.Create(path)
	return &partWriter{to: to, left: a.most}, err
}

// partWriter returns ErrTooLarge for a part that is larger than Excel can read.
type partWriter struct {
	to   io.Writer
	left uint64
}

func (p *partWriter) Write(text []byte) (int, error) {
	if uint64(len(text)) > p.left {
		return 0, ErrTooLarge
	}
	p.left -= uint64(len(text))
	return p.to.Write(text)
}

// footerText is the largest number of characters in a footer, without the page numbers.
const footerText = 200

// Footer returns a footer in the form of spreadsheets: a text on the left and the page number on
// the right.
func Footer(text string) string {
	if runes := []rune(text); len(runes) > footerText {
		text = string(runes[:footerText])
	}
	return `&L&8` + strings.ReplaceAll(text, "&", "&&") + `&R&8&P / &N`
}
