package histories

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/state/sqldb"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// places are where the ledger is, was, and has copies, in the course of a history.
type places struct {
	backup    string             // a copy of the ledger; "": none
	backedUp  state.OpenOptions  // where that ledger was
	old       *state.OpenOptions // where the ledger was before it was moved; nil: nowhere
	database  string             // a copy of the ledger's database in PostgreSQL; "": none
	server    *pgtest.Cluster    // of this ledger alone; nil: none
	replica   *pgtest.Cluster    // of it; nil: none
	promoted  bool               // the replica has taken over
	lags      bool               // it stopped before
	hosts     bool               // two hosts have worked on it
	otherHost bool               // the second one is at work
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
	return slices.Contains([]string{sqldb.CodeRolledBack, sqldb.CodeEmptied, sqldb.CodeJournalLost}, code(err))
}

// rebuilds adds to the ledger what the journal of the host has.
func (r *run) rebuilds() {
	r.t.Helper()
	r.remade, r.unread = true, true
	if _, err := state.Rebuild(r.t.Context(), r.opts, nil, true, rebuildRecord(r)); err != nil {
		r.t.Fatalf("%v\nafter %v", err, r.log)
	}
}

// everywhere does so on every host, as the manual says.
func (r *run) everywhere() {
	r.t.Helper()
	r.rebuilds()
	if r.hosts {
		r.swapHosts()
		r.rebuilds()
		r.swapHosts()
	}
}

// reopen opens a ledger as people do it. What is older than its journal is rebuilt from it, first
// here, then on every host; another server is confirmed, when that was done.
func (r *run) reopen() (text string) {
	r.t.Helper()
	r.late = nil // the numbers of rows may be others
	for _, remedy := range []struct {
		name string
		do   func()
	}{
		{"rebuilt", r.rebuilds},
		{"rebuilt everywhere", r.everywhere},
		{"confirmed", r.confirm},
		{"", func() {}},
	} {
		var err error
		r.ledger, err = state.Open(r.t.Context(), r.opts)
		if err == nil {
			return text + "it opens"
		}
		if !older(err) && code(err) != sqldb.CodeServer || remedy.name == "" {
			r.t.Fatalf("%v\nafter %v", err, r.log)
		}
		text += fmt.Sprintf("refused (%s), and %s; ", code(err), remedy.name)
		remedy.do()
	}
	return text
}

// leasesEnd lets the time pass until the leases end that the database had when it was copied.
func (r *run) leasesEnd() {
	r.t.Helper()
	db, err := sqlx.Open(state.Postgres, r.opts.DSN)
	if err == nil {
		_, err = db.Exec(`UPDATE job_lease SET expires = 1`)
	}
	if err = errors.Join(err, db.Close()); err != nil {
		r.t.Fatalf("%v\nafter %v", err, r.log)
	}
}

// confirm says that the ledger belongs to the server that it is on. The first time it asks the hosts,
// the second time they have reported.
func (r *run) confirm() {
	r.t.Helper()
	record := rebuildRecord(r)
	record.Act = "server"
	_, err := state.Rebind(r.t.Context(), r.opts, state.RebindOrder{Apply: true}, record)
	if err != nil && r.hosts {
		r.swapHosts()
		r.rebuilds()
		r.swapHosts()
		_, err = state.Rebind(r.t.Context(), r.opts, state.RebindOrder{Apply: true}, record)
	}
	if err != nil {
		r.t.Fatalf("%v\nafter %v", err, r.log)
	}
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

// snapshot copies the ledger's database in PostgreSQL, as a dump of it does. A server of its own is
// copied as a whole, as a snapshot of its machine does.
func (r *run) snapshot(_, _ int) string {
	r.t.Helper()
	if r.opts.Driver != state.Postgres || r.database != "" {
		return ""
	}
	r.shut()
	name := r.databaseName()
	r.database = "snapshot_" + name
	if r.server != nil {
		r.server.Stop(r.t)
		r.copyFolder(r.server.DataDir(), r.server.DataDir()+".snapshot")
		r.server.Start(r.t)
	} else {
		r.admin("CREATE DATABASE " + r.database + " TEMPLATE " + name)
		r.t.Cleanup(func() { r.admin("DROP DATABASE " + r.database) })
	}
	r.open()
	return "the database is copied"
}

// backToSnapshot puts the copy in place of the database. Whoever puts a copy of the database back
// runs rebuild on every host, as the manual says; nobody tells when it was the whole machine.
func (r *run) backToSnapshot(_, _ int) string {
	r.t.Helper()
	if r.database == "" || r.opts.Driver != state.Postgres {
		return ""
	}
	r.shut()
	if r.server != nil {
		r.server.Stop(r.t)
		if err := os.RemoveAll(r.server.DataDir()); err != nil {
			r.t.Fatal(err)
		}
		r.copyFolder(r.server.DataDir()+".snapshot", r.server.DataDir())
		r.server.Start(r.t)
		r.leasesEnd()
		return "the machine of the database is put back; " + r.reopen()
	}
	name := r.databaseName()
	r.admin("DROP DATABASE "+name+" WITH (FORCE)", "CREATE DATABASE "+name+" TEMPLATE "+r.database)
	r.everywhere()
	return "the database is put back, and rebuilt on every host; " + r.reopen()
}

func (r *run) copyFolder(from, to string) {
	r.t.Helper()
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		r.t.Fatalf("%s: %v", out, err)
	}
}

// shut closes the ledger.
func (r *run) shut() {
	r.t.Helper()
	if err := r.ledger.Close(); err != nil {
		r.t.Fatal(err)
	}
}

// replicaStops lets the replica of the server lag from now on.
func (r *run) replicaStops(_, _ int) string {
	if r.replica == nil || r.promoted {
		return ""
	}
	r.replica.Stop(r.t)
	r.lags = true
	return "the replica stops"
}

// failOver promotes the replica; it has the address of the server, which is off.
func (r *run) failOver(_, _ int) string {
	r.t.Helper()
	if r.replica == nil || r.promoted {
		return ""
	}
	if !r.lags {
		r.server.CatchUp(r.t)
	}
	r.shut()
	r.replica.TakeOver(r.t, r.server)
	r.promoted = true
	r.leasesEnd()
	return "the replica takes over; " + r.reopen()
}

// comeBack lets the old server have its address again.
func (r *run) comeBack(_, _ int) string {
	r.t.Helper()
	if !r.promoted {
		return ""
	}
	r.shut()
	r.replica.Stop(r.t)
	r.server.Start(r.t)
	r.promoted, r.replica = false, nil
	r.leasesEnd()
	return "the old server comes back; " + r.reopen()
}

// swapHosts lets the journal of the other one of two hosts be the present one.
func (r *run) swapHosts() {
	r.places.otherHost = !r.places.otherHost
	r.opts.Journal = strings.TrimSuffix(r.opts.Journal, "-of-b")
	if r.places.otherHost {
		r.opts.Journal += "-of-b"
	}
}

// changeHost lets the other host work on a ledger in PostgreSQL.
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
