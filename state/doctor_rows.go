package state

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// oddExamples is how many rows a diagnosis names.
const oddExamples = 5

// diagnoseRows reads every entry and every attempt, and reports those that the program cannot have
// written: unreadable columns, a payload that does not match its hash, or an entry in sending
// without an open attempt. Such rows are left by somebody who edits a ledger by hand.
func (s *Store) diagnoseRows(ctx context.Context, d *Diagnosis) error {
	odd := oddRows{}
	for _, look := range []func(context.Context, oddRows) error{
		s.oddEntries, s.oddAttempts, s.oddSending, s.oddRecords,
	} {
		if err := look(ctx, odd); err != nil {
			return s.db.Fault(ctx, readingRows, err)
		}
	}
	if len(odd) == 0 {
		return nil
	}
	var names []string
	for id, name := range odd {
		if len(names) == oddExamples {
			break
		}
		if name == "" {
			if err := s.db.Get(ctx, readingRows, &name, `SELECT job || ' ' || key FROM entry WHERE id = ?`, id); err != nil {
				return err
			}
		}
		names = append(names, name)
	}
	d.Problem, d.Args = ProblemEdited, []any{len(odd), fmt.Sprint(names)}
	return nil
}

const readingRows = "reading the rows"

// oddRows maps the ids of odd entries to their names, or to "" if the name was not read.
type oddRows map[int64]string

func (s *Store) oddEntries(ctx context.Context, odd oddRows) error {
	query := `SELECT ` + selected(slices.Concat(bodyColumns, entryColumns)) + ` ` + fromEntry
	for after := int64(0); ; {
		var names, page []entryRow
		err := s.db.All(ctx, readingRows, &names, `SELECT id, job, key FROM entry WHERE id > ? ORDER BY id LIMIT ?`, after,
			entryPage)
		if err != nil || len(names) == 0 {
			return err
		}
		last := names[len(names)-1].ID
		err = s.db.All(ctx, readingRows, &page, query+`WHERE e.id > ? AND e.id <= ? ORDER BY e.id`, after, last)
		var damaged *sqldb.DamagedError
		if errors.As(err, &damaged) { // the rows one by one
			page, err = nil, nil
			for _, e := range names {
				var row []entryRow
				err := s.db.All(ctx, readingRows, &row, query+`WHERE e.id = ?`, e.ID)
				if errors.As(err, &damaged) {
					row, err = nil, nil
				}
				if err != nil {
					return err
				}
				page = append(page, row...)
			}
		}
		if err != nil {
			return err
		}
		var read []trade.Entry
		whole := map[int64]bool{}
		for i := range page {
			r := &page[i]
			whole[r.ID] = true
			if r.Payload != nil && unlike(r.Target, string(r.Payload), r.PayloadHash) || !r.fits() {
				odd[r.ID] = r.Job + " " + r.Key
			}
			read = append(read, r.Entry)
		}
		for _, e := range names { // what is damaged, or has no body
			if !whole[e.ID] {
				odd[e.ID] = e.Job + " " + e.Key
			}
		}
		// entries of which lists have something else than they hold
		ids := trade.Map(read, func(e trade.Entry) int64 { return e.ID })
		var rows []listingRow
		if err := s.db.All(ctx, readingRows, &rows, `SELECT `+strings.Join(listingColumns, ", ")+` FROM listing WHERE `+
			s.db.D.Among("entry_id"), sqldb.ListOf(s.db.D, ids)); err != nil {
			return err
		}
		have := make(map[int64]listingRow, len(rows))
		for _, row := range rows {
			have[row.EntryID] = row
		}
		for _, e := range read {
			if have[e.ID] != listingRowOf(e) {
				odd[e.ID] = e.Job + " " + e.Key
			}
		}
		after = last
	}
}

// oddRecords finds rows whose records say something else than they do, or other than what was sent.
func (s *Store) oddRecords(ctx context.Context, odd oddRows) error {
	unrecorded, err := s.Unrecorded(ctx)
	if err != nil {
		return err
	}
	maps.Copy(odd, unrecorded)
	type sentRecord struct {
		ownedRecord
		Payload string
	}
	read := func(after int64) (page []sentRecord, err error) {
		err = s.db.All(ctx, readingRows, &page, selectSentRecord+`AND r.id > ? ORDER BY r.id LIMIT ?`, after,
			knownPage)
		return page, err
	}
	return sqldb.InPages(knownPage, read, func(r sentRecord) (int64, error) {
		if r.unlike(r.Target, []byte(r.Payload)) {
			odd[r.EntryID] = r.OwnerJob + " " + r.OwnerKey
		}
		return r.ID, nil
	})
}

func (s *Store) oddAttempts(ctx context.Context, odd oddRows) error {
	var open []struct {
		sentRow
		Payload string
	}
	if err := s.db.All(ctx, readingRows, &open, `SELECT s.origin, s.target, s.payload_hash, b.payload
		FROM sent s JOIN body b ON b.entry_id = s.origin WHERE s.outcome = 'open' AND b.payload IS NOT NULL`); err != nil {
		return err
	}
	for _, a := range open {
		if unlike(a.Target, a.Payload, a.PayloadHash) {
			odd[a.Origin] = ""
		}
	}
	for after := ""; ; {
		var page []exchangeRow
		var of []attemptRow
		err := s.db.All(ctx, readingRows, &page, `SELECT attempt, payload FROM exchange WHERE attempt > ? ORDER BY attempt LIMIT ?`,
			after, knownPage)
		if err != nil || len(page) == 0 {
			return err
		}
		payloads, ids := map[string]string{}, []string{}
		for _, x := range page {
			after, payloads[x.Attempt], ids = x.Attempt, x.Payload, append(ids, x.Attempt)
		}
		if err := s.db.All(ctx, readingRows, &of, `SELECT attempt, origin, target, payload_hash FROM attempt WHERE `+
			s.db.D.Among("attempt"), sqldb.ListOf(s.db.D, ids)); err != nil {
			return err
		}
		for _, a := range of {
			if unlike(a.Target, payloads[a.Attempt], a.PayloadHash) {
				odd[a.Origin] = ""
			}
		}
	}
}

// oddSending finds entries in state sending that have no open attempt.
func (s *Store) oddSending(ctx context.Context, odd oddRows) error {
	var alone []int64
	err := s.db.All(ctx, readingRows, &alone, `SELECT e.id FROM entry e WHERE e.state = 'sending'
		AND NOT EXISTS (SELECT 1 FROM sent a WHERE a.origin = e.id AND a.outcome = 'open')`)
	for _, id := range alone {
		odd[id] = ""
	}
	return err
}

// unlike reports whether a payload does not match a hash. "{}" replaces a payload that is no longer
// kept, and matches any hash.
func unlike(target, payload string, hash trade.Hash) bool {
	return payload != noPayload && trade.PayloadHash(target, []byte(payload)) != hash
}

// selectSentRecord selects the records of ended attempts whose payload is kept, with that payload.
var selectSentRecord = `SELECT ` + prefixed("r", sentColumns) + `, e.job AS owner_job, e.key AS owner_key, x.payload
	FROM sent r JOIN entry e ON e.id = r.entry_id JOIN exchange x ON x.attempt = r.attempt
	WHERE r.outcome IN ('unknown', 'created') AND r.certainty IN ('made', 'maybe') AND x.payload <> '{}' `

// unlike reports whether a record has other fingerprints than what was sent for it.
func (r *sentRow) unlike(target string, payload []byte) bool {
	return r.sent() != trade.PrintsOf(trade.Kind(r.Kind), r.SentCells, target, payload)
}

// Unrecorded returns the entries whose records contradict them, by id with the job and the key: an
// entry that was sent, may have been, or is stated to exist, and that has no record which says so;
// an attempt without the record that it may have made.
func (s *Store) Unrecorded(ctx context.Context) (map[int64]string, error) {
	out := map[int64]string{}
	for _, where := range []string{
		`e.state = 'accepted' AND NOT EXISTS (SELECT 1 FROM sent r WHERE r.id = e.record_id AND r.kind = e.sends
			AND r.certainty IN ('made', 'stated') AND (r.entry_id = e.id OR r.remote_id <> '' AND EXISTS
			(SELECT 1 FROM entry n WHERE n.id = r.entry_id AND n.record_id = r.id)))`,
		`e.state = 'sending' AND NOT EXISTS (SELECT 1 FROM sent r WHERE r.entry_id = e.id
			AND r.generation = e.generation AND r.certainty = 'maybe')`,
		// a second sending that only the journal has is in doubt after a rebuild because of the first
		`e.state = 'in_doubt' AND NOT EXISTS (SELECT 1 FROM sent r WHERE r.entry_id = e.id AND r.certainty = 'maybe')`,
		`e.state = 'dismissed' AND NOT EXISTS (SELECT 1 FROM sent r WHERE r.entry_id = e.id AND r.certainty <> 'void')`,
		`e.state = 'held' AND e.cause = 'exists' AND NOT EXISTS (SELECT 1 FROM sent r WHERE r.entry_id = e.id
			AND r.certainty <> 'void')`,
		`EXISTS (SELECT 1 FROM sent a WHERE a.origin = e.id AND a.outcome IN ('open', 'unknown', 'created') AND a.certainty = 'void'
			AND NOT EXISTS (SELECT 1 FROM sent r WHERE r.entry_id = e.id AND r.remote_id = a.answer_id AND a.answer_id <> ''))`,
		// while a second sending is open, or a person has taken it out, the first may have made one
		`e.state NOT IN ('accepted', 'sending', 'in_doubt', 'dismissed') AND EXISTS (SELECT 1 FROM sent r
			WHERE r.entry_id = e.id AND r.certainty = 'made')`,
	} {
		var rows []struct {
			ID       int64
			Job, Key string
		}
		if err := s.db.All(ctx, "comparing records with rows", &rows,
			`SELECT e.id, e.job, e.key FROM entry e WHERE `+where); err != nil {
			return nil, err
		}
		for _, row := range rows {
			out[row.ID] = row.Job + " " + row.Key
		}
	}
	return out, nil
}
