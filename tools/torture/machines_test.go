package torture

import (
	"flag"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
)

// I3, I5, I12: several machines work on one ledger, and die, are suspended, lose the database, and
// have wrong clocks; judged from outside, nothing is lost and nothing is sent twice.
func TestI12SeveralMachinesLoseNothingAndDoubleNothing(t *testing.T) {
	t.Parallel()
	m := newMachinesTrial(t)
	stop := m.Work.Write(t.Context())
	for _, h := range m.hosts {
		h.start()
	}
	m.until("all machines live, and one holds a job",
		func() bool { alive, leader := m.fleet(); return alive == len(m.hosts) && leader != nil })
	if *rounds == 0 {
		m.short()
	}
	plan := must.Get(strconv.ParseUint(flag.Lookup("seed").Value.String(), 10, 64))(t)
	random := rand.New(rand.NewPCG(plan, 7))
	for round := range *rounds {
		m.fault(random)
		if round%50 == 49 {
			t.Logf("%d rounds; takeovers: %v", round+1, m.takeover)
		}
	}
	must.Do(t, stop())
	m.API.SetFaults()
	for _, h := range m.hosts {
		h.heal()
	}
	m.drain()
	for _, h := range m.hosts {
		h.end()
	}
	m.sentence()
}
