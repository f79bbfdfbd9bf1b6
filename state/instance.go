package state

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// instanceKept is how long the record of an instance that ended without a word is kept, for people to see.
const instanceKept = time.Hour

type instanceRow struct {
	ID      string `db:"id"`
	Owner   string `db:"owner"`
	Version string `db:"version"`
	Command string `db:"command"`
	Part    int64  `db:"part"`
	Started int64  `db:"started_at"`
	Expires int64  `db:"expires"`
	Now     int64  `db:"now"`
}

const selectInstances = `SELECT id, owner, version, command, part, started_at, expires, %s AS now FROM instance ORDER BY id`

func (r instanceRow) instance() (trade.Instance, error) {
	i := trade.Instance{
		Version: r.Version, Command: r.Command, Part: r.Part, Started: time.UnixMilli(r.Started).UTC(), Until: time.UnixMilli(r.Expires).UTC(),
	}
	if err := json.Unmarshal([]byte(r.Owner), &i.Owner); err != nil {
		return i, fmt.Errorf("the record of instance %s is damaged: %w", r.ID, err)
	}
	i.Dead = r.Expires <= r.Now || gone(i.Owner)
	return i, nil
}

// Beat says that an instance lives for another 30 s on the database's clock, and tells how many do. The first beat begins it; one that
// was taken for dead begins anew, and what it had on the wire is in doubt by then. The sums that this Store writes are in a part of its own from then on.
func (s *Store) Beat(ctx context.Context, in trade.Instance) (trade.Crew, error) {
	const op = "saying that this instance lives"
	owner, err := json.Marshal(in.Owner)
	if err != nil {
		return trade.Crew{}, fmt.Errorf("%s: %w", op, err)
	}
	var crew trade.Crew
	var part int64
	err = s.inTx(ctx, op, func(t *tx) error {
		if err := t.mayWork(); err != nil {
			return err
		}
		instances, err := t.instances()
		if err != nil {
			return err
		}
		crew, part = trade.Crew{Living: 1}, s.part.Load()
		taken := map[int64]bool{}
		var known bool
		for _, i := range instances {
			switch {
			case i.Owner.Instance == in.Owner.Instance:
				known, part = true, i.Part
			case !i.Dead:
				crew.Living++
				taken[i.Part] = true
			}
		}
		if !known && s.d.name == Postgres { // part 0 is of those who are no instance: people's acts
			for part = 1; taken[part]; {
				part++
			}
		}
		if err := t.exec(`DELETE FROM instance WHERE expires < `+s.d.now+` - ? AND id <> ?`, instanceKept.Milliseconds(), in.Owner.Instance); err != nil {
			return err
		}
		return t.exec(`INSERT INTO instance (id, owner, version, command, part, started_at, expires) VALUES (?, ?, ?, ?, ?, ?, `+s.d.now+` + ?)
			ON CONFLICT (id) DO UPDATE SET version = excluded.version, expires = excluded.expires`,
			in.Owner.Instance, string(owner), in.Version, in.Command, part, atOr(in.Started, time.Time{}), s.tune.lease.Milliseconds())
	})
	if err != nil {
		return trade.Crew{}, err
	}
	s.part.Store(part)
	return crew, nil
}

// Depart says that an instance sends nothing any more.
func (s *Store) Depart(ctx context.Context, instance string) error {
	return s.inTx(ctx, "saying that this instance ends", func(t *tx) error {
		return t.exec(`DELETE FROM instance WHERE id = ?`, instance)
	})
}

// Instances gives the processes that may send, and those that ended without a word within the last hour, the oldest first.
func (s *Store) Instances(ctx context.Context) ([]trade.Instance, error) {
	const op = "reading who may send"
	var rows []instanceRow
	if err := s.read.SelectContext(ctx, &rows, fmt.Sprintf(selectInstances, s.d.now)); err != nil {
		return nil, s.fault(ctx, op, err)
	}
	out, err := instancesOf(rows)
	return out, s.fault(ctx, op, err)
}

func (t *tx) instances() ([]trade.Instance, error) {
	var rows []instanceRow
	if err := t.all(&rows, fmt.Sprintf(selectInstances, t.s.d.now)); err != nil {
		return nil, err
	}
	return instancesOf(rows)
}

func instancesOf(rows []instanceRow) ([]trade.Instance, error) {
	out := make([]trade.Instance, len(rows))
	for i, r := range rows {
		var err error
		if out[i], err = r.instance(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// deadAmong gives those of some instances that are dead, of which nobody knows any more too. Their records are locked, so that one that begins to live again does so
// after this transaction, and what it claimed before is seen by it.
func (t *tx) deadAmong(ids []string) (map[string]bool, error) {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	ids = slices.Compact(ids)
	dead := map[string]bool{}
	for chunk := range slices.Chunk(ids, inList) {
		for _, id := range chunk {
			dead[id] = true
		}
		var rows []instanceRow
		query := `SELECT id, owner, version, command, part, started_at, expires, ` + t.s.d.now + ` AS now FROM instance WHERE id IN (` + marks(len(chunk)) + `) ORDER BY id`
		if err := t.all(&rows, t.s.d.locked(query, "instance"), anys(chunk)...); err != nil {
			return nil, err
		}
		found, err := instancesOf(rows)
		if err != nil {
			return nil, err
		}
		for _, i := range found {
			dead[i.Owner.Instance] = i.Dead
		}
	}
	return dead, nil
}

// mayWork refuses a ledger that a newer program has changed in a way that this one does not know, or that was moved to another place, while this one worked on it. What is on the
// wire is settled all the same.
func (t *tx) mayWork() error {
	var row struct {
		Needs int64   `db:"needs"`
		Moved *string `db:"moved_to"`
	}
	if err := t.get(&row, `SELECT needs, moved_to FROM ledger`); err != nil {
		return err
	}
	if err := t.s.refuseOther(row.Needs, row.Moved); err != nil {
		return err
	}
	return t.sameServer()
}

func (s *Store) refuseOther(needs int64, moved *string) error {
	known, err := s.newestSchema()
	switch {
	case err != nil:
		return err
	case needs > known:
		return &Error{
			Code: CodeNewer, Path: s.where, Hint: "install the newer program here too; nothing is sent from here until then",
			Err: fmt.Errorf("a newer program has brought the ledger to a form that needs schema %d, and this program knows %d", needs, known),
		}
	case moved != nil:
		return &Error{
			Code: CodeMoved, Path: s.where, Hint: "set state.driver and state.dsn to the new place; this one is kept for people to look at",
			Err: errors.New("the ledger was moved to " + *moved),
		}
	}
	return nil
}
