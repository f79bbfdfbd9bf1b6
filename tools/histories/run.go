package histories

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"go.uber.org/zap"
	_ "modernc.org/sqlite" // the driver of ledger and ERP

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/ledgertest"
	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/acts"
	engineclock "github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/sync/mapping"
	enginerun "github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// Platform ids that the open world of the sandbox knows.
const (
	producerID = "db5b5fab-8f4d-4e27-9da1-494c73cf256d"
	issuerID   = "c4ff64de-bb5d-4b48-bc3b-66fa30d0b194"
	placeID    = "563e9bed-4510-4358-acc6-d8f2c74c7ccf"
	walletID   = "1b98fbe4-6680-4a11-9ba1-192ec42b7170"
	farmID     = "0b3d9f0e-6f0a-4f0e-9a51-6cf7a0c0f0f1"
	apiKey     = "a-key-of-the-tests"

	secondWalletID = "5f2f7f0a-54a2-4d0c-9a4c-0f2ac6d8b3c2"
	secondFarmID   = "77a9b4de-3f53-4b57-8a6f-2f6f0cb1a5e3"
)

// What the ERP and the configuration have two of.
var (
	producers = []string{producerID, "a9ef7a80-3c0e-4a7c-8a35-6d2f3f1f5a11"}
	issuers   = []string{issuerID, "0f6d8a0b-2f7e-4be4-9d0f-5c9e7b1d2a22"}
	wallets   = []string{walletID, secondWalletID}
	harvests  = []string{"2025/2026", "2026/2027"}
)

// run is a history that is running.
type run struct {
	world
	*judge
	t       testing.TB
	opts    state.OpenOptions
	ledger  *state.Store
	source  *erp.Source
	api     *sandbox.Running
	client  *apiclient.Client
	erpFile string
	clock   *clock
	posts   atomic.Int64
	cancel  atomic.Pointer[context.CancelFunc] // ends the pass at the next POST; nil: nothing does
	late    []*late
	limits  enginerun.Limits
	log     []string

	places
	atPost  atomic.Pointer[func(n int)] // what happens at a POST; nil: nothing
	wrap    func(Ledger) Ledger         // a ledger whose process dies; nil: none
	between func()                      // what people do between reading and sending; nil: nothing
}

// clock is the machine's clock, advanced by the history.
type clock struct {
	engineclock.SystemClock
	mu    sync.Mutex
	ahead time.Duration
}

func (c *clock) offset() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ahead
}

func (c *clock) Now() time.Time      { return c.SystemClock.Now().Add(c.offset()) }
func (c *clock) Boot() time.Duration { return c.SystemClock.Boot() + c.offset() }

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
}

// memory is a folder in memory, where flushes cost nothing; tests check what is done, not how fast
// a disk is.
const memory = "/dev/shm"

func tempDir(t testing.TB) string {
	t.Helper()
	parent := memory
	if info, err := os.Stat(memory); err != nil || !info.IsDir() {
		parent = ""
	}
	dir, err := os.MkdirTemp(parent, "histories-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// live runs a plan and returns the fault that the judge has found, or nil. log describes the
// history step by step.
func live(t testing.TB, p plan) (found *fault, log []string, end shares) {
	t.Helper()
	r := begin(t, p)
	defer r.close()
	for i, s := range p.Steps {
		o := steps[slices.IndexFunc(steps, func(o op) bool { return o.name == s.Op })]
		text := o.do(r, s.A, s.B)
		r.clock.advance(time.Minute)
		if text == "" {
			continue
		}
		r.tell("%2d %s: %s", i+1, s.Op, text)
		if f := r.judgePlatform(); f != nil {
			return f, r.log, end
		}
	}
	found, end = r.finish()
	return found, r.log, end
}

func begin(t testing.TB, p plan) *run {
	t.Helper()
	dir := tempDir(t)
	r := &run{t: t, clock: &clock{}, limits: enginerun.Limits{
		MaxInFlight: p.Setup.InFlight, Timeout: 20 * time.Second,
		Quarantine: 15 * time.Minute,
	}}
	r.world = world{
		setup: p.Setup, unmapped: map[string]bool{}, before: map[int]business{}, written: map[int]line{},
		zone: time.UTC,
	}
	r.judge = newJudge(r)
	path := filepath.Join(dir, "erp.db")
	var err error
	r.db, err = sqlx.Open("sqlite", path+
		"?_pragma=busy_timeout(5000)&_pragma=synchronous(off)&_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	r.db.MustExec(schema)
	r.jobs = []job{{name: "contracts", kind: trade.OrderCommitments}}
	if r.Twice > 0 {
		second := job{name: "again", kind: trade.OrderCommitments, other: r.Twice == 1}
		if r.Twice == 2 {
			second.space = r.newSpace()
		}
		r.jobs = append(r.jobs, second)
	}
	if r.Child != "" {
		r.jobs = append(r.jobs, job{name: string(r.Child), kind: r.Child})
	}
	for i := range r.Rows {
		r.contracts = append(r.contracts,
			r.thing(&r.contracts, int(p.Seed)+i+map[bool]int{true: 1 - (int(p.Seed)+i)%3}[r.Calm]))
		if r.Child != "" {
			r.children = append(r.children, r.thing(&r.children, int(p.Seed)+i))
		}
	}
	r.erpFile = path
	r.openERP()
	r.api, err = sandbox.Start(sandbox.Options{
		APIKey: apiKey, Seed: 1,
		OnPost: func(n int) {
			r.posts.Store(int64(n))
			if cancel := r.cancel.Load(); cancel != nil {
				(*cancel)()
			}
			if at := r.atPost.Load(); at != nil {
				(*at)(n)
			}
		},
	}, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.client, err = apiclient.New(apiclient.Settings{
		BaseURL: r.api.URL, APIKey: apiKey, Timeout: r.limits.Timeout,
		MaxConns: r.limits.MaxInFlight,
	})
	if err != nil {
		t.Fatal(err)
	}
	driver := map[bool]string{false: state.SQLite, true: state.Postgres}[r.Postgres]
	r.opts = state.OpenOptions{Driver: driver, Journal: filepath.Join(dir, "journal")}
	if r.Postgres && r.Server {
		r.server = pgtest.Server(t)
		r.opts.DSN = r.server.Database(t)
	} else {
		r.opts.DSN = ledgertest.New(t, driver, filepath.Join(dir, "state.db"))
	}
	r.opts.Begin = true
	r.open()
	r.opts.Begin = false // from here on the ledger exists
	if r.server != nil && r.Replica {
		r.replica = r.server.Replica(t)
	}
	r.codes("SOJA", "100")
	r.committed(false)
	r.tell("   %s", r.setup)
	return r
}

func (r *run) close() {
	r.client.Close()
	if r.ledger != nil { // else it could not be opened, which was told
		_ = r.ledger.Close()
	}
	if err := errors.Join(r.source.Close(), r.db.Close(), r.api.Close()); err != nil {
		r.t.Error(err)
	}
}

func (r *run) open() {
	r.t.Helper()
	var err error
	r.ledger, err = state.Open(r.t.Context(), r.opts)
	if err != nil {
		r.t.Fatalf("%v\nafter %v", err, r.log)
	}
}

// openERP connects to the ERP.
func (r *run) openERP() {
	r.t.Helper()
	var err error
	r.source, err = erp.Open(r.t.Context(),
		erp.SourceOptions{Driver: "sqlite", DSN: erp.Secret(r.erpFile), TimeZone: r.zone})
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *run) tell(format string, args ...any) { r.log = append(r.log, fmt.Sprintf(format, args...)) }

// committed writes the tables, and lets the judge record them.
func (r *run) committed(restored bool) {
	r.t.Helper()
	r.write(r.t, restored)
	r.look()
	r.tell("      %v", &r.world)
}

func (w *world) jobName(kind trade.Kind) string {
	w.names++
	return fmt.Sprintf("%s_%d", kind, w.names+1)
}

// spec returns a job as in the configuration.
func (r *run) spec(j job) mapping.JobSpec {
	column := func(names ...string) mapping.FieldSpec { return mapping.FieldSpec{Columns: names} }
	always := func(text string) mapping.FieldSpec { return mapping.FieldSpec{Const: &text} }
	spec := mapping.JobSpec{
		Name: j.name, Sends: j.kind, Identity: identity(j.space), Query: r.query(j), Sweep: "0 3 1 1 *",
		Lookback:  time.Millisecond,
		Cancelled: &mapping.CancelledSpec{Column: "situacao", Values: []string{"cancelado"}},
	}
	if r.ChangedAt {
		spec.ChangedAt = "atualizado"
	}
	var parents []mapping.ParentSpec
	for _, p := range r.jobs {
		if p.kind == trade.OrderCommitments {
			parents = append(parents, mapping.ParentSpec{Job: p.name, Columns: []string{"num"}})
		}
	}
	contract := mapping.FieldSpec{Columns: []string{"num"}, SentBy: parents}
	spec.Key = []string{"ticket"}
	if r.ChildPositional {
		spec.Key = []string{"num", "ticket"}
	}
	switch j.kind {
	case trade.OrderCommitments:
		spec.Key = []string{"num"}
		spec.Fields = map[string]mapping.FieldSpec{
			"amount": column("quantidade"), "product": column("produto"), "order_type": column("tipo"),
			"price": column("preco"), "initial_delivery_date": column("inicio"),
			"producer_id": column("produtor"), "issuer_id": column("emissor"), "delivery_place_id": always(placeID),
			"wallet_id": always(wallets[r.wallet]), "haverst": always(harvests[r.harvest]),
			"unit_of_measurement": column("um"), "order_date": column("emissao"), "currency": always("BRL"),
		}
	case trade.Deliveries:
		spec.Fields = map[string]mapping.FieldSpec{
			"contract_id": contract, "delivered_volume": column("volume"),
			"delivered_volume_unit_of_measure": always("kg"), "delivery_date": always("2026-05-10"),
			"car": column("imovel"),
		}
	case trade.Traceability:
		spec.Fields = map[string]mapping.FieldSpec{
			"order_commitment_id": contract, "producer_id": always(producerID), "user_id": always(issuerID),
			"farm_id":          always(farmID),
			"allocated_volume": column("volume"), "unit_of_measurement": always("TON"),
		}
	}
	if r.Coded && j.kind == trade.OrderCommitments {
		spec.Fields["wallet_id"] = mapping.FieldSpec{Columns: []string{"produto"}, Ref: "wallets"}
	}
	if r.Farms && j.kind == trade.Traceability {
		spec.Fields["farm_id"] = column("fazenda")
	}
	if r.Coded && j.kind == trade.Traceability {
		spec.Fields["farm_id"] = mapping.FieldSpec{Columns: []string{"car"}, Ref: "farms"}
	}
	for field, gone := range r.unmapped {
		if gone {
			delete(spec.Fields, field)
		}
	}
	return spec
}

func (r *run) engine() *engine.Engine {
	r.t.Helper()
	var jobs []*mapping.Job
	for _, j := range r.jobs {
		job, err := mapping.Compile(r.spec(j), r.zone)
		if err != nil {
			r.t.Fatal(err)
		}
		jobs = append(jobs, job)
	}
	jobs, err := engine.Order(jobs)
	if err != nil {
		r.t.Fatal(err)
	}
	var ledger Ledger = r.ledger
	if r.wrap != nil {
		ledger = r.wrap(ledger)
	}
	config := engine.EngineParts{
		Ledger: ledger, Source: &betweenReading{r.source, r}, Log: zap.NewNop(),
		Env: enginerun.Env{
			Platform: r.client, Clock: r.clock, Owner: state.Self(), Jobs: jobs, Limits: r.limits, Zone: r.zone,
		},
	}
	if r.Brakes {
		config.Brakes = enginerun.DefaultBrakes()
	}
	return engine.New(config)
}

// pass makes one pass of the named jobs, or of all, and returns a description of the result.
func (r *run) pass(opts engine.Options, jobs ...string) string {
	r.t.Helper()
	_, text := r.sent(opts, jobs...)
	return text
}

func (r *run) sent(opts engine.Options, jobs ...string) (sent int, text string) {
	r.t.Helper()
	ctx, cancel := context.WithCancel(r.t.Context())
	defer cancel()
	if r.cancel.Load() != nil {
		r.cancel.Store(&cancel)
	}
	for _, j := range r.jobs {
		if len(jobs) == 0 || slices.Contains(jobs, j.name) {
			r.swept(j, opts.Sweep)
		}
	}
	typing := r.between != nil
	r.edited = typing
	reports, err := r.engine().Sync(ctx, jobs, opts)
	if err != nil && !errors.Is(err, context.Canceled) {
		r.t.Fatalf("%v\nafter %v", err, r.log)
	}
	stopped := ctx.Err() != nil || len(jobs) > 0 || r.wrap != nil || opts.RecordOnly
	for _, report := range reports {
		if report.Stopped != nil { // it may have read nothing
			clear(r.seen)
			stopped = true
		}
		sent += report.Sent
		text += fmt.Sprintf("%s sent %d %v; ", report.Job, report.Sent, report.States)
		if report.Stopped != nil {
			text += fmt.Sprintf("(stopped: %s) ", report.Stopped.Code)
		}
		r.reported(report)
	}
	if !stopped {
		r.unread = false
		r.orphans()
		r.bridges(opts.Sweep, typing)
	}
	return sent, text
}

// dryRun says what a pass would do, which does nothing.
func (r *run) dryRun(sweep bool) (text string) {
	r.t.Helper()
	posts := r.posts.Load()
	reports, err := r.engine().Sync(r.t.Context(), nil, engine.Options{DryRun: true, Sweep: sweep})
	if err != nil || r.posts.Load() != posts {
		r.t.Fatalf("%d POSTs, %v\nafter %v", r.posts.Load()-posts, err, r.log)
	}
	for _, report := range reports {
		text += fmt.Sprintf("%s would send %d; ", report.Job, report.Sent)
	}
	return text
}

// atOnce lets one process run the contracts and another one what hangs on them.
func (r *run) atOnce(_, _ int) string {
	r.t.Helper()
	var jobs [2][]string
	for _, j := range r.jobs {
		r.swept(j, false)
		of := &jobs[0]
		if j.kind != trade.OrderCommitments {
			of = &jobs[1]
		}
		*of = append(*of, j.name)
	}
	if len(jobs[1]) == 0 {
		return ""
	}
	var errs [2]error
	var wg sync.WaitGroup
	for i, e := range []*engine.Engine{r.engine(), r.engine()} {
		wg.Go(func() { _, errs[i] = e.Sync(r.t.Context(), jobs[i], engine.Options{}) })
	}
	wg.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		r.t.Fatalf("%v\nafter %v", err, r.log)
	}
	return "two processes at once; " + r.pass(engine.Options{})
}

// sign adds a contract.
func (r *run) sign(a int) {
	r.contracts = append(r.contracts, r.thing(&r.contracts, a+map[bool]int{true: 1 - a%3}[r.Calm]))
	r.committed(false)
}

// interrupt makes a pass that is interrupted at its next POST.
func (r *run) interrupt(a, b int) string {
	for range 3 {
		r.sign(a)
	}
	r.cancel.Store(new(context.CancelFunc))
	text := r.pass(engine.Options{Sweep: b%2 == 0})
	r.cancel.Store(nil)
	return "interrupted: " + text
}

// anyCode stands for every code that the ERP may have.
const anyCode = "*"

// codes imports codes of wallets and farms.
func (r *run) codes(codes ...string) string {
	r.t.Helper()
	if !r.Coded {
		return ""
	}
	if codes[0] == anyCode {
		codes = anyCodes()
	}
	r.imported(wallets[r.walletOf], codes)
	return fmt.Sprintf("%d codes are known, wallet %d", len(codes), r.walletOf)
}

func anyCodes() []string {
	codes := []string{"SOJA", "MILHO"}
	for price := range 1000 {
		codes = append(codes, fmt.Sprint(price))
	}
	return codes
}

func (r *run) imported(wallet string, codes []string) {
	r.t.Helper()
	for kind, id := range map[string]string{"wallets": wallet, "farms": farmID} {
		ids := map[string]string{}
		for _, code := range codes {
			ids[code] = id
		}
		if _, _, err := r.ledger.ImportReferences(r.t.Context(), kind, ids, nil,
			trade.AuditRecord{At: r.clock.Now(), Who: "maria", Act: "refs import", Target: kind}); err != nil {
			r.t.Fatal(err)
		}
	}
}

func (r *run) wait(d time.Duration) string {
	r.clock.advance(d)
	return d.String()
}

func (r *run) restart() string {
	r.t.Helper()
	if err := r.ledger.Close(); err != nil {
		r.t.Fatal(err)
	}
	r.open()
	return "the process starts again"
}

// rebuild deletes the ledger and rebuilds it from its journal, as the product does.
func (r *run) rebuild() string {
	r.t.Helper()
	if err := r.ledger.Close(); err != nil {
		r.t.Fatal(err)
	}
	if r.opts.Driver == state.Postgres {
		db, err := sqlx.Open(state.Postgres, r.opts.DSN)
		if err != nil {
			r.t.Fatal(err)
		}
		db.MustExec(`DROP SCHEMA public CASCADE; CREATE SCHEMA public`)
		_ = db.Close()
	} else {
		for _, suffix := range []string{"", "-wal", "-shm"} {
			if err := os.Remove(r.opts.DSN + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
				r.t.Fatal(err)
			}
		}
	}
	r.everywhere()
	return "the ledger is lost, and made anew from its journal; " + r.reopen()
}

// fault makes the platform treat one of the next POSTs differently.
func (r *run) fault(a int, specs ...string) string {
	r.t.Helper()
	return r.faultWith(a/len(specs), specs[a%len(specs)], "")
}

// faultWith is fault with the body of the answer.
func (r *run) faultWith(a int, spec, body string) string {
	r.t.Helper()
	spec = fmt.Sprintf("%s@%d", spec, int(r.posts.Load())+1+a%3)
	if body != "" {
		spec += ",body=" + body
	}
	faults, err := sandbox.ParseFaults([]string{spec})
	if err != nil {
		r.t.Fatal(err)
	}
	r.api.SetFaults(faults...)
	return fmt.Sprintf("%s (%d POSTs until now)", spec, r.posts.Load())
}

// dying is a ledger whose process dies when its first intent is stored.
type dying struct {
	Ledger
	entry   trade.Entry
	attempt trade.Attempt
}

func (l *dying) Commit(ctx context.Context, lease trade.Lease, group trade.Group) (trade.GroupResult, error) {
	if len(group.Intents) == 0 || l.attempt.ID != "" {
		return l.Ledger.Commit(ctx, lease, group)
	}
	group.Intents = group.Intents[:1]
	result, err := l.Ledger.Commit(ctx, lease, group)
	if err != nil {
		return result, err
	}
	if result.Claimed[group.Intents[0].Attempt.ID] {
		l.entry, l.attempt = group.Intents[0].Entry, group.Intents[0].Attempt
	}
	return trade.GroupResult{LeaseLost: true}, nil
}

// die makes a pass whose process is killed between the commit of an intent and the answer: the
// request was executed, or no byte had left.
func (r *run) die(leaves bool) (d *dying, answer apiclient.Answer, text string) {
	r.t.Helper()
	d = &dying{}
	r.wrap = func(l Ledger) Ledger { d.Ledger = l; return d }
	_, text = r.sent(engine.Options{})
	r.wrap = nil
	if d.attempt.ID == "" || !leaves {
		return d, answer, text
	}
	answer, err := r.client.Submit(r.t.Context(), d.entry.Sends, d.entry.Target, d.attempt.Payload, nil)
	return d, answer, text + fmt.Sprintf("the request of %s leaves (%v); ", d.entry.Key, err)
}

// crash kills the process.
func (r *run) crash(a, _ int) string {
	_, _, text := r.die(a%2 == 0)
	return text + "killed; " + r.restart()
}

// late is what a process that was taken for dead still knows of its request.
type late struct {
	entry   trade.Entry
	attempt trade.Attempt
	id      string // of the record that it made; "" when no byte left
	denied  bool   // a person has decided otherwise
}

// overtake lets a process be taken for dead, which is not, and whose answer is there at once.
func (r *run) overtake(a, b int) string {
	r.sign(b)
	r.api.SetFaults()
	r.api.Know(sandbox.Wallets, walletID)
	d, answer, text := r.die(a%2 == 0)
	if d.attempt.ID == "" || a%2 == 0 && answer.ID == "" {
		return text
	}
	r.late = append(r.late, &late{entry: d.entry, attempt: d.attempt, id: answer.ID})
	return text + fmt.Sprintf("%s is left to another process", d.entry.Key)
}

// lateAnswer stores what a process knows that was taken for dead.
func (r *run) lateAnswer(a, _ int) string {
	r.t.Helper()
	if len(r.late) == 0 {
		return ""
	}
	n := a % len(r.late)
	l := r.late[n]
	r.late = slices.Delete(r.late, n, n+1)
	st := trade.Settlement{Attempt: l.attempt, State: trade.Pending}
	st.Attempt.Outcome, st.Attempt.RemoteID, st.Attempt.FinishedAt = trade.OutcomeNotSent, l.id, r.clock.Now()
	if l.id != "" {
		st.Attempt.Outcome, st.State, st.Counts = trade.OutcomeCreated, trade.Accepted, true
	}
	result, err := r.ledger.Commit(r.t.Context(), trade.Lease{Job: l.entry.Job},
		trade.Group{At: r.clock.Now(), Settle: []trade.Settlement{st}})
	if err != nil || !result.Settled[l.attempt.ID] {
		r.t.Fatalf("a late answer was not stored: %+v, %v\nafter %v", result, err, r.log)
	}
	for _, alarm := range result.Alarms {
		if !l.denied && (alarm.Kind == trade.LateDouble || alarm.Kind == trade.LateContradiction) {
			r.uneven = &fault{"alarm", fmt.Sprintf("nobody decided otherwise than the answer of %s: %+v", l.entry.Key, alarm)}
		}
	}
	return fmt.Sprintf("of %s (%s): %v", l.entry.Key, l.id, result.Alarms)
}

// betweenReading is an ERP in which people type between the reading of a job and its sending.
type betweenReading struct {
	*erp.Source
	r *run
}

func (s *betweenReading) Read(ctx context.Context, q erp.Query, w erp.Window,
	fn func(erp.Row) error,
) (erp.Result, error) {
	result, err := s.Source.Read(ctx, q, w, fn)
	if between := s.r.between; between != nil {
		s.r.between = nil
		between()
	}
	return result, err
}

// editWhileSending makes a pass in which one of the steps of people who type happens after the ERP
// was read.
func (r *run) editWhileSending(a, b int) string {
	typing := []string{
		"in front", "swap", "type again", "delete and renumber", "edit", "edit back", "like another",
		"hide", "recycle", "restore",
	}
	name := typing[a%len(typing)]
	o := steps[slices.IndexFunc(steps, func(o op) bool { return o.name == name })]
	what := ""
	r.between = func() { what = o.do(r, a/2, b) }
	text := r.pass(engine.Options{})
	r.between = nil
	return fmt.Sprintf("(%s: %s) %s", name, what, text)
}

var maria = trade.Person{Name: "maria", From: "test@host", Reason: "looked at in the ERP"}

func (r *run) acts() *acts.Acts {
	e := r.engine()
	return &acts.Acts{
		Ledger: r.ledger, JobLedger: r.ledger,
		Jobs: e.Jobs, Now: r.clock.Now,
		Boot: state.Self().Boot, Clock: r.clock, Limits: r.limits, Platform: r.client, Rows: e,
	}
}

// person makes a person decide about a row that was not sent, or may not have been; rarely about
// one that was.
func (r *run) person(a, b int) string {
	r.t.Helper()
	var open []trade.Entry
	for _, e := range r.entries("") {
		// Rows of other jobs must be moved first.
		known := slices.ContainsFunc(r.jobs, func(j job) bool { return j.name == e.Job })
		if known && (e.State != trade.Accepted || b%20 == 0) {
			open = append(open, e)
		}
	}
	if len(open) == 0 {
		return ""
	}
	e, people, ctx := open[a%len(open)], r.acts(), r.t.Context()
	var plan acts.RowPlan
	var err error
	order, id := false, ""
	switch {
	case b%4 == 0:
		plan, err = people.Dismiss(ctx, e.Job, []string{e.Key})
	case e.State == trade.Dismissed:
		order = r.typedOf[e.Key]
		plan, err = people.Reopen(ctx, e.Job, []string{e.Key})
	case b%4 == 1:
		id = r.unowned(e)
		if id == "" {
			return ""
		}
		plan, err = people.Adopt(ctx, e.Job, e.Key, acts.Adoption{ID: id, DespiteDifferences: true})
	case e.State != trade.InDoubt:
		order = e.State == trade.Held || e.State == trade.Rejected && e.Error != nil && e.Error.Weak
		plan, err = people.Retry(ctx, e.Job, []string{e.Key}, true)
	default:
		if err = people.Watch(ctx, e.Job); err != nil {
			break
		}
		r.clock.advance(time.Hour) // the quarantine
		order = true
		plan, err = people.Resend(ctx, e.Job, e.Key, true)
	}
	if err == nil {
		plan, err = people.Do(ctx, plan, maria)
	}
	if err != nil {
		r.t.Fatalf("%v\nafter %v", err, r.log)
	}
	if order && plan.Steps[0].Done {
		r.ordered(e)
	}
	if id != "" && plan.Steps[0].Done { // the person has seen what differs
		r.acknowledged(e)
	}
	for _, l := range r.late {
		if l.entry.ID == e.ID && plan.Steps[0].Done {
			l.denied = l.denied || order && l.id != "" || id != "" && id != l.id
		}
	}
	return fmt.Sprintf("%s %s %s, which was %s (%s): %v %s", plan.Act, e.Job, e.Key, e.State, e.Cause,
		plan.Steps[0].Done, plan.Steps[0].Refused)
}

// acknowledge makes a person acknowledge that a flagged row was dealt with.
func (r *run) acknowledge(a, _ int) string {
	r.t.Helper()
	var flagged []trade.Entry
	for _, e := range r.entries("") {
		if e.State == trade.Accepted && len(e.Flags) > 0 {
			flagged = append(flagged, e)
		}
	}
	if len(flagged) == 0 {
		return ""
	}
	e, people := flagged[a%len(flagged)], r.acts()
	plan, err := people.Acknowledge(r.t.Context(), e.Job, []string{e.Key})
	if err == nil {
		plan, err = people.Do(r.t.Context(), plan, maria)
	}
	if err != nil {
		r.t.Fatalf("%v\nafter %v", err, r.log)
	}
	if plan.Steps[0].Done {
		r.acknowledged(e)
	}
	return fmt.Sprintf("%s %s, which is %v: %v %s", e.Job, e.Key, e.Flags, plan.Steps[0].Done, plan.Steps[0].Refused)
}

// move makes a person give a removed job the name of a configured one.
func (r *run) move(a, b int) string {
	r.t.Helper()
	if len(r.gone) == 0 {
		return ""
	}
	n := a % len(r.gone)
	from := r.gone[n]
	var same []job
	for _, j := range r.jobs {
		if j.kind == from.kind {
			same = append(same, j)
		}
	}
	to, people, ctx := same[b%len(same)], r.acts(), r.t.Context()
	plan, err := people.MoveJob(ctx, from.name, to.name)
	if err == nil && plan.Refused == acts.NotRefused {
		plan, err = people.DoMoveJob(ctx, plan, maria)
	}
	if err != nil {
		r.t.Fatalf("%v\nafter %v", err, r.log)
	}
	if plan.Done || plan.Refused == acts.NoEntries {
		r.gone = slices.Delete(r.gone, n, n+1)
		r.moved(from, to)
	}
	return fmt.Sprintf("%s to %s: %d rows %v, %s", from.name, to.name, plan.Entries, plan.States, plan.Refused)
}

// release makes a person release every stopped job.
func (r *run) release(_, _ int) string {
	r.t.Helper()
	people, ctx, text := r.acts(), r.t.Context(), ""
	for _, j := range r.jobs {
		plan, err := people.Release(ctx, j.name)
		plan.Checked = true
		if err == nil && plan.Refused == acts.NotRefused {
			plan, err = people.DoJob(ctx, plan, maria)
			text += j.name + " is released; "
			if r.Twice > 0 {
				r.released = true
				r.look()
			}
			r.apart(j)
		}
		if err != nil {
			r.t.Fatalf("%v\nafter %v", err, r.log)
		}
	}
	return text
}

// entries returns the entries of a job, or of all jobs.
func (r *run) entries(job string) (out []trade.Entry) {
	r.t.Helper()
	var q trade.RowQuery
	if job != "" {
		q.Jobs = []string{job}
	}
	if err := r.ledger.Rows(r.t.Context(), q, func(e trade.Entry) error {
		out = append(out, e)
		return nil
	}); err != nil {
		r.t.Fatal(err)
	}
	return out
}

// Ledger is the whole interface of a ledger that the engine needs, for wrappers of a ledger.
type Ledger = enginerun.Ledger
