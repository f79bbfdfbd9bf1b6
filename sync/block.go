package sync

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// need is a record of the platform that a row depends on.
type need struct{ kind, id string }

// blockList knows which records of the platform are there (a row that needs them was accepted in this run), which are not (the platform said so), and which
// are being asked about by a row on the wire. So one missing wallet costs one POST and interval, however many rows need it (F123).
type blockList struct {
	missing map[need]trade.Block
	there   map[need]bool
	askedBy map[need]int64 // entry on the wire
	asks    map[int64][]need
}

func newBlockList(blocks []trade.Block) *blockList {
	l := &blockList{missing: map[need]trade.Block{}, there: map[need]bool{}, askedBy: map[need]int64{}, asks: map[int64][]need{}}
	for _, b := range blocks {
		l.missing[need{b.Kind, b.ID}] = b
	}
	return l
}

// needsOf reads from a payload which records of the platform it names.
func needsOf(entry trade.Entry) []need {
	var ids map[string]any
	if json.Unmarshal(entry.Payload, &ids) != nil {
		return nil
	}
	var out []need
	for _, rule := range trade.Rules(entry.Sends) {
		if id, ok := ids[rule.Field].(string); ok && rule.Platform != "" {
			out = append(out, need{rule.Platform, id})
		}
	}
	if entry.Target != "" {
		out = append(out, need{orderCommitments, entry.Target})
	}
	wallet, hasWallet := ids["wallet_id"].(string)
	producer, hasProducer := ids["producer_id"].(string)
	if hasWallet && hasProducer {
		out = append(out, need{walletLinks, wallet + " " + producer})
	}
	return out
}

// blocking finds a record that is missing and need not be asked about yet.
func (l *blockList) blocking(needs []need, now time.Time) (trade.Block, bool) {
	for _, n := range needs {
		if b, ok := l.missing[n]; ok && (b.NextAt.IsZero() || b.NextAt.After(now)) {
			return b, true
		}
	}
	return trade.Block{}, false
}

// orderCommitments are records that rows of ours made: they are there until the platform says otherwise, and nobody need ask first.
const orderCommitments = "order_commitments"

// known tells whether nobody need ask about a record.
func (l *blockList) known(n need) bool {
	_, lacking := l.missing[n]
	return l.there[n] || n.kind == orderCommitments && !lacking
}

// asking tells whether a row on the wire will say whether one of the records is there.
func (l *blockList) asking(needs []need) bool {
	for _, n := range needs {
		if _, asked := l.askedBy[n]; asked && !l.known(n) {
			return true
		}
	}
	return false
}

// ask notes that an entry goes on the wire with records of which nobody knows.
func (l *blockList) ask(needs []need, entry int64) {
	for _, n := range needs {
		if !l.known(n) {
			l.askedBy[n] = entry
			l.asks[entry] = append(l.asks[entry], n)
		}
	}
}

// answered forgets the question, whatever the answer.
func (l *blockList) answered(entry int64) {
	for _, n := range l.asks[entry] {
		delete(l.askedBy, n)
	}
	delete(l.asks, entry)
}

// confirm notes that records are there; it gives the blocks that this ends.
func (l *blockList) confirm(needs []need) []trade.Block {
	var ended []trade.Block
	for _, n := range needs {
		if n.kind != orderCommitments { // of which there are as many as rows, and known tells without
			l.there[n] = true
		}
		if b, ok := l.missing[n]; ok {
			ended = append(ended, b)
			delete(l.missing, n)
		}
	}
	return ended
}

// miss notes that the platform does not know a record, and when to ask again.
func (l *blockList) miss(n need, message string, now time.Time) trade.Block {
	b, known := l.missing[n]
	if !known {
		b = trade.Block{Kind: n.kind, ID: n.id, FirstAt: now}
	}
	b.Message, b.Tries = message, b.Tries+1
	b.NextAt = nextAsk(b.FirstAt, b.Tries, now)
	l.missing[n] = b
	delete(l.there, n)
	return b
}

// The platform is asked again after 15 minutes, 1 hour, 6 hours, then daily, for 45 days; then a person decides.
var askAfter = []time.Duration{15 * time.Minute, time.Hour, 6 * time.Hour}

const (
	askDaily = 24 * time.Hour
	askFor   = 45 * 24 * time.Hour
	askMost  = 3 + 45 // questions that this makes
)

func nextAsk(first time.Time, tries int, now time.Time) time.Time {
	wait := askDaily
	if tries <= len(askAfter) {
		wait = askAfter[tries-1]
	}
	if next := now.Add(wait); next.Before(first.Add(askFor)) {
		return next
	}
	return noTime
}

// blockedEntry is an entry that waits for a record of the platform.
func blockedEntry(entry trade.Entry, b trade.Block, now time.Time) trade.Entry {
	entry.State, entry.Cause, entry.Error = trade.Waiting, b.Message, nil
	entry.WaitingFor = []trade.Awaited{{Platform: b.Kind, ID: b.ID}}
	entry.NextAttemptAt, entry.UpdatedAt = b.NextAt, now
	return entry
}

// unpark takes up the rows whose question was answered meanwhile. They are looked at again, because they waited.
func (s *submission) unpark() []trade.Entry {
	var free, parked []trade.Entry
	for _, e := range s.parked {
		if len(free) < lookBatch && !s.blocks.asking(needsOf(e)) {
			free = append(free, e)
		} else {
			parked = append(parked, e)
		}
	}
	s.parked = parked
	return free
}

// unstored are the blocks that the ledger does not have yet.
func (s *submission) unstored() []trade.Block {
	if s.storing == nil {
		return s.lacking
	}
	return slices.Concat(s.storing.group.Block, s.lacking)
}

// heedRetries takes up the records that a person has ordered to be asked about again since they were read, and forgets those that another process has found.
func (s *submission) heedRetries(ctx context.Context) error {
	if len(s.blocks.missing) == 0 {
		return nil
	}
	blocks, err := s.ledger.Blocks(ctx)
	if err != nil {
		return err
	}
	stored := map[need]trade.Block{}
	for _, b := range blocks {
		stored[need{b.Kind, b.ID}] = b
	}
	for n := range s.blocks.missing {
		if slices.ContainsFunc(s.unstored(), func(l trade.Block) bool { return l.Kind == n.kind && l.ID == n.id }) {
			continue // not stored yet
		}
		if b, still := stored[n]; !still {
			delete(s.blocks.missing, n)
		} else if b.Tries == 0 {
			s.blocks.missing[n] = b
		}
	}
	return nil
}
