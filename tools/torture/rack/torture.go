package rack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
)

// Options defines what is tortured and how hard.
type Options struct {
	Binary string // the program under trial
	// Script is another program to torture in its place, which has no ledger that could be judged:
	// see tools/torture/cronscript.
	Script      string
	Dir         string        // an empty folder for all files
	ERP         Database      // "" means SQLite in Dir. A schema is created in it
	Ledger      Database      // "" means SQLite in Dir; otherwise an empty PostgreSQL database
	Kills       int           // number of kills
	Seed        uint64        // of the plan of faults and kills
	MaxInFlight int           // POSTs in flight at once; 0 means 8
	Typing      time.Duration // how long each of three people takes for a row; 0 means 25 ms
	Progress    func(Verdict) // called now and then; may be nil
	Log         io.Writer     // gets the standard error of the program; nil discards it
}

// Database is a driver's name, postgres or sqlite, and its data source.
type Database struct{ Driver, DSN string }

// APIKey is the key that the sandbox of a trial accepts.
const APIKey = "torture"

// Times of a trial. The quarantine is the shortest that the configuration accepts: twice the
// time-out plus 40 s.
const (
	requestTimeout = 3 * time.Second
	quarantine     = 2*requestTimeout + 40*time.Second
)

// Trial is one run of the harness. [Run] performs a whole trial; the parts are exported for a
// harness with several machines (tools/torture).
type Trial struct {
	Options
	random  *rand.Rand
	API     *sandbox.Running
	truth   *os.File
	net     *proxy
	Work    *workload
	Child   *child
	trigger *trigger
	Verdict Verdict
	doubts  map[rowKey]bool // left by kills and already counted
}

// Run tortures the program and judges the result. It returns an error if the trial could not run; a
// verdict that is not clean is not an error.
func Run(ctx context.Context, opts Options) (v Verdict, err error) {
	began := time.Now()
	t, err := Begin(ctx, opts, sandbox.Options{}, false)
	if err != nil {
		return Verdict{}, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	if err := t.runWithFaults(ctx); err != nil {
		return t.Verdict, err
	}
	if err := t.finish(ctx); err != nil {
		return t.Verdict, err
	}
	t.Verdict.Seconds = time.Since(began).Round(time.Second).Seconds()
	return t.Verdict, nil
}

// Begin sets a trial up: platform, ERP and ledger, and a program that is not running yet. If
// platform has no faults of its own, it gets those of [Run]. If direct is set, the platform is
// reached without the proxy that cuts connections.
func Begin(ctx context.Context, opts Options, platform sandbox.Options, direct bool) (*Trial, error) {
	var err error
	opts.Dir, err = filepath.Abs(opts.Dir)
	if err != nil { // a ledger needs an absolute path
		return nil, err
	}
	if opts.MaxInFlight == 0 {
		opts.MaxInFlight = 8
	}
	if opts.ERP.Driver == "" {
		opts.ERP = Database{"sqlite", filepath.Join(opts.Dir, "erp.db")}
	}
	if opts.Ledger.Driver == "" {
		opts.Ledger = Database{"sqlite", filepath.Join(opts.Dir, "ledger", "state.db")}
	}
	if opts.Progress == nil {
		opts.Progress = func(Verdict) {}
	}
	t := &Trial{
		Options: opts, random: rand.New(rand.NewPCG(opts.Seed, 1)), trigger: &trigger{},
		doubts: map[rowKey]bool{},
	}
	t.Verdict = Verdict{
		Seed: opts.Seed, ERP: opts.ERP.Driver, Ledger: opts.Ledger.Driver,
		MaxInFlight: opts.MaxInFlight,
	}
	t.truth, err = os.OpenFile(filepath.Join(opts.Dir, "truth.jsonl"), os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND,
		0o600)
	if err != nil {
		return nil, fmt.Errorf("the log of the platform: %w", err)
	}
	if platform.Faults == nil {
		platform.Faults, err = sandbox.ParseFaults(platformFaults)
		if err != nil {
			return nil, errors.Join(err, t.Close())
		}
	}
	platform.APIKey, platform.Log, platform.Seed = APIKey, t.truth, int64(opts.Seed>>1)|1
	platform.OnPost, platform.OnExecuted = func(int) { t.trigger.arrived() },
		func(int, sandbox.Record) { t.trigger.executed() }
	t.API, err = sandbox.Start(platform, "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	url := t.API.URL
	if !direct {
		t.net, err = newProxy(url, opts.Seed)
		if err != nil {
			return nil, errors.Join(err, t.Close())
		}
		url = t.net.url
	}
	t.Work, err = newWorkload(ctx, opts)
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	t.Child, err = newChild(ctx, opts, url)
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// platformFaults are the faults of the platform, each with its percentage of POSTs, with and
// without execution.
var platformFaults = []string{
	"lost-after%3", "lost-before%2", "cut%2", "garbled%1", "noid%1", "status=500,commit%1", "status=500%1",
	"status=503%1", "status=502%1",
	"refused%2", "throttle=1s%1", "status=504,commit%1", "slow=200ms%5", "hang%1", "late=400ms%1", "lost-after,reset%1",
	"html%1", "status=408%1",
}

// runWithFaults kills the program t.Kills times, while people write to the ERP.
func (t *Trial) runWithFaults(ctx context.Context) (err error) {
	stop := t.Work.Write(ctx)
	defer func() { err = errors.Join(err, stop()) }()
	next := time.Now()
	for t.Verdict.Kills < t.Kills {
		if err := ctx.Err(); err != nil {
			return err
		}
		killed, err := t.Child.life(ctx, t.death())
		if err != nil {
			return err
		}
		t.Verdict.Starts++
		if !killed {
			continue
		}
		t.Verdict.Kills++
		open, err := t.Child.Count(ctx, "sending")
		if err != nil {
			return err
		}
		t.Verdict.Sending += open
		t.Verdict.MostSending = max(t.Verdict.MostSending, open)
		if err := t.countDoubts(ctx); err != nil {
			return err
		}
		if time.Now().After(next) {
			t.Progress(t.Verdict)
			next = time.Now().Add(10 * time.Second)
		}
	}
	return nil
}

// death decides how the next pass ends: some time after its start, or when one of its requests
// arrives or was executed.
func (t *Trial) death() death {
	switch n := 1 + t.random.IntN(12); t.random.IntN(4) {
	case 0:
		return death{when: t.trigger.arm(onArrival, n), limit: 4 * time.Second}
	case 1:
		return death{when: t.trigger.arm(onExecution, n), limit: 4 * time.Second}
	case 2:
		return death{limit: time.Duration(5+t.random.IntN(60)) * time.Millisecond} // while it opens, migrates, recovers
	}
	return death{limit: time.Duration(60+t.random.IntN(900)) * time.Millisecond}
}

// finish stops all faults and lets the program finish, first without a person, then with one, and
// judges both times.
func (t *Trial) finish(ctx context.Context) error {
	t.API.SetFaults()
	t.net.calm()
	if t.Script != "" {
		return t.judgeScript(ctx)
	}
	if err := t.Child.Settle(ctx); err != nil {
		return err
	}
	if err := t.countDoubts(ctx); err != nil {
		return err
	}
	if err := t.Judge(ctx, false); err != nil {
		return err
	}
	if t.Verdict.InDoubt+t.Verdict.Held == 0 {
		return t.Judge(ctx, true)
	}
	if err := t.Decide(ctx); err != nil {
		return err
	}
	if err := t.Child.Settle(ctx); err != nil {
		return err
	}
	return t.Judge(ctx, true)
}

// Close ends everything that Begin has started.
func (t *Trial) Close() error {
	var errs []error
	if t.Work != nil {
		errs = append(errs, t.Work.close())
	}
	if t.net != nil {
		errs = append(errs, t.net.close())
	}
	if t.API != nil {
		errs = append(errs, t.API.Close(), t.API.LogErr())
	}
	if t.truth != nil {
		errs = append(errs, t.truth.Close())
	}
	return errors.Join(errs...)
}
