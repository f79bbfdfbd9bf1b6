package sqldb

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"github.com/safrasync/safrasync/internal/phrase"
)

// The limits of a PostgreSQL ledger.
const (
	postgresConns    = 8 // also the maximum number of concurrent transactions
	statementTimeout = 25 * time.Second
	LockTimeout      = 10 * time.Second
	idleTimeout      = 20 * time.Second // within a transaction
	connectTimeout   = 10 * time.Second
)

// OpenPostgres connects to the PostgreSQL ledger that the options name, and verifies its durability
// (I1).
func OpenPostgres(ctx context.Context, o OpenOptions, tune Tuning) (*DB, error) {
	cfg, err := PostgresConfig(o)
	if err != nil {
		return nil, err
	}
	where := PostgresPlace(cfg)
	s := newStore(postgresDialect, tune, where)
	s.ReadOnly, s.Identity = o.ReadOnly, o.Identity
	s.Write = connectPostgres(cfg, tune.Patience, statementTimeout, tune, o.ReadOnly)
	s.Read = s.Write
	s.unhurried = func() *sqlx.DB { return connectPostgres(cfg, 0, 0, tune, o.ReadOnly) }
	for _, check := range []func(context.Context) error{s.ownSessions, s.VerifyPostgres, s.askServer} {
		if err := check(ctx); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// ownSessions refuses a pooler that gives each transaction, or statement, another session of the
// server: prepared statements and what a session has set go astray there. Two connections take turns,
// several times, because others may take a session in between.
func (s *DB) ownSessions(ctx context.Context) (err error) {
	defer func() { err = s.Fault(ctx, "opening the ledger", err) }()
	var conns [2]*sqlx.Conn
	var sessions [2]int
	for turn := range 6 {
		at, session := turn%2, 0
		if conns[at] == nil {
			conns[at], err = s.Write.Connx(ctx)
			if err != nil {
				return err
			}
			defer phrase.Join(&err, conns[at].Close)
		}
		if err := conns[at].GetContext(ctx, &session, `SELECT pg_backend_pid()`); err != nil {
			return err
		}
		if turn > 1 && session != sessions[at] || session == sessions[1-at] {
			return s.Refuse(CodeConfig,
				phrase.Errorf("a connection pooler gives each transaction another session of the server"),
				phrase.New("connect directly, or let PgBouncer have pool_mode = session for this database"))
		}
		sessions[at] = session
	}
	return nil
}

// PostgresPlace describes a database for people, without secrets.
func PostgresPlace(cfg pq.Config) string {
	return "PostgreSQL " + PostgresServers(cfg) + " database " + cfg.Database
}

// PostgresServers names every server of the DSN: host:port,host:port.
func PostgresServers(cfg pq.Config) string {
	servers := []string{net.JoinHostPort(cfg.Host, strconv.Itoa(int(cfg.Port)))}
	for _, more := range cfg.Multi {
		servers = append(servers, net.JoinHostPort(more.Host, strconv.Itoa(int(more.Port))))
	}
	return strings.Join(servers, ",")
}

// PostgresConfig parses the DSN. It does not repeat the driver's error about a wrong DSN, because
// that quotes the text with the password.
func PostgresConfig(o OpenOptions) (pq.Config, error) {
	cfg, err := pq.NewConfig(o.DSN)
	if err != nil || o.DSN == "" {
		return pq.Config{}, &Error{
			Code: CodeConfig, Err: errors.New("state.dsn is not a PostgreSQL data source name"),
			Hint: phrase.New("write it like host=db port=5432 dbname=safrasync user=safrasync password=… sslmode=verify-full"),
		}
	}
	if cfg.ConnectTimeout <= 0 {
		cfg.ConnectTimeout = connectTimeout
	}
	if cfg.ApplicationName == "" {
		cfg.ApplicationName = strings.TrimSpace("safrasync " + o.Version)
	}
	return cfg, nil
}

// sessionSettings is what each session sets when it begins. Parameters of the connection would be
// simpler, but a pooler refuses those that it does not know.
//
// The time limit in a transaction ends those of a host that vanished, and so frees their locks before
// its leases end. Compiling a statement takes PostgreSQL a hundred times as long as our statements,
// and it does so where its estimate of an array is wrong. Every level of synchronous_commit except
// off flushes to the local disk (remote_apply also waits for a standby): a session keeps the one that
// the server had, so that a later reload cannot lower it, and off is raised to on (I1).
const sessionSettings = `SELECT set_config('statement_timeout', '%d', false), set_config('lock_timeout', '%d', false),
	set_config('idle_in_transaction_session_timeout', '%d', false), 
	(SELECT set_config(name, 'off', false) FROM pg_settings WHERE name = 'jit'),
	set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on'
		ELSE current_setting('synchronous_commit') END, false),
	set_config('default_transaction_read_only', CASE WHEN %t THEN 'on'
		ELSE current_setting('default_transaction_read_only') END, false)`

// connectPostgres returns a pool whose connections wait for each part of an answer for at most
// patience, 0 = as long as the server takes connections, and whose statements end after a limit.
func connectPostgres(cfg pq.Config, patience, limit time.Duration, tune Tuning, reading bool) *sqlx.DB {
	db := openDB(&servers{
		cfg: cfg, patience: patience, quiet: tune.Quiet, known: map[string]*server{},
		session: fmt.Sprintf(sessionSettings, limit.Milliseconds(), LockTimeout.Milliseconds(),
			idleTimeout.Milliseconds(), reading),
	}, tune)
	db.SetMaxOpenConns(postgresConns)
	db.SetMaxIdleConns(postgresConns)
	db.SetConnMaxIdleTime(2 * time.Minute)
	// after a failover, connections to the old primary are dropped
	db.SetConnMaxLifetime(5 * time.Minute)
	return mapped(db, "postgres")
}

// ConnectPostgres returns a pool of connections to another database than the ledger's, for few and
// short statements. It connects when it is first used.
func ConnectPostgres(dsn, version string) (*sqlx.DB, error) {
	cfg, err := PostgresConfig(OpenOptions{DSN: dsn, Version: version})
	if err != nil {
		return nil, err
	}
	return connectPostgres(cfg, LockTimeout, statementTimeout, DefaultTuning, false), nil
}

// VerifyPostgres refuses a server whose settings do not make commits durable (I1).
func (s *DB) VerifyPostgres(ctx context.Context) error {
	var setting string
	if err := s.Write.GetContext(ctx, &setting,
		`SELECT current_setting('fsync') || ' ' || current_setting('synchronous_commit') || ' ' || current_setting('full_page_writes')`); err != nil {
		return s.Fault(ctx, "opening the ledger", err)
	}
	return safePostgres(setting)
}

// safePostgres checks the text "fsync synchronous_commit full_page_writes" (I1).
func safePostgres(setting string) error {
	parts := strings.Fields(setting)
	names := []string{"fsync", "synchronous_commit", "full_page_writes"}
	if len(parts) != len(names) {
		return &Error{
			Code: CodeDurability, Hint: phrase.New("report this as a fault of the program"),
			Err: errors.New("the server does not say whether it flushes"),
		}
	}
	for i, name := range names {
		if parts[i] == "off" {
			return Refuse(CodeDurability, "PostgreSQL",
				phrase.Errorf("%s is off: a power cut could lose what was sent", name),
				phrase.New("set %s = on in postgresql.conf and reload the server", name))
		}
	}
	return nil
}
