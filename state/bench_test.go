package state

import (
	"fmt"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// benchBoth runs a benchmark on SQLite and on PostgreSQL.
func benchBoth(b *testing.B, bench func(b *testing.B, s *Store)) {
	for _, kind := range backends {
		b.Run(kind.name, func(b *testing.B) { bench(b, mustOpen(b, kind.open(b))) })
	}
}

// BenchmarkRecord records pages of 1,000 new entries.
func BenchmarkRecord(b *testing.B) {
	benchBoth(b, func(b *testing.B, s *Store) {
		lease := mustLease(b, s, "contracts")
		n := 0
		for b.Loop() {
			page := trade.Page{Cursor: &trade.Cursor{Bound: "x"}}
			for range 1000 {
				n++
				page.New = append(page.New, newEntry(fmt.Sprintf("01|%07d", n)))
			}
			must.Get(s.Record(b.Context(), lease, page))(b)
		}
		b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "entries/s")
	})
}

// BenchmarkUpdate updates pages of 1,000 entries.
func BenchmarkUpdate(b *testing.B) {
	benchBoth(b, func(b *testing.B, s *Store) {
		lease := mustLease(b, s, "contracts")
		var page trade.Page
		for i := range 1000 {
			page.New = append(page.New, newEntry(fmt.Sprintf("01|%07d", i)))
		}
		must.Get(s.Record(b.Context(), lease, page))(b)
		var updates []trade.Update
		for _, e := range rowsOf(b, s, trade.RowQuery{}) {
			updates = append(updates, trade.Update{From: e.State, Entry: e})
		}
		for b.Loop() {
			lost, err := s.Record(b.Context(), lease, trade.Page{Updates: updates})
			if err != nil || lost != 0 {
				b.Fatal(lost, err)
			}
			for i := range updates {
				updates[i].Entry.Version++
			}
		}
	})
}

// BenchmarkCommit settles 8 attempts and claims the next 8 entries, in one group, without a
// journal.
func BenchmarkCommit(b *testing.B) { benchBoth(b, benchCommit) }

// BenchmarkCommitWithJournal does the same with a journal, and says what a row costs there.
func BenchmarkCommitWithJournal(b *testing.B) {
	for _, kind := range backends {
		b.Run(kind.name, func(b *testing.B) {
			k := keep(b, kind.open(b))
			benchCommit(b, k.s)
			report := must.Get(k.s.JournalReport(b.Context(), k.o.Journal))(b)
			b.ReportMetric(float64(report.Bytes)/float64(benchWidth*report.Records), "bytes/row")
		})
	}
}

const benchWidth = 8

func benchCommit(b *testing.B, s *Store) { benchGroup(b, s, benchWidth) }
