package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/safrasync/safrasync/tools/bench/size"
)

// sizes measures the cost of passes with a large ledger. The ledger is filled by the program's own
// discovery and by statements over whole tables, see package size.
func (b *bench) sizes(ctx context.Context, name string, entries int, which func(measure string) bool) (err error) {
	a, err := startAPI(apiOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.stop()) }()
	erp, err := b.newERP(ctx, entries)
	if err != nil {
		return err
	}
	p, c, err := b.ours(name, a.url, erp)
	if err != nil {
		return err
	}
	defer func() {
		if err == nil && b.failed == nil {
			err = errors.Join(b.discard(c), b.erpServer.Drop(valuesOf(erp)["dbname"]))
		}
	}()
	if err := b.fill(ctx, p, c, entries); err != nil {
		return fmt.Errorf("a ledger of %d entries: %w", entries, err)
	}
	base := result{Entries: entries, Rows: entries}
	for rep := range b.reps {
		base.Rep = rep
		if which(mSweep) {
			base.Measure = mSweep
			r, err := b.sweep(ctx, c, p, base)
			if err := b.add(r, err); err != nil {
				return err
			}
		}
		if which(mIdle) {
			base.Measure = mIdle
			r := base
			err := b.run(ctx, c, p.sync(), &r)
			if err := b.add(r, err); err != nil {
				return err
			}
		}
	}
	if !which(mGrowth) {
		return nil
	}
	for rep := range b.reps {
		first := entries + rep*b.rows + 1
		// They were changed after the rows before them, at the same intervals. So a pass, which
		// looks back, reads the same number of rows again each time.
		if err := addRows(ctx, erp, first, first+b.rows-1,
			filledAge-time.Duration((rep+1)*b.rows)*10*time.Second); err != nil {
			return err
		}
		r := result{Measure: mGrowth, Rep: rep, Entries: entries, Rows: b.rows}
		if err := b.run(ctx, c, p.sync(), &r); err != nil {
			return err
		}
		s, err := a.log(ctx)
		if err != nil {
			return err
		}
		book, err := p.ledgerOf(ctx, "--since", "2h")
		r.agreement = judge(first, first+b.rows-1, s, book)
		if err := b.add(r, err); err != nil {
			return err
		}
	}
	return nil
}

// fill creates a ledger in which every row of the ERP is accepted.
func (b *bench) fill(ctx context.Context, p *program, c contestant, entries int) error {
	if err := p.configure(true); err != nil {
		return err
	}
	r := result{Rows: entries}
	if err := b.run(ctx, c, p.sync(), &r); err != nil {
		return err
	}
	// A ledger of millions takes a while, so show progress.
	if _, err := fmt.Fprintf(b.w,
		"fill    %-18s %d entries found in %.1f s, with %.3f s of the processor for 1000 and %.1f MiB\n", c.name,
		entries, r.Seconds, r.CPU, r.PeakMiB); err != nil {
		return err
	}
	world := size.World{
		Ledger: size.Database{Driver: p.driver, DSN: p.ledger}, Rows: entries, Attempts: 1,
		Age: 48 * time.Hour,
	}
	if err := world.Send(ctx); err != nil {
		return err
	}
	return p.configure(false)
}

// sweep measures a sweep, next to psql with the same query.
func (b *bench) sweep(ctx context.Context, c contestant, p *program, r result) (result, error) {
	psql := exec.Command(b.erpServer.Program("psql"), "-X", "-d", p.erp, "-At", "-o", "/dev/null", "-c", erpQuery)
	u, err := measure(ctx, psql, filepath.Join(b.folder(), "log"), nil)
	if err != nil || u.Exit != 0 {
		return r, errors.Join(fmt.Errorf("psql ended with %d: %s", u.Exit, u.Err), err)
	}
	err = b.run(ctx, c, p.sync("--sweep"), &r)
	r.Ratio = r.Seconds / u.Seconds
	return r, err
}
