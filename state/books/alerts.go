package books

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// Alerts returns the open alerts, by topic and subject.
func (s *Books) Alerts(ctx context.Context) ([]trade.Alert, error) {
	return sqldb.List[trade.Alert](ctx, s.db, "reading the alerts",
		selectAlert+` WHERE closed_at IS NULL ORDER BY topic, subject`)
}

const selectAlert = `SELECT id, topic, subject, detail, since, seen_at, raised_at, gone_at, closed_at, version FROM alert`

// LatestAlerts returns the open alerts, then the latest of the others, the newest first.
func (s *Books) LatestAlerts(ctx context.Context, limit int) ([]trade.Alert, error) {
	return sqldb.List[trade.Alert](ctx, s.db, "reading the latest alerts",
		selectAlert+` ORDER BY closed_at IS NOT NULL, id DESC LIMIT ?`, limit)
}

// SaveAlert stores a new alert (Version 0), or the new state of one that was read, and the messages
// about it, in one transaction. saved is false if another process was first: then nothing was
// stored. Messages of the alert that were not delivered yet are superseded by the new ones.
func (s *Books) SaveAlert(ctx context.Context, a trade.Alert, messages []trade.AlertMessage) (saved bool, err error) {
	return sqldb.Stored(ctx, s.db, "recording an alert", func(t *sqldb.Tx) (saved bool, err error) {
		id, n := a.ID, 0
		if a.Version == 0 {
			id = sqldb.NewID()
			n, err = t.Changed(`INSERT INTO alert (id, topic, subject, detail, since, seen_at, raised_at, gone_at, closed_at, version)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1) ON CONFLICT DO NOTHING`,
				id, a.Topic, a.Subject, detailOf(a), sqldb.Millis(a.Since), a.SeenAt.UnixMilli(),
				sqldb.Millis(a.RaisedAt), sqldb.Millis(a.GoneAt), sqldb.Millis(a.ClosedAt))
		} else {
			n, err = t.Changed(
				`UPDATE alert SET detail = ?, since = ?, raised_at = ?, gone_at = ?, closed_at = ?, version = version + 1 WHERE id = ? AND version = ?`,
				detailOf(a), sqldb.Millis(a.Since), sqldb.Millis(a.RaisedAt), sqldb.Millis(a.GoneAt),
				sqldb.Millis(a.ClosedAt), id, a.Version)
		}
		if err != nil || n == 0 || len(messages) == 0 {
			return n > 0, err
		}
		if err := t.Do(
			`UPDATE alert_message SET done_at = ?, outcome = 'superseded' WHERE alert_id = ? AND done_at IS NULL`,
			messages[0].CreatedAt.UnixMilli(), id); err != nil {
			return false, err
		}
		return true, addMessages(t, id, messages)
	})
}

func detailOf(a trade.Alert) string {
	if len(a.Detail) == 0 {
		return "{}"
	}
	return string(a.Detail)
}

// digestTask is the name under which the end of the last digest is recorded.
const digestTask = "digested until"

// DigestedUntil returns the end of the last digest, or the zero time if there was none.
func (s *Books) DigestedUntil(ctx context.Context) (until time.Time, err error) {
	err = s.db.GetOr(ctx, "reading how far the last digest went", nil, &until, `SELECT ran_at FROM task WHERE name = ?`,
		digestTask)
	return until, err
}

// SaveDigest stores the messages of the digest that begins where the last one ended. saved is false
// if the last one no longer ended at from: another process was first.
func (s *Books) SaveDigest(ctx context.Context, from, until time.Time,
	messages []trade.AlertMessage,
) (saved bool, err error) {
	return sqldb.Stored(ctx, s.db, "recording a digest", func(t *sqldb.Tx) (bool, error) {
		n, err := t.Changed(sqldb.PutTask+` WHERE task.ran_at = ?`, digestTask, until.UnixMilli(), sqldb.Millis(from))
		if err != nil || n == 0 {
			return false, err
		}
		return true, addMessages(t, "", messages)
	})
}

// PruneAlerts removes alerts that were closed, and messages that were completed, before a time.
func (s *Books) PruneAlerts(ctx context.Context, before time.Time) error {
	var old int
	err := s.db.Get(ctx, "looking for old alerts", &old,
		`SELECT (SELECT COUNT(*) FROM alert WHERE closed_at < ?) + (SELECT COUNT(*) FROM alert_message WHERE done_at < ?)`,
		before.UnixMilli(), before.UnixMilli())
	if err != nil || old == 0 {
		return err
	}
	return s.db.InTx(ctx, "removing old alerts", func(t *sqldb.Tx) error {
		return errors.Join(
			t.Do(`DELETE FROM alert_message WHERE done_at < ?`, before.UnixMilli()),
			t.Do(`DELETE FROM alert WHERE closed_at < ?`, before.UnixMilli()),
		)
	})
}

// OwnCause stores who takes care of a cause, with the audit record, in place of who did before.
// Without an owner nobody does any more.
func (s *Books) OwnCause(ctx context.Context, o trade.CauseOwner, record trade.AuditRecord) error {
	rows, err := json.Marshal(o.Rows)
	if err != nil {
		return err
	}
	return s.db.InTx(ctx, "taking a cause", func(t *sqldb.Tx) error {
		if err := AddAudit(t, record); err != nil { // its lock lets one at a time
			return err
		}
		if err := t.Do(`DELETE FROM cause_owner WHERE key = ?`, sqldb.CleanText(o.Key)); err != nil || o.Owner == "" {
			return err
		}
		return t.Do(
			`INSERT INTO cause_owner (key, cause, owner, note, until, row_counts, who, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
			sqldb.CleanText(o.Key), sqldb.CleanText(o.Cause), sqldb.CleanText(o.Owner), sqldb.CleanText(o.Note),
			sqldb.Millis(o.Until), string(rows), sqldb.CleanText(record.Who), record.At.UnixMilli())
	})
}

// CauseOwners returns who takes care of causes, by their keys. A cause may have ended since.
func (s *Books) CauseOwners(ctx context.Context) (map[string]trade.CauseOwner, error) {
	rows, err := sqldb.List[trade.CauseOwner](ctx, s.db, "reading who takes care of causes",
		`SELECT key, cause, owner, note, until, row_counts AS rows, who, at FROM cause_owner ORDER BY key`)
	out := map[string]trade.CauseOwner{}
	for _, o := range rows {
		out[o.Key] = o
	}
	return out, err
}

// LowerCause stores that a cause of which somebody takes care has fewer rows now, so that it is told
// again when it grows; without a row, people are reminded of it again. It does nothing if somebody
// else took the cause meanwhile.
func (s *Books) LowerCause(ctx context.Context, o trade.CauseOwner) error {
	rows, err := json.Marshal(o.Rows)
	if err != nil {
		return err
	}
	return s.db.Do(ctx, "counting a cause", `UPDATE cause_owner SET row_counts = ?, until = ? WHERE key = ? AND at = ?`,
		string(rows), sqldb.Millis(o.Until), o.Key, o.At.UnixMilli())
}

// addMessages stores messages of an alert, each with a new id.
func addMessages(t *sqldb.Tx, alertID string, messages []trade.AlertMessage) error {
	rows := trade.Map(messages, func(m trade.AlertMessage) []any {
		return []any{
			sqldb.NewID(), alertID, m.Kind, m.Target, string(m.Content), m.CreatedAt.UnixMilli(), 0,
			sqldb.AtOr(m.NextAt, m.CreatedAt), "", "",
		}
	})
	return t.InsertRows("alert_message",
		[]string{
			"id", "alert_id", "kind", "target", "content", "created_at", "attempts", "next_at", "outcome",
			"fault",
		}, rows, "")
}

// messageRests is longer than any pause between two tries of a message. A next try further in the
// future was planned by a clock that has been set back since (F078).
const messageRests = 2 * time.Hour

// DueMessages returns the messages that are due for delivery, in the order of their creation. Those
// planned further ahead than messageRests are due too.
func (s *Books) DueMessages(ctx context.Context, now time.Time, limit int) ([]trade.AlertMessage, error) {
	query := selectMessage + ` WHERE done_at IS NULL AND (next_at <= ? OR next_at > ?) ORDER BY created_at, id LIMIT ?`
	return sqldb.List[trade.AlertMessage](ctx, s.db, "reading messages", query, now.UnixMilli(),
		now.Add(messageRests).UnixMilli(), limit)
}

const selectMessage = `SELECT id, alert_id, kind, target, content, created_at, attempts, next_at, done_at, outcome, fault FROM alert_message`

// LatestMessages returns the latest messages, delivered or not, the newest first.
func (s *Books) LatestMessages(ctx context.Context, limit int) ([]trade.AlertMessage, error) {
	return sqldb.List[trade.AlertMessage](ctx, s.db, "reading the latest messages",
		selectMessage+` ORDER BY id DESC LIMIT ?`, limit)
}

// ClaimMessage claims a message for delivery, so that no other process tries it until then. claimed
// is false if another process was first, or the message is completed. After a crash the message is
// due again at that time.
func (s *Books) ClaimMessage(ctx context.Context, m trade.AlertMessage, until time.Time) (claimed bool, err error) {
	return sqldb.Stored(ctx, s.db, "claiming a message", func(t *sqldb.Tx) (bool, error) {
		n, err := t.Changed(
			`UPDATE alert_message SET attempts = attempts + 1, next_at = ? WHERE id = ? AND attempts = ? AND done_at IS NULL`,
			until.UnixMilli(), m.ID, m.Attempts)
		return n == 1, err
	})
}

// SettleMessage stores the result of a delivery: Outcome and DoneAt if it is completed, otherwise
// NextAt; and Fault in both cases.
func (s *Books) SettleMessage(ctx context.Context, m trade.AlertMessage) error {
	return s.db.InTx(ctx, "recording a delivery", func(t *sqldb.Tx) error {
		if m.Outcome != "" {
			return t.Do(`UPDATE alert_message SET done_at = ?, outcome = ?, fault = ? WHERE id = ?`,
				m.DoneAt.UnixMilli(), m.Outcome, sqldb.CleanText(m.Fault), m.ID)
		}
		return t.Do(`UPDATE alert_message SET next_at = ?, fault = ? WHERE id = ? AND done_at IS NULL`,
			m.NextAt.UnixMilli(), sqldb.CleanText(m.Fault), m.ID)
	})
}

// ReaddressMessage completes a message whose address is no longer configured, and creates a copy
// for each configured address that has none: somebody who corrects a wrong address receives the
// messages that waited for it.
func (s *Books) ReaddressMessage(ctx context.Context, m trade.AlertMessage, targets []string) error {
	return s.db.InTx(ctx, "readdressing a message", func(t *sqldb.Tx) error {
		n, err := t.Changed(
			`UPDATE alert_message SET done_at = ?, outcome = ?, fault = ? WHERE id = ? AND done_at IS NULL`,
			m.DoneAt.UnixMilli(), m.Outcome, sqldb.CleanText(m.Fault), m.ID)
		if err != nil || n == 0 {
			return err
		}
		var had []string
		if err := t.All(&had, `SELECT target FROM alert_message WHERE alert_id = ? AND kind = ? AND created_at = ?`,
			m.AlertID, m.Kind, m.CreatedAt.UnixMilli()); err != nil {
			return err
		}
		var copies []trade.AlertMessage
		for _, target := range targets {
			if !slices.Contains(had, target) {
				copies = append(copies, trade.AlertMessage{
					Kind: m.Kind, Target: target, Content: m.Content,
					CreatedAt: m.CreatedAt,
				})
			}
		}
		return addMessages(t, m.AlertID, copies)
	})
}

// Backlog returns the number and the age of the messages that are still to be delivered.
func (s *Books) Backlog(ctx context.Context) (out trade.Backlog, err error) {
	err = s.db.Get(ctx, "counting messages", &out,
		`SELECT COUNT(*) AS messages, MIN(created_at) AS oldest, COALESCE(SUM(CASE WHEN fault <> '' THEN 1 ELSE 0 END), 0) AS failing
		FROM alert_message WHERE done_at IS NULL`)
	return out, err
}
