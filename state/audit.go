package state

import (
	"context"
	"time"

	"github.com/safrasync/safrasync/trade"
)

type auditRow struct {
	Seq    int64  `db:"seq"`
	At     int64  `db:"at"`
	Who    string `db:"who"`
	Origin string `db:"origin"`
	Act    string `db:"act"`
	Target string `db:"target"`
	Reason string `db:"reason"`
	Detail string `db:"detail"`
}

// addAudit adds a record in the transaction of the act itself, and gives its number.
func addAudit(t *tx, a trade.AuditRecord) (seq int64, err error) {
	err = t.get(&seq, `INSERT INTO audit (at, who, origin, act, target, reason, detail) VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING seq`,
		atOr(a.At, time.Time{}), a.Who, a.From, a.Act, a.Target, a.Reason, a.Detail)
	return seq, err
}

// AppendAudit adds one record of its own: an act outside the ledger, of which the ledger is only the witness. Acts that change the ledger write
// theirs in their own transaction. When it returns without an error, the record is on disk.
func (s *Store) AppendAudit(ctx context.Context, record trade.AuditRecord) error {
	return s.inTx(ctx, "writing the audit", func(t *tx) error {
		_, err := addAudit(t, record)
		return err
	})
}

// Audit gives the latest acts, newest first; all with a limit of 0.
func (s *Store) Audit(ctx context.Context, limit int) ([]trade.AuditRecord, error) {
	var rows []auditRow
	query := `SELECT seq, at, who, origin, act, target, reason, detail FROM audit ORDER BY seq DESC LIMIT ?`
	if err := s.read.SelectContext(ctx, &rows, s.q(query), orAll(limit)); err != nil {
		return nil, s.fault(ctx, "reading the audit", err)
	}
	out := make([]trade.AuditRecord, len(rows))
	for i, r := range rows {
		out[i] = trade.AuditRecord{
			Seq: r.Seq, At: time.UnixMilli(r.At).UTC(), Who: r.Who, From: r.Origin, Act: r.Act, Target: r.Target, Reason: r.Reason, Detail: r.Detail,
		}
	}
	return out, nil
}

// orAll makes a limit of SQL: 0 and less mean all.
func orAll(limit int) int64 {
	if limit <= 0 {
		return 1<<63 - 1
	}
	return int64(limit)
}
