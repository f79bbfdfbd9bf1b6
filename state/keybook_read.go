package state

import (
	"context"
	"database/sql"
	"math"
	"strconv"
	"strings"
	"time"
)

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
			s.keys.keep()
			k, done := s.keys.of(job)
			if done {
				rows, err := s.rowsUpTo(ctx, job, k.last)
				if err != nil {
					return false, err
				}
				if s.keys.fits(job, k, rows) {
					break
				}
				continue
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

// rowsUpTo is how many rows of a job have numbers up to last, by the job's counts.
func (s *Store) rowsUpTo(ctx context.Context, job string, last int64) (n int, err error) {
	err = s.read.GetContext(ctx, &n, s.q(`SELECT (SELECT COALESCE(SUM(n), 0) FROM tally WHERE job = ?) - (SELECT COUNT(*) FROM entry WHERE job = ? AND id > ?)`), job, job, last)
	return n, err
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
