package state

import (
	"slices"
	"strings"

	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// byID returns the rows that have a text as their id on the platform.
func (p *paging) byID(text string) (ids []int64, err error) {
	if id, err := trade.ParseID(text); err == nil {
		text = id
	}
	for _, sends := range trade.Kinds {
		var some []int64
		if err := p.all(&some, `SELECT entry_id FROM record WHERE kind = ? AND remote_id = ? AND remote_id <> '' LIMIT ?`, string(sends), text,
			foundMost); err != nil {
			return nil, err
		}
		ids = append(ids, some...)
	}
	return ids, nil
}

// byTerms returns the rows that show all words of a text, each as the beginning of a word. For a
// word that very many rows show, it only considers the newest rows that show exactly this word.
func (p *paging) byTerms(a searchedText) (ids []int64, err error) {
	words := slices.Clone(a.words)
	if len(words) == 0 {
		return nil, nil
	}
	if number := joinedDigits(a.raw); !p.q.Masked && len(number) >= documentLeast {
		if ids, _, err = p.showing(document + number); err != nil || len(ids) > 0 {
			return ids, err
		}
	}
	best := -1
	var rare []int64
	for i, word := range words {
		some, all, err := p.showing(word)
		switch {
		case err != nil:
			return nil, err
		case all && len(some) == 0:
			return nil, nil
		case len(some) > 0 && (best < 0 || len(some) < len(rare)):
			best, rare = i, some
		}
	}
	for i, word := range words {
		if i != best && len(rare) > 0 {
			if rare, err = p.alsoShowing(rare, word); err != nil {
				return nil, err
			}
		}
	}
	return rare, nil
}

// documentLeast is the minimum number of characters for a search by document.
const documentLeast = 5

// shownMost limits the rows that are considered for one word, to the newest.
const shownMost = 2000

// showing returns the rows that show a word with this beginning. all is false if there are too
// many; then it returns the newest with exactly this word.
func (p *paging) showing(word string) (ids []int64, all bool, err error) {
	if err := p.all(&ids, `SELECT entry_id FROM search_term WHERE term >= ? AND term < ? LIMIT ?`, word, word+beyond,
		shownMost+1); err != nil || len(ids) <= shownMost {
		return ids, true, err
	}
	ids = nil
	err = p.all(&ids, `SELECT entry_id FROM search_term WHERE term = ? ORDER BY entry_id DESC LIMIT ?`, word, shownMost)
	return ids, false, err
}

// alsoShowing returns those of the rows that also show this word.
func (p *paging) alsoShowing(ids []int64, word string) (left []int64, err error) {
	term := `term`
	if p.s.db.D.Name == sqldb.SQLite { // the planner would scan all rows with the word
		term = `+term`
	}
	err = p.all(&left, `SELECT DISTINCT entry_id FROM search_term WHERE `+p.s.db.D.Among("entry_id")+` AND `+term+
		` >= ? AND `+term+` < ?`, sqldb.ListOf(p.s.db.D, ids), word, word+beyond)
	return left, err
}

// join combines rows that were found in another way with those whose keys begin with the text.
func (p *paging) join(ids []int64) error {
	for job, begins := range p.ranges {
		for _, b := range begins {
			var some []int64
			if err := p.all(&some, `SELECT id FROM entry WHERE job = ? AND key >= ? AND key < ? LIMIT ?`, job, b,
				b+beyond, rangeMost); err != nil {
				return err
			}
			ids = append(ids, some...)
		}
	}
	slices.Sort(ids)
	p.found, p.ranges = slices.Compact(ids), nil
	return nil
}

// unmasked removes the rows that were found only by a part of the key that is masked for this user,
// so that nobody can find out a document by searching for its beginnings.
func (p *paging) unmasked(a searchedText) error {
	if !p.q.Masked || p.found == nil && p.ranges == nil {
		return nil
	}
	if err := p.join(p.found); err != nil {
		return err
	}
	var rows []struct {
		ID  int64
		Key string
	}
	if err := p.all(&rows, `SELECT e.id, e.key FROM entry e WHERE `+p.s.db.D.Among("e.id"),
		sqldb.ListOf(p.s.db.D, p.found)); err != nil {
		return err
	}
	p.found = []int64{}
	for _, r := range rows {
		masked := trade.MaskDocuments(r.Key)
		if masked != r.Key {
			seen := wordsOf(strings.ReplaceAll(masked, "|", " "))
			if slices.ContainsFunc(a.words, func(w string) bool {
				return !slices.ContainsFunc(seen, func(term string) bool { return strings.HasPrefix(term, w) })
			}) {
				continue
			}
		}
		p.found = append(p.found, r.ID)
	}
	return nil
}
