package receiver

import (
	"crypto/sha256"
	"encoding/base64"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// What one comparison takes is lost in what a host does besides. So this measures very many, in
// turns and in no order, and compares two heaps of times: of credentials that are wrong in the
// first letter, and of some that are wrong in the last one. Whoever guesses letter by letter needs
// a difference between them.
const (
	comparisons = 16  // that are measured at once: a clock takes as long as one of them
	cropped     = 0.9 // of all times the shortest; what took longer was interrupted
	// standard errors that are no accident, as in Reparaz, Balasch, Verbauwhede: Dude, is my code
	// constant time?
	sureFrom = 4.5
)

// What a comparison of credentials takes must not tell how near they are. By construction it
// does not: whatever is given is hashed, and the hashes of both sides are compared in constant
// time. The other comparison, which stops at the first letter that is wrong, shows that the
// measurement would tell. `go test -run '^$' -bench Authorised -benchtime 500000x
// ./internal/receiver` prints the medians of both heaps, by how much their means are apart, from
// where on that would be sure, and how many standard errors it is (t): sure is what is above 4.5.
func BenchmarkAuthorised(b *testing.B) {
	login := NewLogin()
	stored := sha256.Sum256([]byte(login.Basic()))
	for _, c := range []struct {
		name    string
		compare func(headers []string) bool
	}{
		{"ours", func(headers []string) bool { return authorised(headers, stored) }},
		{"one that tells", func(headers []string) bool { return tells(headers, login.Basic()) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			times := [2][]float64{}
			var turn [comparisons][]string
			for b.Loop() {
				which := rand.IntN(2)
				for i := range turn { // new ones each time: where they lie in memory makes a difference too
					turn[i] = wrongAt(login.Basic(), which*(len(login.Basic())-1))
				}
				began := time.Now()
				for _, headers := range turn {
					if c.compare(headers) {
						b.Fatal("wrong credentials are taken")
					}
				}
				times[which] = append(times[which], float64(time.Since(began).Nanoseconds())/comparisons)
			}
			b.ReportMetric(0, "ns/op") // it would be that of a whole turn
			report(b, times)
		})
	}
}

// tells compares as one must not.
func tells(headers []string, right string) bool {
	given, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(headers[0], "Basic "))
	if err != nil || len(given) != len(right) {
		return false
	}
	for i := range given {
		if given[i] != right[i] {
			return false
		}
	}
	return true
}

// wrongAt is the header of credentials with one wrong letter.
func wrongAt(right string, at int) []string {
	text := []byte(right)
	for text[at] == right[at] {
		text[at] = byte(rand.UintN(256))
	}
	return []string{"Basic " + base64.StdEncoding.EncodeToString(text)}
}

// report compares two heaps of times.
func report(b *testing.B, times [2][]float64) {
	b.Helper()
	all := slices.Concat(times[0], times[1])
	if len(all) < 1000 { // the first rounds of a benchmark
		return
	}
	slices.Sort(all)
	// for both: a limit of its own would hide what differs, and its accidents would count as a
	// difference
	longest := all[int(float64(len(all))*cropped)]
	var mean, square [2]float64 // square is that of the standard error of the mean
	for i, heap := range times {
		slices.Sort(heap)
		b.ReportMetric(heap[len(heap)/2], [2]string{"first-ns", "last-ns"}[i])
		end, _ := slices.BinarySearch(heap, longest)
		for _, v := range heap[:end] {
			mean[i] += v / float64(end)
		}
		for _, v := range heap[:end] {
			square[i] += (v - mean[i]) * (v - mean[i]) / float64(end-1) / float64(end)
		}
	}
	apart, standard := math.Abs(mean[0]-mean[1]), math.Sqrt(square[0]+square[1])
	b.ReportMetric(apart, "apart-ns")
	b.ReportMetric(sureFrom*standard, "sure-from-ns")
	b.ReportMetric(apart/standard, "t")
}
