package connlimit

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"testing"
	"time"
)

func TestAnIPv6HostIsOneSenderWhateverAddressItChooses(t *testing.T) {
	t.Parallel()
	var c Count
	leave, ok := c.Enter(netip.MustParseAddr("2001:db8::1"), 1)
	if !ok {
		t.Fatal("the first is refused")
	}
	if _, ok := c.Enter(netip.MustParseAddr("2001:db8::ffff:2"), 1); ok {
		t.Error("another address of the same /64 is let in")
	}
	for _, other := range []string{"2001:db8:0:1::1", "192.0.2.1", "::ffff:192.0.2.2"} {
		if _, ok := c.Enter(netip.MustParseAddr(other), 1); !ok {
			t.Errorf("%s is refused", other)
		}
	}
	if _, ok := c.Enter(netip.MustParseAddr("192.0.2.2"), 1); ok {
		t.Error("the same IPv4 address in another form is let in")
	}
	leave()
	leave() // once
	if _, ok := c.Enter(netip.MustParseAddr("2001:db8::3"), 1); !ok {
		t.Error("the place was not given back")
	}
}

func TestAKnownSenderIsServedBesideStrangersWhoTookAllPlaces(t *testing.T) {
	t.Parallel()
	address := func(host string) net.Conn {
		return &fixed{at: &net.TCPAddr{IP: net.ParseIP(host), Port: 1}}
	}
	l := &Listener{Most: 32, Each: 16}
	known := l.let(address("192.0.2.9"))
	ctx := Context(context.Background(), known)
	Know(ctx)
	_ = known.Close()
	for _, host := range []string{"198.51.100.1", "198.51.100.2"} {
		for range 17 {
			l.let(address(host))
		}
	}
	for host, want := range map[string]bool{"192.0.2.9": true, "127.0.0.1": true, "198.51.100.3": false} {
		if got := l.let(address(host)) != nil; got != want {
			t.Errorf("%s is served: %v", host, got)
		}
	}
	for range 3 {
		l.let(address("192.0.2.9"))
	}
	if l.let(address("192.0.2.9")) != nil {
		t.Error("a known sender has places without end")
	}
}

// fixed is a connection of which only the other end is known.
type fixed struct {
	net.Conn
	at net.Addr
}

func (f *fixed) RemoteAddr() net.Addr { return f.at }
func (*fixed) Close() error           { return nil }

func TestStrangersDoNotPushKnownSendersOut(t *testing.T) {
	t.Parallel()
	var k known
	now := time.Unix(1_700_000_000, 0)
	k.add(netip.MustParseAddr("192.0.2.9"), now)
	for i := range 100 {
		k.add(netip.AddrFrom4([4]byte{198, 51, 100, byte(i)}), now.Add(time.Minute))
	}
	if !k.has(netip.MustParseAddr("192.0.2.9")) || len(k.at) != knownMost {
		t.Errorf("%d are known", len(k.at))
	}
	k.add(netip.MustParseAddr("203.0.113.1"), now.Add(2*knownFor))
	if !k.has(netip.MustParseAddr("203.0.113.1")) || k.has(netip.MustParseAddr("192.0.2.9")) {
		t.Error("who has not come for long still has the place of another one")
	}
}

func TestRefusalsAreToldOnceAMinute(t *testing.T) {
	t.Parallel()
	r := &Refusals{}
	now := time.Unix(1_700_000_000, 0)
	var told []int
	for i := range 130 { // one a second
		if n := r.due("console", "busy", now.Add(time.Duration(i)*time.Second)); n > 0 {
			told = append(told, n)
		}
	}
	if !slices.Equal(told, []int{1, 60, 60}) || r.due("console", "connection", now) != 1 {
		t.Errorf("told %v", told)
	}
}

func TestASenderWithItsShareHoldsNoPlaceOfOthers(t *testing.T) {
	t.Parallel()
	p := NewPlaces(4, time.Minute)
	for range 2 {
		if _, err := p.Enter(t.Context(), "one", 2); err != nil {
			t.Fatal(err)
		}
	}
	waiting, cancel := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		_, err := p.Enter(waiting, "one", 2)
		left <- err
	}()
	leave, err := p.Enter(t.Context(), "two", 2)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-left; err == nil {
		t.Error("a sender has more than its share")
	}
	leave()
	leave() // once
	if len(p.all) != 2 || len(p.shares) != 1 {
		t.Errorf("%d places are taken, by %d senders", len(p.all), len(p.shares))
	}
}
