package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/sync/mapping"
)

// maxFaultsShown is how many faults are printed, so that the output stays readable.
const maxFaultsShown = 20

// Error is everything that is wrong with the configuration (exit code 78).
type Error struct {
	Faults []Fault // in file order
	Cause  error
}

// Fault is one fault at one place. Line and Column count from 1; 0 means that the fault has no
// place in the file.
type Fault struct {
	File    string
	Line    int
	Column  int
	Path    string // like jobs.contracts.fields.price.scale; "" = the file as a whole
	Text    *phrase.Text
	Excerpt string // the line with a caret, secrets masked
}

// Error returns, for each fault, FILE:LINE:COLUMN, the key, what is wrong, and the line.
func (e *Error) Error() string { return e.In(i18n.English) }

// In returns the same text as Error in a language.
func (e *Error) In(lang i18n.Lang) string {
	var out []string
	for i, f := range e.Faults {
		if i == maxFaultsShown {
			out = append(out, i18n.ErrorText(lang, phrase.New("and %d more faults", len(e.Faults)-i)))
			break
		}
		out = append(out, f.In(lang))
	}
	return strings.Join(out, "\n")
}

// Unwrap returns the cause, such as fs.ErrNotExist for a missing file.
func (e *Error) Unwrap() error { return e.Cause }

// In returns the fault as [Error.In] prints it.
func (f Fault) In(lang i18n.Lang) string {
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
	b.WriteString(i18n.ErrorText(lang, f.Text))
	if f.Excerpt != "" {
		b.WriteString("\n" + f.Excerpt)
	}
	return b.String()
}

// sortFaults sorts faults by line and column.
func sortFaults(faults []Fault) {
	slices.SortStableFunc(faults, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// PlainReason returns the reason of a file error without the path, which the caller adds.
func PlainReason(err error) error {
	if pathError, ok := errors.AsType[*fs.PathError](err); ok {
		return pathError.Err
	}
	return err
}

// Annotate converts the *mapping.SpecErrors in err to an *[Error] with their lines of the file.
// These are faults that only the engine can find, such as a column that the query does not return.
// It returns any other error unchanged.
func (c *Config) Annotate(err error) error { return AnnotateAt(c.source, c.index, err) }

// AnnotateAt is Annotate for any source and its index.
func AnnotateAt(source *Source, index map[string]Entry, err error) error {
	specs := SpecErrors(err)
	if len(specs) == 0 {
		return err
	}
	out := &Error{Cause: err}
	for _, s := range specs {
		out.Faults = append(out.Faults, FaultAt(source, index, s.Path, s.Text))
	}
	sortFaults(out.Faults)
	return out
}

// SpecErrors collects the *mapping.SpecErrors of a joined or wrapped error.
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

// FaultAt returns a fault with its place in the file. A key that is missing has the place of the
// nearest key around it.
func FaultAt(source *Source, index map[string]Entry, path string, text *phrase.Text) Fault {
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

// UnknownName returns the sentence about an unknown name: which name was probably meant, or else
// which names exist. what says so of the name, as in "unknown job %s".
func UnknownName(what, name string, known []string) *phrase.Text {
	unknown := phrase.New(what, ShortName(name))
	if meant := Closest(name, known); meant != "" {
		return phrase.New("%w; did you mean `%s`?", unknown, meant)
	}
	if len(known) == 0 {
		return phrase.New("%w; there is none yet", unknown)
	}
	return phrase.New("%w; there are %s", unknown, strings.Join(known, ", "))
}

// Closest returns the known name that a misspelled one resembles, or "". It ignores case, hyphens
// and underscores.
func Closest(name string, known []string) string {
	plain := strings.NewReplacer("-", "", "_", "", " ", "")
	wrong := []rune(plain.Replace(strings.ToLower(name)))
	if len(wrong) > 64 {
		return ""
	}
	best, bestDistance := "", len(wrong)/3+1
	for _, k := range known {
		if distance := editDistance(wrong, []rune(plain.Replace(strings.ToLower(k)))); distance < bestDistance {
			best, bestDistance = k, distance
		}
	}
	return best
}

// editDistance returns how many letters must be inserted, deleted, replaced or swapped with their
// neighbour to get from a to b.
func editDistance(a, b []rune) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			replace := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, replace)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
