package dialect

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"io"
	"log/slog"
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

const (
	defaultStatementTimeout = 60 * time.Second
	// LockTimeout is how long to wait for a lock.
	LockTimeout = 5 * time.Second
	// ConnectTimeout is how long opening a connection may take.
	ConnectTimeout = 15 * time.Second
)

// SourceOptions state which database is read and how.
type SourceOptions struct {
	// Driver is one of the values that Drivers returns.
	Driver string
	// DSN is a lib/pq address (URL or key=value), the path of a SQLite file, or a URL as shown in
	// docs/erp.md. It may hold a password and is therefore a Secret.
	DSN Secret
	// TimeZone is the zone in which an instant becomes a calendar day, and the time zone of the
	// PostgreSQL session unless the DSN names one. Default UTC.
	TimeZone *time.Location
	// StatementTimeout limits each statement in the database. Default 60 s. Waiting for a lock is
	// limited to 5 s.
	StatementTimeout time.Duration
	// Charset names the encoding of text in a database that does not know it itself: PostgreSQL
	// with SQL_ASCII, Firebird with NONE, or a SQLite file with text that is not UTF-8. "" is
	// UTF-8; "WIN1252", "LATIN1", "LATIN9", "CP850" and "CP437" are known. A database with a known
	// encoding converts text itself; then Charset is not used.
	Charset string
}

// WithDefaults returns the options with defaults for what is not set.
func (o SourceOptions) WithDefaults() SourceOptions {
	if o.TimeZone == nil {
		o.TimeZone = time.UTC
	}
	if o.StatementTimeout <= 0 {
		o.StatementTimeout = defaultStatementTimeout
	}
	return o
}

// Secret is a text that no formatting verb, encoder or logger prints. Convert it with string(s)
// where it is used.
type Secret string

const redacted = "[secret]"

// String returns "[secret]".
func (Secret) String() string { return redacted }

// GoString returns "[secret]".
func (Secret) GoString() string { return redacted }

// Format writes "[secret]" for every verb.
func (Secret) Format(f fmt.State, _ rune) {
	// A formatter cannot report a failed write.
	_, _ = io.WriteString(f, redacted)
}

// MarshalText returns "[secret]".
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// MarshalJSON returns "[secret]" as a JSON string.
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// LogValue returns "[secret]".
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }
