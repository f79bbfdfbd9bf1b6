package throwaway

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
)

// FreePort picks a port below the ephemeral range. In that range, any outgoing connection of a
// parallel test could take the port of a server that is being restarted.
func FreePort() (int, error) {
	lowest, highest := 15000, 32000
	var ephemeral int
	if text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range"); err == nil {
		if _, err := fmt.Sscan(string(text), &ephemeral); err == nil && ephemeral > lowest+1000 && ephemeral < highest {
			highest = ephemeral
		}
	}
	const tries = 100
	var err error
	for range tries {
		port := lowest + rand.IntN(highest-lowest)
		var l net.Listener
		l, err = net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			return port, l.Close()
		}
	}
	return 0, fmt.Errorf("no free port between %d and %d in %d tries: %w", lowest, highest, tries, err)
}
