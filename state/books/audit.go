package books

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// SelectAudit reads records of the audit.
const SelectAudit = `SELECT seq, at, who, origin AS "from", act, target, reason, detail, prev, hash, (reduced = 1) AS reduced FROM audit `

// AuditSum returns the hash of a record. It covers everything in the record and the hash of the record
// before, so no record can be altered, removed or inserted without altering all that follow.
func AuditSum(r trade.AuditRecord) string {
	h := sha256.New()
	for _, p := range []string{
		r.Prev, fmt.Sprint(r.Seq), fmt.Sprint(r.At.UnixMilli()), r.Who, r.From, r.Act, r.Target, r.Reason, r.Detail,
	} { // each with its length, so that ("a", "bc") differs from ("ab", "c")
		_, _ = fmt.Fprintf(h, "%d:%s", len(p), p) // writing to a hash never fails
	}
	return hex.EncodeToString(h.Sum(nil))
}

// SelectAuditHead selects the end of the audit.
const SelectAuditHead = `SELECT seq, hash FROM audit_head WHERE one = 1`

// AddNumbered adds a record in the transaction of the act itself, and returns its number. It must
// be called after the rows of the act are locked and before the sums are.
func AddNumbered(t *sqldb.Tx, a trade.AuditRecord) (seq int64, err error) {
	var head sqldb.AuditHead
	if err := t.Get(&head, t.S.D.Locked(SelectAuditHead, "audit_head")); err != nil {
		return 0, err
	}
	if t.Audit == nil {
		t.Audit = &head
	}
	r := trade.AuditRecord{
		Seq: head.Seq + 1, At: time.UnixMilli(sqldb.AtOr(a.At, time.Time{})), Who: sqldb.CleanText(a.Who),
		From: sqldb.CleanText(a.From), Act: sqldb.CleanText(a.Act), Target: sqldb.CleanText(a.Target),
		Reason: sqldb.CleanText(a.Reason), Detail: sqldb.CleanText(a.Detail), Prev: head.Hash,
	}
	r.Hash = AuditSum(r)
	if err := t.Do(
		`INSERT INTO audit (seq, at, who, origin, act, target, reason, detail, prev, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.Seq, r.At.UnixMilli(), r.Who, r.From, r.Act, r.Target, r.Reason, r.Detail, r.Prev, r.Hash); err != nil {
		return 0, err
	}
	return r.Seq, t.Do(`UPDATE audit_head SET seq = ?, hash = ? WHERE one = 1`, r.Seq, r.Hash)
}

// AddAudit is AddNumbered without the number.
func AddAudit(t *sqldb.Tx, a trade.AuditRecord) error {
	_, err := AddNumbered(t, a)
	return err
}

// ChangedBy runs the statement of an act, and adds its record if the statement changed something.
func ChangedBy(t *sqldb.Tx, record trade.AuditRecord, query string, args ...any) (changed bool, err error) {
	n, err := t.Changed(query, args...)
	if err != nil || n == 0 {
		return false, err
	}
	return true, AddAudit(t, record)
}

// AddOwnAudit adds a record of what the program did by itself, and returns its number.
func AddOwnAudit(t *sqldb.Tx, act, target string, detail any) (seq int64, err error) {
	text, err := json.Marshal(detail)
	if err != nil {
		return 0, err
	}
	host, _, _ := sqldb.HostIdentity()
	return AddNumbered(t, trade.AuditRecord{
		Who:    ProgramName,
		From:   host,
		Act:    act,
		Target: target,
		Detail: string(text),
	})
}

// AppendAudit adds one record in a transaction of its own, for an act outside the ledger. Acts that
// change the ledger add their record in their own transaction. When AppendAudit returns without an
// error, the record is on disk.
func (s *Books) AppendAudit(ctx context.Context, record trade.AuditRecord) error {
	return s.db.InTx(ctx, "writing the audit", func(t *sqldb.Tx) error { return AddAudit(t, record) })
}

// Audit returns the latest acts, the newest first. A limit of 0 returns all.
func (s *Books) Audit(ctx context.Context, limit int) ([]trade.AuditRecord, error) {
	return sqldb.List[trade.AuditRecord](ctx, s.db, "reading the audit", SelectAudit+`ORDER BY seq DESC LIMIT ?`,
		sqldb.OrAll(limit))
}

// auditPage is how many records are read at a time.
const auditPage = 1000

const verifyingAudit = "verifying the audit"

// VerifyAudit checks the whole audit: the chain of hashes in the ledger, and that every end of it
// that the journals of this host have is still in it. A chain that was rewritten or cut off is
// consistent in itself, and differs only from the journal. A ledger that was rebuilt lacks an
// unknown part of the audit, so only the ends since the rebuild count.
//
// Of a record that retention has reduced only the stored hash is left to compare. It must have lost
// all its words, the record of a retention must say that it may, and so must the journal: anybody who
// writes to the ledger can append such a record.
func (s *Books) VerifyAudit(ctx context.Context) (p trade.AuditProof, err error) {
	// The journal first, then the end: what is added meanwhile comes after both.
	ends, announced, err := s.ends(ctx, &p)
	if err != nil {
		return p, err
	}
	var head sqldb.AuditHead
	if err := s.db.Get(ctx, verifyingAudit, &head, SelectAuditHead); err != nil {
		return p, err
	}
	p.Last = head.Seq
	var details []string // of the retentions that take persons from acts, up to the highest number they state
	if err := s.db.All(ctx, verifyingAudit, &details, `SELECT detail FROM audit WHERE act IN (?, ?) AND reduced = 0`,
		trade.ActRetention, trade.ActPurge); err != nil {
		return p, err
	}
	through := int64(0)
	for _, detail := range details {
		var d RetentionDetail
		if json.Unmarshal([]byte(detail), &d) == nil { // a damaged one does not match its hash
			through = max(through, d.AuditThrough)
		}
	}
	prev := trade.AuditRecord{}
	for {
		var page []trade.AuditRecord
		if err := s.db.All(ctx, verifyingAudit, &page, SelectAudit+`WHERE seq > ? ORDER BY seq LIMIT ?`, prev.Seq,
			auditPage); err != nil {
			return p, err
		}
		for _, r := range page {
			end, known := ends[r.Seq]
			switch {
			case r.Seq != prev.Seq+1, r.Prev != prev.Hash, altered(r, through):
				p.Broken = prev.Seq + 1
			case known && r.Hash != end, r.Seq == head.Seq && r.Hash != head.Hash:
				p.Broken = r.Seq
			}
			if p.Broken != 0 {
				return p, nil
			}
			if r.Reduced && r.Seq > announced && p.Reduced == 0 {
				p.Reduced = r.Seq
			}
			prev = r
		}
		if len(page) < auditPage {
			break
		}
	}
	if prev.Seq < max(head.Seq, p.Through) {
		p.Broken = prev.Seq + 1
	}
	return p, nil
}

// altered reports whether a record is not as it was written, or as retention leaves it. through is
// the last record that a retention may have reduced.
func altered(r trade.AuditRecord, through int64) bool {
	if !r.Reduced {
		return r.Hash != AuditSum(r)
	}
	return r.Seq > through || r.Who+r.From+r.Target+r.Reason+r.Detail != ""
}

// ErrNoHeads is returned if a journal could not be read, so that nothing could be compared with it.
var ErrNoHeads = errors.New("the audit cannot be compared with the journal")

// ends returns the hashes of the records that were once the end of the audit, by number, as the
// journals of this host have them: the one in the configured folder, whatever the ledger says of
// it, and those that the ledger names. They also say up to which number retention has announced that it
// takes the words of records.
func (s *Books) ends(ctx context.Context, p *trade.AuditProof) (all map[int64]string, announced int64, err error) {
	host, _, _ := sqldb.HostIdentity()
	var dirs []string
	if err := s.db.All(ctx, verifyingAudit, &dirs, `SELECT path FROM journal WHERE host = ? AND retired_at IS NULL`,
		host); err != nil {
		return nil, 0, err
	}
	if s.db.Journals != "" {
		own, err := filepath.Abs(filepath.Join(s.db.Journals, s.db.ID))
		if err != nil {
			return nil, 0, err
		}
		if !slices.Contains(dirs, own) {
			dirs = append(dirs, own)
		}
	}
	all = map[int64]string{}
	for _, dir := range dirs {
		ends, told := map[int64]string{}, map[int64]int64{}
		end, err := journal.Read(dir, -1, func(r journal.Record, _ string) error {
			for _, seq := range r.Void { // the ledger refused what it had read
				delete(ends, told[seq])
			}
			if r.Audit == nil {
				return nil
			}
			told[r.Seq] = r.Audit.Seq
			if r.ActName == RebuildName {
				clear(ends)
			}
			hash := r.Audit.Hash
			if was, ok := ends[r.Audit.Seq]; ok && was != hash {
				hash = "written anew" // one record of the audit cannot be both
			}
			ends[r.Audit.Seq] = hash
			return nil
		})
		switch {
		case errors.Is(err, journal.ErrNone):
			continue
		case err != nil:
			return nil, 0, errors.Join(ErrNoHeads, s.db.Fault(ctx, verifyingAudit, err))
		case end.Header.Ledger != s.db.ID:
			continue
		}
		p.Journals++
		announced = max(announced, end.Header.Reduced)
		for seq, hash := range ends {
			all[seq], p.Through = hash, max(p.Through, seq)
		}
	}
	return all, announced, nil
}

// NoteEnd writes the end of the audit to the journal, so that nothing before it can be altered or
// removed unnoticed, and up to which record retention is about to take the words; 0 if it takes none.
// Without a journal it does nothing.
func (s *Books) NoteEnd(ctx context.Context, now time.Time, reduced int64) error {
	if s.db.Journal == nil {
		return nil
	}
	return s.db.InTx(ctx, "writing the end of the audit to the journal", func(t *sqldb.Tx) error {
		note := t.Noting(now)
		if header := s.db.Journal.Header(); reduced > header.Reduced {
			header.Reduced = reduced
			note.Head = &header
		}
		return nil
	})
}

// RebuildName is the name of a rebuild in the journal.
const RebuildName = "rebuild"

// ProgramName is the Who of acts that nobody ordered.
const ProgramName = "safrasync"

// RetentionDetail is the Detail of the record of a retention.
type RetentionDetail struct {
	// acts up to this number may have lost their persons: see VerifyAudit
	AuditThrough int64 `json:"audit_through"`
	Kinds        any   `json:"kinds"`
}

// Books reads and writes the books of a ledger.
type Books struct{ db *sqldb.DB }

// New returns the books of a ledger that is open.
func New(db *sqldb.DB) *Books { return &Books{db} }

// Acts counts the acts of the audit in a period, by name.
func (s *Books) Acts(ctx context.Context, from, before time.Time) (map[string]int, error) {
	return s.db.Counts(ctx, "counting acts",
		`SELECT act AS name, COUNT(*) AS n FROM audit WHERE at >= ? AND at < ? GROUP BY act`, from.UnixMilli(),
		before.UnixMilli())
}

// AuditPage returns one page of the acts that match a query, the newest first. It goes backwards
// through the record numbers from where the page before ended.
func (s *Books) AuditPage(ctx context.Context, q trade.AuditQuery) (trade.AuditPage, error) {
	where, args := []string{`seq < ?`}, []any{sqldb.OrAll(int(q.Before))}
	add := func(condition string, values ...any) {
		where, args = append(where, condition), append(args, values...)
	}
	if q.Who != "" {
		// People type a name in another case, or without accents; acts of several people have all names.
		all, err := s.AuditNames(ctx)
		var names []any
		for _, who := range all {
			if slices.ContainsFunc(strings.Split(who, trade.Together),
				func(one string) bool { return trade.Joined(one) == trade.Joined(q.Who) }) {
				names = append(names, who)
			}
		}
		if err != nil || len(names) == 0 {
			return trade.AuditPage{}, err
		}
		add(`who IN (?`+strings.Repeat(`, ?`, len(names)-1)+`)`, names...)
	}
	for _, act := range q.Not {
		add(`act <> ?`, act)
	}
	if q.Act != "" {
		add(`act = ?`, q.Act)
	}
	if q.Target != "" {
		add(s.db.D.Within+`(target, ?) > 0`, q.Target)
	}
	if !q.From.IsZero() {
		add(`at >= ?`, q.From.UnixMilli())
	}
	if !q.Until.IsZero() {
		add(`at < ?`, q.Until.UnixMilli())
	}
	var page trade.AuditPage
	if err := s.db.All(ctx, "reading a page of the audit", &page.Records,
		SelectAudit+`WHERE `+strings.Join(where, ` AND `)+` ORDER BY seq DESC LIMIT ?`,
		append(args, q.Limit+1)...); err != nil {
		return trade.AuditPage{}, err
	}
	if len(page.Records) > q.Limit {
		page.Records = page.Records[:q.Limit]
		page.Next = page.Records[q.Limit-1].Seq
	}
	return page, nil
}

// AuditNames returns who acted, alone or together with others, as the audit writes it, sorted. It steps
// from name to name, and does not read the acts.
func (s *Books) AuditNames(ctx context.Context) (all []string, err error) {
	err = s.db.All(ctx, "reading the names of the audit", &all,
		`WITH RECURSIVE n (who) AS (SELECT MIN(who) FROM audit UNION ALL
			SELECT (SELECT MIN(a.who) FROM audit a WHERE a.who > n.who) FROM n WHERE n.who IS NOT NULL)
		SELECT who FROM n WHERE who IS NOT NULL ORDER BY who`)
	return all, err
}

// ActsBetween calls fn for the audit records of some acts from one time on and before another, in
// order. A zero time is no limit.
func (s *Books) ActsBetween(ctx context.Context, acts []string, from, before time.Time,
	fn func(trade.AuditRecord) error,
) error {
	where, args := []string{`act IN (` + sqldb.Placeholders(len(acts)) + `)`}, sqldb.Anys(acts)
	if !from.IsZero() {
		where, args = append(where, `at >= ?`), append(args, from.UnixMilli())
	}
	if !before.IsZero() {
		where, args = append(where, `at < ?`), append(args, before.UnixMilli())
	}
	query := SelectAudit + `WHERE ` + strings.Join(where, " AND ") + ` AND seq > ? ORDER BY seq LIMIT ?`
	read := func(after int64) ([]trade.AuditRecord, error) {
		return sqldb.List[trade.AuditRecord](ctx, s.db, "reading the audit", query,
			append(slices.Clone(args), after, auditPage)...)
	}
	return sqldb.InPages(auditPage, read, func(r trade.AuditRecord) (int64, error) { return r.Seq, fn(r) })
}

// AuditOf returns at most limit acts on a target, the newest first.
func (s *Books) AuditOf(ctx context.Context, target string, limit int) ([]trade.AuditRecord, error) {
	return sqldb.List[trade.AuditRecord](ctx, s.db, "reading the acts on a row",
		SelectAudit+`WHERE target = ? ORDER BY seq DESC LIMIT ?`, target, sqldb.OrAll(limit))
}
