package sqldb

import (
	"context"
	"database/sql/driver"
	"errors"
	"maps"
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
	s := newStore(PostgresDialect, tune, where)
	s.ReadOnly, s.Identity = o.ReadOnly, o.Identity
	setting, err := durableSetting(ctx, cfg, where, tune)
	if err != nil {
		return nil, err
	}
	// Each session sets the level that the server has now, so that a later reload cannot lower it
	// while the session lasts.
	cfg.Runtime["synchronous_commit"] = setting
	s.Write = connectPostgres(cfg, tune.Patience, tune, o.ReadOnly)
	s.Read = s.Write
	s.unhurried = func() *sqlx.DB {
		slow := cfg
		slow.Runtime = maps.Clone(cfg.Runtime)
		slow.Runtime["statement_timeout"] = "0"
		return connectPostgres(slow, 0, tune, o.ReadOnly)
	}
	if err := s.VerifyPostgres(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := s.askServer(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
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
	if cfg.Runtime == nil {
		cfg.Runtime = map[string]string{}
	}
	cfg.Runtime["statement_timeout"] = strconv.FormatInt(statementTimeout.Milliseconds(), 10)
	cfg.Runtime["lock_timeout"] = strconv.FormatInt(LockTimeout.Milliseconds(), 10)
	// Ends the transactions of a host that vanished, and so frees their locks before its leases
	// end.
	cfg.Runtime["idle_in_transaction_session_timeout"] = strconv.FormatInt(idleTimeout.Milliseconds(), 10)
	return cfg, nil
}

// connectPostgres returns a pool whose connections wait for each part of an answer for at most
// patience; 0 = as long as the server takes connections.
func connectPostgres(cfg pq.Config, patience time.Duration, tune Tuning, reading bool) *sqlx.DB {
	var c driver.Connector = &servers{cfg: cfg, patience: patience, quiet: tune.Quiet, known: map[string]*server{}}
	if reading {
		c = readingOnly{c}
	}
	db := openDB(c, tune)
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
	return connectPostgres(cfg, LockTimeout, DefaultTuning, false), nil
}

// durableSetting returns the level of synchronous_commit to use. Every level of the server except
// off flushes to the local disk and is kept (remote_apply also waits for a standby); off is raised
// to on.
func durableSetting(ctx context.Context, cfg pq.Config, where string, tune Tuning) (setting string, err error) {
	db := connectPostgres(cfg, tune.Patience, tune, false)
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := db.GetContext(ctx, &setting, "SHOW synchronous_commit"); err != nil {
		return "", FaultOf(ctx, "opening the ledger", where, Postgres, err)
	}
	if setting == "off" {
		setting = "on"
	}
	return setting, nil
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
			return &Error{
				Code: CodeDurability, Path: "PostgreSQL",
				Hint: phrase.New("set %s = on in postgresql.conf and reload the server", name),
				Err:  phrase.Errorf("%s is off: a power cut could lose what was sent", name),
			}
		}
	}
	return nil
}
