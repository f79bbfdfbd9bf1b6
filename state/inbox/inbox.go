package inbox

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/books"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// Box is the inbox of a ledger.
type Box struct{ db *sqldb.DB }

// New returns the inbox of a ledger that is open.
func New(db *sqldb.DB) *Box { return &Box{db} }

// againAfter is the time after which a repeated event is processed again: a notice without content
// means something else each time.
const againAfter = 10 * time.Minute

type inboxRow struct {
	trade.InboxEvent
	Coded bool
}

const selectInbox = `SELECT seq, hash, event, webhook_id AS webhook, body, coded, content_type, origin AS "from", first_at, last_at, times, next_at,
	outcome FROM inbox `

func (r *inboxRow) event() (trade.InboxEvent, error) {
	var err error
	if r.Coded {
		r.Body, err = base64.StdEncoding.DecodeString(string(r.Body))
	}
	if err != nil {
		err = phrase.Errorf("event %d of the inbox is damaged: %w", r.Seq, err)
	}
	return r.InboxEvent, err
}

// StoreEvents stores events as they came, in one transaction. A repeated event is counted, not
// stored a second time.
func (s *Box) StoreEvents(ctx context.Context, events []trade.InboxEvent) error {
	columns := []string{
		"hash", "event", "webhook_id", "body", "coded", "content_type", "origin", "first_at", "last_at",
		"times", "next_at", "outcome",
	}
	var rows [][]any
	at := map[string]int{}
	for _, e := range events {
		if i, again := at[e.Hash]; again { // one statement may change a row only once
			rows[i][8], rows[i][9] = e.LastAt.UnixMilli(), rows[i][9].(int)+e.Times
			continue
		}
		at[e.Hash] = len(rows)
		body, coded := string(e.Body), 0
		if !utf8.Valid(e.Body) || slices.Contains(e.Body, 0) { // PostgreSQL would refuse it
			body, coded = base64.StdEncoding.EncodeToString(e.Body), 1
		}
		rows = append(rows, []any{
			e.Hash, e.Event, e.Webhook, body, coded, sqldb.CleanText(e.ContentType), sqldb.CleanText(e.From),
			e.FirstAt.UnixMilli(), e.LastAt.UnixMilli(), e.Times, sqldb.Millis(e.NextAt), "",
		})
	}
	return s.db.InTx(ctx, "storing events", func(t *sqldb.Tx) error {
		return t.InsertRows("inbox", columns, rows, fmt.Sprintf(`ON CONFLICT (hash) DO UPDATE SET times = inbox.times + excluded.times,
			last_at = CASE WHEN excluded.last_at > inbox.last_at THEN excluded.last_at ELSE inbox.last_at END,
			next_at = CASE WHEN inbox.next_at IS NULL AND excluded.last_at > inbox.last_at + %d THEN excluded.last_at ELSE inbox.next_at END`, againAfter.Milliseconds()))
	})
}

// DueEvents returns events that are due for processing, the earliest first.
func (s *Box) DueEvents(ctx context.Context, now time.Time, limit int) ([]trade.InboxEvent, error) {
	return s.inbox(ctx, `WHERE next_at IS NOT NULL AND next_at <= ? ORDER BY next_at, seq LIMIT ?`,
		now.UnixMilli(), limit)
}

func (s *Box) inbox(ctx context.Context, where string, args ...any) ([]trade.InboxEvent, error) {
	return sqldb.Rows(ctx, s.db, "reading the inbox", (*inboxRow).event, selectInbox+where, args...)
}

// Inbox returns the events that match a filter, the newest first.
func (s *Box) Inbox(ctx context.Context, f trade.InboxFilter) ([]trade.InboxEvent, error) {
	where, args := []string{"1 = 1"}, []any{}
	add := func(condition string, more ...any) {
		where, args = append(where, condition), append(args, more...)
	}
	if f.Seqs != nil {
		add(s.db.D.Among("seq"), sqldb.ListOf(s.db.D, f.Seqs))
	}
	if f.Event != "" {
		add("event = ?", f.Event)
	}
	// an id
	if f.Text != "" && !strings.ContainsFunc(f.Text, func(r rune) bool { return r > unicode.MaxASCII }) {
		like := "%" + strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(strings.ToLower(f.Text)) + "%"
		add(`(coded = 1 OR LOWER(body) LIKE ? ESCAPE '\' OR `+s.db.D.Within+`(body, ?) > 0)`, like, `\`)
	}
	if !f.Since.IsZero() {
		add("last_at >= ?", f.Since.UnixMilli())
	}
	if f.Open {
		add("next_at IS NOT NULL")
	}
	if f.Before > 0 {
		add("(last_at, seq) < (SELECT last_at, seq FROM inbox WHERE seq = ?)", f.Before)
	}
	if f.Text == "" {
		return s.inbox(ctx, "WHERE "+strings.Join(where, " AND ")+" ORDER BY last_at DESC, seq DESC LIMIT ?",
			append(args, sqldb.OrAll(f.Limit))...)
	}
	// The database cannot decide for every body whether it has the text. Pages are read until
	// enough events match: a word that is in all of them must not load the whole inbox into memory.
	add("(last_at, seq) < (?, ?)", int64(math.MaxInt64), int64(math.MaxInt64))
	var found []trade.InboxEvent
	for {
		page, err := s.inbox(ctx, "WHERE "+strings.Join(where, " AND ")+" ORDER BY last_at DESC, seq DESC LIMIT ?",
			append(args, Page)...)
		if err != nil {
			return nil, err
		}
		if n := len(page); n > 0 {
			args[len(args)-2], args[len(args)-1] = page[n-1].LastAt.UnixMilli(), page[n-1].Seq
		}
		last := len(page) < Page
		for _, e := range page {
			if hasText(string(e.Body), strings.ToLower(f.Text)) {
				found = append(found, e)
			}
		}
		if most := sqldb.OrAll(f.Limit); last || int64(len(found)) >= most {
			return found[:min(most, int64(len(found)))], nil
		}
	}
}

// Page is how many events of a search are in memory at once; one event may have 1 MiB.
const Page = 100

// hasText reports whether a body contains a lower-case text: directly, in a string of its JSON, or
// in a string of JSON within such a string.
func hasText(body, text string) bool {
	if strings.Contains(strings.ToLower(body), text) {
		return true
	}
	var v any
	return strings.Contains(body, `\`) && json.Unmarshal([]byte(body), &v) == nil && valueHasText(v, text)
}

func valueHasText(v any, text string) bool {
	switch v := v.(type) {
	case string:
		return hasText(v, text)
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return valueHasText(item, text) })
	case map[string]any:
		for name, item := range v {
			if hasText(name, text) || valueHasText(item, text) {
				return true
			}
		}
	}
	return false
}

// EventsDone stores the outcome of processed events.
func (s *Box) EventsDone(ctx context.Context, events []trade.InboxEvent) error {
	if len(events) == 0 {
		return nil
	}
	return s.db.InTx(ctx, "recording what came of events", func(t *sqldb.Tx) error {
		for _, e := range events {
			if err := t.Do(`UPDATE inbox SET next_at = ?, outcome = ? WHERE seq = ?`, sqldb.Millis(e.NextAt),
				sqldb.SentenceText(e.Outcome), e.Seq); err != nil {
				return err
			}
		}
		return nil
	})
}

// ReplayEvents makes events due for processing again, by a person's order. It returns how many.
func (s *Box) ReplayEvents(ctx context.Context, seqs []int64, now time.Time,
	record trade.AuditRecord,
) (int, error) {
	return sqldb.Stored(ctx, s.db, "replaying events", func(t *sqldb.Tx) (int, error) {
		n, err := t.Changed(`UPDATE inbox SET next_at = ? WHERE `+t.S.D.Among("seq"), now.UnixMilli(),
			sqldb.ListOf(t.S.D, seqs))
		if err != nil {
			return 0, err
		}
		return n, books.AddAudit(t, record)
	})
}

// EventSilence returns since when events of the platform are expected, when the last one came, how
// many are waiting, and how many records the platform has confirmed since.
func (s *Box) EventSilence(ctx context.Context) (trade.EventSilence, error) {
	const op = "looking when the platform was heard last"
	var out trade.EventSilence
	err := s.db.Get(ctx, op, &out.Since,
		`SELECT MIN(settled_at) FROM webhook WHERE state = 'active' AND event IN ('CREATE_ORDER_COMMITMENT', 'UPDATE_ORDER_COMMITMENT', 'UPDATE_WORKFLOW_ORDER_COMMITMENT')`)
	if err == nil {
		// After retention has removed events, their reports remain: an empty inbox does not mean
		// that no event ever came.
		err = s.db.Get(ctx, op, &out.LastAt,
			`SELECT COALESCE((SELECT MAX(last_at) FROM inbox), (SELECT MAX(at) FROM heard))`)
	}
	if err == nil {
		err = s.db.Get(ctx, op, &out.Total, `SELECT COUNT(*) FROM inbox`)
	}
	if err == nil {
		err = s.db.Get(ctx, op, &out.Waiting, `SELECT COUNT(*) FROM inbox WHERE next_at IS NOT NULL`)
	}
	if err != nil || out.Since.IsZero() {
		return out, err
	}
	from := out.Since
	if out.LastAt.After(from) {
		from = out.LastAt
	}
	err = s.db.Get(ctx, op, &out.Made, `SELECT COUNT(*) FROM sent a JOIN entry e ON e.id = a.origin
		WHERE a.attempt >= ? AND a.attempt <> '' AND a.outcome = 'created' AND a.finished_at > ? AND e.sends = 'order_commitments'`,
		sqldb.IDsFrom(from.Add(-sqldb.IDSlack)), from.UnixMilli())
	return out, err
}

// errWebhookMoved is returned if another program is changing the registration of the same event.
var errWebhookMoved = errors.New(
	"another program changes the webhook of this event at the same time; run the command again")

// acceptRetired is how long calls to an address are accepted after another address has replaced it:
// the platform may have some in flight, and a change whose answer was lost may take effect late.
const acceptRetired = 30 * 24 * time.Hour

const selectWebhook = `SELECT id, event, address, path_hash, login_hash, hmac_mark, remote_id, state, asked_at, settled_at, retired_at FROM webhook `

// Webhooks returns our registrations whose calls are accepted, by event, the newest of each first:
// those that are in use, and those that may be.
func (s *Box) Webhooks(ctx context.Context, now time.Time) ([]trade.Webhook, error) {
	query := selectWebhook + `WHERE retired_at IS NULL OR retired_at > ? ORDER BY event, asked_at DESC, id DESC`
	return sqldb.List[trade.Webhook](ctx, s.db, "reading the webhooks", query, now.Add(-acceptRetired).UnixMilli())
}

// AskWebhook stores that a registration is about to be sent to the platform, with its audit record.
// It returns errWebhookMoved if another registration of the event is in flight.
func (s *Box) AskWebhook(ctx context.Context, w trade.Webhook, record trade.AuditRecord) error {
	return s.db.InTx(ctx, "recording a webhook", func(t *sqldb.Tx) error {
		done, err := books.ChangedBy(t, record, `INSERT INTO webhook (id, event, address, path_hash, login_hash, hmac_mark, remote_id, state, asked_at, settled_at, retired_at)
			VALUES (?, ?, ?, ?, ?, ?, '', 'asked', ?, NULL, NULL) ON CONFLICT DO NOTHING`, w.ID, w.Event, w.Address, w.PathHash, w.LoginHash, w.HMACMark, w.AskedAt.UnixMilli())
		if err == nil && !done {
			err = errWebhookMoved
		}
		return err
	})
}

// SettleWebhook stores the outcome of a registration, with its audit record. An active registration
// replaces the one before.
func (s *Box) SettleWebhook(ctx context.Context, w trade.Webhook, now time.Time, record trade.AuditRecord) error {
	return s.db.InTx(ctx, "recording a webhook", func(t *sqldb.Tx) error {
		if w.State == trade.WebhookActive {
			err := t.Do(
				`UPDATE webhook SET state = 'retired', retired_at = ? WHERE event = ? AND state = 'active' AND id <> ?`,
				now.UnixMilli(), w.Event, w.ID)
			if err != nil {
				return err
			}
		}
		err := t.Do(`UPDATE webhook SET state = ?, remote_id = ?, settled_at = ?, retired_at = ? WHERE id = ?`,
			string(w.State), w.RemoteID, sqldb.Millis(w.SettledAt), sqldb.Millis(w.RetiredAt), w.ID)
		if err != nil {
			return err
		}
		return books.AddAudit(t, record)
	})
}
