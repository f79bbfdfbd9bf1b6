package state

import (
	"errors"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/state/sqldb"
)

// A session has its time limits, its level of flushing and no compiler also behind a PgBouncer as it
// comes, which refuses parameters of the start that it does not know.
func TestALedgerBehindAPgBouncerOfSessionsIsAsWithoutIt(t *testing.T) {
	t.Parallel()
	direct := pgtest.Database(t)
	for _, dsn := range []string{direct, pgtest.Bouncer(t, direct, "session")} {
		s := mustOpen(t, sqldb.OpenOptions{Begin: true, Driver: sqldb.Postgres, DSN: dsn})
		lease := mustLease(t, s, "contracts")
		mustRecord(t, s, lease, newEntry(dsn))
		for name, want := range map[string]string{
			"statement_timeout": "25s", "lock_timeout": "10s", "idle_in_transaction_session_timeout": "20s",
			"synchronous_commit": "on", "jit": "off",
		} {
			var got string
			must.Do(t, s.db.Get(t.Context(), "test", &got, `SELECT current_setting(?)`, name))
			if got != want {
				t.Errorf("%s: %s = %s, want %s", dsn, name, got, want)
			}
		}
		must.Do(t, s.ReleaseLease(t.Context(), lease))
		must.Do(t, s.Close())
	}
}

// A pooler that gives each transaction or statement another session is refused when the ledger is
// begun, opened, or looked at, so before anything is sent.
func TestAPoolerThatSharesSessionsIsRefused(t *testing.T) {
	t.Parallel()
	direct := pgtest.Database(t)
	must.Do(t, mustOpen(t, sqldb.OpenOptions{Begin: true, Driver: sqldb.Postgres, DSN: direct}).Close())
	for _, mode := range []string{"transaction", "statement"} {
		for name, dsn := range map[string]string{"new": pgtest.Database(t), "there": direct} {
			through := pgtest.Bouncer(t, dsn, mode)
			for _, o := range []sqldb.OpenOptions{{Begin: true}, {ReadOnly: true}} {
				o.Driver, o.DSN = sqldb.Postgres, through
				s, err := Open(t.Context(), o)
				text := wantCode(t, err, sqldb.CodeConfig)
				var known *sqldb.Error
				if !errors.As(err, &known) || !strings.Contains(known.Hint.Error(), "pool_mode = session") {
					t.Errorf("%s, %s: %s: hint %v", mode, name, text, known)
				}
				if s != nil {
					must.Do(t, s.Close())
				}
			}
		}
	}
}

// A setting of state.dsn that the pooler does not know is named, and not taken for a server that is
// starting.
func TestASettingThatAPoolerRefusesIsSaid(t *testing.T) {
	t.Parallel()
	dsn := pgtest.Bouncer(t, pgtest.Database(t), "session") + " work_mem=64MB"
	_, err := Open(t.Context(), sqldb.OpenOptions{Begin: true, Driver: sqldb.Postgres, DSN: dsn})
	wantCode(t, err, sqldb.CodeConfig)
	var known *sqldb.Error
	if !errors.As(err, &known) || !strings.Contains(err.Error(), "work_mem") ||
		!strings.Contains(known.Hint.Error(), "ignore_startup_parameters") {
		t.Error(err)
	}
}
