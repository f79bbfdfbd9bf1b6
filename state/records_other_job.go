// Keys that other jobs of the same kind have sent.

package state

import (
	"database/sql"
	"encoding/json"

	"github.com/safrasync/safrasync/internal/phrase"
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
		var memory trade.BrakeState
		if r.Brakes.Valid {
			if err := json.Unmarshal([]byte(r.Brakes.String), &memory); err != nil {
				return nil, phrase.Errorf("what the brakes of job %s remember is damaged: %w", r.Job, err)
			}
		}
		spaces[r.Job] = memory.Identity
	}
	return spaces, nil
}

// sentByOthers are the intents of a group that another job has begun to send since the last recheck,
// by their keys and contents.
type sentByOthers struct {
	keys map[string]bool
	same map[trade.Hash]bool // cells, and identifying fields
}

func (o sentByOthers) has(e trade.Entry) bool {
	p := e.Prints()
	return o.keys[e.Key] || o.same[p.Cells] || o.same[p.Fields]
}

// sentElsewhere searches the keys and contents of the group's intents among the records that other
// jobs have made since the recheck: a row may have moved from one job to another in between. Until
// the transaction ends, no group of such a job is stored beside it.
func (g *groupTx) sentElsewhere() (out sentByOthers, err error) {
	if g.alone || len(g.Group.Intents) == 0 {
		return out, nil
	}
	q := trade.RecordQuery{Job: g.Lease.Job, Space: g.Group.Space, Kind: g.Group.Intents[0].Entry.Sends}
	if err := lockKind(g.Tx, groupsOfKind, string(q.Kind)); err != nil {
		return out, err
	}
	for _, in := range g.Group.Intents {
		e := in.Entry
		q.Keys = append(q.Keys, e.Key)
		q.Prints = append(q.Prints, e.Prints())
	}
	records, _, err := likeRecords(g.S.D, g.All, q)
	if err != nil {
		return out, err
	}
	out = sentByOthers{map[string]bool{}, map[trade.Hash]bool{}}
	for _, r := range records {
		if r.Row.Job == g.Lease.Job || g.Group.Like[r.ID] {
			continue
		}
		if r.Space == q.Space {
			out.keys[r.Key], out.keys[r.Row.Key] = true, true
		}
		for _, p := range []trade.Prints{r.Sent, r.Newest} {
			out.same[p.Cells], out.same[p.Fields] = true, true
		}
	}
	delete(out.same, "")
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
