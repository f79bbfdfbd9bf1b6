package books

import (
	"context"
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
