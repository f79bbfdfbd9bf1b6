package state

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(childRole); role != "" {
		os.Exit(child(role))
	}
	// Many of these tests wait: for servers that start, stop, freeze or promote.
	flag.Parse()
	if procs := strconv.Itoa(runtime.GOMAXPROCS(0)); flag.Lookup("test.parallel").Value.String() == procs {
		if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
			panic(err)
		}
	}
	pgtest.Main(m)
}

var at = time.Date(2026, 11, 21, 9, 0, 0, 123e6, time.UTC)

// backend is a kind of database for the suite.
type backend struct {
	name  string
	empty func(t testing.TB) sqldb.OpenOptions // nothing is there yet
	// the tables of a ledger are there, so that not each of hundreds of tests applies the
	// migrations
	open func(t testing.TB) sqldb.OpenOptions
}

var backends = []backend{
	{
		"sqlite",
		func(t testing.TB) sqldb.OpenOptions {
			return sqldb.OpenOptions{Driver: sqldb.SQLite, DSN: filepath.Join(t.TempDir(), "state.db"), Begin: true}
		},
		func(t testing.TB) sqldb.OpenOptions {
			file := must.Get(sqliteTables())(t)
			o := sqldb.OpenOptions{Driver: sqldb.SQLite, DSN: filepath.Join(t.TempDir(), "state.db"), Begin: true}
			must.Do(t, os.WriteFile(o.DSN, file, 0o600))
			return o
		},
	},
	{
		"postgres",
		func(t testing.TB) sqldb.OpenOptions {
			return sqldb.OpenOptions{Driver: sqldb.Postgres, DSN: pgtest.Database(t), Begin: true}
		},
		func(t testing.TB) sqldb.OpenOptions {
			return sqldb.OpenOptions{
				Driver: sqldb.Postgres, Begin: true,
				DSN: pgtest.Copy(t, "ledger",
					func(dsn string) error { return makeTables(sqldb.OpenOptions{Driver: sqldb.Postgres, DSN: dsn}) }),
			}
		},
	},
}

// sqliteTables returns the file of a ledger that has tables, but no id yet.
var sqliteTables = sync.OnceValues(func() (file []byte, err error) {
	dir, err := os.MkdirTemp("", "safrasync-tables-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "state.db")
	if err := makeTables(sqldb.OpenOptions{Driver: sqldb.SQLite, DSN: path}); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// makeTables does of the opening of a new ledger what is the same for all of them.
func makeTables(o sqldb.OpenOptions) error {
	o.Begin = true
	opener := sqldb.OpenSQLite
	if o.Driver == sqldb.Postgres {
		opener = sqldb.OpenPostgres
	}
	db, err := opener(context.Background(), o, sqldb.DefaultTuning)
	if err != nil {
		return err
	}
	return errors.Join(db.Migrate(context.Background(), o), db.Close())
}

// both runs a test on SQLite and on PostgreSQL.
func both(t *testing.T, test func(t *testing.T, s *Store)) {
	t.Helper()
	bothTuned(t, sqldb.DefaultTuning, test)
}

func bothTuned(t *testing.T, tune sqldb.Tuning, test func(t *testing.T, s *Store)) {
	t.Helper()
	onEach(t, func(t *testing.T, b backend) { test(t, mustOpenTuned(t, b.open(t), tune)) })
}

// onEach runs a test for each kind of database.
func onEach(t *testing.T, test func(t *testing.T, b backend)) {
	t.Helper()
	t.Parallel()
	for _, b := range backends {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			test(t, b)
		})
	}
}

func mustOpen(t testing.TB, o sqldb.OpenOptions) *Store {
	t.Helper()
	return mustOpenTuned(t, o, sqldb.DefaultTuning)
}

func mustOpenTuned(t testing.TB, o sqldb.OpenOptions, tune sqldb.Tuning) *Store {
	t.Helper()
	o.Version, o.Begin = "1.0.0-test", true
	s := must.Get(open(context.Background(), o, tune))(t)
	t.Cleanup(func() { must.Do(t, s.Close()) })
	return s
}

func mustLease(t testing.TB, s *Store, job string) trade.Lease {
	t.Helper()
	return must.Get(s.AcquireLease(t.Context(), job, sqldb.Self()))(t)
}

// newEntry is a pending contract of 1,000.5 sacas.
func newEntry(key string) trade.Entry {
	return trade.Entry{
		Sends: trade.OrderCommitments, Key: key, KeyParts: []trade.Cell{{Kind: 't', Text: key}}, State: trade.Pending,
		Generation:  1,
		FirstSeenAt: at, UpdatedAt: at, Values: trade.Values{"num": {Kind: 't', Text: key}},
		SourceHash: trade.HashOf("source-" + key), MappedWith: "m1",
		Payload:     json.RawMessage(fmt.Sprintf(`{"key":%q}`, key)),
		PayloadHash: trade.PayloadHash("", []byte(fmt.Sprintf(`{"key":%q}`, key))),
		Quantity:    sacas("1000.5"),
	}
}

func sacas(amount string) trade.Quantity {
	n, err := trade.ParseDecimal(amount)
	if err != nil {
		panic(err)
	}
	return trade.Quantity{Amount: n, Unit: trade.SC}
}

// mustRecord adds entries and returns them as the ledger has them.
func mustRecord(t testing.TB, s *Store, lease trade.Lease, entries ...trade.Entry) []trade.Entry {
	t.Helper()
	lost, err := s.Record(t.Context(), lease, trade.Page{New: entries})
	if err != nil || lost != 0 {
		t.Fatalf("Record: lost %d, %v", lost, err)
	}
	out := make([]trade.Entry, len(entries))
	for i, e := range entries {
		out[i] = mustEntry(t, s, lease.Job, e.Key)
	}
	return out
}

func mustEntry(t testing.TB, s *Store, job, key string) trade.Entry {
	t.Helper()
	return must.Get(s.Entry(t.Context(), job, key))(t)
}

func mustCommit(t testing.TB, s *Store, lease trade.Lease, g trade.Group) trade.GroupResult {
	t.Helper()
	if g.At.IsZero() {
		g.At = at
	}
	return must.Get(s.Commit(t.Context(), lease, g))(t)
}

// mustSettle stores what came of attempts.
func mustSettle(t testing.TB, s *Store, lease trade.Lease, results ...trade.Settlement) trade.GroupResult {
	t.Helper()
	return mustCommit(t, s, lease, trade.Group{Settle: results})
}

func intentOf(e trade.Entry) trade.Intent {
	return trade.Intent{Entry: e, Attempt: trade.Attempt{
		ID: sqldb.NewID(), RunID: "run-1", Payload: e.Payload,
		PayloadHash: e.PayloadHash, StartedAt: at,
	}}
}

// mustSend claims an entry and returns its attempt.
func mustSend(t testing.TB, s *Store, lease trade.Lease, e trade.Entry) trade.Attempt {
	t.Helper()
	in := intentOf(e)
	if r := mustCommit(t, s, lease, trade.Group{Intents: []trade.Intent{in}}); !r.Claimed[in.Attempt.ID] {
		t.Fatalf("the intent of %s was not claimed", e.Key)
	}
	in.Attempt.EntryID = e.ID
	return in.Attempt
}

func created(a trade.Attempt, remote string) trade.Settlement {
	a.Outcome, a.RemoteID, a.Status, a.FinishedAt = trade.OutcomeCreated, remote, 201, at
	return trade.Settlement{Attempt: a, State: trade.Accepted, Counts: true}
}

func unknown(a trade.Attempt) trade.Settlement {
	a.Outcome, a.FinishedAt, a.Reason = trade.OutcomeUnknown, at, trade.SenderGone()
	return trade.Settlement{
		Attempt: a, State: trade.InDoubt, Cause: trade.CauseUnknown, Counts: true,
		Kind: trade.TransportError,
	}
}

func refused(a trade.Attempt) trade.Settlement {
	a.Outcome, a.Status, a.FinishedAt, a.Messages = trade.OutcomeNotCreated, 400, at,
		[]string{"message.wallet.not-found"}
	return trade.Settlement{
		Attempt: a, State: trade.Rejected, Cause: "message.wallet.not-found", Counts: true,
		NextAttemptAt: at.Add(15 * time.Minute),
		Kind:          trade.APIError,
	}
}

// rowsOf returns the rows that a filter finds.
func rowsOf(t must.T, s *Store, filter trade.RowQuery) (rows []trade.Entry) {
	t.Helper()
	must.Do(t, s.Rows(context.Background(), filter, func(e trade.Entry) error { rows = append(rows, e); return nil }))
	return rows
}

// statesOf returns the entries of a job by key.
func statesOf(t testing.TB, s *Store, job string) map[string]trade.State {
	t.Helper()
	out := map[string]trade.State{}
	for _, e := range rowsOf(t, s, trade.RowQuery{Jobs: []string{job}}) {
		out[e.Key] = e.State
	}
	return out
}

// wantStates compares the states of a job's entries.
func wantStates(t testing.TB, s *Store, job string, want map[string]trade.State) {
	t.Helper()
	if diff := cmp.Diff(want, statesOf(t, s, job)); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
}

// mustUpdate stores an entry that has the state from as a reading of the ERP does.
func mustUpdate(t testing.TB, s *Store, lease trade.Lease, from trade.State, e trade.Entry) {
	t.Helper()
	page := trade.Page{Updates: []trade.Update{{From: from, Entry: e}}}
	if lost, err := s.Record(t.Context(), lease, page); err != nil || lost != 0 {
		t.Fatalf("Record: lost %d, %v", lost, err)
	}
}

// mustAct does an act.
func mustAct(t testing.TB, s *Store, act trade.Act) {
	t.Helper()
	if done, err := s.Act(t.Context(), []trade.Act{act}); err != nil || !done[0] {
		t.Fatalf("%s %s: done %v, %v", act.Audit.Act, act.Audit.Target, done, err)
	}
}

// mustAgree wants no row and record of the platform that contradict each other.
func mustAgree(t testing.TB, s *Store) {
	t.Helper()
	if odd := must.Get(s.Unrecorded(t.Context()))(t); len(odd) > 0 {
		t.Errorf("rows and records contradict each other: %v", odd)
	}
}

// addedUp returns the sums of entries of one job in the form of Counts.
func addedUp(entries []trade.Entry) (out []trade.Tally) {
	for _, state := range trade.States {
		sums := map[trade.Unit]trade.Tally{}
		for _, e := range entries {
			if e.State == state {
				sum := sums[e.Quantity.Unit]
				q := trade.Quantity{Amount: sum.Quantity.Amount.Add(e.Quantity.Amount), Unit: e.Quantity.Unit}
				sums[q.Unit] = trade.Tally{State: state, Count: sum.Count + 1, Quantity: q}
			}
		}
		for _, unit := range slices.Sorted(maps.Keys(sums)) {
			out = append(out, sums[unit])
		}
	}
	return out
}

// mustAddUp compares the sums of a job with its entries (I9).
func mustAddUp(t testing.TB, s *Store, job string) {
	t.Helper()
	counted := must.Get(s.Counts(context.Background(), job))(t)
	if diff := cmp.Diff(addedUp(rowsOf(t, s, trade.RowQuery{Jobs: []string{job}})), counted); diff != "" {
		t.Fatalf("sums of %s differ from the entries (-of the entries +counted):\n%s", job, diff)
	}
	var rows []entryRow
	must.Do(t, s.db.All(context.Background(), "test", &rows, `SELECT `+
		selected(slices.Concat(bodyColumns, entryColumns))+` `+fromEntry+`WHERE e.job = ?`,
		job))
	for i := range rows {
		if !rows[i].fits() {
			t.Fatalf("a column of %s %s does not say what the row says: %+v", job, rows[i].Key, rows[i])
		}
	}
}

// short makes an entry that waits for things.
func short(key string, sends trade.Kind, state trade.State, q trade.Quantity, awaited ...trade.Awaited) trade.Entry {
	e := newEntry(key)
	e.Sends, e.State, e.Quantity, e.WaitingFor = sends, state, q, awaited
	e.Payload, e.PayloadHash = nil, ""
	return e
}

func wallet(code string) trade.Awaited   { return trade.Awaited{Ref: "wallets", Code: code} }
func producer(code string) trade.Awaited { return trade.Awaited{Ref: "producers", Code: code} }

func contract(key string) trade.Awaited {
	return trade.Awaited{Job: "contracts", Key: key, ParentState: trade.Waiting}
}
