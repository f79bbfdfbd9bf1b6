package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// fault is what happens to a contestant once. Then it runs again until its book is complete or it
// makes no more progress.
type fault struct {
	measure string
	kill    bool
	lose    int // of a thousand rows, how many answers are lost
}

var faults = []fault{{measure: mKill, kill: true}, {measure: mLoss, lose: 50}}

// mostPasses is how often a contestant is started for one fault, at most.
const mostPasses = 6

// faulty applies a fault to a contestant, and counts the results. A row in doubt in our ledger is
// left to a person, so it stays in doubt.
func (b *bench) faulty(ctx context.Context, name string, latency time.Duration, f fault) (r result, err error) {
	r = result{Measure: f.measure, LatencyMS: int(latency.Milliseconds()), Rows: min(b.rows, 5000)}
	if name == "script" {
		r.Rows = max(2, r.Rows/5)
	}
	opts := apiOptions{latency: latency, lose: f.lose}
	if f.kill {
		opts.tell = r.Rows / 2
	}
	a, err := startAPI(opts)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, a.stop()) }()
	erp, err := b.erp(ctx, r.Rows)
	if err != nil {
		return r, err
	}
	c, err := b.contestant(ctx, name, a.url, erp)
	if err != nil {
		return r, err
	}
	defer func() {
		if err == nil && r.err(c.name) == nil { // otherwise keep it for analysis
			err = b.discard(c)
		}
	}()
	r.Who = c.name
	kill := a.reached
	if !f.kill {
		kill = nil
	}
	began, book := time.Now(), map[int32]entry{}
	for pass := range mostPasses {
		u, err := measure(ctx, c.pass(), filepath.Join(c.folder, fmt.Sprintf("log%d", pass)), kill)
		if err != nil {
			return r, err
		}
		if kill != nil && u.Exit != -1 {
			return r, fmt.Errorf("%s ended with %d before it was killed: %s", c.name, u.Exit, u.Err)
		}
		kill = nil
		r.PeakMiB = max(r.PeakMiB, u.PeakMiB)
		book, err = c.book(ctx)
		if err != nil {
			return r, err
		}
		if done(book, r.Rows) {
			break
		}
	}
	r.Seconds = time.Since(began).Seconds()
	s, err := a.log(ctx)
	r.APISeconds, r.agreement = s.Seconds, judge(1, r.Rows, s, book)
	return r, err
}

// done reports whether every row is accepted, or in doubt and left to a person.
func done(book map[int32]entry, rows int) bool {
	n := 0
	for _, e := range book {
		if e.state == "accepted" || e.state == "in_doubt" {
			n++
		}
	}
	return n >= rows
}
