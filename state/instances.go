package state

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// instanceLifetime is how long the record of an instance that ended without departing is kept, for
// people to see.
const instanceLifetime = time.Hour

type instanceRow struct {
	trade.Instance
	ID  string
	Now time.Time
}

// selectInstances reads instances by a condition, with the clock of the database.
const selectInstances = `SELECT id, owner, version, command, started_at AS started, expires AS until, %s AS now
	FROM instance WHERE %s ORDER BY id`

func (r *instanceRow) instance() (trade.Instance, error) {
	r.Dead = !r.Until.After(r.Now) || sqldb.OwnerEnded(r.Owner)
	return r.Instance, nil
}

// Beat extends the life of an instance by 30 s on the database's clock, and returns how many
// instances are alive. The first beat registers the instance. An instance that was considered dead
// registers again; what it had in flight is in doubt by then.
func (s *Store) Beat(ctx context.Context, in trade.Instance) (trade.Instances, error) {
	const op = "saying that this instance lives"
	owner, err := json.Marshal(in.Owner)
	if err != nil {
		return trade.Instances{}, phrase.Errorf("%w: %w", phrase.Fixed(op), err)
	}
	var crew trade.Instances
	err = s.db.InTx(ctx, op, func(t *sqldb.Tx) error {
		if err := mayWork(t); err != nil {
			return err
		}
		if t.NewsOfOthers() { // an older state of the ledger is then noticed by this host too
			t.Noting(time.Now())
		}
		instances, err := instancesIn(t)
		if err != nil {
			return err
		}
		crew = trade.Instances{Living: 1}
		for _, i := range instances {
			if i.Owner.Instance != in.Owner.Instance && !i.Dead {
				crew.Living++
			}
		}
		if err := t.Do(`DELETE FROM instance WHERE expires < `+s.db.D.Now+` - ? AND id <> ?`,
			instanceLifetime.Milliseconds(), in.Owner.Instance); err != nil {
			return err
		}
		if err := t.NoteAddress(); err != nil {
			return err
		}
		return t.Do(`INSERT INTO instance (id, owner, version, command, started_at, expires) VALUES (?, ?, ?, ?, ?, `+s.db.D.Now+` + ?)
			ON CONFLICT (id) DO UPDATE SET version = excluded.version, expires = excluded.expires`,
			in.Owner.Instance, string(owner), in.Version, in.Command, sqldb.AtOr(in.Started, time.Time{}),
			s.db.Tune.Lease.Milliseconds())
	})
	if err != nil {
		return trade.Instances{}, err
	}
	return crew, nil
}

// Depart removes an instance that sends nothing any more.
func (s *Store) Depart(ctx context.Context, instance string) error {
	return s.db.Do(ctx, "saying that this instance ends", `DELETE FROM instance WHERE id = ?`, instance)
}

// Instances returns the processes that may send, and those that ended without departing within the
// last hour, in order of their ids, the oldest first.
func (s *Store) Instances(ctx context.Context) ([]trade.Instance, error) {
	return sqldb.Rows(ctx, s.db, "reading who may send", (*instanceRow).instance,
		fmt.Sprintf(selectInstances, s.db.D.Now, "1 = 1"))
}

// instancesIn reads the processes that may send, within a transaction.
func instancesIn(t *sqldb.Tx) ([]trade.Instance, error) {
	return sqldb.RowsOf(t.All, (*instanceRow).instance, fmt.Sprintf(selectInstances, t.S.D.Now, "1 = 1"))
}

// mayWork returns an error if, meanwhile, a newer program has changed the ledger in a way that this
// one does not know, or the ledger was moved to another place or server. Requests in flight are
// settled nevertheless.
func mayWork(t *sqldb.Tx) error {
	var row struct {
		Needs int64
		Moved *string `db:"moved_to"`
	}
	if err := t.Get(&row, `SELECT needs, moved_to FROM ledger`); err != nil {
		return err
	}
	if err := refuseOther(t.S, row.Needs, row.Moved); err != nil {
		return err
	}
	return t.SameServer()
}

// refuseOther returns an error for a ledger that needs a newer schema than the program knows, or
// that was moved.
func refuseOther(db *sqldb.DB, needs int64, moved *string) error {
	known, err := sqldb.NewestSchema()
	switch {
	case err != nil:
		return err
	case needs > known:
		return db.Refuse(sqldb.CodeNewer, phrase.Errorf(
			"a newer program has brought the ledger to a form that needs schema %d, and this program knows %d",
			needs, known),
			phrase.New("install the newer program here too; nothing is sent from here until then"))
	case moved != nil:
		return sqldb.MovedAway(db.Where, *moved)
	}
	return nil
}
