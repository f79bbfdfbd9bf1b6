package config

import "net"

// MetricsConfig is where the daemon serves monitoring: /metrics, /healthz and /readyz.
type MetricsConfig struct {
	Listen string `yaml:"listen"` // address and port; "" = not served
}

func (m MetricsConfig) check(d *Decoder) {
	if m.Listen == "" || d.faulty("metrics.listen") {
		return
	}
	host, port, ok := hostAndPort(m.Listen)
	if !ok {
		d.Fault("metrics.listen", "must be an address and a port, as in 127.0.0.1:9464")
		return
	}
	if host == "" {
		d.Fault("metrics.listen", "names no address; write 127.0.0.1:%s for this host alone, or 0.0.0.0:%s for every host that reaches it (nothing there is secret, and nothing asks for a password)", port, port)
	}
}

// hostAndPort splits an address to listen on. The port must be valid; the host may be "".
func hostAndPort(address string) (host, port string, ok bool) {
	host, port, err := net.SplitHostPort(address)
	_, portErr := net.LookupPort("tcp", port)
	return host, port, err == nil && portErr == nil && port != ""
}
