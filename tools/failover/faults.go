package failover

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
)

// fault is something that happens to the cluster.
type fault struct {
	name string
	// do applies it to the leader, and returns what ends it.
	do func(t *trial, leader *node) (heal func())
	// The old leader comes back as soon as there is a new one.
	early bool
	// A person may be needed: something was lost, or the lead went back.
	person bool
	// Commits were lost: the services must not go on before a person has acted.
	lost bool
}

func switchover(t *trial, leader *node) func() {
	t.test.Helper()
	t.until("Patroni takes the order to switch over", func() bool {
		err := t.cluster.order(http.MethodPost, "/switchover", map[string]string{"leader": leader.Name})
		now, _ := t.cluster.leader()
		return err == nil || now != nil && now.Name != leader.Name // it was taken, and the answer came too late
	})
	return func() {}
}

// powerCut kills the leader with everything on it.
func powerCut(t *trial, leader *node) func() {
	leader.Kill()
	return func() { leader.Start(t.test) }
}

// frozen suspends the leader with everything on it.
func frozen(_ *trial, leader *node) func() {
	leader.freeze()
	return leader.wake
}

// cutOff takes etcd away from the leader.
func cutOff(_ *trial, leader *node) func() {
	leader.etcd.set(false)
	return func() { leader.etcd.set(true) }
}

// both kills the leader and a machine of the program in the same moment.
func both(h *host) func(*trial, *node) func() {
	return func(t *trial, leader *node) func() {
		leader.Kill()
		h.Kill()
		h.start()
		return func() { leader.Start(t.test) }
	}
}

// lostCommits takes the replicas away from a leader that does not wait for them, and kills it some
// seconds later.
func lostCommits(t *trial, leader *node) func() {
	t.test.Helper()
	t.synchronous(false)
	t.until("the services send", t.advances())
	leader.replica.set(false)
	t.until("the services send what no replica has", t.advances())
	leader.Kill()
	leader.replica.lose()
	leader.replica.set(true)
	return func() {
		leader.Start(t.test)
		t.synchronous(true)
	}
}

// deafManager suspends Patroni on the leader, and leaves its PostgreSQL as it is, which goes on taking
// connections. Its commits wait for a replica in vain.
func deafManager(t *trial, leader *node) func() {
	t.test.Helper()
	leader.signalManager("STOP")
	return func() { leader.signalManager("CONT") }
}

// splitBrain makes two leaders that both take writes. Each machine sees one of them.
func splitBrain(t *trial, leader *node) func() {
	t.test.Helper()
	t.synchronous(false)
	see := func(all bool) {
		for i, n := range t.cluster.nodes {
			t.hosts[0].ways[i].set(all || n == leader)
			t.hosts[1].ways[i].set(all || n != leader)
		}
	}
	leader.signalManager("STOP")
	see(false)
	return func() {
		before := t.created()
		t.until("the machine that still sees the old leader goes on", func() bool { return t.created() > before+100 })
		t.until("the other machine waits for it, and says that the old leader must be off", func() bool {
			return slices.ContainsFunc(t.hosts[1].faults(), func(f finding) bool {
				return strings.Contains(f.Text, "not yet in step with it: "+t.hosts[0].Name) &&
					strings.Contains(f.Hint, "the old server must be off or fenced")
			})
		})
		leader.signalManager("CONT")
		see(true)
		t.synchronous(true)
	}
}

// faults are those that a cluster meets in synchronous mode, and two that belong to an asynchronous one.
func (t *trial) faults(random *rand.Rand) []fault {
	h := t.hosts[random.IntN(len(t.hosts))]
	return []fault{
		{name: "switch-over", do: switchover},
		{name: "leader killed", do: powerCut},
		{name: "leader and a machine killed", do: both(h)},
		{name: "leader cut off from etcd", do: cutOff},
		{name: "leader frozen", do: frozen, person: true},
		{name: "leader frozen, woken at once", do: frozen, early: true, person: true},
		{name: "Patroni of the leader frozen", do: deafManager, early: true, person: true},
		{name: "commits lost", do: lostCommits, person: true, lost: true},
		{name: "split brain", do: splitBrain, early: true, person: true, lost: true},
	}
}
