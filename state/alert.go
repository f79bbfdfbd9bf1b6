package state

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/safrasync/safrasync/trade"
)

type alertRow struct {
	ID       string        `db:"id"`
	Topic    string        `db:"topic"`
	Subject  string        `db:"subject"`
	Detail   string        `db:"detail"`
	Since    sql.NullInt64 `db:"since"`
	SeenAt   int64         `db:"seen_at"`
	RaisedAt sql.NullInt64 `db:"raised_at"`
	GoneAt   sql.NullInt64 `db:"gone_at"`
	ClosedAt sql.NullInt64 `db:"closed_at"`
	Version  int64         `db:"version"`
}

func (r alertRow) alert() trade.Alert {
	return trade.Alert{
		ID: r.ID, Topic: r.Topic, Subject: r.Subject, Detail: json.RawMessage(r.Detail), Since: instant(r.Since), SeenAt: time.UnixMilli(r.SeenAt).UTC(),
		RaisedAt: instant(r.RaisedAt), GoneAt: instant(r.GoneAt), ClosedAt: instant(r.ClosedAt), Version: r.Version,
	}
}

// Alerts gives the open alerts, by topic and subject.
func (s *Store) Alerts(ctx context.Context) ([]trade.Alert, error) {
	var rows []alertRow
	query := `SELECT id, topic, subject, detail, since, seen_at, raised_at, gone_at, closed_at, version FROM alert WHERE closed_at IS NULL ORDER BY topic, subject`
	if err := s.read.SelectContext(ctx, &rows, query); err != nil {
		return nil, s.fault(ctx, "reading the alerts", err)
	}
	out := make([]trade.Alert, len(rows))
	for i, r := range rows {
		out[i] = r.alert()
	}
	return out, nil
}

// SaveAlert stores a new alert (Version 0), or what became of one that was read, and the messages that this calls for, in one transaction. saved is false when another
// process was first: then nothing was stored. A message of an alert that was not delivered yet is superseded by the alert's next ones.
func (s *Store) SaveAlert(ctx context.Context, a trade.Alert, messages []trade.AlertMessage) (saved bool, err error) {
	err = s.inTx(ctx, "recording an alert", func(t *tx) error {
		saved = false
		id := a.ID
		n := 0
		var err error
		if a.Version == 0 {
			id = newID()
			n, err = t.changed(`INSERT INTO alert (id, topic, subject, detail, since, seen_at, raised_at, gone_at, closed_at, version)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1) ON CONFLICT DO NOTHING`,
				id, a.Topic, a.Subject, detailOf(a), millis(a.Since), a.SeenAt.UnixMilli(), millis(a.RaisedAt), millis(a.GoneAt), millis(a.ClosedAt))
		} else {
			n, err = t.changed(`UPDATE alert SET detail = ?, since = ?, raised_at = ?, gone_at = ?, closed_at = ?, version = version + 1 WHERE id = ? AND version = ?`,
				detailOf(a), millis(a.Since), millis(a.RaisedAt), millis(a.GoneAt), millis(a.ClosedAt), id, a.Version)
		}
		if err != nil || n == 0 {
			return err
		}
		saved = true
		if len(messages) == 0 {
			return nil
		}
		if err := t.exec(`UPDATE alert_message SET done_at = ?, outcome = 'superseded' WHERE alert_id = ? AND done_at IS NULL`, messages[0].CreatedAt.UnixMilli(), id); err != nil {
			return err
		}
		return t.addMessages(id, messages)
	})
	return saved && err == nil, err
}

func detailOf(a trade.Alert) string {
	if len(a.Detail) == 0 {
		return "{}"
	}
	return string(a.Detail)
}

// DigestedUntil tells how far the last digest went; zero when there was none.
func (s *Store) DigestedUntil(ctx context.Context) (time.Time, error) {
	var until sql.NullInt64
	err := s.read.GetContext(ctx, &until, `SELECT until FROM digest`)
	return instant(until), s.fault(ctx, "reading how far the last digest went", err)
}

// SaveDigest stores the messages of the digest that begins where the last one ended. saved is false when that was not at from any more: another process was first.
func (s *Store) SaveDigest(ctx context.Context, from, until time.Time, messages []trade.AlertMessage) (saved bool, err error) {
	err = s.inTx(ctx, "recording a digest", func(t *tx) error {
		saved = false
		was := millis(from)
		n, err := t.changed(`UPDATE digest SET until = ? WHERE COALESCE(until, -1) = ?`, until.UnixMilli(), coalesce(was, -1))
		if err != nil || n == 0 {
			return err
		}
		saved = true
		return t.addMessages("", messages)
	})
	return saved && err == nil, err
}

func coalesce(n sql.NullInt64, otherwise int64) int64 {
	if n.Valid {
		return n.Int64
	}
	return otherwise
}

// PruneAlerts removes alerts that were closed, and messages that were done with, before a time.
func (s *Store) PruneAlerts(ctx context.Context, before time.Time) error {
	var old int
	err := s.read.GetContext(ctx, &old, s.q(`SELECT (SELECT COUNT(*) FROM alert WHERE closed_at < ?) + (SELECT COUNT(*) FROM alert_message WHERE done_at < ?)`),
		before.UnixMilli(), before.UnixMilli())
	if err != nil || old == 0 {
		return s.fault(ctx, "looking for old alerts", err)
	}
	return s.inTx(ctx, "removing old alerts", func(t *tx) error {
		return errors.Join(
			t.exec(`DELETE FROM alert_message WHERE done_at < ?`, before.UnixMilli()),
			t.exec(`DELETE FROM alert WHERE closed_at < ?`, before.UnixMilli()),
		)
	})
}
