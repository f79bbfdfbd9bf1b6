package people

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/safrasync/safrasync/state/audit"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

type personRow struct {
	ID         int64  `db:"id"`
	Name       string `db:"name"`
	Role       string `db:"role"`
	Password   string `db:"password"`
	Disabled   bool   `db:"disabled"`
	CreatedAt  int64  `db:"created_at"`
	PasswordAt int64  `db:"password_at"`
	Version    int64  `db:"version"`
	Issuer     string `db:"issuer"`
	Subject    string `db:"subject"`
}

const personColumns = `p.id, p.name, p.role, p.password, (p.disabled = 1) AS disabled, p.created_at, p.password_at, p.version, p.issuer, p.subject`

func (r personRow) user() trade.User {
	return trade.User{
		ID: r.ID, Name: r.Name, Role: trade.Role(r.Role), Password: r.Password, Disabled: r.Disabled,
		CreatedAt:  time.UnixMilli(r.CreatedAt).UTC(),
		PasswordAt: time.UnixMilli(r.PasswordAt).UTC(), Version: r.Version, Issuer: r.Issuer, Subject: r.Subject,
	}
}

// Users gives all users by name.
func (s *Directory) Users(ctx context.Context) ([]trade.User, error) {
	var rows []personRow
	if err := s.db.Read.SelectContext(ctx, &rows,
		`SELECT `+personColumns+` FROM person p ORDER BY p.name`); err != nil {
		return nil, s.db.Fault(ctx, "reading the users", err)
	}
	out := make([]trade.User, len(rows))
	for i, r := range rows {
		out[i] = r.user()
	}
	return out, nil
}

// User gives one user by name, or trade.ErrNobody.
func (s *Directory) User(ctx context.Context, name string) (trade.User, error) {
	var row personRow
	err := s.db.Read.GetContext(ctx, &row, s.db.Q(`SELECT `+personColumns+` FROM person p WHERE p.name = ?`), name)
	if errors.Is(err, sql.ErrNoRows) {
		return trade.User{}, fmt.Errorf("user %s: %w", name, trade.ErrNobody)
	}
	return row.user(), s.db.Fault(ctx, "reading a user", err)
}

// UserFrom gives the user whom an issuer knows by a subject, or trade.ErrNobody.
func (s *Directory) UserFrom(ctx context.Context, issuer, subject string) (trade.User, error) {
	var row personRow
	err := s.db.Read.GetContext(ctx, &row,
		s.db.Q(`SELECT `+personColumns+` FROM person p WHERE p.issuer = ? AND p.issuer <> '' AND p.subject = ?`),
		issuer, subject)
	if errors.Is(err, sql.ErrNoRows) {
		return trade.User{}, fmt.Errorf("user of %s: %w", issuer, trade.ErrNobody)
	}
	return row.user(), s.db.Fault(ctx, "reading a user", err)
}

// AddUser adds a user, with the record in the audit. trade.ErrTaken when somebody has the name, or
// is known by the subject.
func (s *Directory) AddUser(ctx context.Context, u trade.User, record trade.AuditRecord) error {
	return s.db.InTx(ctx, "adding a user", func(t *sqldb.Tx) error {
		at := record.At.UnixMilli()
		n, err := t.Changed(
			`INSERT INTO person (name, role, password, disabled, created_at, password_at, version, issuer, subject) VALUES (?, ?, ?, 0, ?, ?, 1, ?, ?) ON CONFLICT DO NOTHING`,
			u.Name, string(u.Role), u.Password, at, at, u.Issuer, u.Subject)
		if err != nil {
			return err
		}
		if n == 0 {
			return trade.ErrTaken
		}
		_, err = audit.AddAudit(t, record)
		return err
	})
}

// ChangeUser stores a user's role, password, where it comes from and whether it is disabled, with
// the record in the audit, and ends its logins. done is false when the user was changed since it
// was read: then nothing was stored. trade.ErrLastAdministrator when nobody would be left who can
// look after people by a password of this ledger: those who come by an issuer cannot when it is
// down, or when it gives them another role. trade.ErrTaken when the issuer's subject is another
// user.
func (s *Directory) ChangeUser(ctx context.Context, u trade.User, record trade.AuditRecord) (done bool, err error) {
	err = s.db.InTx(ctx, "changing a user", func(t *sqldb.Tx) error {
		done = false
		// All administrators are locked, so that two of them cannot disable each other at once.
		var administrators []int64
		if err := t.All(&administrators,
			t.S.D.Locked(
				`SELECT id FROM person WHERE role = 'administrator' AND disabled = 0 AND issuer = '' ORDER BY id`,
				"person")); err != nil {
			return err
		}
		if len(administrators) == 1 && administrators[0] == u.ID &&
			(u.Disabled || u.Role != trade.Administrator || u.Issuer != "") {
			return trade.ErrLastAdministrator
		}
		var others int
		if err := t.Get(&others,
			`SELECT COUNT(*) FROM person WHERE issuer = ? AND issuer <> '' AND subject = ? AND id <> ?`, u.Issuer,
			u.Subject, u.ID); err != nil {
			return err
		}
		if others > 0 {
			return trade.ErrTaken
		}
		disabled := 0
		if u.Disabled {
			disabled = 1
		}
		n, err := t.Changed(
			`UPDATE person SET role = ?, password = ?, disabled = ?, password_at = ?, issuer = ?, subject = ?, version = version + 1 WHERE id = ? AND version = ?`,
			string(u.Role), u.Password, disabled, u.PasswordAt.UnixMilli(), u.Issuer, u.Subject, u.ID, u.Version)
		if err != nil || n == 0 {
			return err
		}
		done = true
		if err := t.Do(`DELETE FROM login WHERE person_id = ?`, u.ID); err != nil {
			return err
		}
		_, err = audit.AddAudit(t, record)
		return err
	})
	return done && err == nil, err
}

// SavedFilters gives the searches that a user keeps, by name.
func (s *Directory) SavedFilters(ctx context.Context, user int64) ([]trade.SavedFilter, error) {
	var rows []struct {
		Name  string `db:"name"`
		Query string `db:"query"`
	}
	if err := s.db.Read.SelectContext(ctx, &rows,
		s.db.Q(`SELECT name, query FROM saved_filter WHERE person_id = ? ORDER BY name`), user); err != nil {
		return nil, s.db.Fault(ctx, "reading the saved searches", err)
	}
	out := make([]trade.SavedFilter, len(rows))
	for i, r := range rows {
		out[i] = trade.SavedFilter{User: user, Name: r.Name, Query: r.Query}
	}
	return out, nil
}

// SaveFilter keeps a search under its name, with the record in the audit; with an empty query it is
// removed. trade.ErrTooMany when the person keeps as many as one may.
func (s *Directory) SaveFilter(ctx context.Context, f trade.SavedFilter, record trade.AuditRecord) error {
	return s.db.InTx(ctx, "keeping a search", func(t *sqldb.Tx) error {
		if _, err := audit.AddAudit(t, record); err != nil { // its lock lets one count at a time
			return err
		}
		if f.Query == "" {
			return t.Do(`DELETE FROM saved_filter WHERE person_id = ? AND name = ?`, f.User, f.Name)
		}
		var others int
		if err := t.Get(&others, `SELECT COUNT(*) FROM saved_filter WHERE person_id = ? AND name <> ?`, f.User,
			f.Name); err != nil {
			return err
		}
		if others >= trade.SavedFiltersMost {
			return trade.ErrTooMany
		}
		return t.Do(
			`INSERT INTO saved_filter (person_id, name, query) VALUES (?, ?, ?) ON CONFLICT (person_id, name) DO UPDATE SET query = excluded.query`, f.User, f.Name, f.Query)
	})
}
