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

// callings are the texts by which people call a producer; the codes without blanks, signs and case.
type callings struct{ names, codes []string }

// called returns the texts by which people call the producer.
func (s *Dossier) called(specs []mapping.JobSpec) (out callings) {
	for _, code := range append(slices.Clone(s.IDs), s.Codes...) {
		out.codes = append(out.codes, state.Joined(code))
	}
	for _, r := range s.References {
		out.names = append(out.names, r.Label)
	}
	for _, r := range s.Rows {
		if r.Child {
			continue
		}
		out.names = append(out.names, r.Entry.Listing().Producer)
		for _, column := range specOf(specs, r.Entry.Job).Fields["producer_id"].Columns {
			if cell := r.Entry.Values[column]; cell.Kind != 0 && cell.Kind != trade.Marked {
				out.codes = append(out.codes, state.Joined(cell.Text))
			}
		}
	}
	slices.Sort(out.names) // many rows have the same
	out.names = slices.Compact(out.names)
	return out
}

// callingLeast is how many letters of a name mean somebody, and how many of a code stand for themselves.
const callingLeast = 3

// in reports whether a text of a filter calls the producer: by a name, or by a word that is a code.
func (c callings) in(text string) bool {
	words := joinedWords(text)
	for _, name := range c.names {
		// Sant'Ana is one word, silva,joão are two
		if calls(words, joinedWords(name)) || calls(state.Parts(text), state.Parts(name)) {
			return true
		}
	}
	return slices.ContainsFunc(append(words, state.Joined(text)), func(code string) bool {
		return utf8.RuneCountInString(code) >= callingLeast && slices.Contains(c.codes, code)
	})
}

// calls reports whether words call a name: they have all parts of it, or are only such parts, or have it
// from the beginning of a word on, however it is run together. As in a search, the last word may be the
// beginning of a part.
func calls(words, parts []string) bool {
	whole := strings.Join(parts, "")
	if utf8.RuneCountInString(whole) < callingLeast || len(words) == 0 {
		return false
	}
	for i := range words {
		if len(parts) > 1 && strings.HasPrefix(strings.Join(words[i:], ""), whole) {
			return true
		}
	}
	said := slices.Clone(words)
	last := &said[len(said)-1]
	if at := slices.IndexFunc(parts, func(part string) bool {
		return strings.HasPrefix(part, *last) && !slices.Contains(words, part)
	}); at >= 0 && utf8.RuneCountInString(*last) >= callingLeast {
		*last = parts[at]
	}
	return allIn(parts, said) || allIn(said, parts)
}

// joinedWords returns the words of a text, without signs, accents and case.
func joinedWords(text string) []string {
	words := strings.Fields(text)
	for i, word := range words {
		words[i] = state.Joined(word)
	}
	return words
}

// allIn reports whether all words are among others, and mean somebody.
func allIn(words, others []string) bool {
	letters := 0
	for _, word := range words {
		if !slices.Contains(others, word) {
			return false
		}
		letters = max(letters, utf8.RuneCountInString(word))
	}
	return letters >= callingLeast
}
