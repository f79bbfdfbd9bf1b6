package journal

import (
	"fmt"
	"testing"
)

// BenchmarkAppend appends the record of a group, flushed.
func BenchmarkAppend(b *testing.B) {
	for _, rows := range []int{8, 32, 128, 512} {
		b.Run(fmt.Sprint(rows), func(b *testing.B) {
			w := newWriter(b)
			r := group(rows)
			b.ReportAllocs()
			for b.Loop() {
				w.commit(r)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*rows), "µs/row")
		})
	}
}

// BenchmarkEncode writes the line of a record.
func BenchmarkEncode(b *testing.B) {
	r := group(128)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := encode(r); err != nil {
			b.Fatal(err)
		}
	}
}
