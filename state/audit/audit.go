package audit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"time"

	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// Trail is the audit of a ledger.
type Trail struct{ db *sqldb.DB }

// New returns the audit of a ledger.
func New(db *sqldb.DB) *Trail { return &Trail{db: db} }

// Row is a row of the table audit.
type Row struct {
	Seq, At                                              int64
	Who, Origin, Act, Target, Reason, Detail, Prev, Hash string
	Reduced                                              bool
}

// SelectAudit reads records of the audit.
const SelectAudit = `SELECT seq, at, who, origin, act, target, reason, detail, prev, hash, (reduced = 1) AS reduced FROM audit `

// Record returns the record of a row.
func (r Row) Record() trade.AuditRecord {
	return trade.AuditRecord{
		Seq: r.Seq, At: time.UnixMilli(r.At).UTC(), Who: r.Who, From: r.Origin, Act: r.Act, Target: r.Target,
		Reason: r.Reason, Detail: r.Detail,
		Prev: r.Prev, Hash: r.Hash, Reduced: r.Reduced,
	}
}

// Sum returns the hash of a record. It covers everything in the record and the hash of the record
// before, so no record can be altered, removed or inserted without altering all that follow.
func (r Row) Sum() string {
	h := sha256.New()
	chain(h, r.Prev, fmt.Sprint(r.Seq), fmt.Sprint(r.At), r.Who, r.Origin, r.Act, r.Target, r.Reason, r.Detail)
	return hex.EncodeToString(h.Sum(nil))
}

// chain hashes parts with their lengths, so that ("a", "bc") differs from ("ab", "c").
func chain(h hash.Hash, parts ...string) {
	for _, p := range parts {
		_, _ = fmt.Fprintf(h, "%d:%s", len(p), p) // writing to a hash never fails
	}
}

// SelectHead selects the end of the audit.
const SelectHead = `SELECT seq, hash FROM audit_head WHERE one = 1`

// AddNumbered adds a record in the transaction of the act itself, and returns its number. It must
// be called after the rows of the act are locked and before the sums are.
func AddNumbered(t *sqldb.Tx, a trade.AuditRecord) (seq int64, err error) {
	var head sqldb.AuditHead
	if err := t.Get(&head, t.S.D.Locked(SelectHead, "audit_head")); err != nil {
		return 0, err
	}
	if t.Audit == nil {
		t.Audit = &head
	}
	r := Row{
		Seq: head.Seq + 1, At: sqldb.AtOr(a.At, time.Time{}), Who: sqldb.CleanText(a.Who),
		Origin: sqldb.CleanText(a.From), Act: sqldb.CleanText(a.Act), Target: sqldb.CleanText(a.Target),
		Reason: sqldb.CleanText(a.Reason), Detail: sqldb.CleanText(a.Detail), Prev: head.Hash,
	}
	r.Hash = r.Sum()
	if err := t.Do(
		`INSERT INTO audit (seq, at, who, origin, act, target, reason, detail, prev, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.Seq, r.At, r.Who, r.Origin, r.Act, r.Target, r.Reason, r.Detail, r.Prev, r.Hash); err != nil {
		return 0, err
	}
	return r.Seq, t.Do(`UPDATE audit_head SET seq = ?, hash = ? WHERE one = 1`, r.Seq, r.Hash)
}

// AddAudit is AddNumbered without the number.
func AddAudit(t *sqldb.Tx, a trade.AuditRecord) error {
	_, err := AddNumbered(t, a)
	return err
}

// AppendAudit adds one record in a transaction of its own, for an act outside the ledger. Acts that
// change the ledger add their record in their own transaction. When AppendAudit returns without an
// error, the record is on disk.
func (s *Trail) AppendAudit(ctx context.Context, record trade.AuditRecord) error {
	return s.db.InTx(ctx, "writing the audit", func(t *sqldb.Tx) error { return AddAudit(t, record) })
}

// Audit returns the latest acts, the newest first. A limit of 0 returns all.
func (s *Trail) Audit(ctx context.Context, limit int) ([]trade.AuditRecord, error) {
	return sqldb.Made(ctx, s.db, "reading the audit", Row.Record, SelectAudit+`ORDER BY seq DESC LIMIT ?`,
		OrAll(limit))
}

// AuditPage is how many records are read at a time.
const AuditPage = 1000

// VerifyAudit checks the whole audit and returns the number of the first record that was altered,
// is missing, or does not follow from the one before; 0 if there is none. A record missing at the
// end has the number that it would have.
//
// For records that retention has reduced, the chain of their stored hashes is checked, and that a
// retention has recorded that it reduces them. A chain that was rewritten is detected by the ends
// of it in this host's journal; then the result is the number of the first end that differs.
func (s *Trail) VerifyAudit(ctx context.Context) (firstBroken int64, err error) {
	if firstBroken, err = s.VerifyChain(ctx); firstBroken != 0 || err != nil {
		return firstBroken, err
	}
	return s.VerifyHeads(ctx)
}

const verifying = "verifying the audit"

// VerifyChain is the part of VerifyAudit that needs only the ledger.
func (s *Trail) VerifyChain(ctx context.Context) (firstBroken int64, err error) {
	const op = verifying
	var head sqldb.AuditHead // read first: records that are added meanwhile come after it
	if err := s.db.Get(ctx, op, &head, SelectHead); err != nil {
		return 0, err
	}
	through, err := s.mayBeReduced(ctx)
	if err != nil {
		return 0, s.db.Fault(ctx, op, err)
	}
	prev := Row{}
	for {
		var page []Row
		if err := s.db.All(ctx, op, &page, SelectAudit+`WHERE seq > ? ORDER BY seq LIMIT ?`, prev.Seq,
			AuditPage); err != nil {
			return 0, err
		}
		for _, r := range page {
			altered := r.Hash != r.Sum() && !r.Reduced || r.Reduced && r.Seq > through
			if r.Seq != prev.Seq+1 || r.Prev != prev.Hash || altered {
				return prev.Seq + 1, nil
			}
			if r.Seq == head.Seq && r.Hash != head.Hash {
				return r.Seq, nil
			}
			prev = r
		}
		if len(page) < AuditPage {
			break
		}
	}
	if prev.Seq < head.Seq {
		return prev.Seq + 1, nil
	}
	return 0, nil
}

// ErrNoHeads is returned if a journal could not be read, so that nothing could be compared with it.
var ErrNoHeads = errors.New("the audit cannot be compared with the journal")

// VerifyHeads compares the audit with the ends of it that the journals of this host recorded before
// each act. Each of these ends was on disk when it was recorded, whatever became of the act. A
// ledger that was rebuilt lacks an unknown part of the audit, so only the ends since the rebuild
// count.
func (s *Trail) VerifyHeads(ctx context.Context) (firstBroken int64, err error) {
	const op = verifying
	host, _, _ := sqldb.HostIdentity()
	var dirs []string
	if err := s.db.All(ctx, op, &dirs, `SELECT path FROM journal WHERE host = ? AND retired_at IS NULL`,
		host); err != nil {
		return 0, err
	}
	for _, dir := range dirs {
		var heads []journal.AuditHead
		_, err := journal.Read(dir, 0, func(r journal.Record, _ string) error {
			if r.Audit == nil {
				return nil
			}
			if r.ActName == RebuildName {
				heads = nil
			}
			heads = append(heads, *r.Audit)
			return nil
		})
		if err != nil {
			return 0, errors.Join(ErrNoHeads, s.db.Fault(ctx, op, err))
		}
		for _, head := range heads {
			there, err := WasHead(s.db.Reading(ctx, op), head)
			if err != nil {
				return 0, err
			}
			if !there && (firstBroken == 0 || head.Seq < firstBroken) {
				firstBroken = head.Seq
			}
		}
	}
	return firstBroken, nil
}

// WasHead reports whether the audit has the record that was its end.
func WasHead(all sqldb.Select, head journal.AuditHead) (bool, error) {
	var seqs []int64
	err := all(&seqs, `SELECT seq FROM audit WHERE seq = ? AND hash = ?`, head.Seq, head.Hash)
	return len(seqs) > 0 || head.Seq == 0, err
}

// OrAll returns a limit for SQL: 0 and less mean all.
func OrAll(limit int) int64 {
	if limit <= 0 {
		return 1<<63 - 1
	}
	return int64(limit)
}

// RebuildName is the name of a rebuild in the journal.
const RebuildName = "rebuild"

// Program is the Who of acts that nobody ordered.
const Program = "safrasync"

// mayBeReduced returns the highest number up to which a retention has recorded that it removes
// persons from acts.
func (s *Trail) mayBeReduced(ctx context.Context) (through int64, err error) {
	var details []string
	err = s.db.All(ctx, verifying, &details, `SELECT detail FROM audit WHERE act IN (?, ?) AND reduced = 0`,
		ActRetention, ActPurge)
	for _, text := range details {
		var d struct {
			AuditThrough int64 `json:"audit_through"`
		}
		if json.Unmarshal([]byte(text), &d) == nil { // a damaged one does not match its hash
			through = max(through, d.AuditThrough)
		}
	}
	return through, err
}

// The acts of retention in the audit: by the schedule, and by a person.
const (
	ActRetention = "retention"
	ActPurge     = "purge"
)
