package pgtest

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/throwaway"
)

// replicaReady is what a replica logs when it accepts connections.
const replicaReady = "database system is ready to accept read"

// Replica starts a streaming replica of this server, made by pg_basebackup. It is removed after the
// test.
func (c *Cluster) Replica(t testing.TB) *Cluster {
	t.Helper()
	r, err := c.replica()
	if err != nil {
		t.Fatalf("pgtest: making a replica: %v", err)
	}
	t.Cleanup(func() {
		if err := r.Remove(); err != nil {
			t.Errorf("pgtest: removing the replica: %v", err)
		}
	})
	return r
}

func (c *Cluster) replica() (*Cluster, error) {
	access := filepath.Join(c.DataDir(), "pg_hba.conf")
	if err := os.WriteFile(access, []byte(authentication+"host replication all 127.0.0.1/32 trust\n"),
		0o600); err != nil {
		return nil, err
	}
	if err := c.admin("SELECT pg_reload_conf()"); err != nil {
		return nil, err
	}
	r, err := bare(kind, c.binDir, replicaReady)
	if err != nil {
		return nil, err
	}
	_, err = r.Feed(r.program("pg_basebackup", "--pgdata="+r.DataDir(), "--dbname="+c.DSN("postgres"),
		"--checkpoint=fast", "--wal-method=stream", "--write-recovery-conf", "--no-sync"), "")
	if err == nil {
		err = r.startOnFreePort()
	}
	if err != nil {
		return nil, errors.Join(err, r.Remove())
	}
	return r, nil
}

// CatchUp returns when a replica has replayed everything that this server has committed.
func (c *Cluster) CatchUp(t testing.TB) {
	t.Helper()
	const behind = `DO $$ BEGIN IF NOT EXISTS (SELECT 1 FROM pg_stat_replication WHERE replay_lsn >= pg_current_wal_lsn()) THEN RAISE 'behind'; END IF; END $$`
	deadline := time.Now().Add(throwaway.Patience)
	for {
		err := c.admin(behind)
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("pgtest: no replica has caught up: %v", err)
		}
	}
}

// TakeOver stops a replica's primary, moves the replica to its port, and promotes it.
func (c *Cluster) TakeOver(t testing.TB, from *Cluster) {
	t.Helper()
	from.Stop(t)
	c.Stop(t)
	c.Port = from.Port
	err := c.start()
	if err == nil {
		err = c.admin("SELECT pg_promote()")
	}
	if err != nil {
		t.Fatalf("pgtest: promoting the replica: %v", err)
	}
}
