package state

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// serviceSilent is how long a `run` may say nothing before it counts as gone. It says something every ServiceBeat.
const serviceSilent = 5 * time.Minute

// ServiceBeat is how often a `run` says that it is still there.
const ServiceBeat = time.Minute

// Service is a `safrasync run` that serves this ledger, or did and ended without a word.
type Service struct {
	Owner   trade.Owner
	Version string
	Since   time.Time
	Seen    time.Time // when it was last heard of
	Dead    bool      // it was not heard of for minutes, or its process is gone
}

// Announce says that this process serves the ledger from now on. What other processes of this host left behind that are gone is forgotten.
func (s *Store) Announce(ctx context.Context, version string, since time.Time) error {
	owner, err := json.Marshal(Self())
	if err != nil {
		return fmt.Errorf("announcing the service: %w", err)
	}
	old, err := s.Services(ctx)
	if err != nil {
		return err
	}
	return s.inTx(ctx, "announcing the service", func(t *tx) error {
		for _, o := range old {
			if o.Dead {
				if err := t.exec(`DELETE FROM service WHERE instance = ?`, o.Owner.Instance); err != nil {
					return err
				}
			}
		}
		return t.exec(`INSERT INTO service (instance, owner, version, since, seen) VALUES (?, ?, ?, ?, `+s.d.now+`) ON CONFLICT (instance) DO UPDATE
			SET version = excluded.version, since = excluded.since, seen = excluded.seen`, Self().Instance, string(owner), version, millis(since))
	})
}

// StillServing says that this process goes on serving the ledger.
func (s *Store) StillServing(ctx context.Context) error {
	return s.inTx(ctx, "saying that the service goes on", func(t *tx) error {
		return t.exec(`UPDATE service SET seen = `+s.d.now+` WHERE instance = ?`, Self().Instance)
	})
}

// Withdraw says that this process serves the ledger no longer.
func (s *Store) Withdraw(ctx context.Context) error {
	return s.inTx(ctx, "withdrawing the service", func(t *tx) error {
		return t.exec(`DELETE FROM service WHERE instance = ?`, Self().Instance)
	})
}

// Services gives the processes that serve this ledger, or ended without a word, the newest first.
func (s *Store) Services(ctx context.Context) ([]Service, error) {
	const op = "reading who serves the ledger"
	var rows []struct {
		Owner   string        `db:"owner"`
		Version string        `db:"version"`
		Since   sql.NullInt64 `db:"since"`
		Seen    int64         `db:"seen"`
		Now     int64         `db:"now"`
	}
	if err := s.read.SelectContext(ctx, &rows, `SELECT owner, version, since, seen, `+s.d.now+` AS now FROM service ORDER BY since DESC, instance DESC`); err != nil {
		return nil, s.fault(ctx, op, err)
	}
	out := make([]Service, len(rows))
	for i, r := range rows {
		out[i] = Service{Version: r.Version, Since: instant(r.Since), Seen: time.UnixMilli(r.Seen).UTC()}
		if err := json.Unmarshal([]byte(r.Owner), &out[i].Owner); err != nil {
			return nil, s.fault(ctx, op, fmt.Errorf("the record of a service is damaged: %w", err))
		}
		silent := time.Duration(r.Now-r.Seen) * time.Millisecond
		out[i].Dead = silent.Abs() > serviceSilent || gone(out[i].Owner)
	}
	return out, nil
}

// LastTask tells when a task of the housekeeping began last; the zero time when it never did.
func (s *Store) LastTask(ctx context.Context, name string) (time.Time, error) {
	var at int64
	err := s.read.GetContext(ctx, &at, s.q(`SELECT ran_at FROM task WHERE name = ?`), name)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return time.Time{}, nil
	case err != nil:
		return time.Time{}, s.fault(ctx, "reading when a task ran", err)
	}
	return time.UnixMilli(at).UTC(), nil
}

// TaskBegan records when a task of the housekeeping began.
func (s *Store) TaskBegan(ctx context.Context, name string, at time.Time) error {
	return s.inTx(ctx, "recording that a task began", func(t *tx) error {
		return t.exec(`INSERT INTO task (name, ran_at) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET ran_at = excluded.ran_at`, name, millis(at))
	})
}
