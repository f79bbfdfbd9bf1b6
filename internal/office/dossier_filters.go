package office

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// searched adds the saved filters that look for the producer: by a name that its rows or the de-para
// still have, by an id, or by a code or document of the ERP.
func (s *Dossier) searched(ctx context.Context, store *state.Store, specs []mapping.JobSpec) error {
	filters, err := store.EverySavedFilter(ctx)
	if err != nil || len(filters) == 0 {
		return err
	}
	called := s.called(specs)
	for _, f := range filters {
		v, err := url.ParseQuery(f.Query)
		if err != nil || called.in(f.Name) || called.in(v.Get("producer")) || called.in(v.Get("q")) {
			s.Filters = append(s.Filters, f)
		}
	}
	return nil
}

// callings are the texts by which people call a producer, without blanks, signs, accents and case.
type callings struct{ names, codes []string }

// called returns the texts by which people call the producer.
func (s *Dossier) called(specs []mapping.JobSpec) (out callings) {
	for _, code := range append(slices.Clone(s.IDs), s.Codes...) {
		out.codes = append(out.codes, state.Joined(code))
	}
	for _, r := range s.References {
		out.names = append(out.names, state.Joined(r.Label))
	}
	for _, r := range s.Rows {
		if r.Child {
			continue
		}
		out.names = append(out.names, state.Joined(r.Entry.Listing().Producer))
		for _, column := range specOf(specs, r.Entry.Job).Fields["producer_id"].Columns {
			if cell := r.Entry.Values[column]; cell.Kind != 0 && cell.Kind != trade.Marked {
				out.codes = append(out.codes, state.Joined(cell.Text))
			}
		}
	}
	return out
}

// callingLeast is how many letters of a name mean somebody, and how many of a code stand for themselves.
const callingLeast = 3

// in reports whether a text of a filter calls the producer: it has a name, or is a part of one, or one
// of its words is a code.
func (c callings) in(text string) bool {
	whole := state.Joined(text)
	if utf8.RuneCountInString(whole) < callingLeast {
		return false
	}
	for _, name := range c.names {
		part := strings.Contains(whole, name) || strings.Contains(name, whole)
		if part && utf8.RuneCountInString(name) >= callingLeast {
			return true
		}
	}
	return slices.ContainsFunc(append(strings.Fields(text), text), func(word string) bool {
		code := state.Joined(word)
		return utf8.RuneCountInString(code) >= callingLeast && slices.Contains(c.codes, code)
	})
}
