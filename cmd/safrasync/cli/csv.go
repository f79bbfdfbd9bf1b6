package cli

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"io/fs"
	"unicode/utf8"

	"github.com/safrasync/safrasync/cmd/safrasync/config"
)

// OpenCSV reads a CSV file of at most limit bytes. Like those of spreadsheets it may begin with a
// byte order mark, and separate the columns with ; or tab. The error is in the person's language
// and quotes nothing of the file.
func OpenCSV(r io.Reader, limit int64, v Voice) (*csv.Reader, error) {
	data, err := readAtMost(r, limit, v)
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(data) {
		return nil, errors.New(v.Text("csv.not_utf8"))
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	c := csv.NewReader(bytes.NewReader(data))
	c.Comma = separatorOf(data)
	c.FieldsPerRecord = -1
	c.TrimLeadingSpace = c.Comma != '\t'
	return c, nil
}

// readAtMost reads everything, or returns an error if it is more than limit bytes.
func readAtMost(r io.Reader, limit int64, v Voice) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = errors.New(v.Text("csv.too_large", limit>>20))
	}
	return data, err
}

// separatorOf returns the separator that the header uses.
func separatorOf(data []byte) rune {
	head, _, _ := bytes.Cut(data, []byte("\n"))
	for _, separator := range ";\t" {
		if bytes.ContainsRune(head, separator) {
			return separator
		}
	}
	return ','
}

// FileReason returns why a file cannot be opened, without its path.
func (v Voice) FileReason(err error) string {
	switch {
	case errors.Is(err, errNoFolder):
		return v.Text("folder.not_there")
	case errors.Is(err, fs.ErrNotExist):
		return v.Text("file.not_there")
	case errors.Is(err, fs.ErrExist):
		return v.Text("file.is_there")
	case errors.Is(err, fs.ErrPermission):
		return v.Text("file.forbidden")
	}
	return config.PlainReason(err)
}
