// Records of the platform that rows need: existing, missing, or being asked about.

package sending

import (
	"time"

	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// missingRecords knows which records exist on the platform (a row that needs them was accepted in
// this run), which are missing (the platform reported it), and which a row in flight is asking
// about. So one missing wallet costs one POST per interval, however many rows need it (F123).
type missingRecords struct {
	missing map[run.Need]trade.Block
	There   map[run.Need]bool
	askedBy map[run.Need]int64 // entry in flight
	asks    map[int64][]run.Need
}

func newMissingRecords(blocks []trade.Block) *missingRecords {
	l := &missingRecords{
		missing: map[run.Need]trade.Block{}, There: map[run.Need]bool{}, askedBy: map[run.Need]int64{},
		asks: map[int64][]run.Need{},
	}
	for _, b := range blocks {
		l.missing[run.Need{Kind: b.Kind, ID: b.ID}] = b
	}
	return l
}

// blocking returns a record that is missing and not due to be asked about again.
func (l *missingRecords) blocking(needs []run.Need, now time.Time) (trade.Block, bool) {
	for _, n := range needs {
		if b, ok := l.missing[n]; ok && (b.NextAt.IsZero() || b.NextAt.After(now)) {
			return b, true
		}
	}
	return trade.Block{}, false
}

// Known reports whether a record need not be asked about.
func (l *missingRecords) Known(n run.Need) bool {
	_, lacking := l.missing[n]
	return l.There[n] || n.Kind == outcome.OrderCommitments && !lacking
}

// probing reports whether the answer to a row in flight will show if one of the records exists.
func (l *missingRecords) probing(needs []run.Need) bool {
	for _, n := range needs {
		if _, asked := l.askedBy[n]; asked && !l.Known(n) {
			return true
		}
	}
	return false
}

// answered ends an entry's question, whatever the answer.
func (l *missingRecords) answered(entry int64) {
	for _, n := range l.asks[entry] {
		delete(l.askedBy, n)
	}
	delete(l.asks, entry)
}

// confirm records that the records exist; it returns the blocks that this ends.
func (l *missingRecords) confirm(needs []run.Need) []trade.Block {
	var ended []trade.Block
	for _, n := range needs {
		// there is one for each row, and Known needs no entry
		if n.Kind != outcome.OrderCommitments {
			l.There[n] = true
		}
		if b, ok := l.missing[n]; ok {
			ended = append(ended, b)
			delete(l.missing, n)
		}
	}
	return ended
}

// reportMissing records that the platform lacks a record, and when to ask again.
func (l *missingRecords) reportMissing(n run.Need, message string, now time.Time) trade.Block {
	b, known := l.missing[n]
	if !known {
		b = trade.Block{Kind: n.Kind, ID: n.ID, FirstAt: now}
	}
	b.Message, b.Tries = message, b.Tries+1
	b.NextAt = run.NextAsk(b.FirstAt, b.Tries, now)
	l.missing[n] = b
	delete(l.There, n)
	return b
}
