package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// roleEnv is set in the processes that this program starts from itself, so that its tests can
// distinguish them from the test process.
const roleEnv = "SAFRASYNC_BENCH_ROLE"

// apiKey is the key that the contestants send; CI searches all output for it.
const apiKey = "canary-key-9d41f7"

// flags holds the flags of the command line.
type flags struct {
	binary   string
	dir      string
	rows     int
	reps     int
	inFlight int
	only     string
	asJSON   string
	table    string
	full     bool
	small    bool

	// Used by the roles.
	url     string
	latency time.Duration
	lose    int
	tell    int
	dsn     string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run runs the command line. Without an argument it measures; with one it plays the role of that
// name in a measurement.
func run(ctx context.Context, w io.Writer, args []string) error {
	var f flags
	set := flag.NewFlagSet("bench", flag.ContinueOnError)
	set.StringVar(&f.binary, "binary", "../bin/safrasync", "the released program")
	set.StringVar(&f.dir, "dir", "",
		"folder for everything that is made; default a new one, removed when all went well")
	set.IntVar(&f.rows, "rows", 20000, "rows of a run")
	set.IntVar(&f.reps, "reps", 3, "repetitions; their median counts")
	set.IntVar(&f.inFlight, "in-flight", 32, "POSTs in flight at once")
	set.StringVar(&f.only, "only", "",
		"comma-separated names of latencies (0s, 20ms), contestants (sqlite, postgres, bento, river, river-each, script) and measures; default everything")
	set.StringVar(&f.asJSON, "json", "", "file for one JSON line for each run")
	set.StringVar(&f.table, "table", "", "Markdown file whose table is replaced, between its two comments")
	set.BoolVar(&f.small, "small", false, "ledgers of -rows entries only: for the tests of this program")
	set.BoolVar(&f.full, "full", false, "the long form: millions of rows, hours")
	set.StringVar(&f.url, "url", "", "of the API (parts only)")
	set.DurationVar(&f.latency, "latency", 0, "of the API (part api only)")
	set.IntVar(&f.lose, "lose", 0, "answers that are lost once, of a thousand rows (part api only)")
	set.IntVar(&f.tell, "tell", 0, "after how many POSTs to say so (part api only)")
	set.StringVar(&f.dsn, "dsn", "", "of the ERP (part script only)")
	if err := set.Parse(args); err != nil {
		return err
	}
	if f.rows < 1 || f.reps < 1 || f.inFlight < 1 {
		return errors.New("-rows, -reps and -in-flight are at least 1")
	}
	switch role := set.Arg(0); role {
	case "":
		return measureAll(ctx, w, f)
	case "api":
		return serveAPI(ctx, w, apiOptions{f.latency, f.lose, f.tell})
	case "limit":
		return runLimit(ctx, w, f.url, f.rows, f.inFlight)
	case "script":
		return runScript(ctx, w, f.url, f.dsn)
	default:
		return fmt.Errorf("there is no part %q: api, limit, script", role)
	}
}
