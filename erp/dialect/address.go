package dialect

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"database/sql/driver"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/safrasync/safrasync/erp/fault"
)

// Address is erp.dsn as a URL: scheme://user:password@host:port/database?setting=value.
type Address struct {
	Host, Port     string
	User, Password string
	Path           string // without the leading slash
	Settings       map[string]string
}

// ParseAddress parses a URL and accepts only the named settings: other settings of a driver might
// break what this package guarantees. The errors of net/url are not passed on, because they quote
// what they could not parse, including the password.
func ParseAddress(dsn Secret, schemes []string, port, example string, settings ...string) (Address, *fault.Error) {
	wrong := fault.Failf(fault.CodeConfig,
		"erp.dsn cannot be read as such an address; write %s (with %%-escapes for special characters in user and password)", example)
	u, err := url.Parse(string(dsn))
	if err != nil || !slices.Contains(schemes, u.Scheme) || u.Hostname() == "" || u.User == nil ||
		u.User.Username() == "" || u.Fragment != "" {
		return Address{}, wrong
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return Address{}, wrong
	}
	a := Address{
		Host: u.Hostname(), Port: u.Port(), User: u.User.Username(), Path: strings.TrimPrefix(u.Path, "/"),
		Settings: map[string]string{},
	}
	a.Password, _ = u.User.Password()
	a.Port = cmp.Or(a.Port, port)
	for name, values := range query {
		if !slices.Contains(settings, name) || len(values) != 1 {
			return Address{}, fault.Failf(fault.CodeConfig,
				"erp.dsn has a setting that is not known or stands twice; these are: %s", strings.Join(settings, ", "))
		}
		a.Settings[name] = values[0]
	}
	return a, nil
}

// HostPort returns the address of the server.
func (a Address) HostPort() string { return net.JoinHostPort(a.Host, a.Port) }

// Target returns the database for display, without user and password.
func (a Address) Target() string { return a.HostPort() + "/" + a.Path }

// IsLoopback reports whether a host is this one.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// RemoteURL reports whether an address leads to another host and its settings satisfy a condition.
func RemoteURL(dsn Secret, condition func(url.Values) bool) bool {
	u, err := url.Parse(string(dsn))
	return err == nil && u.Host != "" && !IsLoopback(u.Hostname()) && condition(u.Query())
}

// TLSConfig evaluates the settings tls (verify, require or disable) and ca (a file with
// certificates). nil means no TLS. Without these settings a server on this host is connected to
// without TLS, and any other with unverified TLS, as lib/pq does.
func (a Address) TLSConfig() (*tls.Config, *fault.Error) {
	mode := a.Settings["tls"]
	if mode == "" {
		switch {
		case a.Settings["ca"] != "":
			mode = "verify"
		case IsLoopback(a.Host):
			mode = "disable"
		default:
			mode = "require"
		}
	}
	c := &tls.Config{ServerName: a.Host, MinVersion: tls.VersionTLS12}
	switch mode {
	case "disable":
		return nil, nil //nolint:nilnil // no TLS is an answer
	case "require":
		c.InsecureSkipVerify = true // requested explicitly, or the documented default
	case "verify":
		if file := a.Settings["ca"]; file != "" {
			pem, err := os.ReadFile(file)
			c.RootCAs = x509.NewCertPool()
			if err != nil || !c.RootCAs.AppendCertsFromPEM(pem) {
				return nil, fault.Failf(fault.CodeTLS,
					"the file %s, named by ca in erp.dsn, cannot be read or holds no certificate (PEM)", file)
			}
		}
	default:
		return nil, fault.Failf(fault.CodeConfig, "tls in erp.dsn must be verify, require or disable")
	}
	return c, nil
}

// ZoneName returns the name of a zone for use in the database, or "" if the zone has none.
func ZoneName(loc *time.Location) string {
	name := loc.String()
	if name == "" || name == "Local" {
		return ""
	}
	if _, err := time.LoadLocation(name); err != nil {
		return ""
	}
	return name
}

// Bounded limits the time of opening a connection.
type Bounded struct{ driver.Connector }

// Connect implements driver.Connector.
func (c Bounded) Connect(ctx context.Context) (driver.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, ConnectTimeout)
	defer cancel()
	return c.Connector.Connect(ctx)
}

// ApplicationName shows the ERP's administrators which program is reading.
const ApplicationName = "safrasync"

// MaxIdle is how many idle connections are kept.
const MaxIdle = 2

// Pool returns a pool; it opens no connection yet.
func Pool(c driver.Connector, name string) *sqlx.DB {
	db := sqlx.NewDb(sql.OpenDB(c), name)
	db.SetMaxOpenConns(6)
	db.SetMaxIdleConns(MaxIdle)
	db.SetConnMaxIdleTime(time.Minute)
	// After a fail-over an old connection may sit on the wrong node.
	db.SetConnMaxLifetime(5 * time.Minute)
	return db
}
