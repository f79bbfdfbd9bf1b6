package state

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"

	"github.com/safrasync/safrasync/internal/failpoint"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/books"
	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// The journal begins again within itself, so that at each moment it is one unbroken chain that fits
// the ledger:
//
//	1. a new segment begins; the number of its first record is the base
//	2. page by page, what the ledger knows of every row that was sent or decided about is written
//	   as a record (journal.Base), each in a transaction of its own that locks the ledger's row of
//	   the journal from its beginning: nothing is written to the journal between reading the ledger
//	   and the record
//	3. a last, empty page states that everything before the base is in the records from the base
//	   on, and the hash of the pages as the ledger had them
//	4. the records on disk from the base on are read back: their hash must be that one, and no row
//	   of the ledger that may be on the platform may be missing in them
//	5. the segments before the base are removed, the oldest first, once the witness has the base
//
// A process that ends after 1 or 2 leaves more records than needed, after 3 or in 5 more segments
// than needed; the next retention continues. An older copy of the ledger, even from before the
// base, is detected as before, and a rebuild finds the same.

// renewPage is how many rows one record of a snapshot has.
const renewPage = 250

// journalWaste is how many times larger than its snapshot a journal must be before it begins again,
// even if the configured limit is smaller.
const journalWaste = 3

func (r *retaining) journalDue() (due bool, bytes int64, err error) {
	if r.db.Journal == nil || r.Keep.Journal <= 0 {
		return false, 0, nil
	}
	bytes, first, base, snapshot, err := r.db.Journal.Size()
	if err != nil {
		return false, 0, r.db.JournalFault(err)
	}
	return first < base || bytes > r.Keep.Journal && bytes > journalWaste*snapshot, bytes, nil
}

// snapshot is one renewal of the journal.
type snapshot struct {
	*retaining
	base int64
	sum  hash.Hash // of the pages as the ledger has them
}

// renewJournal makes the journal begin again if it is too large, and removes old segments that an
// earlier process did not remove before it ended.
func (r *retaining) renewJournal(ctx context.Context) error {
	due, _, err := r.journalDue()
	if err != nil || !due {
		return err
	}
	_, first, base, _, err := r.db.Journal.Size()
	if err != nil {
		return r.db.JournalFault(err)
	}
	if first < base { // an earlier process ended before it removed all segments
		err := r.dropBefore(ctx)
		if !errors.As(err, new(*unfitError)) {
			return err
		}
	}
	return r.beginAgain(ctx)
}

// beginAgain writes a snapshot and removes the segments before it.
func (r *retaining) beginAgain(ctx context.Context) error {
	n := &snapshot{retaining: r, sum: sha256.New()}
	for after, done := int64(0), false; !done; {
		err := r.db.InTx(ctx, "letting the journal begin again", func(t *sqldb.Tx) (err error) {
			done, err = n.page(t, &after)
			return err
		})
		if errors.Is(err, journal.ErrUnsettled) {
			return nil // retention tries again the next time
		}
		if err == nil {
			err = failpoint.Hit("renew.page")
		}
		if err != nil {
			return err
		}
	}
	size, _, _, _, err := r.db.Journal.Size()
	older, sizeErr := r.db.Journal.SizeBefore(n.base)
	if err = errors.Join(err, sizeErr); err != nil {
		return r.db.JournalFault(err)
	}
	if err := r.db.InTx(ctx, "letting the journal begin again", func(t *sqldb.Tx) error {
		note := t.Noting(r.Now)
		note.Kind, note.Base, note.Size = journal.Base, n.base, max(1, size-older)
		note.Sum = hex.EncodeToString(n.sum.Sum(nil))
		return nil
	}); err != nil {
		return err
	}
	if err := failpoint.Hit("renew.based"); err != nil {
		return err
	}
	return r.dropBefore(ctx)
}

// page writes one page of what the ledger knows. The first page begins the segment.
func (n *snapshot) page(t *sqldb.Tx, after *int64) (done bool, err error) {
	// Until the commit no other transaction of this journal writes its record.
	var row sqldb.JournalRow
	if err := t.Get(&row, n.db.D.Locked(`SELECT id, seq, mark, host, path, at, retired_at FROM journal WHERE id = ?`,
		"journal"), n.db.Journal.Header().Journal); err != nil {
		return false, err
	}
	base := n.base
	if base == 0 {
		base, err = n.db.Journal.Cut(row.Seq, row.Mark)
		if err != nil {
			if errors.Is(err, journal.ErrUnsettled) {
				return false, err
			}
			return false, n.db.JournalFault(err)
		}
	}
	var ids []int64
	if err := t.All(&ids, `SELECT e.id FROM entry e WHERE e.id > ? AND `+isRemembered+` ORDER BY e.id LIMIT ?`,
		*after, renewPage); err != nil {
		return false, err
	}
	note := t.Noting(n.Now)
	note.Kind = journal.Base
	if err := imagesOf(t, ids, note); err != nil {
		return false, err
	}
	if n.base == 0 { // also the pauses, which are decisions about sending, and the moves of jobs
		if err := t.All(&note.Moves,
			`SELECT job AS "from", moved_to AS "to", sends, seq AS "after" FROM job_moved WHERE journal = ? ORDER BY seq`, n.db.Journal.Header().Journal); err != nil {
			return false, err
		}
		note.Jobs, err = pauseFacts(t)
		if err != nil {
			return false, err
		}
	}
	page, err := hashedPage(*note)
	if err != nil {
		return false, err
	}
	t.Then = append(t.Then, func() {
		n.base = base
		n.sum.Write(page)
		if len(ids) > 0 {
			*after = ids[len(ids)-1]
		}
	})
	return len(ids) < renewPage, nil
}

// dropBefore removes the segments before the last base, after what replaces them was read from the
// disk and found complete.
func (r *retaining) dropBefore(ctx context.Context) error {
	if err := r.verifyBase(ctx); err != nil {
		return err
	}
	if r.witness.flushed() != nil {
		return nil // what its line is compared with stays; retention tries again the next time
	}
	if err := failpoint.Hit("renew.verified"); err != nil {
		return err
	}
	if _, err := r.db.Journal.Drop(); err != nil {
		return r.db.JournalFault(err)
	}
	return failpoint.Hit("renew.dropped")
}

// unfitError states why the segments before a base are not removed.
type unfitError struct{ *phrase.Text }

// rowHash identifies a row in 16 bytes.
type rowHash [16]byte

func hashRow(row journal.RowRef) rowHash {
	sum := sha256.Sum256([]byte(row.Job + "\x00" + row.Key))
	return rowHash(sum[:16])
}

// verifyBase reads the journal from its last base on. Its pages must be as the ledger had them, and
// every row of the ledger that may exist on the platform must be in the journal.
func (r *retaining) verifyBase(ctx context.Context) error {
	const op = "comparing the journal with the ledger"
	dir := r.db.JournalPath
	end, err := journal.ReadEnd(dir)
	if err != nil {
		return r.db.JournalFault(err)
	}
	unfit := func(why *phrase.Text) error {
		return r.db.Refuse(sqldb.CodeJournal,
			&unfitError{phrase.New("the journal that began again at record %d does not fit: %w", end.Base, why)},
			phrase.New("nothing was removed; run `safrasync doctor`, and report this as a fault of the program"))
	}
	// The ledger is read first: what it has by now is already in the journal. If there are several
	// journals, rows of other hosts may be only in theirs.
	var journals int
	if err := r.db.Get(ctx, op, &journals, `SELECT COUNT(*) FROM journal WHERE retired_at IS NULL`); err != nil {
		return err
	}
	missing := map[rowHash]bool{}
	for after, more := int64(0), journals <= 1; more; {
		var rows []struct {
			ID       int64
			Job, Key string
		}
		if err := r.db.All(ctx, op, &rows,
			`SELECT e.id, e.job, e.key FROM entry e WHERE e.id > ? AND `+isRemembered+` AND `+mayBeOnPlatform+
				` ORDER BY e.id LIMIT ?`, after, knownPage); err != nil {
			return err
		}
		for _, row := range rows {
			after = row.ID
			missing[hashRow(journal.RowRef{Job: row.Job, Key: row.Key})] = true
		}
		more = len(rows) == knownPage
	}
	sum, stated := sha256.New(), ""
	_, err = journal.Read(dir, end.Base-1, func(rec journal.Record, _ string) error {
		for _, row := range rec.Rows {
			delete(missing, hashRow(row.RowRef))
		}
		switch {
		case rec.Kind != journal.Base || stated != "": // a later one, which did not end
		case rec.Base > 0:
			stated = rec.Sum
		default:
			page, err := hashedPage(rec)
			sum.Write(page)
			return err
		}
		return nil
	})
	switch {
	case err != nil:
		return r.db.JournalFault(err)
	case stated != hex.EncodeToString(sum.Sum(nil)):
		return unfit(phrase.New("its pages are not as they were written"))
	case len(missing) > 0:
		return unfit(phrase.New("%d rows that the ledger has are not in it", len(missing)))
	}
	return nil
}

// hashedPage returns what the hash of a base has of a page.
func hashedPage(page journal.Record) ([]byte, error) {
	return json.Marshal(journal.Record{Rows: page.Rows, Sent: page.Sent, Sightings: page.Sightings})
}

// mayBeOnPlatform is the SQL condition for the entries that exist on the platform, or may: the journal
// must never lose them.
const mayBeOnPlatform = `EXISTS (SELECT 1 FROM sent a WHERE a.origin = e.id AND a.outcome IN ('open', 'unknown', 'created'))`

// auditThrough returns the number up to which acts lose who, from, target, reason and detail, or 0
// if none does. One that is not as it was written, and all after it, keep them: its time is somebody's
// word, and what is announced to the journal is believed.
func (r *retaining) auditThrough(ctx context.Context) (through int64, err error) {
	before, ok := r.before(r.Keep.Audit)
	if !ok {
		return 0, nil
	}
	for {
		var page []trade.AuditRecord
		if err := r.db.All(ctx, "looking for old acts", &page, books.SelectAudit+`WHERE reduced = 0 AND at < ? AND seq > ?
			ORDER BY seq LIMIT ?`, before.UnixMilli(), through, entryPage); err != nil {
			return 0, err
		}
		for _, a := range page {
			if a.Hash != books.AuditSum(a) {
				return through, nil
			}
			through = a.Seq
		}
		if len(page) < entryPage {
			return through, nil
		}
	}
}

// reduceAudit keeps of old acts only number, time, name and hash, so that the chain stays complete.
// The audit record of this retention states the highest number; a record that is reduced beyond it
// was altered by somebody else.
func (r *retaining) reduceAudit(ctx context.Context, through int64) error {
	before, ok := r.before(r.Keep.Audit)
	if !ok || through == 0 {
		return nil
	}
	return r.batches(ctx, "reducing old acts", func(t *sqldb.Tx) (int, error) {
		return t.Changed(`UPDATE audit SET reduced = 1, who = '', origin = '', target = '', reason = '', detail = '' WHERE seq IN
			(SELECT seq FROM audit WHERE reduced = 0 AND seq <= ? AND at < ? ORDER BY seq LIMIT 500)`, through, before.UnixMilli())
	})
}
