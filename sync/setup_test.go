package sync_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"net"
	"path/filepath"
	"runtime/debug"
	"strings"
	gosync "sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	_ "modernc.org/sqlite"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/ledgertest"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/internal/sickdb"
	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(300) // worlds come and go, and little of them is kept
	pgtest.Main(m, func() error { return goleak.Find() })
}

// testClock is the machine's clock, moved on by the test.
type testClock struct {
	mu     gosync.Mutex
	ahead  time.Duration
	jumped time.Duration // of the wall clock alone
	system clock.SystemClock
	boot   func() time.Duration // in place of the machine's, where time is simulated
}

func (c *testClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.system.Now().Add(c.ahead + c.jumped)
}

func (c *testClock) Boot() time.Duration {
	if c.boot != nil {
		return c.boot() + c.offset()
	}
	return c.system.Boot() + c.offset()
}

func (c *testClock) offset() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ahead
}

// jump moves the wall clock alone, as a person or NTP does.
func (c *testClock) jump(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.jumped += d
}

func (c *testClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
}

// parts say where everything of a bench is, for a process of its own.
type parts struct {
	DB                     database
	ERPDSN, LedgerDSN, URL string
	Journal                string // the folder of the journals; "" for none
	Witness                string // "" for none
	KeepAnswers            time.Duration
}

// database is where the ERP of a bench is, and its ledger.
type database struct{ ERP, Ledger string }

var databases = []database{{state.SQLite, state.SQLite}, {state.Postgres, state.Postgres}}

// both runs a scenario with the ERP and the ledger in SQLite, and with both in PostgreSQL.
func both(t *testing.T, test func(t *testing.T, db database)) {
	t.Helper()
	t.Parallel()
	for _, db := range databases {
		t.Run(db.ERP, func(t *testing.T) {
			t.Parallel()
			test(t, db)
		})
	}
}

// either is both for a scenario in which nothing is the database's: what ledger and ERP do in each
// of them is compared by the tests of state and erp. The short form takes one of them for each
// test, by its name, so that each has half of the tests; and where the race detector watches, it
// takes every fourth test: the steps of a pass are the same in all.
func either(t *testing.T, test func(t *testing.T, db database)) {
	t.Helper()
	if long {
		both(t, test)
		return
	}
	t.Parallel()
	chosen := crc32.ChecksumIEEE([]byte(t.Name()))
	if raced && chosen/2%4 > 0 {
		return
	}
	db := databases[chosen%2]
	t.Run(db.ERP, func(t *testing.T) { test(t, db) })
}

// world makes the bench of a scenario.
type world func(t testing.TB, db database) *bench

// plain has the contracts alone, family also what hangs on them.
var (
	plain  = simulated(sandbox.Options{})
	family = with(withChildren, plain)
)

// simulated has a platform with options, failing one that fails.
func simulated(opts sandbox.Options) world {
	return func(t testing.TB, db database) *bench { t.Helper(); return newBenchOn(t, db, opts) }
}

func failing(specs ...string) world {
	return func(t testing.TB, db database) *bench {
		t.Helper()
		return newBenchOn(t, db, sandbox.Options{Faults: faults(t, specs...)})
	}
}

// with adds something to a world.
func with(add func(*bench) *bench, to world) world {
	return func(t testing.TB, db database) *bench { t.Helper(); return add(to(t, db)) }
}

// onEither and onBoth make the bench of a scenario, too.
func onEither(t *testing.T, of world, test func(t *testing.T, b *bench)) {
	t.Helper()
	either(t, func(t *testing.T, db database) { test(t, of(t, db)) })
}

func onBoth(t *testing.T, of world, test func(t *testing.T, b *bench)) {
	t.Helper()
	both(t, func(t *testing.T, db database) { test(t, of(t, db)) })
}

// bench is everything that a run needs: a real ERP, a real ledger, the sandbox over real HTTP.
type bench struct {
	t       testing.TB
	dir     string
	parts   parts
	erp     *sqlx.DB
	source  *erp.Source
	ledger  *state.Store
	api     *sandbox.Running
	clock   *testClock
	spec    mapping.JobSpec
	more    []mapping.JobSpec // further jobs, which run after spec
	refs    []mapping.ReferenceSpec
	limits  run.Limits
	brakes  run.Brakes
	breaker *breaker            // what ledger, ERP and platform are called through
	wrap    func(Ledger) Ledger // optional: a ledger that says otherwise
	observe func(run.Progress)  // optional
	log     *zap.Logger         // optional
	owner   trade.Owner         // of another machine; the zero value is this process
	several bool                // there are other machines
	key     string              // for the API; "" is the right one
	// optional: what POSTs go through
	posting func(context.Context, submission) (apiclient.Answer, error)

	zone *time.Location // of schedules and of "today"
	// to a platform that is not on TCP; nil = TCP
	dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// Platform ids that the open world of the sandbox knows.
const (
	producerID = "db5b5fab-8f4d-4e27-9da1-494c73cf256d"
	issuerID   = "c4ff64de-bb5d-4b48-bc3b-66fa30d0b194"
	placeID    = "563e9bed-4510-4358-acc6-d8f2c74c7ccf"
	walletID   = "1b98fbe4-6680-4a11-9ba1-192ec42b7170"
)

// The key is unique and may be NULL, which a primary key of PostgreSQL may not.
const erpSchema = `CREATE TABLE contrato (filial TEXT, num TEXT, quantidade NUMERIC, preco NUMERIC, produto TEXT, carteira TEXT, situacao TEXT,
	data_contrato DATE, pagamento DATE, obs TEXT, atualizado TIMESTAMP, UNIQUE (filial, num));
	CREATE TABLE de_para (tipo TEXT, codigo TEXT, id TEXT);
	INSERT INTO de_para VALUES ('carteira', '1', '` + walletID + `');`

// newBench makes a bench on SQLite.
func newBench(t testing.TB, opts sandbox.Options) *bench {
	t.Helper()
	return newBenchOn(t, databases[0], opts)
}

func newBenchOn(t testing.TB, db database, opts sandbox.Options) *bench {
	t.Helper()
	if opts.APIKey == "" {
		opts.APIKey = "a-key-of-the-tests"
	}
	api := must.Get(sandbox.Start(opts, "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = api.Close() })
	return newBenchWith(t, db, api)
}

// newBenchWith makes a bench with a sandbox that runs.
func newBenchWith(t testing.TB, db database, api *sandbox.Running) *bench {
	t.Helper()
	dir := t.TempDir()
	b := benchOf(t, parts{
		DB: db, ERPDSN: filepath.Join(dir, "erp.db"), URL: api.URL, Journal: filepath.Join(dir, "journal"),
	})
	b.dir, b.api = dir, api
	writer := b.parts.ERPDSN + "?_pragma=busy_timeout(5000)"
	if db.ERP == state.Postgres {
		b.parts.ERPDSN = pgtest.Database(t)
		writer = b.parts.ERPDSN
	}
	var err error
	b.erp, err = sqlx.Open(db.ERP, writer)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.erp.Close() })
	b.exec(erpSchema)
	b.parts.LedgerDSN = ledgertest.New(t, db.Ledger, filepath.Join(dir, "state.db"))
	b.connect()
	return b
}

// benchOf is a bench before it is connected.
func benchOf(t testing.TB, at parts) *bench {
	return &bench{
		t: t, parts: at, clock: &testClock{}, zone: time.UTC, brakes: run.DefaultBrakes(), spec: contractsSpec(),
		limits: run.Limits{
			MaxInFlight: 4, StopAfterUnknown: 3, Timeout: 20 * time.Second,
			Quarantine: 15 * time.Minute,
		},
		refs: []mapping.ReferenceSpec{{
			Kind: "wallets", Query: "SELECT codigo, id FROM de_para WHERE tipo = 'carteira'",
			Code: []string{"codigo"}, ID: "id",
		}},
	}
}

// connect opens ledger and ERP, as each process does.
func (b *bench) connect() {
	b.t.Helper()
	b.breaker = &breaker{}
	var err error
	b.source, err = erp.Open(b.t.Context(),
		erp.SourceOptions{Driver: b.parts.DB.ERP, DSN: erp.Secret(b.parts.ERPDSN), TimeZone: time.UTC})
	if err != nil {
		b.t.Fatal(err)
	}
	b.ledger, err = state.Open(b.t.Context(), b.options())
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { // or what stands in their place
		if odd, err := b.ledger.Unrecorded(context.Background()); err == nil && len(odd) > 0 && !b.t.Failed() {
			b.t.Errorf("rows and records contradict each other: %v", odd)
		}
		_, _ = b.source.Close(), b.ledger.Close()
	})
}

// options are those of the bench's ledger, which may be begun.
func (b *bench) options() state.OpenOptions {
	return state.OpenOptions{
		Driver: b.parts.DB.Ledger, DSN: b.parts.LedgerDSN, Begin: true, Journal: b.parts.Journal,
		Witness: b.parts.Witness, Through: sickdb.Through(b.breaker),
	}
}

// sweepFarFromNow is the schedule of a daily sweep that is due in half a day: whenever the tests
// run, none comes upon it unawares, not even one that moves its clock on by hours; one that moves
// it on by a day does.
func sweepFarFromNow() string {
	return fmt.Sprintf("0 %d * * *", (time.Now().UTC().Hour()+12)%24)
}

// contractsSpec maps the small ERP of the tests.
func contractsSpec() mapping.JobSpec {
	column := func(name string) mapping.FieldSpec { return mapping.FieldSpec{Columns: []string{name}} }
	always := func(text string) mapping.FieldSpec { return mapping.FieldSpec{Const: &text} }
	return mapping.JobSpec{
		Name: "contracts", Sends: trade.OrderCommitments, Sweep: sweepFarFromNow(), Lookback: 2 * time.Hour,
		Query: `SELECT filial, num, quantidade, preco, produto, carteira, situacao, data_contrato, pagamento, obs, atualizado FROM contrato WHERE situacao <> 'rascunho'`,
		Key:   []string{"filial", "num"}, ChangedAt: "atualizado",
		Cancelled: &mapping.CancelledSpec{Column: "situacao", Values: []string{"cancelado"}},
		Fields: map[string]mapping.FieldSpec{
			"amount": column("quantidade"), "price": column("preco"), "order_date": column("data_contrato"),
			"payday": column("pagamento"),
			"product": {
				Columns: []string{"produto"}, ValuesName: "products",
				Values: map[string]string{"soja": "SOJA", "milho": "MILHO"},
			},
			"wallet_id":   {Columns: []string{"carteira"}, Ref: "wallets"},
			"producer_id": always(producerID), "issuer_id": always(issuerID), "delivery_place_id": always(placeID),
			"haverst":             always("2025/2026"),
			"unit_of_measurement": always("SC"), "order_type": always("COMPRA"), "currency": always("BRL"),
			"modality": always("BALCAO"), "payment_type": always("DINHEIRO"),
			"initial_delivery_date": always("2026-05-01"), "end_delivery_date": always("2026-06-01"),
		},
	}
}

func (b *bench) exec(query string, args ...any) {
	b.t.Helper()
	must.Get(b.erp.Exec(b.erp.Rebind(query), args...))(b.t)
}

// contract inserts a valid contract; its amount is its number, so that every record on the platform
// tells its row.
func (b *bench) contract(num int) {
	b.t.Helper()
	b.exec(
		`INSERT INTO contrato VALUES ('01', ?, ?, 120.5, 'soja', '1', 'aprovado', ?, '2026-07-01', '', '2026-03-10 08:00:00')`,
		fmt.Sprintf("%04d", num), num, contractDay(num))
}

// contractDay returns the day of a contract: another one for each, so that none is what a corrected
// quantity leaves of another one. That of the first is 2026-03-10; those after the 300th are earlier.
func contractDay(num int) string {
	if num > 300 {
		num = -num % 9500
	}
	return time.Date(2026, 3, 9+num, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
}

func (b *bench) contracts(n int) {
	b.t.Helper()
	for i := 1; i <= n; i++ {
		b.contract(i)
	}
}

func key(num int) string { return fmt.Sprintf("01|%04d", num) }

func (b *bench) engine() *engine.Engine {
	b.t.Helper()
	var jobs []*mapping.Job
	for _, spec := range append([]mapping.JobSpec{b.spec}, b.more...) {
		job := must.Get(mapping.Compile(spec, b.zone))(b.t)
		jobs = append(jobs, job)
	}
	client := must.Get(apiclient.New(apiclient.Settings{
		BaseURL: b.parts.URL,
		APIKey:  apiclient.Secret(cmp.Or(b.key, "a-key-of-the-tests")), Timeout: b.limits.Timeout,
		MaxConns: b.limits.MaxInFlight, Dial: b.dial, Pace: apiclient.NewPace(b.limits.RateLimit, b.limits.MaxInFlight),
	}))(b.t)
	b.t.Cleanup(client.Close)
	var ledger Ledger = b.ledger
	if b.wrap != nil {
		ledger = b.wrap(ledger)
	}
	return engine.New(engine.EngineParts{
		Ledger: brokenLedger{ledger, b.breaker}, Source: brokenSource{b.source, b.breaker}, Several: b.several,
		Log: cmp.Or(b.log, zap.NewNop()),
		Env: run.Env{
			Platform: platform{client, b}, Clock: b.clock, Owner: cmp.Or(b.owner, state.Self()), Jobs: jobs,
			References: b.refs, Limits: b.limits, Brakes: b.brakes, Zone: b.zone, Observe: b.observe,
		},
	})
}

// inLedger does something in the ledger's database behind the program's back.
func (b *bench) inLedger(do func(db *sqlx.DB) error) {
	b.t.Helper()
	dsn := b.parts.LedgerDSN
	if b.parts.DB.Ledger == state.SQLite {
		dsn += "?_pragma=busy_timeout(5000)"
	}
	db, err := sqlx.Open(b.parts.DB.Ledger, dsn)
	if err == nil {
		err = errors.Join(do(db), db.Close())
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// byHand runs a statement there.
func (b *bench) byHand(query string, args ...any) {
	b.t.Helper()
	b.inLedger(func(db *sqlx.DB) error {
		_, err := db.Exec(db.Rebind(query), args...)
		return err
	})
}

// leasesEnd lets half a minute pass for what processes did not give back.
func (b *bench) leasesEnd() {
	b.t.Helper()
	b.byHand(`UPDATE job_lease SET expires = 1`)
}

// sync makes one pass and checks what must hold after every pass: it adds up, and no row is on the
// platform twice.
func (b *bench) sync(opts engine.Options) trade.RunReport {
	b.t.Helper()
	r := b.run(opts)
	b.adds(r)
	b.once()
	return r
}

// wants checks what a run reports: "sent 3, accepted 2, changed flags 1, stop none".
func (b *bench) wants(r trade.RunReport, want string) {
	b.t.Helper()
	has := map[string]any{
		"sent": r.Sent, "read": r.Read, "new": r.New, "changed": r.Changed, "unchanged": r.Unchanged,
		"unreadable": r.Unreadable, "sweep": r.Sweep, "flags": len(r.Flags), "notes": len(r.Notes), "stop": "none",
	}
	for _, state := range trade.States {
		has[string(state)] = r.States[state]
	}
	for _, flag := range trade.AllFlags {
		has[string(flag)+" flags"] = r.Flags[flag]
	}
	if r.InScope != nil {
		has["in_scope"], has["gone"] = *r.InScope, *r.Gone
	}
	if r.Stopped != nil {
		has["stop"] = r.Stopped.Code
	}
	for part := range strings.SplitSeq(want, ", ") {
		at := strings.LastIndex(part, " ")
		if got, known := has[part[:at]]; !known || fmt.Sprint(got) != part[at+1:] {
			b.t.Fatalf("want %s: %s is %v; %+v, stopped %+v", want, part[:at], got, r, r.Stopped)
		}
	}
}

// adds checks I9 from outside.
func (b *bench) adds(r trade.RunReport) {
	b.t.Helper()
	if r.InScope == nil {
		return
	}
	total := 0
	for _, n := range r.States {
		total += n
	}
	if *r.InScope != total-*r.Gone {
		b.t.Errorf("the run does not add up: in scope %d, entries %d, gone %d", *r.InScope, total, *r.Gone)
	}
	var rows [2]int
	var amounts [2]trade.Decimal
	tallies, err := b.ledger.Counts(b.t.Context(), r.Job)
	for _, t := range tallies {
		rows[0], amounts[0] = rows[0]+t.Count, amounts[0].Add(t.Quantity.Amount)
	}
	of := trade.RowQuery{Jobs: []string{r.Job}}
	err = errors.Join(err, b.ledger.Rows(b.t.Context(), of, func(e trade.Entry) error {
		rows[1], amounts[1] = rows[1]+1, amounts[1].Add(e.Quantity.Amount)
		return nil
	}))
	if err != nil || rows[0] != rows[1] || !amounts[0].Equal(amounts[1]) {
		b.t.Errorf("the sums are %d rows and %s, the entries %d and %s: %v", rows[0], amounts[0], rows[1], amounts[1], err)
	}
}

// once checks I3 from outside: the platform has at most one record for each amount, and the tests
// give each row its own.
func (b *bench) once() {
	b.t.Helper()
	seen := map[string]bool{}
	for _, r := range b.api.Created() {
		amount := fmt.Sprint(r.Fields["amount"])
		if seen[amount] {
			b.t.Errorf("the contract with amount %s is on the platform twice", amount)
		}
		seen[amount] = true
	}
}

func (b *bench) entry(num int) trade.Entry {
	b.t.Helper()
	e := must.Get(b.ledger.Entry(b.t.Context(), "contracts", key(num)))(b.t)
	return e
}

// entries are those of the ledger that pass a filter.
func (b *bench) entries(filter trade.RowQuery) (out []trade.Entry) {
	b.t.Helper()
	must.Do(b.t, b.ledger.Rows(b.t.Context(), filter, func(e trade.Entry) error {
		out = append(out, e)
		return nil
	}))
	return out
}

// expect checks the state and the cause of a contract.
func (b *bench) expect(num int, state trade.State, cause string) trade.Entry {
	b.t.Helper()
	return b.row("contracts", key(num), state, cause)
}

func faults(t testing.TB, specs ...string) []sandbox.Disturbance {
	t.Helper()
	out := must.Get(sandbox.ParseFaults(specs))(t)
	return out
}

// Ledger is all of a ledger that the engine and people's acts need, for those that stand between.
type Ledger interface {
	run.Ledger
	run.Quarantine
}
