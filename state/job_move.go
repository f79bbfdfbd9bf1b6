package state

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// moveName is the name of the act in the audit, which a trigger of the database requires, and in
// the journal.
const moveName = "job move"

// collisionSamples is how many colliding keys are listed.
const collisionSamples = 5

// MoveJob moves the entries of a job to another job, with attempts, sums, runs, cursor and status,
// in one transaction with its audit record. It returns *trade.LeasedError while a process runs
// either job. If apply is false, or if keys collide, it changes nothing and returns what it would
// do.
func (s *Store) MoveJob(ctx context.Context, from, to string, apply bool,
	record trade.AuditRecord,
) (plan trade.JobMove, err error) {
	if from == to {
		return plan, errors.New("a job cannot be moved to itself")
	}
	if apply && (record.Who == "" || record.Reason == "") {
		return plan, errNoRecord
	}
	work := s.db.InLongTx
	if !apply {
		work = s.db.Peek
	}
	err = work(ctx, "moving a job", func(t *sqldb.Tx) error {
		if apply {
			if err := mayWork(t); err != nil {
				return err
			}
		}
		m := &jobMove{
			Tx: t, From: from, To: to, Now: time.UnixMilli(sqldb.AtOr(record.At, time.Now())),
			Sums: tallyChange{},
		}
		if apply {
			if err := m.Lock(); err != nil {
				return err
			}
		}
		err := m.look()
		plan = m.plan
		if err != nil || !apply || plan.Collisions > 0 || plan.Sends == "" {
			return err
		}
		return m.Apply(record)
	})
	return plan, err
}

// jobMove is the move of one job.
type jobMove struct {
	*sqldb.Tx
	From, To string
	Now      time.Time
	plan     trade.JobMove
	// entries of the new and of the old job that are withdrawn because the other job's row is kept
	replaced, left []int64
	kept           []int64 // the rows that are kept instead of them
	status         trade.JobStatus
	journal        string // the journal that records the move, and its last record before it
	after          int64
	Sums           tallyChange
}

// Lock prevents both jobs from being run until the transaction ends.
func (m *jobMove) Lock() error {
	both := []string{m.From, m.To}
	slices.Sort(both)
	for _, job := range both {
		if err := m.Do(
			`INSERT INTO job_lease (job, epoch, instance, owner, expires) VALUES (?, 0, '', '', 0) ON CONFLICT DO NOTHING`, job); err != nil {
			return err
		}
		lease, err := lockLease(m.Tx, job)
		if err == nil {
			err = lease.heldBy(job)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// firm returns the SQL condition for an entry that is never withdrawn: it was sent, or may have
// been, the platform reports that it exists, or a person has decided about it.
func firm(e string) string {
	return `(` + e + `.state IN ('accepted', 'in_doubt', 'sending', 'dismissed') OR ` + e + `.generation > 1 OR length(` + e + `.another) > 0
		OR ` + e + `.state = 'held' AND ` + e + `.cause = 'exists' OR ` + e + `.state = 'rejected' AND ` + e + `.weak = 1
		OR EXISTS (SELECT 1 FROM attempt a WHERE a.entry_id = ` + e + `.id AND (a.outcome IS NULL OR a.outcome IN ('unknown', 'created'))))`
}

// look determines what the move would do.
func (m *jobMove) look() error {
	m.plan = trade.JobMove{From: m.From, To: m.To, States: map[trade.State]int{}, Samples: []string{}}
	if keyed := m.S.D.Keyed; keyed != "" {
		if err := m.Script(keyed); err != nil {
			return err
		}
	}
	var kinds []struct {
		Job, Sends string
	}
	if err := m.All(&kinds, `SELECT job, sends FROM job_kind WHERE job IN (?, ?) ORDER BY job, sends`, m.From,
		m.To); err != nil {
		return err
	}
	for _, k := range kinds {
		if k.Job == m.From {
			m.plan.Sends = trade.Kind(k.Sends)
		}
	}
	if m.plan.Sends == "" {
		return nil
	}
	for _, k := range kinds {
		if trade.Kind(k.Sends) != m.plan.Sends {
			return phrase.Errorf("job %s has rows of %s, and job %s of %s: only jobs that send the same can be joined",
				m.From, m.plan.Sends, k.Job, k.Sends)
		}
	}
	var pairs []struct {
		Old              int64
		New              int64 `db:"fresh"`
		Key              string
		OldKept, NewKept bool
	}
	err := m.All(&pairs, m.S.D.Locked(`SELECT o.id AS old, n.id AS fresh, n.key, `+firm("o")+` AS old_kept, `+firm("n")+` AS new_kept
		FROM entry n JOIN entry o ON o.job = ? AND o.key = n.key WHERE n.job = ? ORDER BY n.id`, "o, n"), m.From, m.To)
	if err != nil {
		return err
	}
	for _, p := range pairs {
		switch {
		case !p.NewKept:
			m.replaced, m.kept = append(m.replaced, p.New), append(m.kept, p.Old)
		case !p.OldKept:
			m.left, m.kept = append(m.left, p.Old), append(m.kept, p.New)
		default:
			m.plan.Collisions++
			if len(m.plan.Samples) < collisionSamples {
				m.plan.Samples = append(m.plan.Samples, p.Key)
			}
		}
	}
	m.plan.Replaced, m.plan.Left = len(m.replaced), len(m.left)
	return m.count()
}

// count determines how many entries move, and collects the changes of the sums.
func (m *jobMove) count() error {
	var rows []tallyRow
	if err := m.All(&rows, `SELECT job, state, unit, n, volume FROM tally WHERE job = ?`, m.From); err != nil {
		return err
	}
	for _, r := range rows {
		sum, err := r.sum()
		if err != nil {
			return err
		}
		out, in := tallyKey{Job: m.From, State: r.State, Unit: r.Unit},
			tallyKey{Job: m.To, State: r.State, Unit: r.Unit}
		m.Sums[out] = tallySum{N: m.Sums[out].N - sum.N, Volume: m.Sums[out].Volume.Sub(sum.Volume)}
		m.Sums[in] = m.Sums[in].plus(sum)
		m.plan.States[trade.State(r.State)] += sum.N
		m.plan.Entries += sum.N
	}
	entries, err := lockEntries(m.Tx, slices.Concat(m.replaced, m.left))
	if err != nil {
		return err
	}
	for _, e := range entries { // they are withdrawn under the old name
		q, err := quantityOf(e.Amount, e.Unit)
		if err != nil {
			return phrase.Errorf("entry %d is damaged: its amount %w", e.ID, err)
		}
		m.Sums.Remove(m.To, e.State, e.Unit, q.Amount)
		m.Sums.Add(m.From, string(trade.Withdrawn), e.Unit, q.Amount)
		if e.Job == m.From {
			m.plan.States[trade.State(e.State)]--
			m.plan.Entries--
		}
	}
	for state, n := range m.plan.States {
		if n == 0 {
			delete(m.plan.States, state)
		}
	}
	return m.statusAfter()
}

// statusAfter determines the status of the job after the move. A pause of either job stays, except
// for a brake that asked for this move.
func (m *jobMove) statusAfter() error {
	was, err := lockStatus(m.Tx, m.From)
	if err != nil {
		return err
	}
	status, err := lockStatus(m.Tx, m.To)
	if err != nil {
		return err
	}
	asked := false
	if stop := status.Stop; status.State == trade.Paused && stop != nil && stop.Brake != nil {
		former := slices.DeleteFunc(slices.Clone(stop.Brake.Former),
			func(k trade.KnownJob) bool { return k.Job == m.From })
		asked = len(former) < len(stop.Brake.Former) && len(former) == 0
		if len(former) < len(stop.Brake.Former) {
			brake, left := *stop.Brake, *stop
			brake.Former, left.Brake = former, &brake
			status.Stop = &left
		}
	}
	if asked || status.State != trade.Paused {
		status = trade.JobStatus{Job: m.To, State: trade.Idle, Since: m.Now}
		if was.State == trade.Paused || was.State == trade.Stopped {
			was.Job, status = m.To, was
			status.Job = m.To
			if was.Stop != nil {
				stop := *was.Stop
				if stop.Brake != nil {
					brake := *stop.Brake
					brake.Job, stop.Brake = m.To, &brake
				}
				if stop.Why.Args["job"] != nil {
					stop.Why = stop.Why.With("job", m.To)
				}
				status.Stop = &stop
			}
		}
	}
	m.status, m.plan.Paused = status, status.State == trade.Paused
	return nil
}
