package main

import (
	"context"
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

// serverSettings makes the throwaway servers similar to those of a cooperative. It does not change
// what commits wait for.
const serverSettings = "shared_buffers = 256MB\nmax_wal_size = 4GB\n"

// bench is a measurement with its servers.
type bench struct {
	flags
	w            io.Writer
	json         io.Writer
	erpServer    *pgtest.Cluster
	ledgerServer *pgtest.Cluster
	erps         map[int]string  // data source names of ERPs that nobody writes to, by number of rows
	builds       map[string]bool // the yardsticks that were built
	databases    int
	runs         int
	results      []result
	failed       error
}

// measureAll performs the wanted measurements, and writes the table.
func measureAll(ctx context.Context, w io.Writer, f flags) (err error) {
	f.binary, err = filepath.Abs(f.binary)
	if err != nil {
		return err
	}
	if f.dir == "" {
		f.dir, err = os.MkdirTemp("", "safrasync-bench-")
		if err != nil {
			return err
		}
		defer func() {
			if err == nil || ctx.Err() != nil {
				err = errors.Join(err, os.RemoveAll(f.dir))
				return
			}
			err = fmt.Errorf("%w\nledgers and logs stay in %s, for whoever wants to know why", err, f.dir)
		}()
	}
	f.dir, err = filepath.Abs(f.dir)
	if err != nil { // a ledger needs an absolute path
		return err
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	b := &bench{flags: f, w: w, json: io.Discard, erps: map[int]string{}, builds: map[string]bool{}}
	if f.asJSON != "" {
		file, err := os.Create(f.asJSON)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		b.json = file
	}
	for _, server := range []**pgtest.Cluster{&b.erpServer, &b.ledgerServer} {
		*server, err = pgtest.Start(serverSettings)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, (*server).Remove()) }()
	}
	where, err := here(ctx, b)
	if err != nil {
		return err
	}
	if err := b.measure(ctx); err != nil {
		return err
	}
	return errors.Join(writeTable(w, f.table, where, b.results), b.failed)
}

// measure executes the plan. Repetitions are the outer loop, so that a temporary disturbance
// affects all contestants alike.
func (b *bench) measure(ctx context.Context) error {
	latencies := slices.DeleteFunc([]time.Duration{0, slow},
		func(d time.Duration) bool { return !b.wanted(d.String()) })
	for rep := range b.reps {
		for _, latency := range latencies {
			if b.wanted(mSend) {
				if err := b.sends(ctx, rep, mSend, latency); err != nil {
					return err
				}
			}
		}
		if b.wanted(mFsync) {
			if err := b.sends(ctx, rep, mFsync, 0); err != nil {
				return err
			}
		}
	}
	for _, name := range names {
		if !b.wanted(name) {
			continue
		}
		if err := b.withFaults(ctx, name); err != nil {
			return err
		}
		if !ours(name) {
			continue
		}
		if err := b.withSizes(ctx, name); err != nil {
			return err
		}
	}
	if b.wanted(mProfile) {
		return b.profiles(ctx, latencies)
	}
	return nil
}

// slow is the latency of an API that does real work.
const slow = 20 * time.Millisecond

func (b *bench) withFaults(ctx context.Context, name string) error {
	for _, f := range faults {
		if !b.wanted(f.measure) {
			continue
		}
		if err := b.add(b.faulty(ctx, name, slow, f)); err != nil {
			return err
		}
	}
	return nil
}

// withSizes measures what depends on the number of rows: a first pass, and passes with many entries
// in the ledger.
func (b *bench) withSizes(ctx context.Context, name string) error {
	memory, large, growth := []int{50_000}, 100_000, []int{10_000, 100_000}
	if b.full {
		memory, large, growth = []int{50_000, 1_000_000}, 1_000_000, []int{10_000, 100_000, 1_000_000, 5_000_000}
	}
	if b.small {
		memory, large, growth = []int{b.rows}, b.rows, []int{b.rows}
	}
	if b.wanted(mMemory) {
		for _, rows := range memory {
			if err := b.add(b.send(ctx, result{Measure: mMemory, Rows: rows}, name, 0)); err != nil {
				return err
			}
		}
	}
	if !slices.Contains(growth, large) {
		growth = append(growth, large)
	}
	for _, entries := range growth {
		which := func(measure string) bool { return b.wanted(measure) && (measure == mGrowth || entries == large) }
		if !which(mGrowth) && !which(mIdle) && !which(mSweep) {
			continue
		}
		if err := b.sizes(ctx, name, entries, which); err != nil {
			return err
		}
	}
	return nil
}

// wanted reports whether a name is among those of -only. A list with names of one kind (latencies,
// contestants, measures) leaves out the others of that kind; a list without a measure means mSend.
func (b *bench) wanted(name string) bool {
	for _, kind := range [][]string{{time.Duration(0).String(), slow.String()}, names, measures} {
		if !slices.Contains(kind, name) {
			continue
		}
		named := slices.DeleteFunc(strings.Split(b.only, ","), func(s string) bool { return !slices.Contains(kind, s) })
		if len(named) == 0 && b.only != "" && slices.Contains(measures, name) {
			return name == mSend
		}
		return len(named) == 0 || slices.Contains(named, name)
	}
	return false
}

// folder creates a folder for one run.
func (b *bench) folder() string {
	b.runs++
	dir := filepath.Join(b.dir, fmt.Sprintf("run%03d", b.runs))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		panic(err) // the temporary folder itself is gone
	}
	return dir
}

// erp returns an ERP with this number of rows. Nobody writes to it, except that the other
// contestants keep their books there.
func (b *bench) erp(ctx context.Context, rows int) (dsn string, err error) {
	if b.erps[rows] == "" {
		b.erps[rows], err = b.newERP(ctx, rows)
	}
	return b.erps[rows], err
}

// newERP creates a separate ERP.
func (b *bench) newERP(ctx context.Context, rows int) (dsn string, err error) {
	b.databases++
	dsn, err = b.erpServer.Create(fmt.Sprintf("erp_%d", b.databases))
	if err != nil {
		return "", err
	}
	return dsn, fillERP(ctx, dsn, rows)
}
