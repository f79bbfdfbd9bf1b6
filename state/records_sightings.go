// The table sighting: what rows hold that may be the rows of records.

package state

import (
	"slices"

	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// sightingRow is a row of the table sighting.
type sightingRow struct {
	EntryID, RecordID                  int64
	SeenCells, SeenPayload, SeenFields trade.Hash
	SeenAb, SeenAc, SeenBc             int64
}

var sightingColumns = sqldb.Columns[sightingRow]()

func (r *sightingRow) sighting() trade.Sighting {
	return trade.Sighting{
		Row: r.EntryID, Record: r.RecordID,
		Prints: trade.Prints{Cells: r.SeenCells, Payload: r.SeenPayload, Fields: r.SeenFields},
	}
}

// sightingsOf returns what may be the rows of records, by record.
func sightingsOf(d sqldb.Dialect, all sqldb.Select, records []foundRecord) (map[int64][]trade.Sighting, error) {
	if len(records) == 0 {
		return nil, nil
	}
	ids := trade.Map(records, func(r foundRecord) int64 { return r.ID })
	var rows []sightingRow
	err := all(&rows, `SELECT * FROM sighting WHERE `+d.Among("record_id")+` ORDER BY record_id, entry_id`,
		sqldb.ListOf(d, ids))
	out := map[int64][]trade.Sighting{}
	for _, row := range rows {
		out[row.RecordID] = append(out[row.RecordID], row.sighting())
	}
	return out, err
}

// see sets which records a row may be that of; none: no more.
func (r *recordSet) see(e *trade.Entry, seen []trade.Sighting) {
	if r.sightings == nil {
		r.sightings = map[int64][]trade.Sighting{}
	}
	if _, again := r.sightings[e.ID]; !again {
		r.sighted = append(r.sighted, e)
	}
	// a record that is being stored has no number yet, and its row stands
	r.sightings[e.ID] = slices.DeleteFunc(slices.Clone(seen), func(s trade.Sighting) bool { return s.Record <= 0 })
	if len(r.sightings[e.ID]) > 0 {
		r.touch(e)
	}
}

// writeSightings writes what changed.
func (r *recordSet) writeSightings() error {
	if len(r.sighted) == 0 {
		return nil
	}
	ids := trade.Map(r.sighted, idOf)
	rows, err := r.sightingRows()
	if err == nil {
		err = r.t.Do(`DELETE FROM sighting WHERE `+r.t.S.D.Among("entry_id"), sqldb.ListOf(r.t.S.D, ids))
	}
	if err == nil {
		err = r.t.InsertRows("sighting", sightingColumns, rows, "")
	}
	r.sighted, r.sightings = nil, nil
	return err
}

// sightingRows returns the rows to store, and adds their images to those for the journal.
func (r *recordSet) sightingRows() (rows [][]any, err error) {
	var of []int64
	for _, seen := range r.sightings {
		for _, s := range seen {
			of = append(of, s.Record)
		}
	}
	origins := map[int64]journal.Origin{}
	if len(of) > 0 {
		var records []sentRow
		if err := r.t.All(&records, `SELECT id, job, key, generation FROM sent WHERE `+r.t.S.D.Among("id"),
			sqldb.ListOf(r.t.S.D, of)); err != nil {
			return nil, err
		}
		for _, row := range records {
			ref := journal.RowRef{Job: row.Job, Key: row.Key}
			origins[row.ID] = journal.Origin{RowRef: ref, Generation: row.Generation}
		}
	}
	for _, e := range r.sighted {
		image := journal.Sighting{RowRef: journal.RowRef{Job: e.Job, Key: e.Key}, Sends: string(e.Sends)}
		for _, s := range r.sightings[e.ID] {
			pairs := s.Pairs(e.Sends)
			image.Of = append(image.Of, journal.SeenAs{Origin: origins[s.Record], Prints: s.Prints})
			row := sightingRow{e.ID, s.Record, s.Cells, s.Payload, s.Fields, pairs[0], pairs[1], pairs[2]}
			rows = append(rows, sqldb.Pick(&row, sightingColumns))
		}
		r.seen = append(r.seen, image)
	}
	return rows, nil
}

// loadSightings adds what rows of the ledger may be to what the journal must have.
func (r *recordSet) loadSightings(entries []*trade.Entry) error {
	ids := trade.Map(entries, func(e *trade.Entry) int64 { return e.ID })
	var rows []sightingRow
	err := r.t.All(&rows, `SELECT * FROM sighting WHERE `+r.t.S.D.Among("entry_id")+` ORDER BY entry_id, record_id`,
		sqldb.ListOf(r.t.S.D, ids))
	seen := map[int64][]trade.Sighting{}
	for _, row := range rows {
		seen[row.EntryID] = append(seen[row.EntryID], row.sighting())
	}
	for _, e := range entries {
		if of := seen[e.ID]; of != nil {
			r.see(e, of)
		}
	}
	if err == nil {
		_, err = r.sightingRows()
	}
	return err
}
