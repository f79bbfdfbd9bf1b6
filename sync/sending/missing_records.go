// Records of the platform that rows need: there, missing, or being asked about.

package sending

import (
	"context"
	"slices"
	"time"

	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/sync/recheck"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// missingRecords knows which records of the platform are there (a row that needs them was accepted
// in this run), which are not (the platform said so), and which are being asked about by a row on
// the wire. So one missing wallet costs one POST and interval, however many rows need it (F123).
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

// blocking finds a record that is missing and need not be asked about yet.
func (l *missingRecords) blocking(needs []run.Need, now time.Time) (trade.Block, bool) {
	for _, n := range needs {
		if b, ok := l.missing[n]; ok && (b.NextAt.IsZero() || b.NextAt.After(now)) {
			return b, true
		}
	}
	return trade.Block{}, false
}

// Known reports whether nobody need ask about a record.
func (l *missingRecords) Known(n run.Need) bool {
	_, lacking := l.missing[n]
	return l.There[n] || n.Kind == outcome.OrderCommitments && !lacking
}

// probing reports whether a row in flight will say whether one of the records is there.
func (l *missingRecords) probing(needs []run.Need) bool {
	for _, n := range needs {
		if _, asked := l.askedBy[n]; asked && !l.Known(n) {
			return true
		}
	}
	return false
}

// startProbe notes that an entry goes in flight with records of which nobody knows.
func (l *missingRecords) startProbe(needs []run.Need, entry int64) {
	for _, n := range needs {
		if !l.Known(n) {
			l.askedBy[n] = entry
			l.asks[entry] = append(l.asks[entry], n)
		}
	}
}

// answered forgets the question, whatever the answer.
func (l *missingRecords) answered(entry int64) {
	for _, n := range l.asks[entry] {
		delete(l.askedBy, n)
	}
	delete(l.asks, entry)
}

// confirm notes that records are there; it gives the blocks that this ends.
func (l *missingRecords) confirm(needs []run.Need) []trade.Block {
	var ended []trade.Block
	for _, n := range needs {
		if n.Kind != outcome.OrderCommitments { // of which there are as many as rows, and known tells without
			l.There[n] = true
		}
		if b, ok := l.missing[n]; ok {
			ended = append(ended, b)
			delete(l.missing, n)
		}
	}
	return ended
}

// reportMissing notes that the platform does not know a record, and when to ask again.
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

// blockedEntry is an entry that waits for a record of the platform.
func blockedEntry(entry trade.Entry, b trade.Block, now time.Time) trade.Entry {
	entry.State, entry.Cause, entry.Error = trade.Waiting, b.Message, nil
	entry.WaitingFor = []trade.Awaited{{Platform: b.Kind, ID: b.ID}}
	entry.NextAttemptAt, entry.UpdatedAt = b.NextAt, now
	return entry
}

// unpark takes up the rows whose question was answered meanwhile. They are looked at again, because
// they waited.
func (s *Sender) unpark() []trade.Entry {
	var free, parked []trade.Entry
	for _, e := range s.queue.parked {
		if len(free) < recheck.BatchSize && !s.traffic.blocks.probing(run.NeedsOf(e)) {
			free = append(free, e)
		} else {
			parked = append(parked, e)
		}
	}
	s.queue.parked = parked
	return free
}

// unstored are the blocks that the ledger does not have yet.
func (s *Sender) unstored() []trade.Block {
	if s.commit.storing == nil {
		return s.commit.lacking
	}
	return slices.Concat(s.commit.storing.group.Block, s.commit.lacking)
}

// reloadRetries takes up the records that a person has ordered to be asked about again since they
// were read, and forgets those that another process has found.
func (s *Sender) reloadRetries(ctx context.Context) error {
	if len(s.traffic.blocks.missing) == 0 {
		return nil
	}
	blocks, err := s.due.Blocks(ctx)
	if err != nil {
		return err
	}
	stored := map[run.Need]trade.Block{}
	for _, b := range blocks {
		stored[run.Need{Kind: b.Kind, ID: b.ID}] = b
	}
	for n := range s.traffic.blocks.missing {
		if slices.ContainsFunc(s.unstored(), func(l trade.Block) bool { return l.Kind == n.Kind && l.ID == n.ID }) {
			continue // not stored yet
		}
		if b, still := stored[n]; !still {
			delete(s.traffic.blocks.missing, n)
		} else if b.Tries == 0 {
			s.traffic.blocks.missing[n] = b
		}
	}
	return nil
}
