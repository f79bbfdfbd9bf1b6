package state

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// BenchmarkGroup settles a group of attempts and claims the next one of as many, with a journal:
// what a row costs in a busy ledger.
func BenchmarkGroup(b *testing.B) {
	for _, kind := range backends {
		for _, width := range []int{16, 32, 128} {
			b.Run(fmt.Sprintf("%s/%d", kind.name, width),
				func(b *testing.B) { benchGroup(b, keep(b, kind.open(b)).s, width) })
		}
	}
}

func benchGroup(b *testing.B, s *Store, width int) {
	lease := mustLease(b, s, "contracts")
	// as each run has it: without, a group looks among the records of other jobs
	mustExec(b, s, `INSERT INTO job_status (job, state, since) VALUES ('contracts', 'running', 1)`)
	n := 0
	var settle []trade.Settlement
	var before time.Duration
	var spent [3]time.Duration // of the processor: recording, looking for what is due, committing
	phase := func(i int) {
		now := cpuTime()
		if i > 0 {
			spent[i-1] += now - before
		}
		before = now
	}
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		var page trade.Page
		for range width {
			n++
			page.New = append(page.New, newEntry(fmt.Sprintf("01|%07d", n)))
		}
		phase(0)
		must.Get(s.Record(b.Context(), lease, page))(b)
		phase(1)
		due, err := s.Due(b.Context(), "contracts", at, 0, width)
		if err != nil || len(due) != width {
			b.Fatal(len(due), err)
		}
		phase(2)
		g := trade.Group{At: at, Settle: settle}
		settle = nil
		for _, e := range due {
			g.Intents = append(g.Intents, intentOf(e))
		}
		phase(0)
		b.StartTimer()
		r, err := s.Commit(b.Context(), lease, g)
		if err != nil || len(r.Claimed) != width {
			b.Fatal(len(r.Claimed), err)
		}
		phase(3)
		for i, in := range g.Intents {
			in.Attempt.EntryID = in.Entry.ID
			st := created(in.Attempt, fmt.Sprintf("remote-%d-%d", n, i))
			st.Entry, st.RecordID = in.Entry, r.Sendings[in.Attempt.ID]
			settle = append(settle, st)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(n), "µs/row")
	if s.db.Journal != nil {
		size, _, _, _, err := s.db.Journal.Size()
		must.Do(b, err)
		b.ReportMetric(float64(size)/float64(n), "journal-B/row")
	}
	for i, name := range []string{"record", "due", "commit"} {
		b.ReportMetric(float64(spent[i].Microseconds())/float64(n), name+"-cpu-µs/row")
	}
}

// cpuTime is what all threads of this process have computed: on a busy computer it says more than
// the time of day.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // the arguments are constants
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
