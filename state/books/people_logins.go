package books

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

type loginRow struct {
	trade.User
	trade.Login
}

const selectLogin = `SELECT ` + personColumns +
	`, l.hash, l.began_at, l.seen_at, l.proved_at, l.origin AS "from" FROM login l JOIN person p ON p.id = l.person_id WHERE l.kind = 'session' AND p.disabled = 0`

func (r *loginRow) login() (trade.Login, error) {
	r.User.Password = ""
	r.Login.User = r.User
	return r.Login, nil
}

// AllLogins returns who is logged in, the last used login first.
func (s *Books) AllLogins(ctx context.Context) ([]trade.Login, error) {
	return sqldb.Rows(ctx, s.db, "reading who is logged in", (*loginRow).login, selectLogin+` ORDER BY l.seen_at DESC, l.hash`)
}

// Login returns the user who is logged in with a browser, or trade.ErrNobody. A disabled user is
// not logged in.
func (s *Books) Login(ctx context.Context, hash string) (trade.Login, error) {
	var row loginRow
	err := s.db.GetOr(ctx, "reading who is logged in", phrase.Errorf("login: %w", trade.ErrNobody), &row,
		selectLogin+` AND l.hash = ?`, hash)
	if err != nil {
		return trade.Login{}, err
	}
	return row.login()
}

// LogIn stores that a user has logged in with a browser, with the audit record. It ends the login
// replaces ("" = none). device is the hash by which the browser is recognized from now on ("" = not
// at all). Failed tries in buckets are removed. It returns trade.ErrNobody if the user has changed
// since it was read.
func (s *Books) LogIn(ctx context.Context, l trade.Login, replaces, device string, buckets []string,
	record trade.AuditRecord,
) error {
	return s.db.InTx(ctx, "logging in", func(t *sqldb.Tx) error {
		var version int64
		err := t.Get(&version, t.S.D.Locked(`SELECT version FROM person WHERE id = ? AND disabled = 0`, "person"),
			l.User.ID)
		if errors.Is(err, sql.ErrNoRows) || err == nil && version != l.User.Version {
			return phrase.Errorf("user %s: %w", l.User.Name, trade.ErrNobody)
		}
		if err != nil {
			return err
		}
		if err := t.Do(`DELETE FROM login WHERE kind = 'session' AND hash = ?`, replaces); err != nil {
			return err
		}
		if err := t.Do(
			`INSERT INTO login (kind, hash, person_id, began_at, seen_at, proved_at, origin) VALUES ('session', ?, ?, ?, ?, ?, ?)`,
			l.Hash, l.User.ID, l.BeganAt.UnixMilli(), l.SeenAt.UnixMilli(), l.ProvedAt.UnixMilli(),
			l.From); err != nil {
			return err
		}
		if device != "" {
			if err := t.Do(
				`INSERT INTO login (kind, hash, person_id, seen_at) VALUES ('device', ?, ?, ?) ON CONFLICT (kind, hash) DO UPDATE SET person_id = excluded.person_id, seen_at = excluded.seen_at`,
				device, l.User.ID, l.SeenAt.UnixMilli()); err != nil {
				return err
			}
		}
		own := 0 // tries of this name; those of other names from the same address stay
		for _, bucket := range buckets {
			if strings.HasPrefix(bucket, "name:") {
				err := t.Get(&own, `SELECT COALESCE(SUM(failures), 0) FROM login WHERE kind = 'tries' AND hash = ?`, bucket)
				if err != nil {
					return err
				}
			}
			query, args := `DELETE FROM login WHERE kind = 'tries' AND hash = ?`, []any{bucket}
			if strings.HasPrefix(bucket, "address:") {
				// without any left there is nobody to wait, whatever the clock said at the last one
				if err := t.Do(query+` AND failures <= ?`, bucket, own); err != nil {
					return err
				}
				query, args = `UPDATE login SET failures = failures - ? WHERE kind = 'tries' AND hash = ?`, []any{own, bucket}
			}
			if err := t.Do(query, args...); err != nil {
				return err
			}
		}
		return AddAudit(t, record)
	})
}

// LoginSeen stores when a login was last used.
func (s *Books) LoginSeen(ctx context.Context, hash string, at time.Time) error {
	return s.db.Do(ctx, "noting that somebody is still there",
		`UPDATE login SET seen_at = ? WHERE kind = 'session' AND hash = ? AND seen_at < ?`, at.UnixMilli(), hash,
		at.UnixMilli())
}

// LogOut ends a login, with the audit record. It is no error if the login has already ended.
func (s *Books) LogOut(ctx context.Context, hash string, record trade.AuditRecord) error {
	return s.db.InTx(ctx, "logging out", func(t *sqldb.Tx) error {
		_, err := ChangedBy(t, record, `DELETE FROM login WHERE kind = 'session' AND hash = ?`, hash)
		return err
	})
}

// KnownDevice reports whether a user, or any user if user is 0, has logged in with this browser
// since a time.
func (s *Books) KnownDevice(ctx context.Context, hash string, user int64, since time.Time) (bool, error) {
	var n int
	err := s.db.Get(ctx, "looking for a browser", &n,
		`SELECT COUNT(*) FROM login WHERE kind = 'device' AND hash = ? AND (person_id = ? OR ? = 0) AND seen_at >= ?`, hash, user,
		user, since.UnixMilli())
	return n > 0, err
}

// Try counts one try to log in in each bucket, before its result is known, so that concurrent tries
// all count; a successful LogIn removes them. next returns the new value of a bucket. allowed is
// false if a bucket is still blocked: then nothing is counted, and until is the end of the block.
func (s *Books) Try(ctx context.Context, buckets []string, now time.Time,
	next func(trade.Tries) trade.Tries,
) (allowed bool, until time.Time, err error) {
	err = s.db.InTx(ctx, "counting a try to log in", func(t *sqldb.Tx) error {
		allowed, until = true, time.Time{}
		var changed []trade.Tries
		for _, bucket := range buckets {
			have := trade.Tries{Bucket: bucket, At: time.UnixMilli(0).UTC(), Until: time.UnixMilli(0).UTC()}
			err := t.Get(&have, t.S.D.Locked(`SELECT hash AS bucket, failures, seen_at AS at, until FROM login WHERE kind = 'tries' AND hash = ?`,
				"login"), bucket)
			if err != nil && !errors.Is(err, sql.ErrNoRows) {
				return err
			}
			if have.Until.After(now) {
				allowed = false
				if have.Until.After(until) {
					until = have.Until
				}
			}
			changed = append(changed, next(have))
		}
		if !allowed {
			return nil
		}
		for _, c := range changed {
			if err := t.Do(`INSERT INTO login (kind, hash, failures, seen_at, until) VALUES ('tries', ?, ?, ?, ?) ON CONFLICT (kind, hash)
				DO UPDATE SET failures = excluded.failures, seen_at = excluded.seen_at, until = excluded.until`,
				c.Bucket, c.Failures, c.At.UnixMilli(), c.Until.UnixMilli()); err != nil {
				return err
			}
		}
		return nil
	})
	return allowed && err == nil, until, err
}

// Blocked returns until when the longest blocked of the buckets is blocked, or was. It counts
// nothing.
func (s *Books) Blocked(ctx context.Context, buckets []string) (until time.Time, err error) {
	for _, bucket := range buckets {
		var at int64
		if err := s.db.Get(ctx, "looking for tries to log in", &at,
			`SELECT COALESCE(MAX(until), 0) FROM login WHERE kind = 'tries' AND hash = ?`, bucket); err != nil {
			return until, err
		}
		if block := time.UnixMilli(at).UTC(); block.After(until) {
			until = block
		}
	}
	return until, nil
}

// PruneLogins removes logins that began, or were last used, before given times, tries from before a
// time, and browsers that were not used since a time.
func (s *Books) PruneLogins(ctx context.Context, began, seen, tried, device time.Time) error {
	const over = `FROM login WHERE kind = 'session' AND (began_at < ? OR seen_at < ?) OR kind = 'tries' AND seen_at < ?
		OR kind = 'device' AND seen_at < ?`
	limits := []any{began.UnixMilli(), seen.UnixMilli(), tried.UnixMilli(), device.UnixMilli()}
	var old int
	if err := s.db.Get(ctx, "looking for logins that are over", &old, `SELECT COUNT(*) `+over, limits...); err != nil || old == 0 {
		return err
	}
	return s.db.Do(ctx, "removing logins that are over", `DELETE `+over, limits...)
}
