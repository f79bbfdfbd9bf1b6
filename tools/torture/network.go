package torture

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/safrasync/safrasync/tools/machine"
)

// network is two bridges of this host: over one, the machines reach the database of the ledger,
// over the other, the ERP and the platform. Each machine is a network namespace with a cable to
// both bridges, which can be pulled.
type network struct {
	t      testing.TB
	id     int
	ledger string // host and port of the ledger's database, as the machines reach it
	erp    string // likewise, of the ERP

	mu   sync.Mutex
	open map[net.Conn]struct{}
	wait sync.WaitGroup
}

// forwardVariable makes this test program a forwarder, "from to", inside a machine, because the
// program under trial uses http on loopback only.
const forwardVariable = "SAFRASYNC_TORTURE_FORWARD"

func init() {
	from, to, ok := strings.Cut(os.Getenv(forwardVariable), " ")
	if !ok {
		return
	}
	l, err := net.Listen("tcp", from)
	if err != nil {
		panic(err)
	}
	for {
		c, err := l.Accept()
		if err != nil {
			panic(err)
		}
		go func() { _ = (&network{open: map[net.Conn]struct{}{}}).carry(c, to) }()
	}
}

// networks is how many trials can have bridges on one host at once.
const networks = 250

func newNetwork(t testing.TB, database string) *network {
	t.Helper()
	n := &network{t: t, id: os.Getpid() % networks, open: map[net.Conn]struct{}{}}
	for range networks - 1 { // a trial that was killed leaves its bridges behind
		if machine.AsRoot("ip", "link", "add", n.bridge("l"), "type", "bridge") == nil {
			break
		}
		n.id = (n.id + 1) % networks
	}
	for _, side := range []string{"l", "a"} {
		if side != "l" {
			n.must("ip", "link", "add", n.bridge(side), "type", "bridge")
		}
		t.Cleanup(func() { n.try("ip", "link", "del", n.bridge(side)) })
		n.must("ip", "addr", "add", n.address(side, 1)+"/24", "dev", n.bridge(side))
		n.must("ip", "link", "set", n.bridge(side), "up")
	}
	t.Cleanup(n.wait.Wait)
	n.ledger = n.forward(n.address("l", 1), database)
	n.erp = n.forward(n.address("a", 1), database)
	return n
}

func (n *network) bridge(side string) string       { return fmt.Sprintf("sfb%d%s", n.id, side) }
func (n *network) space(i int) string              { return fmt.Sprintf("sfn%d-%d", n.id, i) }
func (n *network) cable(side string, i int) string { return fmt.Sprintf("sfv%d%s%d", n.id, side, i) }

// address returns an address in 198.18.0.0/15, which is reserved for network tests.
func (n *network) address(side string, host int) string {
	second := 18
	if side == "a" {
		second = 19
	}
	return fmt.Sprintf("198.%d.%d.%d", second, n.id, host)
}

// plug creates the namespace of a machine and its cables.
func (n *network) plug(i int) {
	n.t.Helper()
	n.must("ip", "netns", "add", n.space(i))
	n.t.Cleanup(func() { n.try("ip", "netns", "del", n.space(i)) })
	n.must("ip", "-n", n.space(i), "link", "set", "lo", "up")
	for _, side := range []string{"l", "a"} {
		n.must("ip", "link", "add", n.cable(side, i), "type", "veth", "peer", "name", "to"+side, "netns", n.space(i))
		n.must("ip", "link", "set", n.cable(side, i), "master", n.bridge(side), "up")
		n.must("ip", "-n", n.space(i), "addr", "add", n.address(side, i+10)+"/24", "dev", "to"+side)
		n.must("ip", "-n", n.space(i), "link", "set", "to"+side, "up")
	}
}

// pull unplugs a cable, or plugs it in again. While it is unplugged, packets are lost silently.
func (n *network) pull(side string, i int, out bool) {
	n.t.Helper()
	n.must("ip", "link", "set", n.cable(side, i), map[bool]string{true: "down", false: "up"}[out])
}

func (n *network) must(args ...string) {
	n.t.Helper()
	if err := machine.AsRoot(args...); err != nil {
		n.t.Fatalf("machines are network namespaces, for which this test needs root (or sudo), ip and unshare: %v", err)
	}
}

func (n *network) try(args ...string) {
	if err := machine.AsRoot(args...); err != nil {
		n.t.Log(err)
	}
}

// forward forwards connections from an address to a server on loopback until the test ends, and
// returns the address.
func (n *network) forward(host, to string) string {
	n.t.Helper()
	l, err := net.Listen("tcp", host+":0")
	if err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() {
		_ = l.Close()
		n.mu.Lock()
		defer n.mu.Unlock()
		for c := range n.open {
			_ = c.Close()
		}
		n.open = nil
	})
	n.wait.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			n.wait.Go(func() {
				if err := n.carry(c, to); err != nil && !errors.Is(err, net.ErrClosed) {
					return // the machine, or the server, is gone
				}
			})
		}
	})
	return l.Addr().String()
}

func (n *network) carry(c net.Conn, to string) error {
	s, err := net.Dial("tcp", to)
	if err != nil {
		return errors.Join(err, c.Close())
	}
	n.mu.Lock()
	if n.open == nil {
		n.mu.Unlock()
		return errors.Join(c.Close(), s.Close())
	}
	n.open[c], n.open[s] = struct{}{}, struct{}{}
	n.mu.Unlock()
	done := make(chan struct{}, 2)
	for _, pair := range [][2]net.Conn{{c, s}, {s, c}} {
		go func() {
			_, _ = io.Copy(pair[0], pair[1])
			done <- struct{}{}
		}()
	}
	<-done
	err = errors.Join(c.Close(), s.Close())
	<-done
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.open, c)
	delete(n.open, s)
	return err
}
