package erp

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// postgres is the dialect of PostgreSQL through lib/pq.
type postgres struct {
	opt    Options
	cs     charset
	db     *sqlx.DB
	server server
	// bytesMode: the server's encoding is SQL_ASCII. It then checks text only on
	// its way out, and one wrong byte fails the whole query; so text is asked
	// for as bytes and decoded here.
	bytesMode bool
}

var _ dialect = (*postgres)(nil)

func openPostgres(opt Options, cs charset) (database, *Error) {
	cfg, bad := postgresConfig(opt)
	if bad != nil {
		return database{}, bad
	}
	connector, err := pq.NewConnectorConfig(cfg)
	if err != nil {
		return database{}, failf(CodeConfig, "erp.dsn cannot be used as a PostgreSQL address")
	}
	connector.Dialer(newGuardDialer(opt.StatementTimeout))
	p := &postgres{opt: opt, cs: cs, db: pool(connector, "postgres"), server: server{
		target: targetOf(cfg), product: "PostgreSQL", settings: "sslmode and sslrootcert", timeout: opt.StatementTimeout,
	}}
	return database{db: p.db, target: p.server.target, probe: p.probe, dialect: p}, nil
}

// postgresUnencrypted: of several hosts, one that is not encrypted is enough.
func postgresUnencrypted(dsn Secret) bool {
	cfg, bad := postgresConfig(Options{DSN: dsn})
	weak := []pq.SSLMode{pq.SSLModeDisable, pq.SSLModeAllow, pq.SSLModePrefer}
	if bad != nil || !slices.Contains(weak, cfg.SSLMode) {
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

// postgresConfig reads the DSN. lib/pq's and net/url's errors quote what they
// could not read, password included, so none of them is passed on.
func postgresConfig(opt Options) (pq.Config, *Error) {
	dsn := string(opt.DSN)
	cfg, err := pq.NewConfig(dsn)
	if err != nil {
		return pq.Config{}, failf(CodeConfig, "erp.dsn cannot be read as a PostgreSQL address; write "+
			"postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=verify-full (with %%-escapes for special characters in the password) "+
			"or host=… port=… dbname=… user=… password='…'%s", settingNamed(err))
	}
	if len(cfg.Multi) == 0 && cfg.Service == "" && !mentionsSSLMode(dsn) && isLocal(cfg) {
		// lib/pq's default is "require"; a server on this host seldom has TLS.
		cfg.SSLMode = pq.SSLModeDisable
	}
	if cfg.ConnectTimeout <= 0 {
		cfg.ConnectTimeout = connectTimeout
	}
	cfg.ApplicationName = applicationName
	runtime := make(map[string]string, len(cfg.Runtime)+4)
	zoned := false
	for k, v := range cfg.Runtime {
		if strings.EqualFold(k, "timezone") {
			zoned = true
		}
		runtime[k] = v
	}
	runtime["default_transaction_read_only"] = "on"
	runtime["statement_timeout"] = strconv.FormatInt(opt.StatementTimeout.Milliseconds(), 10)
	runtime["lock_timeout"] = strconv.FormatInt(lockTimeout.Milliseconds(), 10)
	if name := zoneName(opt.TimeZone); name != "" && !zoned && cfg.TZ == "" {
		// So that `changed_at::date` in a query means the same day as the mapping's.
		runtime["TimeZone"] = name
	}
	cfg.Runtime = runtime
	return cfg, nil
}

// settingNamed names the setting that lib/pq refused, when its message does so
// in the one form that holds no value before it.
func settingNamed(err error) string {
	rest, ok := strings.CutPrefix(err.Error(), `pq: wrong value for "`)
	if !ok {
		return ""
	}
	name, _, ok := strings.Cut(rest, `"`)
	if !ok || name == "password" {
		return ""
	}
	return "; the value of " + name + " is not accepted"
}

func mentionsSSLMode(dsn string) bool {
	if os.Getenv("PGSSLMODE") != "" {
		return true
	}
	if strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://") {
		u, err := url.Parse(dsn)
		return err == nil && u.Query().Has("sslmode")
	}
	// The last setting wins in this form, so ours in front counts only if the
	// DSN has none; "allow" is never a default.
	cfg, err := pq.NewConfig("sslmode=allow " + dsn)
	return err == nil && cfg.SSLMode != pq.SSLModeAllow
}

func isLocal(cfg pq.Config) bool {
	if cfg.Hostaddr.IsValid() {
		return cfg.Hostaddr.IsLoopback()
	}
	return isLoopback(cfg.Host) || strings.HasPrefix(cfg.Host, "/") || strings.HasPrefix(cfg.Host, "@")
}

func targetOf(cfg pq.Config) string {
	hosts := []string{hostPort(cfg.Host, cfg.Port)}
	if len(cfg.Multi) > 0 {
		for _, m := range cfg.Multi {
			hosts = append(hosts, hostPort(m.Host, m.Port))
		}
	}
	return strings.Join(hosts, ",") + "/" + cfg.Database
}

func hostPort(host string, port uint16) string {
	if strings.HasPrefix(host, "/") {
		return fmt.Sprintf("%s:%d", host, port)
	}
	return net.JoinHostPort(host, strconv.Itoa(int(port)))
}

func (p *postgres) probe(ctx context.Context) error {
	f, err := p.facts(ctx, p.db)
	p.bytesMode = f.Charset == "SQL_ASCII"
	return err
}

func (p *postgres) facts(ctx context.Context, db *sqlx.DB) (f Facts, err error) {
	err = db.QueryRowxContext(ctx, `SELECT current_setting('server_version'), current_setting('server_encoding'),
  pg_has_role(current_user, 'pg_read_all_stats', 'USAGE')`).Scan(&f.Version, &f.Charset, &f.SeesTransactions)
	return f, err
}

var _ rightsChecker = (*postgres)(nil)

func (p *postgres) mayWrite(ctx context.Context, db *sqlx.DB) (table string, err error) {
	err = db.GetContext(ctx, &table, `SELECT n.nspname || '.' || c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r', 'p') AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\_%'
		AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE') ORDER BY 1 LIMIT 1`)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return table, err
}

// window compares in the column's own type, so that nothing is rounded on the
// way. Rows without a value, and '-infinity', which some programs write for
// one, are always in.
func (p *postgres) window(b *binder, col Column, w Window) (string, *Error) {
	m, ok := parseMoment(w.Since)
	if !ok {
		return "", failBound(w.Since)
	}
	lookback := max(w.Lookback, 0)
	name := postgresSyntax.column(col.Name)
	var low string
	switch col.Type {
	case "date":
		days := max(2, int64(math.Ceil(lookback.Hours()/24)))
		low = b.add(m.at.Format("2006-01-02")) + "::date - " + b.add(days) + "::int"
	default:
		low = b.add(w.Since) + "::" + col.Type + " - " +
			b.add(fmt.Sprintf("%d microseconds", lookback.Microseconds())) + "::interval"
	}
	return fmt.Sprintf("(%s >= (%s) OR %s IS NULL OR %s = '-infinity')", name, low, name, name), nil
}

// foreign: the text was decoded here, so its stored bytes are not UTF-8 and
// cannot be bound as text.
func (p *postgres) foreign(key []Value) bool {
	if !p.bytesMode || p.cs.table == nil {
		return false
	}
	for _, v := range key {
		if v.Kind == Text && !isASCII(v.Text) {
			return true
		}
	}
	return false
}

func (p *postgres) foreignKey(b *binder, names []string, key []Value) string {
	parts := make([]string, len(key))
	for i, v := range key {
		if raw, ok := p.cs.encode(v.Text); ok && v.Kind == Text && !isASCII(v.Text) {
			parts[i] = bytesOf(names[i]) + " = " + b.add(raw) + "::bytea"
		} else {
			parts[i] = names[i] + " = " + b.add(v.Text)
		}
	}
	return "(" + strings.Join(parts, " AND ") + ")"
}

// bytesOf gives the stored bytes of any column. concat calls the type's output
// function, so unlike a cast to text it keeps the padding of CHAR.
func bytesOf(name string) string {
	return "CASE WHEN " + name + " IS NULL THEN NULL ELSE convert_to(concat(" + name + "), 'SQL_ASCII') END"
}

const pgBlanks = `E' \t\n\r\f\v'`

func (p *postgres) looseKey(b *binder, cols []Column, key []string, fast bool) string {
	parts := make([]string, len(cols))
	for i, c := range cols {
		name := pgKeyColumn(c)
		switch c.Type {
		case "text", "varchar", "bpchar", "char", "name", "":
			if !fast {
				parts[i] = "btrim(" + name + "::text, " + pgBlanks + ") = " + b.add(key[i]) + "::text"
				continue
			}
			parts[i] = name + " = " + b.add(key[i])
		default:
			parts[i] = name + " = " + b.add(key[i])
		}
	}
	return strings.Join(parts, " AND ")
}

// clockSQL reads the clock in the three types a bound may have, and the start
// of the oldest open transaction of this database that the role may see: an
// ordinary role sees its own only, and then the lookback has to do. Workers of
// autovacuum and of replication out of this server write no rows. Of a prepared
// transaction only the time of its preparation is kept; what it did before is
// the lookback's.
const clockSQL = `SELECT now()::text, now()::timestamp::text, now()::date::text,
  h::text, h::timestamp::text, h::date::text
FROM (SELECT least(
  (SELECT min(xact_start) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
      AND backend_type NOT IN ('autovacuum worker', 'walsender')),
  (SELECT min(prepared) FROM pg_prepared_xacts WHERE database = current_database())) AS h) AS x`

func (p *postgres) clock(ctx context.Context, c *sqlx.Conn) (clock, error) {
	var now, horizon [3]sql.NullString
	err := c.QueryRowxContext(ctx, clockSQL).Scan(&now[0], &now[1], &now[2], &horizon[0], &horizon[1], &horizon[2])
	if err != nil {
		return clock{}, err
	}
	m, ok := parseMoment(now[0].String)
	if !ok {
		return clock{}, failf(CodeOther, "the ERP database's clock cannot be read")
	}
	return clock{now: m.at, limits: func(col Column, _ moment) []limit {
		i := map[string]int{"timestamptz": 0, "timestamp": 1, "date": 2}[col.Type]
		var limits []limit
		if m, ok := parseMoment(now[i].String); ok {
			limits = append(limits, limit{text: now[i].String, at: m.at, warnAfter: m.at})
		}
		if m, ok := parseMoment(horizon[i].String); ok && horizon[i].Valid {
			limits = append(limits, limit{text: horizon[i].String, at: m.at})
		}
		return limits
	}}, nil
}

var _ waker = (*postgres)(nil)

// awake sends a statement without any: nothing is parsed, and a server that is not
// there any more, or is going, says so.
func (p *postgres) awake(ctx context.Context, c *sqlx.Conn) error {
	_, err := c.ExecContext(ctx, ";")
	return err
}
