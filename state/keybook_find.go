package state

import (
	"context"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// find calls fn with the number of each row whose key has a text in it, until fn says that it is enough.
func (c *keyChunk) find(text string, fn func(id int64) bool) bool {
	for at := 0; ; {
		i := strings.Index(c.text[at:], text)
		if i < 0 {
			return true
		}
		at += i
		key := sort.Search(len(c.ends), func(j int) bool { return int(c.ends[j]) > at })
		switch {
		case key == len(c.ends):
			return true
		case key > 0 && at == int(c.ends[key-1]), at+len(text) > int(c.ends[key]): // it begins between two keys, or goes on in the next one
			at++
		case !fn(c.id(key)):
			return false
		default:
			at = int(c.ends[key])
		}
	}
}

// find gives the numbers of the rows of some jobs that have a text in their keys, as far as these were read; nil where they are too many. It tells how many keys it looked at, and
// whether these are all that were there when they were read.
func (b *keybook) find(jobs []string, text string) (ids []int64, looked int, whole bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	ids, whole = []int64{}, true
	few := true
	for _, job := range jobs {
		k := b.jobs[job]
		if k == nil {
			whole = false
			continue
		}
		whole = whole && k.whole
		looked += k.count
		for _, c := range k.chunks {
			few = few && c.find(text, func(id int64) bool {
				ids = append(ids, id)
				return len(ids) <= foundMost
			})
		}
	}
	if !few {
		ids = nil
	}
	return ids, looked, whole
}

// findKeys brings the keys up to date, and finds a text in them. Keys that were forgotten between the two are read again: what is not there any more does not look like what was never there.
func (s *Store) findKeys(ctx context.Context, jobs []string, text string, until time.Time) (ids []int64, looked int, whole bool, err error) {
	for {
		read, err := s.readKeys(ctx, jobs, until)
		if err != nil {
			return nil, 0, false, err
		}
		ids, looked, there := s.keys.find(jobs, text)
		if there || !read {
			return ids, looked, read, nil
		}
	}
}

// search looks for the text in all keys. Where reading them takes longer than whoever asks has patience, it looks in those that were read, and says in how many of how many.
func (p *paging) search() error {
	var until time.Time
	if p.q.Patience > 0 {
		until = time.Now().Add(p.q.Patience)
	}
	ids, looked, whole, err := p.s.findKeys(p.ctx, p.q.Jobs, p.q.Text, until)
	if err != nil {
		return err
	}
	p.found = ids
	if whole || ids == nil { // of those that many have, the first page is found without the rest
		return nil
	}
	of := 0
	for _, job := range p.q.Jobs {
		tallies, err := p.s.Counts(p.ctx, job)
		if err != nil {
			return err
		}
		for _, t := range tallies {
			of += t.Count
		}
	}
	if looked < of {
		p.partial = &trade.PartialSearch{Looked: looked, Of: of}
	}
	return nil
}

// isFound asks for the rows that have the text.
func (p *paging) isFound(b *branch) {
	text := make([]byte, 0, 8*len(p.found)+2)
	text = append(text, p.s.d.list[0])
	for i, id := range p.found {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, id, 10)
	}
	b.add(p.s.d.listed, string(append(text, p.s.d.list[1])))
}
