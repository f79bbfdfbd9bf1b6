package state

import (
	"context"
	"database/sql"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// A text that no key begins with may stand anywhere in one, which no index finds. So whoever looks for such a text gets all keys into memory, some five bytes for a row beside the key itself,
// and the next search goes through them there: a hundred times faster than through the table. It costs a row that is recorded nothing, because what is new is read when somebody
// searches again: a key never changes and no row is ever deleted.

// keysTogether is how many keys one statement reads (see tuning).
const keysTogether = 4096

// keysKept is how long after the last search the keys stay in memory.
const keysKept = 15 * time.Minute

// foundMost is how many rows a text may be in for them to be picked one by one. Where it is in more, going through the rows finds a page soon.
const foundMost = 5000

// keybook holds the keys that somebody searches in.
type keybook struct {
	together int           // keys of a chunk
	reading  chan struct{} // full while somebody reads keys

	mu   sync.RWMutex
	jobs map[string]*jobKeys
	idle *time.Timer
}

func newKeybook(together int) *keybook {
	return &keybook{together: together, reading: make(chan struct{}, 1), jobs: map[string]*jobKeys{}}
}

// jobKeys are the keys of one job: all of those with numbers from first to last. The numbers of a job's rows rise with the transactions that record them, because one holder of its lease records
// one page after the other; so what is new is above last.
type jobKeys struct {
	first, last int64
	begun       bool // something was read
	whole       bool // there is nothing before first
	fresh       bool // there was nothing after last when it was looked at
	count       int
	chunks      []*keyChunk
	newest      int // place of the chunk that new keys are added to; -1: there is none
}

// keyChunk is some keys of a job. It never changes.
type keyChunk struct {
	text string   // the keys, with a character between two
	ends []uint32 // where each ends
	ids  []int64  // their numbers
	base int64    // instead of the numbers: the first one,
	step int64    // when they rise or fall by this
}

func (c *keyChunk) id(i int) int64 {
	if c.ids == nil {
		return c.base + int64(i)*c.step
	}
	return c.ids[i]
}

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

// chunkOf makes a chunk of keys and their numbers, which are all in order, one way or the other.
func chunkOf(text string, ends []uint32, ids []int64) *keyChunk {
	c := &keyChunk{text: text, ends: ends, ids: ids}
	step := int64(1)
	if len(ids) > 1 {
		step = ids[1] - ids[0]
	}
	for i := 1; i < len(ids); i++ {
		if ids[i]-ids[i-1] != step {
			return c
		}
	}
	c.ids, c.base, c.step = nil, ids[0], step
	return c
}

// and is two chunks as one.
func (c *keyChunk) and(more *keyChunk) *keyChunk {
	ends, ids := slices.Clone(c.ends), make([]int64, 0, len(c.ends)+len(more.ends))
	for _, end := range more.ends {
		ends = append(ends, uint32(len(c.text))+1+end)
	}
	for _, part := range []*keyChunk{c, more} {
		for i := range part.ends {
			ids = append(ids, part.id(i))
		}
	}
	return chunkOf(c.text+keyBreak+more.text, ends, ids)
}

// keyBreak stands between two keys. A key may have it too.
const keyBreak = "\n"

// ReadKeys reads the keys of all jobs into memory, so that the next search for a text anywhere in them need not.
func (s *Store) ReadKeys(ctx context.Context) error {
	jobs, err := s.Jobs(ctx)
	if err == nil {
		_, err = s.readKeys(ctx, jobs, time.Time{})
	}
	return s.fault(ctx, "reading the keys", err)
}

// readKeys brings the keys of some jobs up to date, the newest first. After a time it gives up what it has not read, but for the first page of each job; whole tells whether it read all.
func (s *Store) readKeys(ctx context.Context, jobs []string, until time.Time) (whole bool, err error) {
	s.keys.keep()
	var late <-chan time.Time
	if !until.IsZero() {
		timer := time.NewTimer(time.Until(until))
		defer timer.Stop()
		late = timer.C
	}
	select {
	case s.keys.reading <- struct{}{}:
	default: // somebody reads already
		select {
		case s.keys.reading <- struct{}{}:
		case <-late:
			return false, nil
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
	defer func() { <-s.keys.reading }()
	s.keys.stale(jobs)
	for _, job := range jobs {
		for {
			k, done := s.keys.of(job)
			if done {
				break
			}
			if k.begun && !until.IsZero() && time.Now().After(until) {
				return false, nil
			}
			if err := s.readChunk(ctx, job, k); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// stale says that jobs may have rows that are not here.
func (b *keybook) stale(jobs []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, job := range jobs {
		if k := b.jobs[job]; k != nil {
			k.fresh = !k.begun
		}
	}
}

// of tells how far the keys of a job are read.
func (b *keybook) of(job string) (k jobKeys, done bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.jobs[job] == nil {
		b.jobs[job] = &jobKeys{newest: -1}
	}
	k = *b.jobs[job]
	return k, k.fresh && k.whole
}

// readChunk reads the next keys of a job: what is new, then what is older than all that is here.
func (s *Store) readChunk(ctx context.Context, job string, k jobKeys) error {
	newer := k.begun && !k.fresh
	side, bound := `id < ? ORDER BY id DESC`, int64(math.MaxInt64)
	switch {
	case newer:
		side, bound = `id > ? ORDER BY id`, k.last
	case k.begun:
		bound = k.first
	}
	chunk, err := s.selectKeys(ctx, `SELECT id, key FROM entry WHERE job = ? AND `+side+` LIMIT ?`, job, bound, s.keys.together)
	if err != nil {
		return err
	}
	s.keys.add(job, k, chunk, newer)
	return nil
}

// selectKeys gives the keys that a query selects: as one text, which is made where the keys are; nil for none.
func (s *Store) selectKeys(ctx context.Context, query string, args ...any) (*keyChunk, error) {
	var all struct {
		Keys sql.NullString `db:"keys"`
		IDs  sql.NullString `db:"ids"`
	}
	err := s.read.GetContext(ctx, &all, s.q(`SELECT `+s.d.joined("key", keyBreak)+` AS keys, `+s.d.joined("CAST(id AS TEXT)", " ")+` AS ids FROM (`+query+`) AS part`), args...)
	if err != nil || !all.IDs.Valid {
		return nil, err
	}
	ids := make([]int64, 0, s.keys.together)
	for field := range strings.SplitSeq(all.IDs.String, " ") {
		id, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	text := all.Keys.String
	if strings.Count(text, keyBreak) == len(ids)-1 {
		ends := make([]uint32, 0, len(ids))
		for i := range len(text) {
			if text[i] == keyBreak[0] {
				ends = append(ends, uint32(i))
			}
		}
		return chunkOf(text, append(ends, uint32(len(text))), ids), nil
	}
	return s.selectEachKey(ctx, query, args...)
}

// selectEachKey is selectKeys where a key has the character in it that stands between two.
func (s *Store) selectEachKey(ctx context.Context, query string, args ...any) (*keyChunk, error) {
	var rows []struct {
		ID  int64  `db:"id"`
		Key string `db:"key"`
	}
	if err := s.read.SelectContext(ctx, &rows, s.q(query), args...); err != nil || len(rows) == 0 {
		return nil, err
	}
	var text strings.Builder
	var ends []uint32
	var ids []int64
	for i, r := range rows {
		if i > 0 {
			_, _ = text.WriteString(keyBreak) // a Builder never fails
		}
		_, _ = text.WriteString(r.Key)
		ends, ids = append(ends, uint32(text.Len())), append(ids, r.ID)
	}
	return chunkOf(text.String(), ends, ids), nil
}

// add takes keys up that were read when the job's keys were as k says.
func (b *keybook) add(job string, was jobKeys, chunk *keyChunk, newer bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	k := b.jobs[job]
	if k == nil || k.begun != was.begun || k.first != was.first || k.last != was.last {
		return // they were forgotten meanwhile
	}
	n := 0
	if chunk != nil {
		n = len(chunk.ends)
		low, high := min(chunk.id(0), chunk.id(n-1)), max(chunk.id(0), chunk.id(n-1))
		if !k.begun {
			k.first, k.last = low, high
		}
		k.first, k.last = min(k.first, low), max(k.last, high)
		k.count += n
	}
	full := n == b.together
	switch {
	case !newer:
		k.begun, k.fresh, k.whole = true, true, !full
	case !full:
		k.fresh = true
	}
	switch {
	case chunk == nil:
	case newer && k.newest >= 0 && len(k.chunks[k.newest].ends)+n <= b.together:
		k.chunks[k.newest] = k.chunks[k.newest].and(chunk)
	default:
		if newer {
			k.newest = len(k.chunks)
		}
		k.chunks = append(k.chunks, chunk)
	}
}

// find gives the numbers of the rows of some jobs that have a text in their keys, as far as these were read; nil where they are too many. It tells how many keys it looked at.
func (b *keybook) find(jobs []string, text string) (ids []int64, looked int) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	ids = []int64{}
	few := true
	for _, job := range jobs {
		k := b.jobs[job]
		if k == nil {
			continue
		}
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
	return ids, looked
}

// KeyBytes is what the keys in memory take there.
func (s *Store) KeyBytes() int64 {
	s.keys.mu.RLock()
	defer s.keys.mu.RUnlock()
	n := 0
	for _, k := range s.keys.jobs {
		for _, c := range k.chunks {
			n += len(c.text) + 4*cap(c.ends) + 8*cap(c.ids)
		}
	}
	return int64(n)
}

// keep lets the keys stay for a while from now on.
func (b *keybook) keep() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.idle == nil {
		b.idle = time.AfterFunc(keysKept, b.forget)
	}
	b.idle.Reset(keysKept)
}

func (b *keybook) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.jobs = map[string]*jobKeys{}
}

// close forgets the keys, and that they were to be forgotten.
func (b *keybook) close() {
	b.mu.Lock()
	if b.idle != nil {
		b.idle.Stop()
	}
	b.mu.Unlock()
	b.forget()
}

// search looks for the text in all keys. Where reading them takes longer than whoever asks has patience, it looks in those that were read, and says in how many of how many.
func (p *paging) search() error {
	var until time.Time
	if p.q.Patience > 0 {
		until = time.Now().Add(p.q.Patience)
	}
	whole, err := p.s.readKeys(p.ctx, p.q.Jobs, until)
	if err != nil {
		return err
	}
	ids, looked := p.s.keys.find(p.q.Jobs, p.q.Text)
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
