package erp

import (
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
)

// address is erp.dsn as a URL: scheme://user:password@host:port/database?setting=value.
type address struct {
	host, port     string
	user, password string
	path           string // without the first slash
	settings       map[string]string
}

// parseAddress reads a URL and accepts only the settings named: what a driver
// could be told besides might undo what this package promises. net/url's own
// errors quote what they could not read, password included.
func parseAddress(dsn Secret, schemes []string, port, example string, settings ...string) (address, *Error) {
	wrong := failf(CodeConfig,
		"erp.dsn cannot be read as such an address; write %s (with %%-escapes for special characters in user and password)", example)
	u, err := url.Parse(string(dsn))
	if err != nil || !slices.Contains(schemes, u.Scheme) || u.Hostname() == "" || u.User == nil ||
		u.User.Username() == "" || u.Fragment != "" {
		return address{}, wrong
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return address{}, wrong
	}
	a := address{
		host: u.Hostname(), port: u.Port(), user: u.User.Username(), path: strings.TrimPrefix(u.Path, "/"),
		settings: map[string]string{},
	}
	a.password, _ = u.User.Password()
	if a.port == "" {
		a.port = port
	}
	for name, values := range query {
		if !slices.Contains(settings, name) || len(values) != 1 {
			return address{}, failf(CodeConfig,
				"erp.dsn has a setting that is not known or stands twice; these are: %s", strings.Join(settings, ", "))
		}
		a.settings[name] = values[0]
	}
	return a, nil
}

func (a address) hostPort() string { return net.JoinHostPort(a.host, a.port) }
func (a address) target() string   { return a.hostPort() + "/" + a.path }

// isLoopback tells whether a host is this one.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// remoteURL tells whether an address leads to another host, and its settings fulfil a condition.
func remoteURL(dsn Secret, condition func(url.Values) bool) bool {
	u, err := url.Parse(string(dsn))
	return err == nil && u.Host != "" && !isLoopback(u.Hostname()) && condition(u.Query())
}

// tlsConfig reads the settings tls (verify, require or disable) and ca (a file
// with certificates). nil means no TLS. Without them a server on this host is
// asked without TLS and any other with it, unverified, as lib/pq does.
func (a address) tlsConfig() (*tls.Config, *Error) {
	mode := a.settings["tls"]
	if mode == "" {
		switch {
		case a.settings["ca"] != "":
			mode = "verify"
		case isLoopback(a.host):
			mode = "disable"
		default:
			mode = "require"
		}
	}
	c := &tls.Config{ServerName: a.host, MinVersion: tls.VersionTLS12}
	switch mode {
	case "disable":
		return nil, nil //nolint:nilnil // no TLS is an answer
	case "require":
		c.InsecureSkipVerify = true // asked for in so many words, or the default that is documented
	case "verify":
		if file := a.settings["ca"]; file != "" {
			pem, err := os.ReadFile(file)
			c.RootCAs = x509.NewCertPool()
			if err != nil || !c.RootCAs.AppendCertsFromPEM(pem) {
				return nil, failf(CodeTLS,
					"the file %s, named by ca in erp.dsn, cannot be read or holds no certificate (PEM)", file)
			}
		}
	default:
		return nil, failf(CodeConfig, "tls in erp.dsn must be verify, require or disable")
	}
	return c, nil
}

// zoneName is a name that a database may know; "" for a zone without one.
func zoneName(loc *time.Location) string {
	name := loc.String()
	if name == "" || name == "Local" {
		return ""
	}
	if _, err := time.LoadLocation(name); err != nil {
		return ""
	}
	return name
}

// boundedConnector limits how long making a connection may take.
type boundedConnector struct{ driver.Connector }

// Connect implements driver.Connector.
func (c boundedConnector) Connect(ctx context.Context) (driver.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	return c.Connector.Connect(ctx)
}

// applicationName shows the ERP's administrators who is reading.
const applicationName = "safrasync"

// maxIdle is how many connections wait for the next call.
const maxIdle = 2

// pool opens no connection yet.
func pool(c driver.Connector, name string) *sqlx.DB {
	db := sqlx.NewDb(sql.OpenDB(c), name)
	db.SetMaxOpenConns(6)
	db.SetMaxIdleConns(maxIdle)
	db.SetConnMaxIdleTime(time.Minute)
	// After a fail-over an old connection may sit on the wrong node.
	db.SetConnMaxLifetime(5 * time.Minute)
	return db
}
