package histories

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/safrasync/safrasync/internal/pgtest"
)

var (
	count = flag.Int("histories", 100, "how many histories")
	first = flag.Uint64("seed", 1, "of the first history")
	tell  = flag.Int("tell", 30, "how many histories that fail are shortened and told step by step, at most")
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// shortenMost is how many histories run at most to shorten one.
const shortenMost = 150

// F044, F045: Whatever people do to the ERP, to the jobs and to rows, and whatever happens to
// answers, the process and the ledger: nothing is sent twice without an order, nothing is lost, and
// nothing is stuck without being shown.
func TestNoHistoryOfAnERPSendsTwiceOrLosesARow(t *testing.T) {
	var mu sync.Mutex
	total, everyday, failed, told := shares{}, shares{}, 0, map[string]uint64{}
	t.Run("seed", func(t *testing.T) {
		for seed := *first; seed < *first+uint64(*count); seed++ {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				found, _, end := live(t, draw(seed))
				mu.Lock()
				defer mu.Unlock()
				for state, n := range end {
					total[state] += n
					if draw(seed).About == "" {
						everyday[state] += n
					}
				}
				if found == nil {
					return
				}
				failed++
				if failed > *tell {
					t.Fatalf("%s: %s", found.kind, found.text)
				}
				name, text := explain(t, draw(seed), found)
				if like, known := told[name]; known {
					text = fmt.Sprintf("%s: like seed %d", name, like)
				} else {
					told[name] = seed
				}
				t.Error(text)
			})
		}
	})
	var out []string
	for _, state := range slices.Sorted(maps.Keys(total)) {
		out = append(out, fmt.Sprintf("%s %.1f %%", state, 100*float64(total[state])/float64(total.rows())))
	}
	fmt.Fprintf(os.Stderr, "%d histories from seed %d, %d failed; %d rows stood in the end: %s\n", *count, *first,
		failed, total.rows(), strings.Join(out, ", "))
	least := leastAccepted
	if *count < 1000 { // the share of a few histories varies
		least -= 10
	}
	if n := everyday.rows(); *count >= 100 && everyday["accepted"]*100 < least*n {
		t.Errorf("only %d of %d rows were accepted in the end: a program that holds everything is no use",
			everyday["accepted"], n)
	}
}

// leastAccepted is the share of rows that must be accepted at the end of histories that are about no
// act, in percent.
const leastAccepted = 80

// explain shortens a history while it fails in the same way, and describes it step by step.
// Histories of the same name fail by the same steps.
func explain(t *testing.T, p plan, found *fault) (name, text string) {
	t.Helper()
	short := p.shorten(shortenMost, func(p plan) (fails bool) {
		t.Run("shorter", func(t *testing.T) {
			f, _, _ := live(t, p)
			fails = f != nil && f.kind == found.kind
		})
		return fails
	})
	var log []string
	t.Run("shortest", func(t *testing.T) {
		if f, l, _ := live(t, short); f != nil {
			found, log = f, l
		}
	})
	name = found.kind
	for _, s := range short.Steps {
		name += ", " + s.Op
	}
	return name,
		fmt.Sprintf(
			"%s\n%s\nseed %d, shortened from %d to %d steps (go test -C tools ./histories -histories 1 -seed %[3]d -acts '%[7]s'):\n%[6]s",
			name, found.text, p.Seed, len(p.Steps), len(short.Steps), strings.Join(log, "\n"), *chosen)
}
