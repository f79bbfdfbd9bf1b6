package state

import (
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// asks decides about intents that would ask the platform for a record of which nobody knows whether it is there: at most one attempt asks at a time, whichever instance
// sends it, and none before its time when the platform said that it lacks the record. What is refused is in the result; the others ask from now on.
func (g *groupTx) asks() error {
	var records []trade.PlatformRecord
	for _, in := range g.group.Intents {
		if g.attempts[in.Attempt.ID] == nil { // one that was stored before asks already
			records = append(records, in.Asks...)
		}
	}
	if len(records) == 0 {
		return nil
	}
	slices.SortFunc(records, func(a, b trade.PlatformRecord) int {
		return strings.Compare(a.Kind+"\x00"+a.ID, b.Kind+"\x00"+b.ID)
	})
	records = slices.Compact(records)
	lacking, err := g.lacking(records)
	if err != nil {
		return err
	}
	asked, err := g.lockAsked(records)
	if err != nil {
		return err
	}
	g.result.Asked, g.result.Lacking = map[string]bool{}, map[string]trade.Block{}
	mine := map[trade.PlatformRecord]string{}
	for _, in := range g.group.Intents {
		if g.attempts[in.Attempt.ID] != nil {
			continue
		}
		id := in.Attempt.ID
		for _, r := range in.Asks {
			if b, not := lacking[r]; not {
				g.result.Lacking[id] = b
			}
			if _, other := mine[r]; other || asked[r] {
				g.result.Asked[id] = true
			}
		}
		if _, not := g.result.Lacking[id]; not || g.result.Asked[id] {
			continue
		}
		for _, r := range in.Asks {
			mine[r] = id
		}
	}
	for _, r := range records {
		if id, ok := mine[r]; ok {
			if err := g.exec(`UPDATE asking SET attempt_id = ? WHERE kind = ? AND id = ?`, id, r.Kind, r.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// lacking gives the records that the platform said it lacks, and that are not to be asked for yet.
func (g *groupTx) lacking(records []trade.PlatformRecord) (map[trade.PlatformRecord]trade.Block, error) {
	out := map[trade.PlatformRecord]trade.Block{}
	for chunk := range slices.Chunk(records, bulkRows) {
		var rows []blockRow
		if err := g.all(&rows, `SELECT kind, id, message, first_at, next_at, tries FROM block WHERE (kind, id) IN (VALUES `+values(len(chunk), 2)+`)`, recordArgs(chunk)...); err != nil {
			return nil, err
		}
		for _, r := range rows {
			if b := r.block(); b.NextAt.IsZero() || b.NextAt.After(g.now) {
				out[trade.PlatformRecord{Kind: b.Kind, ID: b.ID}] = b
			}
		}
	}
	return out, nil
}

// lockAsked gives those of the records about which another attempt asks that is open, and locks them. It looks in statements of their own, each of which sees what
// was committed while the one before waited.
func (g *groupTx) lockAsked(records []trade.PlatformRecord) (map[trade.PlatformRecord]bool, error) {
	out := map[trade.PlatformRecord]bool{}
	for chunk := range slices.Chunk(records, bulkRows) {
		fresh := make([][]any, len(chunk))
		for i, r := range chunk {
			fresh[i] = []any{r.Kind, r.ID, ""}
		}
		if err := g.insertRows("asking", []string{"kind", "id", "attempt_id"}, fresh, "ON CONFLICT DO NOTHING"); err != nil {
			return nil, err
		}
		var rows []struct {
			Kind    string `db:"kind"`
			ID      string `db:"id"`
			Attempt string `db:"attempt_id"`
		}
		query := `SELECT kind, id, attempt_id FROM asking WHERE (kind, id) IN (VALUES ` + values(len(chunk), 2) + `) ORDER BY kind, id`
		if err := g.all(&rows, g.s.d.locked(query, "asking"), recordArgs(chunk)...); err != nil {
			return nil, err
		}
		by := map[string][]trade.PlatformRecord{}
		var attempts []any
		for _, r := range rows {
			if r.Attempt != "" {
				by[r.Attempt] = append(by[r.Attempt], trade.PlatformRecord{Kind: r.Kind, ID: r.ID})
				attempts = append(attempts, r.Attempt)
			}
		}
		if len(attempts) == 0 {
			continue
		}
		var open []string
		if err := g.all(&open, `SELECT a.id FROM attempt a JOIN instance i ON i.id = a.owner AND i.expires > `+g.s.d.now+`
			WHERE a.outcome IS NULL AND a.id IN (`+marks(len(attempts))+`)`, attempts...); err != nil {
			return nil, err
		}
		for _, id := range open {
			if a := g.attempts[id]; a != nil && a.Outcome.Valid {
				continue // settled in this group
			}
			for _, r := range by[id] {
				out[r] = true
			}
		}
	}
	return out, nil
}

func recordArgs(records []trade.PlatformRecord) []any {
	args := make([]any, 0, 2*len(records))
	for _, r := range records {
		args = append(args, r.Kind, r.ID)
	}
	return args
}

func (r blockRow) block() trade.Block {
	return trade.Block{Kind: r.Kind, ID: r.ID, Message: r.Message, FirstAt: time.UnixMilli(r.FirstAt).UTC(), NextAt: instant(r.NextAt), Tries: r.Tries}
}
