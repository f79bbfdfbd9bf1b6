package specimen

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"

	"github.com/safrasync/safrasync/internal/phrase"
)

// form is the version of the form of a file; another version of the program may have another one.
const form = 1

// begin is how each file begins, of whatever version.
const begin = `{"safrasync_row":`

// Most is how large a file may be.
const Most = 8 << 20

// envelope is the form of a file. The hash is that of the row's bytes.
type envelope struct {
	Form   int             `json:"safrasync_row"`
	SHA256 string          `json:"sha256"`
	Row    json.RawMessage `json:"row"`
}

// Is reports whether a file is, or was, one of a row.
func Is(data []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(data), []byte(begin)) }

// Write writes a row as a file.
func Write(w io.Writer, s Specimen) error {
	row, err := json.Marshal(s)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(row)
	text, err := json.Marshal(envelope{form, hex.EncodeToString(sum[:]), row})
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// Read reads a file. It refuses one that was altered, is damaged, or has another form.
func Read(data []byte) (Specimen, error) {
	var file envelope
	var out Specimen
	if err := json.Unmarshal(data, &file); err != nil {
		return out, phrase.Errorf("the bundle is damaged or not complete; ask for it again")
	}
	if file.Form != form {
		return out, phrase.Errorf("the bundle has form %d, and this version of the program reads form %d; use the version that made it",
			file.Form, form)
	}
	sum := sha256.Sum256(file.Row)
	if hex.EncodeToString(sum[:]) != file.SHA256 {
		return out, phrase.Errorf("the bundle was altered after it was made; ask for it again")
	}
	d := json.NewDecoder(bytes.NewReader(file.Row))
	d.DisallowUnknownFields()
	if err := d.Decode(&out); err != nil {
		return out, phrase.Errorf("the bundle is of another version of the program; use the version that made it")
	}
	bodies := []*json.RawMessage{&out.Verdict.Payload}
	if out.Entry != nil {
		bodies = append(bodies, &out.Entry.Payload)
	}
	for i := range out.Attempts {
		bodies = append(bodies, &out.Attempts[i].Payload, &out.Attempts[i].Evidence)
	}
	for _, body := range bodies {
		if string(*body) == "null" {
			*body = nil
		}
	}
	return out, nil
}
