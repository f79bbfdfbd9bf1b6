package state

import (
	"slices"
	"sync"
	"time"
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
// one page after the other; so what is new is above last. That this held is seen by the job's counts, which stand in the ledger: where there are more rows up to last, all keys are read anew.
type jobKeys struct {
	first, last int64
	begun       bool // something was read
	whole       bool // there is nothing before first
	fresh       bool // there was nothing after last when it was looked at
	count       int
	anew        bool // they are read once more, because the counts said that some are missing
	short       int  // how many more rows the counts tell of than were there when they were read anew: the counts are wrong
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

// fits tells whether the counts tell of as many rows as were read. Where they do not, the keys are forgotten, to be read anew; once, because it may be the counts that are wrong.
func (b *keybook) fits(job string, was jobKeys, rows int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	k := b.jobs[job]
	switch {
	case k == nil || k.last != was.last || k.count != was.count: // they were forgotten meanwhile
		return true
	case k.anew:
		k.anew, k.short = false, rows-k.count
	case rows != k.count+k.short:
		b.jobs[job] = &jobKeys{newest: -1, anew: true}
		return false
	}
	return true
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
