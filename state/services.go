package state

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// serviceSilent is how long a `run` may go without a heartbeat before it counts as dead. It renews
// its heartbeat every ServiceBeat.
const serviceSilent = 5 * time.Minute

// ServiceBeat is how often a `run` renews its heartbeat.
const ServiceBeat = time.Minute

// Service is a `safrasync run` that serves this ledger, or that ended without withdrawing.
type Service struct {
	Owner   trade.Owner
	Version string
	Since   time.Time
	Seen    time.Time // its last heartbeat
	Dead    bool      // it had no heartbeat for minutes, or its process is gone
}

// Announce records that this process, which [Store.Serve] has admitted, serves the ledger from now on. It
// removes the records of services that are dead: of a SQLite ledger all others are.
func (s *Store) Announce(ctx context.Context, version string, since time.Time) error {
	owner, err := json.Marshal(sqldb.Self())
	if err != nil {
		return phrase.Errorf("announcing the service: %w", err)
	}
	old, err := s.Services(ctx)
	if err != nil {
		return err
	}
	return s.db.InTx(ctx, "announcing the service", func(t *sqldb.Tx) error {
		for _, o := range old {
			if o.Dead || s.db.D.Name == sqldb.SQLite {
				if err := t.Do(`DELETE FROM service WHERE instance = ?`, o.Owner.Instance); err != nil {
					return err
				}
			}
		}
		return t.Do(`INSERT INTO service (instance, owner, version, since, seen) VALUES (?, ?, ?, ?, `+s.db.D.Now+`) ON CONFLICT (instance) DO UPDATE
			SET version = excluded.version, since = excluded.since, seen = excluded.seen`, sqldb.Self().Instance, string(owner), version, sqldb.Millis(since))
	})
}

// StillServing renews the heartbeat of this process, and the service's sign of life
// ([Store.SignOfLife]) unless the last one is older than silent: that is for a pass to judge.
func (s *Store) StillServing(ctx context.Context, now time.Time, silent time.Duration) error {
	return s.db.InTx(ctx, "saying that the service goes on", func(t *sqldb.Tx) error {
		if err := t.Do(`UPDATE task SET ran_at = ? WHERE name = ? AND ran_at BETWEEN ? AND ?`, now.UnixMilli(), lifeTask,
			now.Add(-silent).UnixMilli(), now.Add(clocksDiffer).UnixMilli()); err != nil {
			return err
		}
		return t.Do(`UPDATE service SET seen = `+s.db.D.Now+` WHERE instance = ?`, sqldb.Self().Instance)
	})
}

// Withdraw removes the record of this process as a service.
func (s *Store) Withdraw(ctx context.Context) error {
	return s.db.Do(ctx, "withdrawing the service", `DELETE FROM service WHERE instance = ?`, sqldb.Self().Instance)
}

// Services returns the processes that serve this ledger, or that ended without withdrawing, the
// newest first.
func (s *Store) Services(ctx context.Context) ([]Service, error) {
	const op = "reading who serves the ledger"
	var rows []struct {
		Owner, Version string
		Since, Expires sql.NullInt64 // Expires: as an instance; the heartbeat takes longer to miss
		Seen, Now      int64
	}
	if err := s.db.All(ctx, op, &rows, `SELECT owner, version, since, seen, `+s.db.D.Now+
		` AS now, (SELECT expires FROM instance WHERE id = service.instance) AS expires FROM service ORDER BY since DESC, instance DESC`); err != nil {
		return nil, err
	}
	out := make([]Service, len(rows))
	for i, r := range rows {
		out[i] = Service{Version: r.Version, Since: sqldb.Instant(r.Since), Seen: time.UnixMilli(r.Seen).UTC()}
		if err := json.Unmarshal([]byte(r.Owner), &out[i].Owner); err != nil {
			return nil, s.db.Fault(ctx, op, phrase.Errorf("the record of a service is damaged: %w", err))
		}
		silent := time.Duration(r.Now-r.Seen) * time.Millisecond
		out[i].Dead = silent.Abs() > serviceSilent || sqldb.OwnerEnded(out[i].Owner) ||
			r.Expires.Valid && r.Expires.Int64 <= r.Now
	}
	return out, nil
}

// LastTask returns when a housekeeping task last began, or the zero time if it never did.
func (s *Store) LastTask(ctx context.Context, name string) (time.Time, error) {
	var at time.Time
	err := s.db.GetOr(ctx, "reading when a task ran", nil, &at, `SELECT ran_at FROM task WHERE name = ?`, name)
	return at, err
}

// The names under which the last signs of life are recorded: of a service, and of any pass.
const (
	lifeTask = "life"
	passTask = "pass"
)

// clocksDiffer is how much later than now a sign of life may be: the hosts of a cluster have a clock
// each. A later one was given while the clock was wrong, and does not count.
const clocksDiffer = 5 * time.Minute

// timerSilent is how long `sync` alone may be silent, if it is longer than a service may be: a timer or
// a person starts it, once a day, and not on a long weekend.
const timerSilent = 5 * 24 * time.Hour

// lives records a sign of life of this process.
func lives(t *sqldb.Tx, at time.Time) error {
	signs := []string{passTask}
	var serving bool
	if err := t.Get(&serving, `SELECT COUNT(*) > 0 FROM service WHERE instance = ?`, sqldb.Self().Instance); err != nil {
		return err
	}
	if serving {
		signs = append(signs, lifeTask)
	}
	for _, name := range signs {
		if err := began(t, name, at); err != nil {
			return err
		}
	}
	return nil
}

func began(t *sqldb.Tx, name string, at time.Time) error {
	return t.Do(sqldb.PutTask, name, sqldb.Millis(at))
}

// SignOfLife records that a process is about to read and send. If nobody gave such a sign for longer
// than silent, the ledger may be an old copy, from an image of the machine, and what another one has
// sent since would go again. Then it brakes the ledger instead, in the same transaction: only a
// person knows. A ledger that lacks the signs, because it was rebuilt, has those of its attempts. A
// `sync` that no service followed may be silent for timerSilent.
func (s *Store) SignOfLife(ctx context.Context, jobs []string, now time.Time, silent time.Duration) error {
	return s.db.InTx(ctx, "saying that somebody sends", func(t *sqldb.Tx) error {
		if err := mayWork(t); err != nil {
			return err
		}
		var signs []struct {
			Name string
			At   int64 `db:"ran_at"`
		}
		if err := t.All(&signs, t.S.D.Locked(`SELECT name, ran_at FROM task WHERE name IN (?, ?) AND ran_at <= ?`, "task"),
			lifeTask, passTask, now.Add(clocksDiffer).UnixMilli()); err != nil {
			return err
		}
		var sent []int64
		if err := t.All(&sent, `SELECT started_at FROM sent WHERE attempt <> '' AND started_at <= ? ORDER BY attempt DESC LIMIT 1`,
			now.Add(clocksDiffer).UnixMilli()); err != nil {
			return err
		}
		at := map[string]int64{}
		for _, sign := range signs {
			at[sign.Name] = sign.At
		}
		if at[passTask] > at[lifeTask]+serviceSilent.Milliseconds() {
			silent = max(silent, timerSilent)
		}
		until := time.UnixMilli(slices.Max(append(sent, at[lifeTask], at[passTask]))).UTC()
		if until.UnixMilli() == 0 || now.Sub(until) <= silent { // 0: nobody has used it yet
			return lives(t, now)
		}
		names, err := jobsOf(t, jobs)
		if err != nil {
			return err
		}
		return brakeAll(t, names, brakeAbsent, until, now, nil)
	})
}

// backupTask is the name under which the last copy of the ledger is recorded.
const backupTask = "backup"

// BackupMade records that a copy of the ledger was made and verified, and in which folder of dated
// copies it is; "" if it is a single file.
func (s *Store) BackupMade(ctx context.Context, at time.Time, folder string) error {
	if err := s.TaskBegan(ctx, backupTask, at); err != nil || folder == "" {
		return err
	}
	return s.TaskBegan(ctx, copiesTask+folder, at)
}

// LastBackup returns when the last copy of the ledger was made. A ledger in PostgreSQL is backed up
// by its server, of which nothing is known here.
func (s *Store) LastBackup(ctx context.Context) (trade.LastBackup, error) {
	out := trade.LastBackup{Ours: s.db.D.Name == sqldb.SQLite}
	if !out.Ours {
		return out, nil
	}
	if err := s.db.Get(ctx, "reading when the ledger began", &out.Begun, `SELECT created_at FROM ledger`); err != nil {
		return out, err
	}
	var err error
	out.At, err = s.LastTask(ctx, backupTask)
	if err != nil {
		return out, err
	}
	folders, err := s.copyFolders(ctx)
	for _, dir := range folders {
		if !sqldb.SameDevice(filepath.Dir(s.db.Where), dir) {
			out.Beside = ""
			return out, err
		}
		out.Beside = dir
	}
	return out, err
}

// TaskBegan records when a housekeeping task began.
func (s *Store) TaskBegan(ctx context.Context, name string, at time.Time) error {
	return s.db.Do(ctx, "recording that a task began", sqldb.PutTask, name, sqldb.Millis(at))
}

// ServedBy returns the processes that serve the SQLite ledger at a path, even if the file has since
// been removed or replaced: they keep the one that they opened. It works on Linux only.
func ServedBy(path string) []string { return sqldb.OpenIn(path + ".run") }

// Serve makes this process the only `run` of a SQLite ledger until release is called or the process
// ends (I12, F061). All other commands work beside it. On PostgreSQL several processes may serve
// one ledger: leases give each job to one of them.
func (s *Store) Serve() (release func() error, err error) {
	if s.db.D.Name != sqldb.SQLite || s.db.Memory {
		return func() error { return nil }, nil
	}
	release, err = journal.TryLock(s.db.Where + ".run")
	var held *journal.HeldError
	switch {
	case errors.As(err, &held):
		return nil, s.db.Refuse(sqldb.CodeServed,
			phrase.Errorf("`safrasync run` serves it already, as process %s", held.PID),
			phrase.New("wait for it, or stop it; `safrasync sync` works beside it"))
	case err != nil:
		return nil, sqldb.Permission(s.db.Where+".run", err)
	}
	return release, nil
}
