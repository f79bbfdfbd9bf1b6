package size_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	gosync "sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/tools/bench/size"
)

var (
	rows     = flag.Int("rows", 500, "rows of the ERP and the ledger")
	attempts = flag.Int("attempts", 2, "attempts of each row")
	age      = flag.Duration("age", 0, "how long ago the oldest row was sent")
	bodies   = flag.Duration("bodies", 0, "rows that are older have no bodies any more; 0: all have them")
	stuck    = flag.Int("stuck", 3, "of a hundred rows, how many did not go, where pages are measured")
	times    = flag.Int("times", 1, "how often each page is asked for after the first time; 0: no page is")
	ledgers  = flag.String("ledger", "", "sqlite or postgres; both when it is empty")
	formats  = flag.String("formats", "json,html", "forms of the reports, of csv, xlsx, json and html; none when it is empty")
	dir      = flag.String("dir", "",
		"an empty folder in which the world stays; needs -ledger, -erp and, for postgres, -state")
	erpDSN = flag.String("erp", "",
		"an empty PostgreSQL database for the ERP's table; a throwaway one when it is empty")
	stateDSN = flag.String("state", "", "an empty PostgreSQL database for the ledger; a throwaway one when it is empty")
)

func TestMain(m *testing.M) {
	pgtest.Main(m, func() error {
		return errors.Join(os.RemoveAll(buildDir), goleak.Find())
	})
}

// buildDir is the folder in which the program was built; "" if no trial has needed it yet.
var buildDir string

// built builds the program, once for all trials.
var built = gosync.OnceValues(func() (binary string, err error) {
	buildDir, err = os.MkdirTemp("", "size")
	if err != nil {
		return "", err
	}
	binary = filepath.Join(buildDir, "safrasync")
	cmd := exec.Command("go", "build", "-trimpath", "-o", binary, "./cmd/safrasync")
	cmd.Dir = "../../.."
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return binary, fmt.Errorf("%w: %s", err, out)
	}
	return binary, nil
})

// onEach runs a trial with each ledger.
func onEach(t *testing.T, trial func(t *testing.T, w *size.World)) {
	t.Helper()
	binary := must.Get(built())(t)
	for _, ledger := range []string{size.SQLite, size.Postgres} {
		if *ledgers == "" || *ledgers == ledger {
			t.Run(ledger, func(t *testing.T) { trial(t, newWorld(t, binary, ledger)) })
		}
	}
}

// The program itself finds nothing wrong with a filled ledger.
func TestAFilledLedgerIsInOrderAndUnchanged(t *testing.T) {
	onEach(t, func(t *testing.T, w *size.World) {
		fill(t, w)
		measure(t, w)
	})
}

// A report of all rows is written in every form, by the command and by the console, with memory that does
// not grow with the rows, and every page of the console works on a large ledger with many stuck rows. Memory
// and times are logged but not checked, because they depend on what else the host does.
func TestThePagesAndTheReportsOfALargeLedger(t *testing.T) {
	onEach(t, func(t *testing.T, w *size.World) {
		w.Stuck = *stuck
		fill(t, w)
		forms := strings.FieldsFunc(*formats, func(r rune) bool { return r == ',' })
		t.Logf("%-14s %10s %10s %10s %10s", "report", "peak MiB", "CPU s", "wall s", "file MiB")
		tell := func(name string, c size.ReportCost, err error) {
			t.Helper()
			if err != nil || c.Size == 0 {
				t.Fatalf("%s of %d bytes: %v", name, c.Size, err)
			}
			t.Logf("%-14s %10.1f %10.1f %10.1f %10.1f", name, float64(c.Peak)/(1<<20), c.CPU.Seconds(),
				c.Wall.Seconds(), float64(c.Size)/(1<<20))
		}
		for _, form := range forms {
			c, err := w.ReportFile(t.Context(), form)
			tell(form, c, err)
		}
		// The service would do this at its start, at the same time as the first export.
		if _, _, err := w.Sync(t.Context(), "--sweep"); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		c := must.Get(w.Serve(t.Context()))(t)
		defer func() { must.Do(t, c.Close()) }()
		t.Logf("served and logged in after %.1f s", time.Since(began).Seconds())
		if *times > 0 {
			stuck, keys, err := c.Warm()
			must.Do(t, err)
			t.Logf("what is stuck was read after %.1f s, the keys after %.1f s", stuck.Seconds(), keys.Seconds())
			t.Logf("%-45s %9s %9s %9s %9s", "ms of a page", "first", "median", "worst", "CPU")
			for _, p := range must.Get(c.Pages(w.Rows, *times))(t) {
				t.Logf("%-45s %9.1f %9.1f %9.1f %9.1f", p.Path, ms(p.First), ms(p.Median), ms(p.Worst), ms(p.CPU))
			}
		}
		for _, form := range forms {
			cost, err := c.Export(form)
			tell("console "+form, cost, err)
		}
	})
}

func newWorld(t *testing.T, binary, ledger string) *size.World {
	t.Helper()
	database := func(dsn string) size.Database {
		if dsn == "" {
			dsn = pgtest.Database(t)
		}
		return size.Database{Driver: size.Postgres, DSN: dsn}
	}
	w := &size.World{
		Binary: binary, Dir: *dir, Rows: *rows, Attempts: *attempts, Age: *age, Bodies: *bodies,
		ERP: database(*erpDSN),
	}
	if w.Dir == "" {
		w.Dir = t.TempDir()
	}
	if ledger == size.Postgres {
		w.Ledger = database(*stateDSN)
	} else {
		w.Ledger = size.Database{Driver: size.SQLite, DSN: filepath.Join(w.Dir, "ledger.db")}
	}
	return w
}

func fill(t *testing.T, w *size.World) {
	t.Helper()
	step := func(name string, fn func() error) {
		began := time.Now()
		if err := fn(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		t.Logf("%-10s %8.1f s", name, time.Since(began).Seconds())
	}
	step("rows", func() error { return w.Prepare(t.Context()) })
	step("discover", func() error {
		r, c, err := w.Sync(t.Context())
		if err != nil {
			return err
		}
		if r.New != w.Rows || r.States["pending"] != w.Rows || r.Stopped != nil {
			t.Fatalf("%+v: %s", r, c.Out)
		}
		took, err := w.LastRun(t.Context())
		t.Logf("first pass: %.1f µs a row (CPU %.1f), peak %.1f MiB", took.Seconds()*1e6/float64(w.Rows),
			c.CPU.Seconds()*1e6/float64(w.Rows), float64(c.Peak)/(1<<20))
		return err
	})
	step("send", func() error { return w.Send(t.Context()) })
	step("doctor", func() error {
		_, err := w.Run(t.Context(), "doctor")
		return err
	})
}

// measure measures passes that find nothing new.
func measure(t *testing.T, w *size.World) {
	t.Helper()
	for _, pass := range []struct {
		name  string
		args  []string
		sweep bool
	}{{"sweep", []string{"--sweep"}, true}, {"no news", nil, false}, {"no news", nil, false}} {
		r, c, err := w.Sync(t.Context(), pass.args...)
		if err != nil {
			t.Fatal(err)
		}
		if r.Sweep != pass.sweep || r.New+r.Changed+r.Unreadable != 0 || r.States["accepted"] != w.Rows ||
			r.Stopped != nil || pass.sweep && (r.Unchanged != w.Rows || *r.InScope != w.Rows || *r.Gone != 0) {
			t.Fatalf("%s: %s", pass.name, c.Out)
		}
		took := must.Get(w.LastRun(t.Context()))(t)
		t.Logf("%-8s %8.1f ms (process %.1f ms, CPU %.1f ms), peak %.1f MiB", pass.name, ms(took), ms(c.Wall),
			ms(c.CPU), float64(c.Peak)/(1<<20))
	}
}

func ms(d time.Duration) float64 { return float64(d) / 1e6 }
