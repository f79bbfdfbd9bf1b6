package state

import (
	"context"
	"slices"

	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// sweptPage is how many entries one statement of EachSwept reads. Nothing is open between two
// statements, so no snapshot is held for long.
const sweptPage = 4096

// quiet is the SQL condition for the entries that a sweep hardly ever has to examine; their other
// columns are not read. All its columns, and those of selectSwept, are in the index entry_swept.
const quiet = `e.state = 'accepted' AND e.flags = '[]' AND e.acknowledged = '[]' AND e.gone_sweeps = 0`

// selectSwept reads what a sweep needs of each entry, in id order.
const selectSwept = `SELECT e.id, e.key, e.source_hash, e.state, e.shown_mark, CASE WHEN ` + quiet + ` THEN 0 ELSE 1 END AS loud
	FROM entry e WHERE e.job = ? AND e.id > ? ORDER BY e.id LIMIT ?`

type sweptRow struct {
	ID, ShownMark int64
	Key, State    string
	SourceHash    trade.Hash
	Loud          bool
}

// mapped is the MappedWith of an entry for which EachSwept does not read the mapping.
const mapped = "mapped"

// EachSwept calls fn for every entry of the job, in no order; the entry is valid only during the
// call. For an accepted entry without flag, acknowledgement or absence, only id, key, state, source
// hash and mark of the shown texts are set, and MappedWith is Mapped. A job that is written meanwhile is
// read partly before and partly after.
func (s *Store) EachSwept(ctx context.Context, job string, fn func(*trade.Known)) error {
	page := make([]sweptRow, 0, sweptPage)
	for after := int64(0); ; {
		if err := s.db.All(ctx, goingThrough, &page, selectSwept, job, after, sweptPage); err != nil {
			return err
		}
		if len(page) > 0 {
			if err := s.passSwept(ctx, job, page, fn); err != nil {
				return err
			}
		}
		if len(page) < sweptPage {
			return nil
		}
		after = page[len(page)-1].ID
	}
}

const goingThrough = "going through the entries"

// passSwept calls fn for each entry of a page.
func (s *Store) passSwept(ctx context.Context, job string, page []sweptRow, fn func(*trade.Known)) error {
	// Entries without a mapping are few, except in a ledger that was just rebuilt. The condition is
	// that of the index entry_bare.
	var bare []int64
	if err := s.db.All(ctx, goingThrough, &bare,
		`SELECT e.id FROM entry e WHERE e.job = ? AND e.id >= ? AND e.id <= ? AND e.mapped_with = '' ORDER BY e.id`,
		job, page[0].ID, page[len(page)-1].ID); err != nil {
		return err
	}
	var loud []int64
	same := trade.Known{State: trade.Accepted, MappedWith: mapped}
	for i := range page {
		e := &page[i]
		if _, isBare := slices.BinarySearch(bare, e.ID); isBare || e.Loud {
			loud = append(loud, e.ID)
			continue
		}
		same.ID, same.Key, same.SourceHash, same.ShownMark = e.ID, e.Key, e.SourceHash, e.ShownMark
		fn(&same)
	}
	if len(loud) == 0 {
		return nil
	}
	found, err := s.known(ctx, goingThrough, `WHERE `+s.db.D.Among("id"), sqldb.ListOf(s.db.D, loud))
	for i := range found {
		fn(&found[i])
	}
	return err
}
