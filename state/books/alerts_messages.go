package books

import (
	"context"
	"slices"
	"time"

	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

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
