package connlimit

import (
	"net/netip"
	"testing"
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
