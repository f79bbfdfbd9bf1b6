package state

import (
	"fmt"
	"testing"

	"github.com/safrasync/safrasync/trade"
)

// BenchmarkGroup settles a group of attempts and claims the next one of as many, with a journal: what a row costs in a busy ledger.
func BenchmarkGroup(b *testing.B) {
	for _, kind := range backends {
		for _, width := range []int{32, 128, 512} {
			b.Run(fmt.Sprintf("%s/%d", kind.name, width), func(b *testing.B) { benchGroup(b, keep(b, kind.open(b)).s, width) })
		}
	}
}

func benchGroup(b *testing.B, s *Store, width int) {
	lease := mustLease(b, s, "contracts")
	n := 0
	var settle []trade.Settlement
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		var page trade.Page
		for range width {
			n++
			page.New = append(page.New, newEntry(fmt.Sprintf("01|%07d", n)))
		}
		if _, err := s.Record(b.Context(), lease, page); err != nil {
			b.Fatal(err)
		}
		due, err := s.Due(b.Context(), "contracts", at, 0, width)
		if err != nil || len(due) != width {
			b.Fatal(len(due), err)
		}
		g := trade.Group{At: at, Settle: settle}
		settle = nil
		for _, e := range due {
			g.Intents = append(g.Intents, intentOf(e))
		}
		b.StartTimer()
		r, err := s.Commit(b.Context(), lease, g)
		if err != nil || len(r.Claimed) != width {
			b.Fatal(len(r.Claimed), err)
		}
		for i, in := range g.Intents {
			in.Attempt.EntryID = in.Entry.ID
			settle = append(settle, created(in.Attempt, fmt.Sprintf("remote-%d-%d", n, i)))
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(n), "µs/row")
}
