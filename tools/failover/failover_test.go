package failover

import (
	"flag"
	"math/rand/v2"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/safrasync/safrasync/internal/pgtest"
)

var (
	failovers = flag.Int("failovers", 0, "how many fail-overs the cluster has; 0 = the short form")
	seed      = flag.Uint64("seed", 1, "plan of the faults")
	only      = flag.String("only", "", "only faults whose name begins like this")
)

func TestMain(m *testing.M) { pgtest.Main(m, func() error { return goleak.Find() }) }

// I3, I5: a cluster fails over under two machines that send. They go on by themselves, unless
// something was lost; then they do so after what the program asks of a person.
// Judged from outside, nothing is lost and nothing is sent twice.
func TestI3AClusterThatFailsOverLosesNothingAndDoublesNothing(t *testing.T) {
	tr := newTrial(t, *seed)
	stop := tr.Work.Write(t.Context())
	random := rand.New(rand.NewPCG(*seed, 9))
	short := []string{"switch-over", "leader and a machine killed"}
	rounds := *failovers
	if rounds == 0 {
		rounds = len(short)
	}
	for i := range rounds {
		all := tr.faults(random)
		next := all[random.IntN(len(all))]
		want := *only
		if *failovers == 0 {
			want = short[i]
		}
		for !strings.HasPrefix(next.name, want) {
			next = all[random.IntN(len(all))]
		}
		tr.round(next)
	}
	tr.finish(stop, *failovers > 0)
}
