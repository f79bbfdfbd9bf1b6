package books

import (
	"context"
	"encoding/json"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

const selectApproval = `SELECT id, act, target, mark, plan, people, needs, version, until, outcome FROM approval `

// AskApproval stores an act until others agree to it, with its audit record. The same plan is
// stored once: then the existing approval is returned. It ends those that have lapsed. It returns
// trade.ErrTooMany if too many acts are waiting already.
func (s *Books) AskApproval(ctx context.Context, a trade.Approval,
	record trade.AuditRecord,
) (trade.Approval, error) {
	var out trade.Approval
	err := s.db.InTx(ctx, "asking for a consent", func(t *sqldb.Tx) error {
		var head sqldb.AuditHead // its lock serializes the requests
		if err := t.Get(&head, t.S.D.Locked(SelectAuditHead, "audit_head")); err != nil {
			return err
		}
		if err := lapseApprovals(t, record.At); err != nil {
			return err
		}
		var there []trade.Approval
		if err := t.All(&there, selectApproval+`WHERE act = ? AND target = ? AND mark = ? AND outcome = ''`, a.Act, a.Target,
			a.Mark); err != nil {
			return err
		}
		if len(there) > 0 {
			out = there[0]
			return nil
		}
		var n int
		if err := t.Get(&n, `SELECT COUNT(*) FROM approval WHERE outcome = ''`); err != nil {
			return err
		}
		if n >= trade.ApprovalsMost {
			return trade.ErrTooMany
		}
		people, err := json.Marshal(a.People)
		if err != nil {
			return err
		}
		out = a
		out.Version = 1
		if err := t.Get(&out.ID,
			`INSERT INTO approval (act, target, mark, plan, people, needs, until) VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id`,
			a.Act, a.Target, a.Mark, string(a.Plan), string(people), a.Needs, a.Until.UnixMilli()); err != nil {
			return err
		}
		return AddAudit(t, record)
	})
	return out, err
}

// LapseApprovals ends the acts that nobody agreed to in time, with an audit record for each, and removes
// those that ended long ago.
func (s *Books) LapseApprovals(ctx context.Context, now time.Time) error {
	return s.db.InTx(ctx, "ending what nobody agreed to", func(t *sqldb.Tx) error { return lapseApprovals(t, now) })
}

// approvalsKept is how long people can read what was decided; the audit has it longer.
const approvalsKept = 90 * 24 * time.Hour

// lapseApprovals ends the acts that nobody agreed to in time, and removes those that ended long ago.
func lapseApprovals(t *sqldb.Tx, now time.Time) error {
	if _, err := t.Changed(`DELETE FROM approval WHERE outcome <> '' AND until <= ?`,
		now.Add(-approvalsKept).UnixMilli()); err != nil {
		return err
	}
	var old []trade.Approval
	if err := t.All(&old, selectApproval+`WHERE until <= ? AND outcome = ''`, now.UnixMilli()); err != nil {
		return err
	}
	for _, r := range old {
		n, err := t.Changed(`UPDATE approval SET outcome = ?, version = version + 1 WHERE id = ? AND outcome = ''`,
			trade.ApprovalLapsed, r.ID)
		if err != nil {
			return err
		}
		if n == 0 { // another process was first
			continue
		}
		detail, err := json.Marshal(map[string]any{"approval": r.ID, "act": r.Act, "why": trade.Say("audit.lapsed")})
		if err != nil {
			return err
		}
		if err := AddAudit(t, trade.AuditRecord{
			At: now, Who: ProgramName, From: "-", Act: "approval lapsed", Target: r.Target, Detail: string(detail),
		}); err != nil {
			return err
		}
	}
	return nil
}

// Approvals returns the acts that wait for consent at a given time, the oldest first.
func (s *Books) Approvals(ctx context.Context, now time.Time) ([]trade.Approval, error) {
	return sqldb.List[trade.Approval](ctx, s.db, "reading what waits for a consent",
		selectApproval+`WHERE until > ? AND outcome = '' ORDER BY id`, now.UnixMilli())
}

// Decided returns the last acts that wait for consent no more, the newest first.
func (s *Books) Decided(ctx context.Context, most int) ([]trade.Approval, error) {
	return sqldb.List[trade.Approval](ctx, s.db, "reading what was decided",
		selectApproval+`WHERE outcome <> '' ORDER BY id DESC LIMIT ?`, most)
}

// Approval returns one act that waits for consent, or did. It returns
// sqldb.ErrNotFound if the id is unknown.
func (s *Books) Approval(ctx context.Context, id int64) (trade.Approval, error) {
	var a trade.Approval
	missing := phrase.Errorf("approval %d: %w", id, sqldb.ErrNotFound)
	err := s.db.GetOr(ctx, "reading what waits for a consent", missing, &a, selectApproval+`WHERE id = ?`, id)
	return a, err
}

// AccountChanges returns the acts since then that let somebody act as a user of the console, the
// oldest first: who added the user, enabled it, or changed its password, role or login.
func (s *Books) AccountChanges(ctx context.Context, since time.Time) ([]trade.AuditRecord, error) {
	return sqldb.List[trade.AuditRecord](ctx, s.db, "reading who changed accounts", SelectAudit+
		`WHERE act IN ('user add', 'user enable', 'user password', 'user role', 'user link') AND at >= ? ORDER BY seq`,
		since.UnixMilli())
}

// Agree stores who agrees to an act and how many have to, and its outcome, with the audit record. done is false
// if the approval waits no more, or has changed since it was read: of two people who agree at the same time,
// only one does the act.
func (s *Books) Agree(ctx context.Context, a trade.Approval, record trade.AuditRecord) (done bool, err error) {
	people, err := json.Marshal(a.People)
	if err != nil {
		return false, err
	}
	return sqldb.Stored(ctx, s.db, "deciding about an act", func(t *sqldb.Tx) (bool, error) {
		return ChangedBy(t, record, `UPDATE approval SET people = ?, needs = ?, outcome = ?, version = version + 1 `+
			`WHERE id = ? AND version = ? AND outcome IN ('', 'given')`, string(people), a.Needs, a.Outcome, a.ID, a.Version)
	})
}
