package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/pgtest"
)

// result is one run, and one JSON line.
type result struct {
	Measure    string  `json:"measure"`
	Who        string  `json:"who"`
	LatencyMS  int     `json:"latency_ms"`
	Rep        int     `json:"rep"`
	Rows       int     `json:"rows"`
	Seconds    float64 `json:"seconds"`     // of the whole process; of the loop alone for the limit
	APISeconds float64 `json:"api_seconds"` // from the first POST to the last answer, as the API saw it
	RowsPerS   float64 `json:"rows_per_s"`  // by Seconds
	Ratio      float64 `json:"ratio"`       // to the limit of the same repetition
	APIRatio   float64 `json:"api_ratio"`   // the same by APISeconds: without the start, the reading of the ERP before, and the end
	CPU        float64 `json:"cpu_per_1000"`
	LedgerCPU  float64 `json:"ledger_cpu_per_1000"` // of the PostgreSQL that holds the ledger
	ERPCPU     float64 `json:"erp_cpu_per_1000"`
	PeakMiB    float64 `json:"peak_mib"`
	agreement
}

func (r result) String() string {
	return fmt.Sprintf("%-8s %-18s %2d ms  %7.0f rows/s  %.3f of the limit (API: %.3f)  CPU %.3f + ledger %.3f + ERP %.3f s/1000  %5.1f MiB  lost %d, doubled %d, wrong %d, in doubt %d",
		r.Measure, r.Who, r.LatencyMS, r.RowsPerS, r.Ratio, r.APIRatio, r.CPU, r.LedgerCPU, r.ERPCPU, r.PeakMiB, r.Lost, r.Doubled, r.Wrong, r.InDoubt)
}

// serverSettings make the throwaway servers like those of a cooperative; what commits wait for stays as it is.
const serverSettings = "shared_buffers = 256MB\nmax_wal_size = 4GB\n"

// bench is a measurement with its servers.
type bench struct {
	flags
	w            io.Writer
	json         io.Writer
	erpServer    *pgtest.Cluster
	ledgerServer *pgtest.Cluster
	erp          string // data source name of the ERP
	builds       map[string]bool
	databases    int
	runs         int
	results      []result
	failed       error
}

func measureAll(ctx context.Context, w io.Writer, f flags) (err error) {
	if f.binary, err = filepath.Abs(f.binary); err != nil {
		return err
	}
	if f.dir == "" {
		if f.dir, err = os.MkdirTemp("", "safrasync-bench-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(f.dir)) }()
	}
	b := &bench{flags: f, builds: map[string]bool{}, w: w, json: io.Discard}
	if f.asJSON != "" {
		file, err := os.OpenFile(f.asJSON, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		b.json = file
	}
	for _, server := range []**pgtest.Cluster{&b.erpServer, &b.ledgerServer} {
		if *server, err = pgtest.Start(serverSettings); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, (*server).Remove()) }()
	}
	if b.erp, err = b.erpServer.Create("erp"); err != nil {
		return err
	}
	if err := fillERP(ctx, b.erp, f.rows); err != nil {
		return err
	}
	for rep := range f.reps {
		for _, latency := range []time.Duration{0, 20 * time.Millisecond} {
			if !b.wanted(latency.String()) {
				continue
			}
			if err := b.sends(ctx, rep, latency); err != nil {
				return err
			}
		}
	}
	return b.failed
}

// add prints a result and keeps it. What does not agree in our own ledger fails the measurement in the end.
func (b *bench) add(r result) error {
	r.RowsPerS = float64(r.Rows) / r.Seconds
	if strings.HasPrefix(r.Who, "safrasync") {
		b.failed = errors.Join(b.failed, r.err(r.Measure+", "+r.Who))
	}
	b.results = append(b.results, r)
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(b.json, "%s\n", line); err != nil {
		return err
	}
	_, err = fmt.Fprintln(b.w, r)
	return err
}

// sends measures each contestant once at a latency, beside the limit.
func (b *bench) sends(ctx context.Context, rep int, latency time.Duration) error {
	base := result{Measure: "send", Rep: rep, LatencyMS: int(latency.Milliseconds()), Rows: b.rows}
	limit, err := b.limit(ctx, base, latency)
	if err != nil {
		return err
	}
	if err := b.add(limit); err != nil {
		return err
	}
	for _, name := range names {
		if !b.wanted(name) {
			continue
		}
		r, err := b.send(ctx, base, name, latency)
		if err != nil {
			return err
		}
		r.Ratio = limit.Seconds / r.Seconds
		r.APIRatio = limit.APISeconds / r.APISeconds
		if err := b.add(r); err != nil {
			return err
		}
	}
	return nil
}

// limit measures the physical limit.
func (b *bench) limit(ctx context.Context, r result, latency time.Duration) (_ result, err error) {
	a, err := startAPI(apiOptions{latency: latency})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, a.stop()) }()
	r.Who, r.Ratio, r.APIRatio = "limit", 1, 1
	cmd, err := part("-url", a.url, "-rows", fmt.Sprint(r.Rows), "-in-flight", fmt.Sprint(b.inFlight), "limit")
	if err != nil {
		return r, err
	}
	u, err := measure(ctx, cmd, filepath.Join(b.folder(), "log"), nil)
	if err != nil {
		return r, err
	}
	var t told
	if err := json.Unmarshal(u.Out, &t); err != nil {
		return r, fmt.Errorf("the limit: %w: %s", err, u.Err)
	}
	s, err := a.log(ctx)
	r.Seconds, r.APISeconds, r.CPU, r.PeakMiB = t.Seconds, s.Seconds, t.CPU/float64(r.Rows)*1000, u.PeakMiB
	r.agreement = judge(r.Rows, s, nil)
	return r, err
}

// send measures one contestant that sends all rows of the ERP in one pass.
func (b *bench) send(ctx context.Context, r result, name string, latency time.Duration) (_ result, err error) {
	a, err := startAPI(apiOptions{latency: latency})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, a.stop()) }()
	c, err := b.contestant(ctx, name, a.url)
	if err != nil {
		return r, err
	}
	r.Who = c.name
	ledgerBefore, erpBefore, err1 := b.cpu(c)
	u, err := measure(ctx, c.pass(), filepath.Join(c.folder, "log"), nil)
	ledgerAfter, erpAfter, err2 := b.cpu(c)
	if err := errors.Join(err, err1, err2); err != nil {
		return r, err
	}
	if u.Exit != 0 {
		return r, fmt.Errorf("%s ended with %d: %.2000s\n%s", c.name, u.Exit, u.Out, u.Err)
	}
	thousands := float64(r.Rows) / 1000
	r.Seconds, r.CPU, r.PeakMiB = u.Seconds, u.CPU/thousands, u.PeakMiB
	r.LedgerCPU, r.ERPCPU = (ledgerAfter-ledgerBefore)/thousands, (erpAfter-erpBefore)/thousands
	s, err := a.log(ctx)
	if err != nil {
		return r, err
	}
	book, err := c.book(ctx)
	r.APISeconds, r.agreement = s.Seconds, judge(r.Rows, s, book)
	return r, err
}

// wanted tells whether a name is among those of -only. A list that has names of one kind (0s, 20ms; sqlite, postgres) leaves out the others of that kind.
func (b *bench) wanted(name string) bool {
	for _, kind := range [][]string{{"0s", "20ms"}, names} {
		if !slices.Contains(kind, name) {
			continue
		}
		named := slices.DeleteFunc(strings.Split(b.only, ","), func(s string) bool { return !slices.Contains(kind, s) })
		return len(named) == 0 || slices.Contains(named, name)
	}
	return true
}

// folder is a new folder for one run.
func (b *bench) folder() string {
	b.runs++
	dir := filepath.Join(b.dir, fmt.Sprintf("run%03d", b.runs))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		panic(err) // the next file in it says why
	}
	return dir
}
