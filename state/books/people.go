package books

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

const personColumns = `p.id, p.name, p.role, p.password, (p.disabled = 1) AS disabled, (p.first_password = 1) AS first_password, p.created_at, p.password_at, p.version, p.issuer, p.subject`

// Users returns all users by name.
func (s *Books) Users(ctx context.Context) ([]trade.User, error) {
	users, err := sqldb.List[trade.User](ctx, s.db, "reading the users",
		`SELECT `+personColumns+` FROM person p ORDER BY p.name`)
	if err != nil {
		return nil, err
	}
	var logins []struct {
		Who  string
		Last int64
	}
	if err := s.db.All(ctx, "reading the last logins", &logins,
		`SELECT p.name AS "who", COALESCE((SELECT a.at FROM audit a WHERE a.who = p.name AND a.act = 'login' ORDER BY a.seq DESC LIMIT 1), 0) AS "last" FROM person p`); err != nil {
		return nil, err
	}
	for _, l := range logins {
		for i := range users {
			if users[i].Name == l.Who && l.Last > 0 {
				users[i].LastLogin = time.UnixMilli(l.Last).UTC()
			}
		}
	}
	return users, nil
}

// User returns one user by name, or trade.ErrNobody.
func (s *Books) User(ctx context.Context, name string) (trade.User, error) {
	var user trade.User
	err := s.db.GetOr(ctx, "reading a user", phrase.Errorf("user %s: %w", name, trade.ErrNobody), &user,
		`SELECT `+personColumns+` FROM person p WHERE p.name = ?`, name)
	return user, err
}

// UserFrom returns the user with this subject at this issuer, or trade.ErrNobody.
func (s *Books) UserFrom(ctx context.Context, issuer, subject string) (trade.User, error) {
	var user trade.User
	err := s.db.GetOr(ctx, "reading a user", phrase.Errorf("user of %s: %w", issuer, trade.ErrNobody), &user,
		`SELECT `+personColumns+` FROM person p WHERE p.issuer = ? AND p.issuer <> '' AND p.subject = ?`, issuer,
		subject)
	return user, err
}

// AddUser adds a user, with the audit record. It returns trade.ErrNameTaken if another user has the
// name or the subject.
func (s *Books) AddUser(ctx context.Context, u trade.User, record trade.AuditRecord) error {
	return s.db.InTx(ctx, "adding a user", func(t *sqldb.Tx) error {
		at := record.At.UnixMilli()
		done, err := ChangedBy(t, record,
			`INSERT INTO person (name, role, password, disabled, first_password, created_at, password_at, version, issuer, subject) VALUES (?, ?, ?, 0, ?, ?, ?, 1, ?, ?) ON CONFLICT DO NOTHING`,
			u.Name, string(u.Role), u.Password, bit(u.FirstPassword), at, at, u.Issuer, u.Subject)
		if err == nil && !done {
			err = trade.ErrNameTaken
		}
		return err
	})
}

// ChangeUser stores a user's role, password, issuer, subject and whether it is disabled, with the
// audit record, and ends the user's logins. done is false if the user was changed since it was
// read; then nothing was stored. It returns trade.ErrLastAdministrator if no administrator with a
// password in this ledger would be left: an administrator from an issuer cannot log in while the
// issuer is down, and loses the role if the issuer assigns another. It returns trade.ErrNameTaken if
// another user has the issuer's subject.
func (s *Books) ChangeUser(ctx context.Context, u trade.User, record trade.AuditRecord) (done bool, err error) {
	return sqldb.Stored(ctx, s.db, "changing a user", func(t *sqldb.Tx) (bool, error) {
		// All administrators are locked, so that two of them cannot disable each other at the same
		// time.
		var administrators []int64
		if err := t.All(&administrators,
			t.S.D.Locked(
				`SELECT id FROM person WHERE role = 'administrator' AND disabled = 0 AND issuer = '' ORDER BY id`,
				"person")); err != nil {
			return false, err
		}
		if len(administrators) == 1 && administrators[0] == u.ID &&
			(u.Disabled || u.Role != trade.Administrator || u.Issuer != "") {
			return false, trade.ErrLastAdministrator
		}
		var others int
		if err := t.Get(&others,
			`SELECT COUNT(*) FROM person WHERE issuer = ? AND issuer <> '' AND subject = ? AND id <> ?`, u.Issuer,
			u.Subject, u.ID); err != nil {
			return false, err
		}
		if others > 0 {
			return false, trade.ErrNameTaken
		}
		n, err := t.Changed(
			`UPDATE person SET role = ?, password = ?, disabled = ?, first_password = ?, password_at = ?, issuer = ?, subject = ?, version = version + 1 WHERE id = ? AND version = ?`,
			string(u.Role), u.Password, bit(u.Disabled), bit(u.FirstPassword), u.PasswordAt.UnixMilli(), u.Issuer,
			u.Subject, u.ID, u.Version)
		if err != nil || n == 0 {
			return false, err
		}
		if err := t.Do(`DELETE FROM login WHERE kind = 'session' AND person_id = ?`, u.ID); err != nil {
			return false, err
		}
		return true, AddAudit(t, record)
	})
}

// bit returns a boolean as the ledger stores it.
func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

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
			`WHERE id = ? AND version = ? AND (outcome = '' OR outcome = 'given' AND ? = 'undone')`,
			string(people), a.Needs, a.Outcome, a.ID, a.Version, a.Outcome)
	})
}
