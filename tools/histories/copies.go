package histories

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// places are where the ledger is, was, and has copies, in the course of a history.
type places struct {
	backup    string         // a copy of the ledger; "": none
	backedUp  state.Options  // where that ledger was
	old       *state.Options // where the ledger was before it was moved; nil: nowhere
	database  string         // a copy of the ledger's database in PostgreSQL; "": none
	hosts     bool           // two hosts have worked on it
	otherHost bool           // the second one is at work
	made      int
}

func rebuildRecord(r *run) trade.AuditRecord {
	return trade.AuditRecord{
		At: r.clock.Now(), Who: "maria", From: "test@host", Act: "rebuild", Target: "ledger",
		Reason: "the disk was replaced",
	}
}

// older reports whether a ledger was refused because a journal has more.
func older(err error) bool {
	var refused *state.Error
	return errors.As(err, &refused) && (refused.Code == state.CodeRolledBack || refused.Code == state.CodeEmptied)
}

// rebuilds adds to the ledger what the journal of the host has.
func (r *run) rebuilds() {
	r.t.Helper()
	if _, err := state.Rebuild(r.t.Context(), r.opts, nil, true, rebuildRecord(r)); err != nil {
		r.t.Fatalf("%v\nafter %v", err, r.log)
	}
}

// reopen opens a ledger as people do it: what is older than its journal is rebuilt from it, and
// where the journal of the other host has more, there first.
func (r *run) reopen() (text string) {
	r.t.Helper()
	r.late = nil // the numbers of rows may be others
	var err error
	for range 3 {
		if r.ledger, err = state.Open(r.t.Context(), r.opts); err == nil {
			return text + "it opens"
		}
		if !older(err) {
			break
		}
		text += "it is older than its journal, and is rebuilt; "
		r.rebuilds()
		if r.ledger, err = state.Open(r.t.Context(), r.opts); err == nil {
			return text + "it opens"
		}
		text += "the other host is rebuilt, too; "
		r.swapHosts()
		r.rebuilds()
		r.swapHosts()
	}
	r.t.Fatalf("%v\nafter %v", err, r.log)
	return text
}

// backUp copies a ledger in SQLite.
func (r *run) backUp(_, _ int) string {
	r.t.Helper()
	if r.opts.Driver != state.SQLite {
		return ""
	}
	r.made++
	file := filepath.Join(filepath.Dir(r.opts.Journal), fmt.Sprintf("backup-%d.db", r.made))
	if err := r.ledger.Backup(r.t.Context(), file); err != nil {
		r.t.Fatalf("%v\nafter %v", err, r.log)
	}
	r.backup, r.backedUp = file, r.opts
	return "the ledger is copied"
}

// putBack puts the copy in place of the ledger.
func (r *run) putBack(_, _ int) string {
	r.t.Helper()
	if r.backup == "" || r.backedUp.DSN != r.opts.DSN {
		return ""
	}
	if err := r.ledger.Close(); err != nil {
		r.t.Fatal(err)
	}
	if _, err := state.Restore(r.t.Context(), r.opts, r.backup, r.restoring()); err != nil {
		r.t.Fatalf("%v\nafter %v", err, r.log)
	}
	return "the old copy of the ledger is put back; " + r.reopen()
}

func (r *run) restoring() trade.AuditRecord {
	record := rebuildRecord(r)
	record.Act = "restore"
	return record
}

// moveLedger moves the ledger into another file.
func (r *run) moveLedger(_, _ int) string {
	r.t.Helper()
	if r.old != nil {
		return ""
	}
	if err := r.ledger.Close(); err != nil {
		r.t.Fatal(err)
	}
	was, to := r.opts, r.opts
	to.Driver, to.DSN = state.SQLite, filepath.Join(filepath.Dir(r.opts.Journal), "moved.db")
	record := rebuildRecord(r)
	record.Act = "state copy"
	if _, err := state.Move(r.t.Context(), was, to, true, record); err != nil {
		r.t.Fatalf("%v\nafter %v", err, r.log)
	}
	r.old, r.opts, r.late = &was, to, nil
	r.open()
	return "the ledger is moved into another file"
}

// oldLedger lets the old configuration run after the ledger was moved, perhaps with an old copy of
// the old ledger: it must not send anything.
func (r *run) oldLedger(withCopy bool) (text string) {
	r.t.Helper()
	if r.old == nil || withCopy && (r.backup == "" || r.backedUp.DSN != r.old.DSN) {
		return ""
	}
	if withCopy {
		text = "an old copy is put back in the old place; "
		if _, err := state.Restore(r.t.Context(), *r.old, r.backup, r.restoring()); err != nil {
			return text + "which is refused: " + code(err)
		}
	}
	store, err := state.Open(r.t.Context(), *r.old)
	if older(err) {
		if _, err := state.Rebuild(r.t.Context(), *r.old, nil, true, rebuildRecord(r)); err != nil {
			return text + "it cannot be rebuilt: " + code(err)
		}
		store, err = state.Open(r.t.Context(), *r.old)
	}
	if err != nil {
		return text + "it does not open: " + code(err)
	}
	posts, present := r.posts.Load(), r.ledger
	r.ledger = store
	_, err = r.engine().Sync(r.t.Context(), nil, engine.Options{})
	r.ledger = present
	if err := store.Close(); err != nil {
		r.t.Fatal(err)
	}
	if n := r.posts.Load() - posts; n > 0 {
		r.uneven = &fault{"moved", fmt.Sprintf("the old ledger has sent %d rows after it was moved (%v)", n, err)}
	}
	return text + fmt.Sprintf("the old configuration runs (%s)", code(err))
}

func code(err error) string {
	var refused *state.Error
	if errors.As(err, &refused) {
		return refused.Code
	}
	return fmt.Sprint(err)
}

// admin runs statements beside the ledger's database in PostgreSQL.
func (r *run) admin(statements ...string) {
	r.t.Helper()
	db, err := sqlx.Open(state.Postgres, strings.Replace(r.opts.DSN, "dbname="+r.databaseName(), "dbname=postgres", 1))
	for _, statement := range statements {
		if err == nil {
			_, err = db.Exec(statement)
		}
	}
	if err = errors.Join(err, db.Close()); err != nil {
		r.t.Fatalf("%v\nafter %v", err, r.log)
	}
}

func (r *run) databaseName() string {
	_, rest, _ := strings.Cut(r.opts.DSN, "dbname=")
	name, _, _ := strings.Cut(rest, " ")
	return name
}

// snapshot copies the ledger's database in PostgreSQL, as a snapshot of its machine does.
func (r *run) snapshot(_, _ int) string {
	r.t.Helper()
	if r.opts.Driver != state.Postgres || r.database != "" {
		return ""
	}
	if err := r.ledger.Close(); err != nil {
		r.t.Fatal(err)
	}
	name := r.databaseName()
	r.database = "snapshot_" + name
	r.admin("CREATE DATABASE " + r.database + " TEMPLATE " + name)
	r.t.Cleanup(func() { r.admin("DROP DATABASE " + r.database) })
	r.open()
	return "the machine of the database is copied"
}

// backToSnapshot puts the copy in place of the database.
func (r *run) backToSnapshot(_, _ int) string {
	r.t.Helper()
	if r.database == "" || r.opts.Driver != state.Postgres {
		return ""
	}
	if err := r.ledger.Close(); err != nil {
		r.t.Fatal(err)
	}
	name := r.databaseName()
	r.admin("DROP DATABASE "+name+" WITH (FORCE)", "CREATE DATABASE "+name+" TEMPLATE "+r.database)
	return "the machine of the database is put back; " + r.reopen()
}

// otherHost lets the other one of two hosts work on a ledger in PostgreSQL.
func (r *run) swapHosts() {
	r.places.otherHost = !r.places.otherHost
	r.opts.Journal = strings.TrimSuffix(r.opts.Journal, "-of-b")
	if r.places.otherHost {
		r.opts.Journal += "-of-b"
	}
}

func (r *run) changeHost(_, _ int) string {
	r.t.Helper()
	if r.opts.Driver != state.Postgres {
		return ""
	}
	if err := r.ledger.Close(); err != nil {
		r.t.Fatal(err)
	}
	r.hosts = true
	r.swapHosts()
	return "the other host works: " + r.reopen()
}
