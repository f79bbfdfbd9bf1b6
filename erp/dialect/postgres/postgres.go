package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"net"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"github.com/safrasync/safrasync/erp/dialect"
	"github.com/safrasync/safrasync/erp/fault"
	"github.com/safrasync/safrasync/erp/sqltext"
	"github.com/safrasync/safrasync/internal/phrase"
)

// engine is the dialect of PostgreSQL through lib/pq.
type engine struct {
	opt    dialect.SourceOptions
	cs     dialect.Charset
	db     *sqlx.DB
	server dialect.Server
	// bytesMode: the server's encoding is SQL_ASCII. Such a server checks text only when it sends
	// it, and one wrong byte fails the whole query. So text is selected as bytes and decoded here.
	bytesMode bool
}

var _ dialect.Dialect = (*engine)(nil)

func open(opt dialect.SourceOptions, cs dialect.Charset) (dialect.Database, *fault.Error) {
	cfg, bad := config(opt)
	if bad != nil {
		return dialect.Database{}, bad
	}
	connector, err := pq.NewConnectorConfig(cfg)
	if err != nil {
		return dialect.Database{}, fault.Failf(fault.CodeConfig, "erp.dsn cannot be used as a PostgreSQL address")
	}
	connector.Dialer(dialect.NewGuardDialer(opt.StatementTimeout))
	hosts := []string{hostPort(cfg.Host, cfg.Port)}
	if len(cfg.Multi) > 0 {
		for _, m := range cfg.Multi {
			hosts = append(hosts, hostPort(m.Host, m.Port))
		}
	}
	p := &engine{opt: opt, cs: cs, db: dialect.Pool(connector, "postgres"), server: dialect.Server{
		Target: strings.Join(hosts, ",") + "/" + cfg.Database, Product: "PostgreSQL",
		Settings: "sslmode and sslrootcert",
		Timeout:  opt.StatementTimeout,
	}}
	return dialect.Database{DB: p.db, Target: p.server.Target, Probe: p.probe, Dialect: p}, nil
}

// remoteWith reports whether a connection leads to another host with one of these modes. Of several
// hosts one is enough.
func remoteWith(dsn dialect.Secret, modes ...pq.SSLMode) bool {
	cfg, bad := config(dialect.SourceOptions{DSN: dsn})
	if bad != nil || !slices.Contains(modes, cfg.SSLMode) {
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

// config parses the DSN. The errors of lib/pq and net/url quote what they could not parse,
// including the password, so none of them is passed on.
func config(opt dialect.SourceOptions) (pq.Config, *fault.Error) {
	dsn := string(opt.DSN)
	cfg, err := pq.NewConfig(dsn)
	if err != nil {
		return pq.Config{}, fault.Failf(fault.CodeConfig, "erp.dsn cannot be read as a PostgreSQL address; write "+
			"postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=verify-full (with %%-escapes for special characters in the password) "+
			"or host=… port=… dbname=… user=… password='…'%w", settingNamed(err))
	}
	if len(cfg.Multi) == 0 && cfg.Service == "" && !mentionsSSLMode(dsn) && isLocal(cfg) {
		// lib/pq's default is "require", but a server on this host seldom has TLS.
		cfg.SSLMode = pq.SSLModeDisable
	}
	if cfg.ConnectTimeout <= 0 {
		cfg.ConnectTimeout = dialect.ConnectTimeout
	}
	cfg.ApplicationName = dialect.ApplicationName
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
	runtime["lock_timeout"] = strconv.FormatInt(dialect.LockTimeout.Milliseconds(), 10)
	if name := dialect.ZoneName(opt.TimeZone); name != "" && !zoned && cfg.TZ == "" {
		// So that `changed_at::date` in a query means the same day as in the mapping.
		runtime["TimeZone"] = name
	}
	cfg.Runtime = runtime
	return cfg, nil
}

// settingNamed returns the setting that lib/pq refused, if its message has the one form that
// contains no value before it.
func settingNamed(err error) *phrase.Text {
	rest, ok := strings.CutPrefix(err.Error(), `pq: wrong value for "`)
	if !ok {
		return nil
	}
	name, _, ok := strings.Cut(rest, `"`)
	if !ok || name == "password" {
		return nil
	}
	return phrase.New("; the value of %s is not accepted", name)
}

func mentionsSSLMode(dsn string) bool {
	if os.Getenv("PGSSLMODE") != "" {
		return true
	}
	if strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://") {
		u, err := url.Parse(dsn)
		return err == nil && u.Query().Has("sslmode")
	}
	// The last setting wins in this form, so the one in front counts only if the DSN has none;
	// "allow" is never a default.
	cfg, err := pq.NewConfig("sslmode=allow " + dsn)
	return err == nil && cfg.SSLMode != pq.SSLModeAllow
}

func isLocal(cfg pq.Config) bool {
	if cfg.Hostaddr.IsValid() {
		return cfg.Hostaddr.IsLoopback()
	}
	return dialect.IsLoopback(cfg.Host) || strings.HasPrefix(cfg.Host, "/") || strings.HasPrefix(cfg.Host, "@")
}

func hostPort(host string, port uint16) string {
	if strings.HasPrefix(host, "/") {
		return fmt.Sprintf("%s:%d", host, port)
	}
	return net.JoinHostPort(host, strconv.Itoa(int(port)))
}

func (p *engine) probe(ctx context.Context) error {
	f, err := p.Facts(ctx, p.db)
	p.bytesMode = f.Charset == "SQL_ASCII"
	return err
}

func (p *engine) Facts(ctx context.Context, db *sqlx.DB) (f dialect.Facts, err error) {
	err = db.QueryRowxContext(ctx, `SELECT current_setting('server_version'), current_setting('server_encoding'),
  pg_has_role(current_user, 'pg_read_all_stats', 'USAGE'),
  COALESCE((SELECT min(n.nspname || '.' || c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relrowsecurity AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
      AND row_security_active(c.oid)), '')`).Scan(&f.Version, &f.Charset, &f.SeesTransactions, &f.Filtered)
	return f, err
}

var _ dialect.RightsChecker = (*engine)(nil)

func (p *engine) MayWrite(ctx context.Context, db *sqlx.DB) (table string, err error) {
	err = db.GetContext(ctx, &table, `SELECT n.nspname || '.' || c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r', 'p') AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\_%'
		AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE') ORDER BY 1 LIMIT 1`)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return table, err
}

// Window compares in the column's own type, so that nothing is rounded. Rows without a value, and
// those with '-infinity', which some programs write instead, are always included.
func (p *engine) Window(b *dialect.Binder, col dialect.Column, w dialect.Window) (string, *fault.Error) {
	m, ok := dialect.ParseMoment(w.Since)
	if !ok {
		return "", dialect.FailBound(w.Since)
	}
	lookback := max(w.Lookback, 0)
	name := Syntax.Column(col.Name)
	var low string
	switch col.Type {
	case "date":
		days := max(2, int64(math.Ceil(lookback.Hours()/24)))
		low = b.Add(m.At.Format("2006-01-02")) + "::date - " + b.Add(days) + "::int"
	default:
		low = b.Add(w.Since) + "::" + col.Type + " - " +
			b.Add(fmt.Sprintf("%d microseconds", lookback.Microseconds())) + "::interval"
	}
	return fmt.Sprintf("(%s >= (%s) OR %s IS NULL OR %s = '-infinity')", name, low, name, name), nil
}

// bytesOf returns an expression for the stored bytes of any column. concat calls the type's output
// function, so unlike a cast to text it keeps the padding of CHAR.
func bytesOf(name string) string {
	return "CASE WHEN " + name + " IS NULL THEN NULL ELSE convert_to(concat(" + name + "), 'SQL_ASCII') END"
}

const blanks = `E' \t\n\r\f\v'`

func (p *engine) LoosePart(b *dialect.Binder, col dialect.Column, text string, fast bool) string {
	name := keyColumn(col)
	switch col.Type {
	case "text", "varchar", "bpchar", "char", "name", "":
		if !fast {
			return "btrim(" + name + "::text, " + blanks + ") = " + b.Add(text) + "::text"
		}
	case "int2", "int4", "int8", "numeric", "float4", "float8":
		// one text that is no number would be an error of the whole statement
		if !dialect.PlainNumber(text) || strings.HasPrefix(col.Type, "int") && strings.Contains(text, ".") {
			return "1 = 0"
		}
	}
	return name + " = " + b.Add(text)
}

// clockSQL reads the clock in the three types that a bound may have, and the start of the oldest
// open transaction of this database that the role may see. An ordinary role sees only its own; then
// only the lookback helps. Workers of autovacuum and of outgoing replication write no rows. For a
// prepared transaction only the time of its preparation is known; for what it did before, only the
// lookback helps.
const clockSQL = `SELECT now()::text, now()::timestamp::text, now()::date::text,
  h::text, h::timestamp::text, h::date::text
FROM (SELECT least(
  (SELECT min(xact_start) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
      AND backend_type NOT IN ('autovacuum worker', 'walsender')),
  (SELECT min(prepared) FROM pg_prepared_xacts WHERE database = current_database())) AS h) AS x`

func (p *engine) Clock(ctx context.Context, c *sqlx.Conn) (dialect.Clock, error) {
	var now, horizon [3]sql.NullString
	err := c.QueryRowxContext(ctx, clockSQL).Scan(&now[0], &now[1], &now[2], &horizon[0], &horizon[1], &horizon[2])
	if err != nil {
		return dialect.Clock{}, err
	}
	m, ok := dialect.ParseMoment(now[0].String)
	if !ok {
		return dialect.Clock{}, fault.Failf(fault.CodeOther, "the ERP database's clock cannot be read")
	}
	return dialect.Clock{Now: m.At, Limits: func(col dialect.Column, _ dialect.Moment) []dialect.Limit {
		i := map[string]int{"timestamptz": 0, "timestamp": 1, "date": 2}[col.Type]
		var limits []dialect.Limit
		if m, ok := dialect.ParseMoment(now[i].String); ok {
			limits = append(limits, dialect.Limit{Text: now[i].String, At: m.At, WarnAfter: m.At})
		}
		if m, ok := dialect.ParseMoment(horizon[i].String); ok && horizon[i].Valid {
			limits = append(limits, dialect.Limit{Text: horizon[i].String, At: m.At})
		}
		return limits
	}}, nil
}

// Engine is PostgreSQL through lib/pq.
var Engine = &dialect.Engine{
	Name: "postgres", Syntax: Syntax,
	PlainName: regexp.MustCompile(`^[a-z_][a-z0-9_]*$`),
	ChangedAt: dialect.ChangedAt{
		Types:  []string{"timestamptz", "timestamp", "date"},
		Advice: "cast it to timestamp in the query, as in %s::timestamp",
	},
	Catalogue: catalogue,
	Literals: dialect.Literals{
		Session: dialect.Literal{
			SQL: "current_setting('transaction_isolation') || ' ' || current_setting('transaction_read_only')", Want: "repeatable read on",
		},
	},
	Open: open,
	Unencrypted: func(dsn dialect.Secret) bool {
		return remoteWith(dsn, pq.SSLModeDisable, pq.SSLModeAllow, pq.SSLModePrefer)
	},
	Unproved: func(dsn dialect.Secret) bool { return remoteWith(dsn, pq.SSLModeRequire, "") },
}

// Syntax is the SQL of PostgreSQL.
var Syntax = &sqltext.Syntax{
	Name: "PostgreSQL", Lexis: sqltext.Lexis{NestedComments: true, PostgresStrings: true},
	Quotes: [2]string{`"`, `"`}, Alias: " AS q", Placeholder: sqltext.Numbered("$"), NoRows: " LIMIT 0",
	First: sqltext.FirstRow{Suffix: " LIMIT 1"},
}

var catalogue = dialect.Catalogue{
	Relations: `SELECT CAST(n.nspname AS text) AS schema_name, CAST(c.relname AS text) AS table_name, CASE WHEN c.relkind IN ('v', 'm') THEN 1 ELSE 0 END AS is_view,
  CASE WHEN c.relkind = 'v' OR c.reltuples < 0 THEN NULL ELSE CAST(c.reltuples AS bigint) END AS row_estimate
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition AND n.nspname NOT LIKE 'pg\_%'
    AND n.nspname <> 'information_schema'
  AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')`,
	Columns: `SELECT CAST(n.nspname AS text) AS schema_name, CAST(c.relname AS text) AS table_name, CAST(a.attname AS text) AS column_name,
  format_type(a.atttypid, a.atttypmod) AS type_name, CASE WHEN a.attnotnull THEN 0 ELSE 1 END AS is_nullable,
    CAST(a.attnum AS integer) AS ordinal
FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT LIKE 'pg\_%'
    AND n.nspname <> 'information_schema'`,
	Indexes: `SELECT CAST(n.nspname AS text) AS schema_name, CAST(c.relname AS text) AS table_name, CAST(i.relname AS text) AS index_name,
  CASE WHEN x.indisprimary THEN 1 ELSE 0 END AS is_primary, CASE WHEN x.indisunique THEN 1 ELSE 0 END AS is_unique,
  CAST(a.attname AS text) AS column_name, k.place AS ordinal
FROM pg_catalog.pg_index x JOIN pg_catalog.pg_class c ON c.oid = x.indrelid
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_catalog.pg_class i ON i.oid = x.indexrelid CROSS JOIN LATERAL unnest(x.indkey) WITH ORDINALITY AS k(number,
    place)
  JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.number
WHERE x.indpred IS NULL AND x.indexprs IS NULL AND k.place <= x.indnkeyatts AND n.nspname NOT LIKE 'pg\_%'
    AND n.nspname <> 'information_schema'`,
}

// Item selects every type as the text that PostgreSQL itself writes. lib/pq's own conversions would
// fail a whole row because of a year 12345, and read a float4 as a float8.
func (p *engine) Item(col dialect.Column, use dialect.Use) dialect.Item {
	name := Syntax.Column(col.Name)
	text := name + "::text"
	if use == dialect.ForBound {
		return dialect.VerbatimItem(text, dialect.Text)
	}
	switch col.Type {
	case "bytea":
		return dialect.BinaryItem(name, "convert_from("+col.Name+", 'WIN1252')")
	case "int2", "int4", "int8", "oid":
		return dialect.VerbatimItem(text, dialect.Int)
	case "numeric":
		return dialect.TextItem(text, dialect.NumberValue)
	case "money":
		// money::text follows the server's locale.
		return dialect.TextItem(name+"::numeric::text", dialect.NumberValue)
	case "float4":
		return dialect.FloatItem(text, 32)
	case "float8":
		return dialect.FloatItem(text, 64)
	case "bool":
		return dialect.VerbatimItem(text, dialect.Bool)
	case "date":
		return dialect.TextItem(text, dialect.DateText)
	case "timestamp":
		return dialect.TextItem(text, dialect.TimestampText)
	case "timestamptz":
		return dialect.TextItem(text, p.instant)
	case "uuid":
		return dialect.VerbatimItem(text, dialect.Text)
	}
	if p.bytesMode {
		return dialect.Item{SQL: bytesOf(name), Convert: func(v any) dialect.Value {
			if raw, ok := v.([]byte); ok {
				return dialect.TextValue(string(raw), p.cs)
			}
			return dialect.Value{}
		}}
	}
	expr := name
	switch {
	case col.Type == "bpchar", use == dialect.ForKey && (col.Type == "text" || col.Type == "varchar"):
		// Unchanged: a cast of CHAR to text would drop the padding, and a key must be bound again
		// as it was stored.
	case use == dialect.ForKey:
		expr = text
	default:
		expr = "left(" + text + ", " + dialect.LongestText + ")"
	}
	return dialect.TextItem(expr, dialect.PlainTextValue)
}

func (p *engine) instant(s string) dialect.Value {
	m, ok := dialect.ParseMoment(s)
	if !ok || !m.Zoned {
		return dialect.Value{Kind: dialect.Instant, Text: s, Err: dialect.OddTime(s)}
	}
	return dialect.Value{Kind: dialect.Instant, Text: dialect.InstantText(m.At, p.opt.TimeZone)}
}
