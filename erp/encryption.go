package erp

import (
	"net/url"
	"slices"

	"github.com/lib/pq"
)

// Unencrypted tells, from its DSN alone, whether a connection goes to another host without
// encryption, or without it where the server wants none. A DSN that cannot be read is an error of
// Open.
func Unencrypted(driver string, dsn Secret) bool {
	if driver == DriverPostgres {
		cfg, err := postgresConfig(Options{DSN: dsn})
		weak := []pq.SSLMode{pq.SSLModeDisable, pq.SSLModeAllow, pq.SSLModePrefer}
		if err != nil || !slices.Contains(weak, cfg.SSLMode) {
			return false
		}
		for _, m := range cfg.Multi {
			other := cfg
			other.Host, other.Hostaddr = m.Host, m.Hostaddr
			if !isLocal(other) {
				return true
			}
		}
		return !isLocal(cfg)
	}
	u, err := url.Parse(string(dsn))
	if err != nil || u.Host == "" || (address{host: u.Hostname()}).local() {
		return false
	}
	q := u.Query()
	switch driver {
	case DriverMySQL, DriverSQLServer:
		return q.Get("tls") == "disable"
	case DriverOracle:
		return q.Get("tls") == "disable" || !q.Has("tls") && !q.Has("ca")
	case DriverFirebird:
		return q.Get("wire_crypt") == "disabled"
	}
	return false
}
