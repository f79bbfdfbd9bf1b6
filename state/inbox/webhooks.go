package inbox

import (
	"context"
	"errors"
	"time"

	"github.com/safrasync/safrasync/state/books"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

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
