package main

import (
	"net/netip"
	"net/url"
	"strings"
)

// TracingConfig says where traces of runs and requests go: an OpenTelemetry collector, over HTTP.
type TracingConfig struct {
	Endpoint string `yaml:"endpoint"` // "" = nowhere
}

func (c TracingConfig) check(d *configDecoder) {
	if c.Endpoint == "" || d.faulty("tracing.endpoint") {
		return
	}
	u, err := url.Parse(c.Endpoint)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Scheme != "http" && u.Scheme != "https" {
		d.fault("tracing.endpoint", "must be the address of a collector, as in http://127.0.0.1:4318")
		return
	}
	address, err := netip.ParseAddr(u.Hostname())
	if u.Scheme == "http" && !strings.EqualFold(u.Hostname(), "localhost") && (err != nil || !address.IsLoopback()) {
		d.fault("tracing.endpoint", "must begin with https://; http:// is accepted for this host itself only")
	}
}
