package failover

import (
	"fmt"
	"slices"
	"strings"
)

// Words of the program, in which it says what a person is to do.
const (
	sayRebuild = "`safrasync rebuild"
	sayRebind  = "`safrasync state rebind --reason TEXT`"
)

// incident is what a person did until the services sent again.
type incident struct {
	rebuilt []string // on which hosts
	rebound int
	asked   []string // what the program said
}

func (i incident) String() string {
	if len(i.rebuilt) == 0 && i.rebound == 0 {
		return "nobody"
	}
	return fmt.Sprintf("rebuild on %v, %d rebind", i.rebuilt, i.rebound)
}

// operate does what a person does who looks at `safrasync check` on every host: rebuild where the
// ledger is older than the journal, with the service stopped, and confirm. It does one step.
func (t *trial) operate(i *incident) {
	t.test.Helper()
	said := map[*host][]finding{}
	for _, h := range t.hosts {
		said[h] = h.faults()
		for _, f := range said[h] {
			i.asked = append(i.asked, fmt.Sprintf("%s: %s: %s → %s", h.Name, f.Check, f.Text, f.Hint))
		}
	}
	older := func(h *host) bool {
		return !slices.Contains(i.rebuilt, h.Name) && slices.ContainsFunc(said[h], func(f finding) bool {
			return f.Check == "journal" && strings.Contains(f.Hint, sayRebuild)
		})
	}
	if slices.ContainsFunc(t.hosts, older) {
		for _, h := range t.hosts {
			if older(h) {
				h.end()
				text, err := h.run("rebuild", "--reason", "the ledger went back", "--as", "operator", "--yes")
				h.start()
				if err != nil { // the lease of a service that ended may still be there: the next step tries it again
					t.test.Logf("rebuild on %s: %v: %s", h.Name, err, text)
					continue
				}
				i.rebuilt = append(i.rebuilt, h.Name)
			}
		}
		return
	}
	for _, h := range t.hosts {
		if !slices.ContainsFunc(said[h], func(f finding) bool { return strings.Contains(f.Hint, sayRebind) }) {
			continue
		}
		text, err := h.run("state", "rebind", "--reason", "the old server is off", "--as", "operator", "--yes")
		if err == nil {
			i.rebound++
			return
		}
		t.test.Logf("rebind on %s: %v: %s", h.Name, err, text)
	}
}
