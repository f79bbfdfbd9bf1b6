package torture

import (
	"encoding/json"
	"flag"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/tools/machine"
	"github.com/safrasync/safrasync/tools/torture/rack"
)

var (
	kills = flag.Int("kills", 0, "how often to kill the program; 0 = 8, or 200 with SAFRASYNC_TEST_LONG")
	seed  = flag.Uint64("seed", 1, "plan of faults and kills")
)

func TestMain(m *testing.M) { pgtest.Main(m, func() error { return goleak.Find() }) }

func howOften() int {
	switch {
	case *kills > 0:
		return *kills
	case os.Getenv("SAFRASYNC_TEST_LONG") != "":
		return 200
	}
	return 8
}

func run(t *testing.T, opts rack.Options) rack.Verdict {
	t.Helper()
	opts.Dir, opts.Kills, opts.Seed = t.TempDir(), max(opts.Kills, howOften()), *seed
	opts.Progress = func(v rack.Verdict) { t.Logf("%d kills", v.Kills) }
	v, err := rack.Run(t.Context(), opts)
	line, jsonErr := json.Marshal(v)
	t.Logf("%s", line)
	if err != nil || jsonErr != nil {
		t.Fatal(err, jsonErr)
	}
	if v.Kills < opts.Kills || v.Records == 0 {
		t.Errorf("the trial was none: %s", line)
	}
	return v
}

func TestF071NothingIsLostAndNothingComesTwice(t *testing.T) {
	t.Parallel()
	binary := machine.Build(t, "../..", "./cmd/safrasync")
	for _, ledger := range []string{"sqlite", "postgres"} {
		t.Run(ledger, func(t *testing.T) {
			t.Parallel()
			opts := rack.Options{Binary: binary, ERP: rack.Database{Driver: "postgres", DSN: pgtest.Database(t)}}
			if ledger == "postgres" {
				opts.Ledger = rack.Database{Driver: "postgres", DSN: pgtest.Database(t)}
			}
			if v := run(t, opts); !v.Clean() {
				t.Errorf("repeat with -kills %d -seed %d: %v", howOften(), *seed, v.Examples)
			}
		})
	}
}

// The harness can fail: the usual script under cron sends rows twice.
func TestTheJudgeFindsWhatAScriptDoubles(t *testing.T) {
	t.Parallel()
	v := run(t, rack.Options{
		Script: machine.Build(t, "..", "./torture/cronscript"), Kills: 25, // it does not double at each
		ERP: rack.Database{Driver: "postgres", DSN: pgtest.Database(t)},
	})
	if v.Doubled == 0 {
		t.Errorf("nothing was doubled: %+v", v)
	}
}
