package english

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
)

// Texts returns what people read in a file, by the name of the file; of an archive it is one text for
// each file in it. A cell of a table is a line. Files for programs (JSON) have no such text.
func Texts(name string, data []byte) (map[string]string, error) {
	text, err := "", error(nil)
	switch path.Ext(name) {
	case ".json", ".jsonl", ".gz":
		return nil, nil
	case ".zip":
		return inArchive(data)
	case ".xlsx":
		text, err = cells(data)
	case ".csv":
		text, err = fields(data)
	default:
		text = string(data)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return map[string]string{name: text}, nil
}

// inArchive returns the texts of the files in an archive.
func inArchive(data []byte) (map[string]string, error) {
	out := map[string]string{}
	err := eachFile(data, func(name string, data []byte) error {
		texts, err := Texts(name, data)
		maps.Copy(out, texts)
		return err
	})
	return out, err
}

func eachFile(data []byte, do func(name string, data []byte) error) error {
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return err
	}
	for _, f := range archive.File {
		r, err := f.Open()
		if err != nil {
			return err
		}
		data, err := io.ReadAll(r)
		if err := errors.Join(err, r.Close()); err != nil {
			return err
		}
		if err := do(f.Name, data); err != nil {
			return err
		}
	}
	return nil
}

// fields returns the fields of a CSV.
func fields(data []byte) (string, error) {
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	r.FieldsPerRecord = -1
	if bytes.Count(data, []byte(";")) > bytes.Count(data, []byte(",")) {
		r.Comma = ';'
	}
	rows, err := r.ReadAll()
	return strings.Join(slices.Concat(rows...), "\n"), err
}

// sheetTexts are the elements of a workbook that hold texts, and sheetNotes the attributes: names of
// sheets, and what a cell says when it is chosen or refuses a value.
var (
	sheetTexts = []string{"t", "oddHeader", "oddFooter", "title", "subject", "description"}
	sheetNotes = []string{"prompt", "promptTitle", "error", "errorTitle"}
)

// cells returns the texts of a workbook.
func cells(data []byte) (string, error) {
	var out strings.Builder
	err := eachFile(data, func(name string, data []byte) error {
		if path.Ext(name) != ".xml" {
			return nil
		}
		d := xml.NewDecoder(bytes.NewReader(data))
		in := ""
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			switch t := token.(type) {
			case xml.StartElement:
				in = t.Name.Local
				for _, a := range t.Attr {
					if slices.Contains(sheetNotes, a.Name.Local) || in == "sheet" && a.Name.Local == "name" {
						out.WriteString(a.Value + "\n")
					}
				}
			case xml.EndElement:
				in = ""
			case xml.CharData:
				switch {
				case in == "formula1": // the values among which one may choose
					out.WriteString(strings.ReplaceAll(strings.Trim(string(t), `"`), ",", "\n") + "\n")
				case slices.Contains(sheetTexts, in):
					out.WriteString(string(t) + "\n")
				}
			}
		}
	})
	return out.String(), err
}

// JSON finds English in the values of a JSON document that are texts for people, as a messenger shows
// them.
func JSON(doc []byte) ([]string, error) {
	var value any
	if err := json.Unmarshal(doc, &value); err != nil {
		return nil, err
	}
	var out []string
	var look func(value any)
	look = func(value any) {
		switch v := value.(type) {
		case string:
			out = append(out, lines(v)...)
		case []any:
			for _, item := range v {
				look(item)
			}
		case map[string]any:
			for _, item := range v {
				look(item)
			}
		}
	}
	look(value)
	return out, nil
}
