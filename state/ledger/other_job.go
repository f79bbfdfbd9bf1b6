// Keys that other jobs of the same kind have sent.

package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// A row is identified by its kind of record and its key: what one job has sent, or may have sent,
// no other job of that kind sends. So the ledger stores which jobs have entries of which kind
// (job_kind), and if a kind has several jobs, each group compares keys.

// spacesOf returns the jobs that have entries of a kind, with the identity that they had in their
// last run; nil if that is not known.
func spacesOf(all sqldb.Select, sends string) (map[string]*trade.Identity, error) {
	var rows []struct {
		Job    string
		Brakes sql.NullString
	}
	err := all(&rows, `SELECT k.job, c.brakes FROM job_kind k LEFT JOIN job_cursor c ON c.job = k.job
		WHERE k.sends = ? ORDER BY k.job`, sends)
	if err != nil {
		return nil, err
	}
	spaces := make(map[string]*trade.Identity, len(rows))
	for _, r := range rows {
		var memory trade.Memory
		if r.Brakes.Valid {
			if err := json.Unmarshal([]byte(r.Brakes.String), &memory); err != nil {
				return nil, fmt.Errorf("what the brakes of job %s remember is damaged: %w", r.Job, err)
			}
		}
		spaces[r.Job] = memory.Identity
	}
	return spaces, nil
}

// kinOf returns the jobs whose keys are compared with those of a job: all other jobs with entries
// of the same kind, except those whose keys are known to be of another space.
func kinOf(all sqldb.Select, job, sends string) ([]string, error) {
	spaces, err := spacesOf(all, sends)
	if err != nil {
		return nil, err
	}
	var kin []string
	for _, other := range slices.Sorted(maps.Keys(spaces)) {
		own, their := spaces[job], spaces[other]
		apart := own != nil && their != nil && own.Space != their.Space
		if other != job && !apart {
			kin = append(kin, other)
		}
	}
	return kin, nil
}

// takenKeys returns, by key, the entries of other jobs that were sent, or may have been: those in a
// state that shows it, those that the platform reports as existing, and those with an attempt that
// is open, unknown or created, such as an entry that was dismissed while in doubt. If several have
// the same key, it returns the first one, or the first accepted one if there is any.
func takenKeys(d sqldb.Dialect, all sqldb.Select, kin []string, sends string,
	keys []string,
) (map[string]trade.Elsewhere, error) {
	out := map[string]trade.Elsewhere{}
	if len(kin) == 0 || len(keys) == 0 {
		return out, nil
	}
	var found []struct {
		ID int64
		trade.Elsewhere
		Cause string
	}
	query := `SELECT e.id, e.job, e.key, e.state, e.cause, COALESCE(e.remote_id, e.moved_id, '') AS remote_id FROM entry e
		WHERE ` + d.Among("e.job") + ` AND ` + d.Among("e.key") + ` AND e.sends = ? ORDER BY e.id`
	if err := all(&found, query, sqldb.ListOf(d, kin), sqldb.ListOf(d, keys), sends); err != nil {
		return nil, err
	}
	var unsure []int64
	tried := map[int64]bool{}
	for _, f := range found {
		if f.State.Created() || f.State == trade.Held && f.Cause == trade.CauseExists {
			tried[f.ID] = true
		} else {
			unsure = append(unsure, f.ID)
		}
	}
	if len(unsure) > 0 {
		var ids []int64
		query := `SELECT DISTINCT a.entry_id FROM attempt a WHERE ` + d.Among("a.entry_id") +
			` AND (a.outcome IS NULL OR a.outcome IN ('unknown', 'created'))`
		if err := all(&ids, query, sqldb.ListOf(d, unsure)); err != nil {
			return nil, err
		}
		for _, id := range ids {
			tried[id] = true
		}
	}
	for _, f := range found {
		if !tried[f.ID] {
			continue
		}
		if have, ok := out[f.Key]; !ok || have.State != trade.Accepted && f.State == trade.Accepted {
			out[f.Key] = f.Elsewhere
		}
	}
	return out, nil
}

// SentElsewhere returns, by key, the rows of other jobs of the same kind that were sent, or may
// have been. It considers the jobs whose keys are compared with those of this job; several reports
// whether there are such jobs.
func (s *Ledger) SentElsewhere(ctx context.Context, job string, sends trade.Kind,
	keys []string,
) (out map[string]trade.Elsewhere, several bool, err error) {
	const op = "looking whether another job has sent a key"
	all := s.db.Reading(ctx, op)
	kin, err := kinOf(all, job, string(sends))
	if err != nil {
		return nil, false, s.db.Fault(ctx, op, err)
	}
	out, err = takenKeys(s.db.D, all, kin, string(sends), keys)
	return out, len(kin) > 0, err
}

// sentByOthers is the part of a group that other jobs of the kind have sent, or may have sent.
type sentByOthers struct {
	keys     map[string]trade.Elsewhere
	contents map[int64]bool // content numbers that the last search did not find
}

func (o sentByOthers) has(e trade.Entry) bool {
	_, key := o.keys[e.Key]
	return key || o.contents[e.Content]
}

// sentElsewhere searches the keys of the group's intents among those of other jobs, and their
// contents among what these jobs have begun to send since the last search: a row may have moved
// from one job to another in between. Until the transaction ends, no group of such a job is stored
// beside it.
func (g *GroupTx) sentElsewhere() (out sentByOthers, err error) {
	if g.alone || len(g.Group.Intents) == 0 {
		return out, nil
	}
	sends := string(g.Group.Intents[0].Entry.Sends)
	kin, err := kinOf(g.All, g.Lease.Job, sends)
	if err != nil || len(kin) == 0 {
		return out, err
	}
	if err := lockKind(g.Tx, groupsOfKind, sends); err != nil {
		return out, err
	}
	keys, contents := make([]string, len(g.Group.Intents)), make([]int64, 0, len(g.Group.Intents))
	for i, in := range g.Group.Intents {
		keys[i] = in.Entry.Key
		if in.Entry.Content != 0 {
			contents = append(contents, in.Entry.Content)
		}
	}
	if out.keys, err = takenKeys(g.S.D, g.All, kin, sends, keys); err != nil {
		return out, err
	}
	var begun []struct {
		ID, Content int64
	}
	query := `SELECT e.id, a.content FROM attempt a JOIN entry e ON e.id = a.entry_id
		WHERE ` + g.S.D.Among("a.content") + ` AND ` + g.S.D.Among("e.job") + ` AND ` + MayHaveMade
	if err := g.All(&begun, query, sqldb.ListOf(g.S.D, contents), sqldb.ListOf(g.S.D, kin)); err != nil {
		return out, err
	}
	out.contents = map[int64]bool{}
	for _, b := range begun {
		if !g.Group.Like[b.ID] {
			out.contents[b.Content] = true
		}
	}
	return out, nil
}

// Keys of advisory locks: for one kind of record, one transaction at a time does this.
const (
	groupsOfKind = 7201 // groups of a kind that several jobs send
	newJobOfKind = 7202 // the first entries of a job
)

// lockKind waits until no other transaction holds the same lock for a kind. SQLite has one writer
// at a time and needs no lock.
func lockKind(t *sqldb.Tx, what int, sends string) error {
	if t.S.D.Name == sqldb.SQLite {
		return nil
	}
	return t.Do(`SELECT pg_advisory_xact_lock(?, hashtext(?))`, what, sends)
}

// KnowJob records that a job has entries of a kind. Every group of that kind that begins after this
// transaction sees it. A group that began earlier and did not see it holds the lease of its job,
// for which KnowJob waits.
func KnowJob(t *sqldb.Tx, job, sends string) error {
	var known []string
	if err := t.All(&known, `SELECT job FROM job_kind WHERE job = ? AND sends = ?`, job, sends); err != nil ||
		len(known) > 0 {
		return err
	}
	if err := lockKind(t, newJobOfKind, sends); err != nil {
		return err
	}
	if t.S.D.Name == sqldb.Postgres {
		query := `SELECT l.epoch FROM job_lease l WHERE l.job <> ? AND l.job IN (SELECT k.job FROM job_kind k WHERE k.sends = ?) ORDER BY l.job`
		if err := t.All(&[]int64{}, t.S.D.Locked(query, "l"), job, sends); err != nil {
			return err
		}
	}
	return t.Do(`INSERT INTO job_kind (job, sends) VALUES (?, ?) ON CONFLICT DO NOTHING`, job, sends)
}

// JobsOfLedger returns the jobs that have entries, ordered by name, with how many entries were sent
// or are in doubt.
func (s *Ledger) JobsOfLedger(ctx context.Context) ([]trade.KnownJob, error) {
	const op = "reading the jobs that have entries"
	var rows []struct {
		Job, Sends string
		State      trade.State
		N, Damaged int
	}
	err := s.db.All(ctx, op, &rows,
		`SELECT k.job, k.sends, t.state, COALESCE(SUM(t.n), 0) AS n, COUNT(*) - COUNT(t.n) AS damaged FROM job_kind k JOIN tally t ON t.job = k.job
		GROUP BY k.job, k.sends, t.state ORDER BY k.job, k.sends`)
	if err != nil {
		return nil, err
	}
	var out []trade.KnownJob
	for _, r := range rows {
		if r.Damaged > 0 {
			return nil, s.db.Fault(ctx, op, fmt.Errorf("%w: job %s, state %s", ErrSumDamaged, r.Job, r.State))
		}
		if n := len(out); n == 0 || out[n-1].Job != r.Job || out[n-1].Sends != trade.Kind(r.Sends) {
			out = append(out, trade.KnownJob{Job: r.Job, Sends: trade.Kind(r.Sends)})
		}
		job := &out[len(out)-1]
		job.Entries += r.N
		switch r.State {
		case trade.Accepted:
			job.Accepted += r.N
		case trade.InDoubt, trade.Sending:
			job.InDoubt += r.N
		}
	}
	return out, nil
}

// MayHaveMade is the SQL condition for an attempt that created a record, or may have. Its wording
// must be that of the index: see discovery.SentContent.
const MayHaveMade = `CASE WHEN outcome IS NULL OR outcome IN ('unknown', 'created') THEN true ELSE false END`
