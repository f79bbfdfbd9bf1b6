package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/sync/mapping"
)

// maxFaultsShown keeps a file that is wrong from top to bottom readable.
const maxFaultsShown = 20

// Error is everything that is wrong with the configuration (exit code 78).
type Error struct {
	Faults []Fault // in the order of the file
	Cause  error
}

// Fault is one fault at one place. Line and Column count from 1; 0 means that the fault has
// no place in the file.
type Fault struct {
	File    string
	Line    int
	Column  int
	Path    string // like jobs.contracts.fields.price.scale; "" = the file as a whole
	Text    string
	Excerpt string // the line with a caret, secrets masked
}

// Error returns FILE:LINE:COLUMN, the key, what is wrong and the line, for each fault.
func (e *Error) Error() string { return e.In(strings.Clone) }

// In is Error in the language into which say brings a sentence.
func (e *Error) In(say func(string) string) string {
	var out []string
	for i, f := range e.Faults {
		if i == maxFaultsShown {
			out = append(out, say(fmt.Sprintf("and %d more faults", len(e.Faults)-i)))
			break
		}
		f.Text = say(f.Text)
		out = append(out, f.String())
	}
	return strings.Join(out, "\n")
}

// Unwrap returns the cause, such as fs.ErrNotExist for a file that is not there.
func (e *Error) Unwrap() error { return e.Cause }

// String returns the fault as [Error.Error] shows it.
func (f Fault) String() string {
	var b strings.Builder
	if f.File != "" {
		b.WriteString(f.File + ":")
		if f.Line > 0 {
			fmt.Fprintf(&b, "%d:%d:", f.Line, f.Column)
		}
		b.WriteString(" ")
	}
	if f.Path != "" {
		b.WriteString(f.Path + ": ")
	}
	b.WriteString(f.Text)
	if f.Excerpt != "" {
		b.WriteString("\n" + f.Excerpt)
	}
	return b.String()
}

// SortFaults puts faults in the order of their places.
func SortFaults(faults []Fault) {
	slices.SortStableFunc(faults, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// PlainReason returns the reason of a file error without the path, which the caller names itself.
func PlainReason(err error) string {
	if pathError, ok := errors.AsType[*fs.PathError](err); ok {
		return pathError.Err.Error()
	}
	return err.Error()
}

// Annotate gives each *mapping.SpecError in err its line of the file, with an excerpt: faults that
// only the engine can find, such as a column that the query does not have. An error without one
// comes back as it is.
func (c *Config) Annotate(err error) error { return AnnotateAt(c.source, c.index, err) }

// AnnotateAt does that for a file of its own.
func AnnotateAt(source *Source, index map[string]Entry, err error) error {
	specs := SpecErrors(err)
	if len(specs) == 0 {
		return err
	}
	out := &Error{Cause: err}
	for _, s := range specs {
		out.Faults = append(out.Faults, FaultAt(source, index, s.Path, s.Text))
	}
	SortFaults(out.Faults)
	return out
}

// SpecErrors collects the faults of a joined error.
func SpecErrors(err error) []*mapping.SpecError {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var out []*mapping.SpecError
		for _, e := range joined.Unwrap() {
			out = append(out, SpecErrors(e)...)
		}
		return out
	}
	if inner := errors.Unwrap(err); inner != nil {
		return SpecErrors(inner)
	}
	if s, ok := errors.AsType[*mapping.SpecError](err); ok {
		return []*mapping.SpecError{s}
	}
	return nil
}

// FaultAt finds the place of a path; a key that is not in the file has the place of the nearest one
// around it.
func FaultAt(source *Source, index map[string]Entry, path, text string) Fault {
	fault := Fault{File: source.Name, Path: path, Text: text}
	for p := path; p != ""; {
		if e, ok := index[p]; ok {
			pos := e.pos()
			if p != path {
				pos = e.keyPos
			}
			fault.Line, fault.Column = pos.Line, pos.Column
			fault.Excerpt = source.excerpt(pos.Line, pos.Column)
			break
		}
		p = p[:max(strings.LastIndexAny(p, ".["), 0)]
	}
	return fault
}
