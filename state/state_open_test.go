package state

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// wantCode checks the code of an error, that it says what to do, and that its text has the parts. It
// returns the text.
func wantCode(t testing.TB, err error, code string, parts ...string) string {
	t.Helper()
	e, ok := errors.AsType[*sqldb.Error](err)
	if !ok || e.Code != code || e.Hint == nil {
		t.Fatalf("error = %v, want an *Error with code %s that says what to do", err, code)
	}
	for _, part := range parts {
		if !strings.Contains(e.Error(), part) {
			t.Errorf("%q is not in %s", part, e)
		}
	}
	return e.Error()
}

func TestSeveralProgramsMayOpenANewLedgerAtOnce(t *testing.T) {
	onEach(t, func(t *testing.T, b backend) {
		o := b.empty(t)
		var wg sync.WaitGroup
		ids := make([]string, 4)
		for i := range ids {
			wg.Go(func() {
				s, err := Open(context.Background(), o)
				if err != nil {
					t.Errorf("opening at once with others: %v", err)
					return
				}
				ids[i] = s.LedgerID()
				if err := s.Close(); err != nil {
					t.Errorf("closing: %v", err)
				}
			})
		}
		wg.Wait()
		for _, id := range ids {
			if id != ids[0] || id == "" {
				t.Errorf("ledger ids %v, want one", ids)
			}
		}
	})
}

// Who comes second to a migration does not apply it again, also where it could: of a large ledger
// each time takes minutes.
func TestSeveralProgramsApplyAMigrationOnce(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		folder := migrations(t)
		next := len(folder) + 1
		mustExec(t, s, `CREATE TABLE applied (n BIGINT)`)
		folder[fmt.Sprintf("migrations/%05d_more.sql", next)] = &fstest.MapFile{Data: []byte("INSERT INTO applied (n) VALUES (1);\n")}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if err := s.db.Up(t.Context(), folder, int64(next)); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		var times int
		if err := s.db.Read.Get(&times, `SELECT COUNT(*) FROM applied`); err != nil || times != 1 {
			t.Errorf("applied %d times, %v", times, err)
		}
		// A program that is older than the one that was first refuses.
		wantCode(t, s.db.Up(t.Context(), migrations(t), int64(next-1)), sqldb.CodeNewer)
	})
}

func TestAnIdleOpenWritesNothing(t *testing.T) {
	t.Parallel()
	o := backends[0].empty(t)
	s := mustOpen(t, o)
	must.Do(t, s.Close())
	before := must.Get(os.ReadFile(o.DSN))(t)
	s = mustOpen(t, o)
	must.Do(t, s.Close())
	after := must.Get(os.ReadFile(o.DSN))(t)
	if string(before) != string(after) {
		t.Error("opening and closing a ledger changed its file")
	}
}

func TestMigrationsAreNumberedWithoutAGap(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^(\d{5})_[a-z_]+\.sql$`)
	for n, f := range must.Get(sqldb.Migrations.ReadDir("migrations"))(t) {
		m := form.FindStringSubmatch(f.Name())
		if m == nil {
			t.Fatalf("%s is not named NNNNN_words.sql", f.Name())
		}
		if got, err := strconv.Atoi(m[1]); err != nil || got != n+1 {
			t.Errorf("%s has number %d, want %d", f.Name(), got, n+1)
		}
	}
}

func TestF065ALedgerOfANewerProgramIsRefused(t *testing.T) {
	onEach(t, func(t *testing.T, b backend) {
		o := b.empty(t)
		s := mustOpen(t, o)
		mustExec(t, s, `INSERT INTO `+sqldb.SchemaTable+` (version_id, is_applied) VALUES (700, TRUE)`)
		_, err := Open(t.Context(), o)
		e := wantCode(t, err, sqldb.CodeNewer)
		if !strings.Contains(e, fmt.Sprintf("ledger schema 700, this program knows %d", len(migrations(t)))) {
			t.Errorf("error = %v", e)
		}
	})
}

// A ledger of before the first release is refused with what to do, and is left as it is.
func TestALedgerOfAFormerFormIsRefused(t *testing.T) {
	onEach(t, func(t *testing.T, b backend) {
		for _, former := range []string{
			`ALTER TABLE ` + sqldb.SchemaTable + ` RENAME TO ` + sqldb.FormerSchemaTable,
			`ALTER TABLE sent RENAME TO elsewhere`,        // from before sendings had a table
			`CREATE INDEX listing_product ON entry (key)`, // from when lists had no season
			`ALTER TABLE login RENAME TO login_device`,    // from when browsers had a table
		} {
			o := b.empty(t)
			mustExec(t, mustOpen(t, o), former)
			_, err := Open(t.Context(), o)
			wantCode(t, err, sqldb.CodeForeign, "before the first release")
			o.Begin = true
			if _, err := New(t.Context(), o); err == nil {
				t.Error("another one was begun in its place")
			}
		}
	})
}

// F065: a migration that ends half-way leaves nothing behind, and the ledger opens as before.
func TestF065AMigrationThatFailsHalfWayLeavesNothing(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		folder := migrations(t)
		newest := len(folder)
		folder[fmt.Sprintf("migrations/%05d_more.sql", newest+1)] = &fstest.MapFile{
			Data: []byte("CREATE TABLE half (id TEXT);\nALTER TABLE nowhere ADD COLUMN x TEXT;\n"),
		}
		if err := s.db.Up(t.Context(), folder, int64(newest+1)); err == nil {
			t.Fatal("a migration with an error was applied")
		}
		var names []string
		must.Do(t, s.db.Write.Select(&names, s.db.D.Tables))
		version, err := s.db.SchemaVersion(t.Context())
		if err != nil || version != int64(newest) || slices.Contains(names, "half") {
			t.Errorf("schema %d, tables %v, %v", version, names, err)
		}
		mustRecord(t, s, mustLease(t, s, "contracts"), newEntry("a"))
	})
}

// F065: a migration of a large ledger may take as long as it needs; a statement of a run may not,
// and keeps its limit.
func TestF065AMigrationMayTakeLongerThanAStatement(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, backends[1].open(t))
	if s.db.D.Name != sqldb.Postgres {
		t.Fatal(s.db.D.Name)
	}
	folder := migrations(t)
	next := len(folder) + 1
	text := "CREATE TABLE limits AS SELECT name, setting FROM pg_settings WHERE name IN ('statement_timeout', 'lock_timeout');\n"
	if long {
		// longer than the server or the connection waits for a statement of a run
		text += fmt.Sprintf("SELECT pg_sleep(%d);\n", int(sqldb.DefaultTuning.Patience.Seconds())+1)
	}
	folder[fmt.Sprintf("migrations/%05d_slow.sql", next)] = &fstest.MapFile{Data: []byte(text)}
	must.Do(t, s.db.Up(t.Context(), folder, int64(next)))
	for query, want := range map[string]string{
		`SELECT setting FROM limits WHERE name = 'statement_timeout'`: "0",
		`SELECT setting FROM limits WHERE name = 'lock_timeout'`:      fmt.Sprint(sqldb.LockTimeout.Milliseconds()),
		`SELECT current_setting('statement_timeout')`:                 "25s",
	} {
		var got string
		if err := s.db.Read.Get(&got, query); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", query, got, err, want)
		}
	}
}

func TestAnOlderLedgerIsNotChangedByReading(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		s.db.ReadOnly = true
		mustExec(t, s, `DELETE FROM `+sqldb.SchemaTable+` WHERE version_id >= 1`)
		err := s.db.Migrate(t.Context(), sqldb.OpenOptions{ReadOnly: true})
		if !errors.Is(err, sqldb.ErrNoLedger) {
			t.Errorf("error = %v, want ErrNoLedger", err)
		}
	})
}

// migrations returns all migrations, by the paths of their files.
func migrations(t testing.TB) fstest.MapFS {
	t.Helper()
	out := fstest.MapFS{}
	for _, f := range must.Get(sqldb.Migrations.ReadDir("migrations"))(t) {
		name := "migrations/" + f.Name()
		out[name] = &fstest.MapFile{Data: must.Get(sqldb.Migrations.ReadFile(name))(t)}
	}
	return out
}

// mustExec writes by hand, as an administrator could, outside the program.
func mustExec(t testing.TB, s *Store, query string, args ...any) {
	t.Helper()
	must.Do(t, byHand(s, query, args...))
}

func byHand(s *Store, query string, args ...any) error {
	t, err := s.db.Write.BeginTx(context.Background(), nil)
	if err != nil {
		return err
	}
	if _, err := t.ExecContext(context.Background(), s.db.Q(query), args...); err != nil {
		return errors.Join(err, t.Rollback())
	}
	return t.Commit()
}

func TestReadingALedgerThatDoesNotExistCreatesNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	if _, err := Open(t.Context(), sqldb.OpenOptions{
		Begin: true, Driver: sqldb.SQLite, DSN: path,
		ReadOnly: true,
	}); !errors.Is(err, sqldb.ErrNoLedger) {
		t.Errorf("error = %v, want ErrNoLedger", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file was created: %v", err)
	}
	must.Do(t, os.WriteFile(path, nil, 0o600))
	if _, err := Open(t.Context(), sqldb.OpenOptions{
		Begin: true, Driver: sqldb.SQLite, DSN: path,
		ReadOnly: true,
	}); !errors.Is(err, sqldb.ErrNoLedger) {
		t.Errorf("an empty file: error = %v, want ErrNoLedger", err)
	}
	if _, err := Open(t.Context(), sqldb.OpenOptions{
		Begin: true, Driver: sqldb.Postgres, DSN: pgtest.Database(t),
		ReadOnly: true,
	}); !errors.Is(err, sqldb.ErrNoLedger) {
		t.Errorf("an empty database: error = %v, want ErrNoLedger", err)
	}
}

func TestAReadOnlyLedgerReadsAndRefusesToWrite(t *testing.T) {
	onEach(t, func(t *testing.T, b backend) {
		o := b.empty(t)
		s := mustOpen(t, o)
		mustRecord(t, s, mustLease(t, s, "contracts"), newEntry("a"))
		o.ReadOnly = true
		reader := mustOpen(t, o)
		mustEntry(t, reader, "contracts", "a")
		wantCode(t, reader.SetJobStatus(t.Context(), trade.JobStatus{Job: "contracts", State: trade.Paused}),
			sqldb.CodePermission)
		if _, err := reader.db.Write.ExecContext(t.Context(), `DELETE FROM block`); err == nil {
			t.Error("the database itself let a read-only ledger be written")
		}
	})
}

func TestALedgerInMemoryWorks(t *testing.T) {
	t.Parallel()
	s := must.Get(OpenMemory(t.Context()))(t)
	t.Cleanup(func() { _ = s.Close() })
	lease := mustLease(t, s, "contracts")
	entry := mustRecord(t, s, lease, newEntry("a"))[0]
	mustSend(t, s, lease, entry)
	if err := s.EachKnown(t.Context(), "contracts",
		func(trade.Known) error { return s.RenewLease(t.Context(), lease) }); err != nil {
		t.Errorf("writing while going through the entries: %v", err)
	}
	mustAddUp(t, s, "contracts")
}

func TestTheFileIsForItsOwnerOnly(t *testing.T) {
	t.Parallel()
	o := backends[0].empty(t)
	mustOpen(t, o)
	info := must.Get(os.Stat(o.DSN))(t)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode = %v, want 0600: rows of the ERP are in it", info.Mode().Perm())
	}
}

func TestAPathMayHaveAnyCharacters(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a ?mode=memory&_pragma=synchronous(0)#%41 çã.db")
	s := mustOpen(t, sqldb.OpenOptions{Begin: true, Driver: sqldb.SQLite, DSN: path})
	mustLease(t, s, "contracts")
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the ledger is elsewhere: %v", err)
	}
}

func TestWrongPathsAreRefusedWithAHint(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, c := range []struct{ name, dsn, code string }{
		{"no folder", filepath.Join(dir, "missing", "state.db"), sqldb.CodeDirectory},
		{"a folder", dir, sqldb.CodeConfig},
		{"nothing", "", sqldb.CodeConfig},
		{"a driver's name", "file:state.db?_synchronous=OFF", sqldb.CodeConfig},
		{"memory", ":memory:", sqldb.CodeConfig},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := Open(t.Context(), sqldb.OpenOptions{Begin: true, Driver: sqldb.SQLite, DSN: c.dsn})
			wantCode(t, err, c.code)
		})
	}
	_, err := Open(t.Context(), sqldb.OpenOptions{Driver: "oracle"})
	wantCode(t, err, sqldb.CodeConfig)
}

func TestF060ANetworkFileSystemIsRefused(t *testing.T) {
	t.Parallel()
	for magic, code := range map[int64]string{
		0x6969: sqldb.CodeNetworkFS, 0xFF534D42: sqldb.CodeNetworkFS,
		0x65735546: sqldb.CodeNetworkFS, 0x794C7630: "", 0x01021994: "", 0xEF53: "",
	} {
		tune := sqldb.DefaultTuning
		tune.FsMagic = func(string) (int64, bool) { return magic, true }
		path := filepath.Join(t.TempDir(), "state.db")
		s, err := open(t.Context(), sqldb.OpenOptions{Begin: true, Driver: sqldb.SQLite, DSN: path}, tune)
		if code != "" {
			wantCode(t, err, code)
			if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("type %#x: a file was created", magic)
			}
			continue
		}
		if err != nil {
			t.Errorf("type %#x: %v", magic, err)
			continue
		}
		findings, err := s.Health(t.Context())
		if err != nil {
			t.Error(err)
		}
		for _, f := range findings {
			if f.Name == "file_system" && f.OK != (magic == 0xEF53) {
				t.Errorf("type %#x: finding %+v", magic, f)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestF049DamageIsReported(t *testing.T) {
	t.Parallel()
	o := backends[0].empty(t)
	s := mustOpen(t, o)
	lease := mustLease(t, s, "contracts")
	for i := range 20 {
		var page []trade.Entry
		for j := range 50 {
			page = append(page, newEntry(strconv.Itoa(i*1000+j)))
		}
		mustRecord(t, s, lease, page...)
	}
	must.Do(t, s.Close())
	text, err := os.ReadFile(o.DSN)
	if err != nil {
		t.Fatal(err)
	}
	for i := 40_000; i < len(text); i += 97 { // every page but the first ones
		text[i] ^= 0xFF
	}
	must.Do(t, os.WriteFile(o.DSN, text, 0o600))
	o.Verify = true
	_, err = Open(t.Context(), o)
	wantCode(t, err, sqldb.CodeCorrupt)
}

func TestAFileOfAnotherProgramIsLeftAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := filepath.Join(dir, "letter.txt")
	must.Do(t, os.WriteFile(text, []byte(strings.Repeat("Prezado cooperado, ", 200)), 0o600))
	_, err := Open(t.Context(), sqldb.OpenOptions{Begin: true, Driver: sqldb.SQLite, DSN: text})
	wantCode(t, err, sqldb.CodeCorrupt)

	other := filepath.Join(dir, "erp.db")
	db := must.Get(sql.Open("sqlite", other))(t)
	must.Get(db.ExecContext(t.Context(),
		`CREATE TABLE entry (id INTEGER); CREATE TABLE contracts (id INTEGER)`))(t)
	must.Do(t, db.Close())
	before := must.Get(os.ReadFile(other))(t)
	_, err = Open(t.Context(), sqldb.OpenOptions{Begin: true, Driver: sqldb.SQLite, DSN: other})
	wantCode(t, err, sqldb.CodeForeign)
	after := must.Get(os.ReadFile(other))(t)
	if string(before) != string(after) {
		t.Error("the other program's file was changed")
	}
}

func TestAPostgreSQLDatabaseMayHoldOtherTablesButNotOurs(t *testing.T) {
	t.Parallel()
	dsn := pgtest.Database(t)
	db, err := sql.Open("postgres", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	must.Get(db.ExecContext(t.Context(), `CREATE TABLE products (id INTEGER)`))(t)
	must.Get(db.ExecContext(t.Context(), `CREATE TABLE entry (id INTEGER)`))(t)
	_, err = Open(t.Context(), sqldb.OpenOptions{Begin: true, Driver: sqldb.Postgres, DSN: dsn})
	wantCode(t, err, sqldb.CodeForeign)
	must.Get(db.ExecContext(t.Context(), `DROP TABLE entry`))(t)
	mustOpen(t, sqldb.OpenOptions{Begin: true, Driver: sqldb.Postgres, DSN: dsn})
}

func TestF046ALedgerLockedByAnotherProcessNamesIt(t *testing.T) {
	t.Parallel()
	o := backends[0].empty(t)
	tune := sqldb.DefaultTuning
	tune.Busy = 50 * time.Millisecond
	s := mustOpenTuned(t, o, tune)
	p := startChild(t, "lock", o, nil)
	if got := p.line(t); got != "ready" {
		t.Fatalf("the other process says %q", got)
	}
	_, err := s.AcquireLease(t.Context(), "contracts", sqldb.Self())
	e := wantCode(t, err, sqldb.CodeLocked)
	if !strings.Contains(e, strconv.Itoa(p.cmd.Process.Pid)) {
		t.Errorf("error %q does not name process %d", e, p.cmd.Process.Pid)
	}
	p.kill(t)
	mustLease(t, s, "contracts")
}

func TestF067AFileThatMayNotBeWrittenNamesTheUser(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		o := backends[0].empty(t)
		must.Do(t, mustOpen(t, o).Close())
		must.Do(t, os.Chmod(o.DSN, 0o400))
		_, err := Open(t.Context(), o)
		wantCode(t, err, sqldb.CodePermission)
		return
	}
	// The superuser may write everything: another user tries, who may not enter the folder of the tests.
	dir := must.Get(os.MkdirTemp("/tmp", "safrasync-state-*"))(t)
	t.Cleanup(func() { must.Do(t, os.RemoveAll(dir)) })
	nobody := &syscall.Credential{Uid: 65534, Gid: 65534}
	o := sqldb.OpenOptions{Begin: true, Driver: sqldb.SQLite, DSN: filepath.Join(dir, "state.db")}
	must.Do(t, mustOpen(t, o).Close())
	for _, c := range []struct {
		name       string
		dir, file  os.FileMode
		want, path string
	}{
		{"the folder may not be entered", 0o700, 0o644, sqldb.CodePermission, o.DSN},
		{"the file may only be read", 0o777, 0o644, sqldb.CodePermission, o.DSN},
		{"the folder may not be written", 0o755, 0o644, sqldb.CodePermission, filepath.Join(dir, "new.db")},
		{"all may be written", 0o777, 0o666, "opened", o.DSN},
	} {
		must.Do(t, os.Chmod(dir, c.dir), os.Chmod(filepath.Join(dir, "state.db"), c.file))
		o.DSN = c.path
		if got := startChild(t, "open", o, nobody).line(t); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// What the superuser begins in the service's folder the service could not open. The way out is
// named, also where it has happened.
func TestTheSuperuserLeavesNoFilesInAnothersFolder(t *testing.T) {
	t.Parallel()
	o := backends[0].empty(t)
	dir := filepath.Dir(o.DSN)
	if os.Geteuid() != 0 { // nothing can belong to another: the words only
		if got := sqldb.FilesHint(o.DSN).Error(); !strings.Contains(got, "chmod u+rwX "+dir) {
			t.Errorf("%s", got)
		}
		return
	}
	nobody, err := user.LookupId("65534")
	if err != nil {
		t.Fatal(err)
	}
	must.Do(t, os.Chown(dir, 65534, 65534))
	_, err = Open(t.Context(), o)
	wantCode(t, err, sqldb.CodePermission)
	for _, want := range []string{
		dir + " belongs to " + nobody.Username,
		"runuser -u " + nobody.Username + " -- safrasync",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("without %q: %v", want, err)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("there are %v, %v", files, err)
	}
	must.Do(t, os.Chown(dir, 0, 0), mustOpen(t, o).Close(), os.Chown(o.DSN, 65534, 65534))
	e := &sqldb.Error{Path: o.DSN}
	sqldb.DescribeSQLite(e, sqldb.SqliteCantOpen)
	if want := o.DSN + " belongs to " + nobody.Username + "; as root: chown -R root: " + dir; e.Hint.Error() != want {
		t.Errorf("%q, want %q", e.Hint, want)
	}
}

func TestF047AFullDiskStoresNothingAndSaysSo(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, backends[0].empty(t))
	lease := mustLease(t, s, "contracts")
	mustRecord(t, s, lease, newEntry("a"))
	var pages int
	must.Do(t, s.db.Write.Get(&pages, `PRAGMA page_count`))
	must.Do(t, s.db.Write.Get(&pages, `PRAGMA max_page_count = `+strconv.Itoa(pages+2)))
	big := newEntry("big")
	big.Values["note"] = trade.Cell{Kind: 't', Text: strings.Repeat("x", 100_000)}
	_, err := s.Record(t.Context(), lease, trade.Page{New: []trade.Entry{newEntry("b"), big}})
	wantCode(t, err, sqldb.CodeFull)
	if !strings.Contains(err.Error(), "one that could not start has to be started") { // B9
		t.Errorf("the way out: %v", err)
	}
	must.Do(t, s.db.Write.Get(&pages, `PRAGMA max_page_count = 1000000`))
	if got := statesOf(t, s, "contracts"); len(got) != 1 {
		t.Errorf("rows = %v, want only a", got)
	}
	mustRecord(t, s, lease, newEntry("b"), big) // it goes on by itself
	mustAddUp(t, s, "contracts")
}

func TestF055OnlyADurableSQLiteIsAccepted(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, backends[0].empty(t))
	var synchronous, busy int
	must.Do(t, s.db.Write.Get(&synchronous, `PRAGMA synchronous`),
		s.db.Write.Get(&busy, `PRAGMA busy_timeout`))
	if synchronous != 2 || busy != 5000 {
		t.Errorf("synchronous = %d, busy_timeout = %d, want 2 and 5000", synchronous, busy)
	}
	for _, c := range []struct {
		name, version, journal string
		synchronous, keys      int
	}{
		{"synchronous NORMAL", "3.53.4", "wal", 1, 1},
		{"no write-ahead log", "3.53.4", "delete", 2, 1},
		{"no foreign keys", "3.53.4", "wal", 2, 0},
		{"an old version", "3.51.2", "wal", 2, 1},
		{"a version without a number", "unknown", "wal", 2, 1},
	} {
		wantCode(t, sqldb.JudgeSQLite("x", c.version, c.journal, c.synchronous, c.keys), sqldb.CodeDurability)
	}
	if err := sqldb.JudgeSQLite("x", "3.51.3", "wal", 2, 1); err != nil {
		t.Error(err)
	}
	if sqldb.OlderVersion("4.0", "3.51.3") {
		t.Error("4.0 is not older than 3.51.3")
	}
}

func TestAPostgreSQLThatDoesNotFlushIsRefused(t *testing.T) {
	t.Parallel()
	server := pgtest.Server(t)
	o := sqldb.OpenOptions{Begin: true, Driver: sqldb.Postgres, DSN: server.Database(t)}
	s := mustOpen(t, o)
	admin := must.Get(sql.Open("postgres", server.DSN("postgres")))(t)
	t.Cleanup(func() { _ = admin.Close() })
	set := func(name, value, probe string) {
		t.Helper()
		for _, query := range []string{"ALTER SYSTEM SET " + name + " = " + value, "SELECT pg_reload_conf()"} {
			must.Get(admin.ExecContext(t.Context(), query))(t)
		}
		// The reload arrives by a signal; a new session always has it.
		waitFor(t, name+" = "+value, func() bool {
			db := must.Get(sql.Open("postgres", probe))(t)
			defer func() { _ = db.Close() }()
			var now string
			must.Do(t, db.QueryRowContext(t.Context(), "SHOW "+name).Scan(&now))
			return now == value
		})
	}
	// Off for asynchronous commits only: our sessions raise it, and those that are open keep what
	// they have.
	set("synchronous_commit", "off", server.DSN("postgres"))
	mustLease(t, s, "open-before")
	mustLease(t, mustOpen(t, o), "open-after")
	set("synchronous_commit", "on", server.DSN("postgres"))
	for _, name := range []string{"fsync", "full_page_writes"} {
		set(name, "off", server.DSN("postgres"))
		_, err := Open(t.Context(), o)
		wantCode(t, err, sqldb.CodeDurability)
		waitFor(t, "the open ledger notices", func() bool {
			var e *sqldb.Error
			return errors.As(s.SetJobStatus(t.Context(), trade.JobStatus{Job: "x", State: trade.Idle}), &e) &&
				e.Code == sqldb.CodeDurability
		})
		set(name, "on", server.DSN("postgres"))
	}
	waitFor(t, "the open ledger works again", func() bool {
		return s.SetJobStatus(t.Context(), trade.JobStatus{Job: "x", State: trade.Idle}) == nil
	})
}

// waitFor asks again until it is true. The limit only ends a test that is broken.
func waitFor(t testing.TB, what string, fn func() bool) {
	t.Helper()
	limit := time.After(time.Minute)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !fn() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

func TestNoErrorOfAConnectionGivesThePasswordAway(t *testing.T) {
	t.Parallel()
	const canary = "Senh4-C4n4rio"
	server := pgtest.Server(t)
	db := must.Get(sql.Open("postgres", server.DSN("postgres")))(t)
	t.Cleanup(func() { _ = db.Close() })
	must.Get(db.ExecContext(t.Context(), `CREATE ROLE pw_user LOGIN PASSWORD 'another'`))(t)
	port := strconv.Itoa(server.Port)
	for _, c := range []struct{ name, dsn, code string }{
		{"wrong password", "host=127.0.0.1 port=" + port + " user=pw_user password=" + canary +
			" dbname=postgres sslmode=disable", sqldb.CodeAuth},
		{"no such database", "host=127.0.0.1 port=" + port + " user=postgres password=" + canary +
			" dbname=none sslmode=disable", sqldb.CodeNoDatabase},
		{
			"nobody listens", "postgres://postgres:" + canary + "@127.0.0.1:1/postgres?sslmode=disable",
			sqldb.CodeUnreachable,
		},
		{"not a name", "password=" + canary + " " + canary, sqldb.CodeConfig},
		{"a URL that cannot be read", "postgres://u:" + canary + "@[::1/x?sslmode=disable", sqldb.CodeConfig},
		{"a wrong port", "postgres://u:" + canary + "@h:" + canary + "/x", sqldb.CodeConfig},
		{"a wrong option", "host=127.0.0.1 sslmode=" + canary, sqldb.CodeConfig},
		{"empty", "", sqldb.CodeConfig},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Open(t.Context(), sqldb.OpenOptions{Begin: true, Driver: sqldb.Postgres, DSN: c.dsn})
			e := wantCode(t, err, c.code)
			if strings.Contains(e, canary) {
				t.Errorf("the error has the secret: %v", e)
			}
		})
	}
	s := mustOpen(t, sqldb.OpenOptions{
		Begin: true, Driver: sqldb.Postgres,
		DSN: server.Database(t) + " password=" + canary,
	})
	findings := must.Get(s.Health(t.Context()))(t)
	for _, f := range findings {
		if strings.Contains(f.Value.String()+f.Hint.String(), canary) {
			t.Errorf("finding %+v has the secret", f)
		}
		if !f.OK {
			t.Errorf("finding %+v of a sound ledger", f)
		}
	}
}

func TestHealthOfASoundFile(t *testing.T) {
	t.Parallel()
	o := backends[0].empty(t)
	s := mustOpen(t, o)
	findings := must.Get(s.Health(t.Context()))(t)
	have := map[string]string{}
	for _, f := range findings {
		have[f.Name] = f.Value.String()
	}
	for name, want := range map[string]string{
		"driver": "sqlite", "place": o.DSN,
		"schema": fmt.Sprint(len(migrations(t))), "synchronous": "2", "journal_mode": "wal", "quick_check": "ok",
	} {
		if have[name] != want {
			t.Errorf("%s = %q, want %q", name, have[name], want)
		}
	}
	for _, name := range []string{"free_space", "file_system", "wal", "sqlite"} {
		if have[name] == "" {
			t.Errorf("no finding %q", name)
		}
	}
}
