package readmodel

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/trade"
)

// byID finds the rows that have a text as their id on the platform.
func (p *paging) byID(text string) (ids []int64, err error) {
	if id, err := trade.ParseID(text); err == nil {
		text = id
	}
	for _, sends := range trade.Kinds {
		var some []int64
		if err := p.s.db.Read.SelectContext(p.ctx, &some,
			p.s.db.Q(`SELECT id FROM entry WHERE sends = ? AND remote_id = ? LIMIT ?`), string(sends), text,
			foundMost); err != nil {
			return nil, err
		}
		ids = append(ids, some...)
	}
	return ids, nil
}

// byTerms finds the rows that show all words of a text, each as the beginning of a word. Of a word
// that very many rows show, the newest rows are looked at that show exactly it.
func (p *paging) byTerms(a asked) (ids []int64, err error) {
	words := slices.Clone(a.words)
	if len(words) == 0 {
		return nil, nil
	}
	if number := joined(a.raw); !p.q.Masked && len(number) >= documentLeast {
		if ids, _, err = p.showing(document + number); err != nil || len(ids) > 0 {
			return ids, err
		}
	}
	best := -1
	var rare []int64
	for i, word := range words {
		some, all, err := p.showing(word)
		if err != nil {
			return nil, err
		}
		if best < 0 || all && len(some) < len(rare) || len(some) == 0 {
			best, rare = i, some
		}
	}
	if len(words) == 1 || len(rare) == 0 {
		return rare, nil
	}
	return p.alsoShowing(rare, slices.Delete(words, best, best+1))
}

// documentLeast is how many characters of a document are looked for at least.
const documentLeast = 5

// showing gives the rows that show a word with this beginning; all is false when they are more.
func (p *paging) showing(word string) (ids []int64, all bool, err error) {
	if err := p.s.db.Read.SelectContext(p.ctx, &ids, p.s.db.Q(
		`SELECT entry_id FROM search_term WHERE term >= ? AND term < ? LIMIT ?`), word, word+beyond,
		foundMost+1); err != nil || len(ids) <= foundMost {
		return ids, true, err
	}
	ids = nil
	err = p.s.db.Read.SelectContext(p.ctx, &ids, p.s.db.Q(
		`SELECT entry_id FROM search_term WHERE term = ? ORDER BY entry_id DESC LIMIT ?`), word, foundMost)
	return ids, false, err
}

// alsoShowing leaves of rows those that show these words, too.
func (p *paging) alsoShowing(ids []int64, words []string) ([]int64, error) {
	var rows []struct {
		ID    int64  `db:"id"`
		Shown string `db:"shown"`
	}
	if err := p.s.db.Read.SelectContext(p.ctx, &rows,
		p.s.db.Q(`SELECT e.id, e.shown FROM entry e WHERE `+p.s.db.D.Listed), p.list(ids)); err != nil {
		return nil, err
	}
	left := []int64{}
	for _, r := range rows {
		var shown trade.Shown
		if err := json.Unmarshal([]byte(r.Shown), &shown); err != nil {
			return nil, err
		}
		terms := termsOf(shown)
		if !slices.ContainsFunc(words, func(w string) bool {
			return !slices.ContainsFunc(terms, func(term string) bool { return strings.HasPrefix(term, w) })
		}) {
			left = append(left, r.ID)
		}
	}
	return left, nil
}

// join puts the rows that a text was found in otherwise beside those whose keys begin with it.
func (p *paging) join(ids []int64) error {
	for job, begins := range p.ranges {
		for _, b := range begins {
			var some []int64
			if err := p.s.db.Read.SelectContext(p.ctx, &some,
				p.s.db.Q(`SELECT id FROM entry WHERE job = ? AND key >= ? AND key < ? LIMIT ?`), job, b, b+beyond,
				rangeMost); err != nil {
				return err
			}
			ids = append(ids, some...)
		}
	}
	slices.Sort(ids)
	p.found, p.ranges = slices.Compact(ids), nil
	return nil
}

// unmasked takes out the rows that were found by a part of their key which whoever asks sees
// masked: nobody finds out a document by looking for its beginnings.
func (p *paging) unmasked(a asked) error {
	if !p.q.Masked || p.found == nil && p.ranges == nil {
		return nil
	}
	if err := p.join(p.found); err != nil {
		return err
	}
	var rows []struct {
		ID    int64  `db:"id"`
		Key   string `db:"key"`
		Shown string `db:"shown"`
	}
	if err := p.s.db.Read.SelectContext(p.ctx, &rows,
		p.s.db.Q(`SELECT e.id, e.key, e.shown FROM entry e WHERE `+p.s.db.D.Listed), p.list(p.found)); err != nil {
		return err
	}
	p.found = []int64{}
	for _, r := range rows {
		masked := trade.MaskDocuments(r.Key)
		var shown trade.Shown
		if err := json.Unmarshal([]byte(r.Shown), &shown); err != nil {
			return err
		}
		terms := append(termsOf(shown), wordsOf(strings.ReplaceAll(masked, "|", " "))...)
		seen := !slices.ContainsFunc(a.words, func(w string) bool {
			return !slices.ContainsFunc(terms, func(term string) bool { return strings.HasPrefix(term, w) })
		})
		if masked == r.Key || seen {
			p.found = append(p.found, r.ID)
		}
	}
	return nil
}
