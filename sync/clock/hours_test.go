package clock

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/must"
)

// What is done takes exactly its time of the open hours, ends within them, and more work never ends
// earlier.
func TestWorkEndsAfterItsTimeOfOpenHours(t *testing.T) {
	t.Parallel()
	zone := must.Get(time.LoadLocation("America/Sao_Paulo"))(t)
	choices := [][]string{
		nil,
		{"00:00-24:00"},
		{"mon-fri 07:00-19:00", "sat 07:00-12:00"},
		{"22:00-05:00"},
		{"sun 03:00-03:01"},
		{"mon 08:00-12:00", "mon 11:00-13:00"},
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		hours := must.Get(ParseHours(choices[random.IntN(len(choices))]))(t)
		start := time.Date(2026, 11, 20, 0, random.IntN(20000), random.IntN(60), 0, zone)
		work := time.Duration(random.IntN(600)+1) * time.Second
		done := hours.Done(start, work)
		var open time.Duration
		for at := start; at.Before(done); {
			next := at.Truncate(time.Minute).Add(time.Minute)
			if next.After(done) {
				next = done
			}
			if hours.Open(at) {
				open += next.Sub(at)
			}
			at = next
		}
		if open != work {
			t.Fatalf("%v from %s: %s of work took %s of open hours until %s", hours, start, work, open, done)
		}
		if later := hours.Done(start, work+time.Second); !later.After(done) {
			t.Fatalf("%v from %s: more work ends at %s, less at %s", hours, start, later, done)
		}
	}
}
