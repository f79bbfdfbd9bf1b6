package state

import (
	"database/sql"
	"errors"
	"strings"

	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// beyond sorts after every other text with the same beginning.
const beyond = "\U0010FFFF"

// A text is first searched in the places that people mostly mean: at the beginning of a key, or of
// the part of the key after a branch, with the leading zeros that the ERP writes. Only if it is not
// found there is it searched anywhere in the keys.
const (
	branchesMost = 1000 // first parts of keys that are considered
	// rows that the beginnings may match; if there are more, a scan finds a page quickly
	rangeMost = 10_000
	// rows with the text anywhere in their keys that are selected by id; likewise
	foundMost = 5000
)

// interpret determines what the text matches: an id of the platform, beginnings of keys, or words
// of the shown texts.
func (p *paging) interpret() error {
	a := searchedOf(p.q.Text)
	if a.told {
		p.q.Text = a.raw
	}
	if p.q.Masked && trade.MaskDocuments(a.raw) != a.raw {
		p.found = []int64{} // nobody may search by a document that is masked for them
		return nil
	}
	ids, err := p.byID(strings.TrimSpace(p.q.Text))
	if err != nil {
		return err
	}
	if len(ids) > 0 {
		p.found = ids
		return nil
	}
	if ids, err = p.byTerms(a); err != nil {
		return err
	}
	if many, err := p.keys(a, len(ids) > 0); err != nil || many && len(ids) == 0 {
		return err // a scan finds a page quickly
	}
	if err := p.unmasked(a); err != nil || len(ids) == 0 {
		return err
	}
	return p.join(append(ids, p.found...))
}

// anywhere reports whether a text that was not found otherwise may be in the middle of a key. An id
// of the platform cannot.
func (a searchedText) anywhere() bool {
	_, err := trade.ParseID(a.raw)
	return err != nil
}

// keys determines the beginnings of keys that match the text. many reports that very many rows
// match. If no key matches, and otherwise is false, the text is searched anywhere in the keys.
func (p *paging) keys(a searchedText, otherwise bool) (many bool, err error) {
	found := map[string][]string{}
	n := 0
	for _, job := range p.q.Jobs {
		beginnings, err := p.beginnings(job, a)
		if err != nil {
			return false, err
		}
		for _, b := range beginnings {
			var rows int
			err := p.s.db.Get(p.ctx, readingPage, &rows,
				`SELECT COUNT(*) FROM (SELECT 1 FROM entry WHERE job = ? AND key >= ? AND key < ? LIMIT ?) AS found`,
				job, b, b+beyond, rangeMost-n+1)
			if err != nil {
				return false, err
			}
			if rows == 0 {
				continue
			}
			if n += rows; n > rangeMost {
				return true, nil
			}
			found[job] = append(found[job], b)
		}
	}
	if n == 0 {
		if otherwise || !a.anywhere() {
			p.found = []int64{}
			return false, nil
		}
		err = p.search()
		return p.found == nil && err == nil, err
	}
	p.ranges = found
	return false, nil
}

// beginnings returns the possible beginnings of keys for the text: the text itself, and the text
// after each first part of a key. If there are too many different first parts, as with keys that
// start with the ticket, it returns only the text itself.
func (p *paging) beginnings(job string, a searchedText) ([]string, error) {
	text := p.q.Text
	out := []string{text}
	parts := strings.Join(a.parts, "|")
	if len(a.parts) > 1 && parts != text {
		out = append(out, parts)
	}
	last, whole := "", 0
	for range branchesMost {
		var key string
		err := p.s.db.Get(p.ctx, readingPage, &key,
			`SELECT key FROM entry WHERE job = ? AND key > ? ORDER BY key LIMIT 1`, job, last)
		if errors.Is(err, sql.ErrNoRows) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		if sample := strings.Split(key, "|"); last == "" && len(a.parts) > 1 && len(sample) >= len(a.parts) {
			padded := make([]string, len(a.parts))
			for i, part := range a.parts {
				padded[i] = padTo(part, sample[i])
			}
			if full := strings.Join(padded, "|"); full != parts {
				out = append(out, full)
			}
		}
		if last == "" {
			whole = len(out)
		}
		first, rest, several := strings.Cut(key, "|")
		if !several {
			if padded := padTo(text, key); padded != text {
				out = append(out, padded)
			}
			return out, nil
		}
		number, _, _ := strings.Cut(rest, "|")
		out = append(out, first+"|"+text)
		if padded := padTo(text, number); padded != text {
			out = append(out, first+"|"+padded)
		}
		last = first + "|" + beyond
	}
	return out[:whole], nil
}

// padTo adds leading zeros to a number until it is as long as a sample.
func padTo(text, sample string) string {
	if strings.Trim(text, "0123456789") != "" || len(text) >= len(sample) || strings.Trim(sample, "0123456789") != "" {
		return text
	}
	return strings.Repeat("0", len(sample)-len(text)) + text
}

// inRanges adds the condition that the key has one of the beginnings.
func (p *paging) inRanges(b *branch, job string) {
	if len(p.ranges[job]) == 0 {
		b.add(`1 = 0`)
		return
	}
	var alternatives []string
	var values []any
	for _, begin := range p.ranges[job] {
		alternatives = append(alternatives, `(e.key >= ? AND e.key < ?)`)
		values = append(values, begin, begin+beyond)
	}
	b.add(`(`+strings.Join(alternatives, " OR ")+`)`, values...)
}

// search searches the text anywhere in the keys. It scans an index that has every key: 0.1 s for a
// million rows.
func (p *paging) search() error {
	p.found = []int64{}
	for _, job := range p.q.Jobs {
		var ids []int64
		if err := p.all(&ids, `SELECT id FROM entry WHERE job = ? AND `+p.s.db.D.Within+`(key, ?) > 0 LIMIT ?`, job,
			p.q.Text, foundMost+1); err != nil {
			return err
		}
		if p.found = append(p.found, ids...); len(p.found) > foundMost {
			p.found = nil
			return nil
		}
	}
	return nil
}

// isFound adds the condition that the row was found by the text.
func (p *paging) isFound(b *branch) { b.add(p.s.db.D.Among("e.id"), sqldb.ListOf(p.s.db.D, p.found)) }
