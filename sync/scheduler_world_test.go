package sync_test

import (
	"context"
	"net"
	"slices"
	gosync "sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// office is a bench whose jobs a scheduler runs, on the clock of a bubble: days pass in no time,
// and nothing moves on while something still works. Ledger and ERP are real databases, client and
// platform speak real HTTP over pipes.
type office struct {
	*bench
	net    *pipeNet
	config engine.SchedulerConfig

	scheduler *engine.Scheduler
	stop      func() // ends it, and waits until it has

	mu      gosync.Mutex
	reports []trade.RunReport
	posts   []time.Time
	alive   time.Time
}

// at opens an office at a time of its zone's clock, which has the form of "2018-11-03 12:00".
func inOffice(t *testing.T, zone *time.Location, at string, test func(o *office)) {
	t.Helper()
	t.Parallel()
	start := must.Get(time.ParseInLocation("2006-01-02 15:04", at, zone))(t)
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(start))
		o := newOffice(t, zone, 0)
		for _, spec := range o.specs() {
			spec.Sweep = "@every 10000h"
		}
		t.Cleanup(func() { o.stop() })
		test(o)
	})
}

// newOffice makes an office in a bubble.
func newOffice(t *testing.T, zone *time.Location, seed int64) *office {
	t.Helper()
	o := &office{net: &pipeNet{conns: make(chan net.Conn, 1), closed: make(chan struct{})}, stop: func() {}}
	api := o.net.serve(t, sandbox.Options{APIKey: "a-key-of-the-tests", Seed: seed, OnPost: func(int) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.posts = append(o.posts, time.Now())
	}})
	o.bench = withChildren(newBenchWith(t, databases[0], api))
	began := time.Now()
	o.dial, o.clock.boot, o.zone = o.net.dial, func() time.Duration { return time.Since(began) }, zone
	o.schedules("*/10 * * * *", "*/10 * * * *", "*/10 * * * *")
	return o
}

// specs are the jobs of a bench.
func (b *bench) specs() []*mapping.JobSpec {
	out := []*mapping.JobSpec{&b.spec}
	for i := range b.more {
		out = append(out, &b.more[i])
	}
	return out
}

// schedules are those of contracts, deliveries and traceability.
func (o *office) schedules(schedules ...string) {
	for i, spec := range o.specs() {
		spec.Schedule = schedules[i]
	}
}

// open starts the scheduler.
func (o *office) open() {
	o.t.Helper()
	o.config.Reported = func(r trade.RunReport) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.reports = append(o.reports, r)
	}
	o.config.Alive = func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.alive = time.Now()
	}
	o.scheduler, o.stop = o.serve(o.config)
	synctest.Wait()
}

// serve runs the jobs of a bench by a scheduler, until stop.
func (b *bench) serve(config engine.SchedulerConfig) (s *engine.Scheduler, stop func()) {
	b.t.Helper()
	config.Engine = b.engine()
	s, err := engine.NewScheduler(config)
	if err != nil {
		b.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Run(ctx)
	}()
	return s, gosync.OnceFunc(func() {
		cancel()
		<-ended
	})
}

// pass lets time pass, and what happens at its end happen.
func (o *office) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// silence is how long ago the scheduler said that it is alive.
func (o *office) silent() time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	return time.Since(o.alive)
}

// runs returns the starts of the runs of a job since the last call, in the zone.
func (o *office) runs(job string) (out []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.reports = slices.DeleteFunc(o.reports, func(r trade.RunReport) bool {
		if r.Job == job {
			out = append(out, r.StartedAt.In(o.zone).Format("02 15:04"))
		}
		return r.Job == job
	})
	return out
}

// want checks the runs of a job since the last call.
func (o *office) want(job string, starts ...string) {
	o.t.Helper()
	if diff := cmp.Diff(starts, o.runs(job)); diff != "" {
		o.t.Errorf("runs of %s (-want +got):\n%s", job, diff)
	}
}

// postsSince counts the POSTs that have reached the platform since the last call.
func (o *office) postsSince() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	defer func() { o.posts = nil }()
	return len(o.posts)
}

// stands checks the state of a job and the code of its stop; "" = none.
func (b *bench) stands(job string, state trade.JobState, code string) trade.JobStatus {
	b.t.Helper()
	status := must.Get(b.ledger.JobStatus(b.t.Context(), job))(b.t)
	got := ""
	if status.Stop != nil {
		got = status.Stop.Code
	}
	if status.State != state || got != code {
		b.t.Errorf("job %s is %s (%s), want %s (%s): %+v", job, status.State, got, state, code, status.Stop)
	}
	return status
}
