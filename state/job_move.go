package state

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/trade"
)

// moveName is the name of the act in the audit, for which the database looks, and in the journal.
const moveName = "job move"

// collisionSamples is how many keys are named that two jobs have.
const collisionSamples = 5

// MoveJob gives the entries of a job to another one, with attempts, sums, runs, cursor and status, in one transaction with its record in the audit. It gives
// *trade.LeasedError while a process runs either. With apply false, and where keys collide, it changes nothing and tells what it would do.
func (s *Store) MoveJob(ctx context.Context, from, to string, apply bool, record trade.AuditRecord) (plan trade.JobMove, err error) {
	if from == to {
		return plan, errors.New("a job cannot be moved to itself")
	}
	if apply && (record.Who == "" || record.Reason == "") {
		return plan, errNoRecord
	}
	work := s.inLongTx
	if !apply {
		work = s.peek
	}
	err = work(ctx, "moving a job", func(t *tx) error {
		if apply {
			if err := t.mayWork(); err != nil {
				return err
			}
		}
		m := &jobMove{tx: t, from: from, to: to, now: time.UnixMilli(atOr(record.At, time.Now())), sums: tallyChange{}}
		if apply {
			if err := m.lock(); err != nil {
				return err
			}
		}
		err := m.look()
		plan = m.plan
		if err != nil || !apply || plan.Collisions > 0 || plan.Sends == "" {
			return err
		}
		return m.apply(record)
	})
	return plan, err
}

// jobMove is one such act.
type jobMove struct {
	*tx
	from, to       string
	now            time.Time
	plan           trade.JobMove
	replaced, left []int64 // entries of to and of from that give way
	status         trade.JobStatus
	journal        string // that tells of it, and its record before
	after          int64
	sums           tallyChange
}

// lock keeps both jobs from being run until the transaction ends.
func (m *jobMove) lock() error {
	jobs := []string{m.from, m.to}
	slices.Sort(jobs)
	for _, job := range jobs {
		if err := m.exec(`INSERT INTO job_lease (job, epoch, instance, owner, expires) VALUES (?, 0, '', '', 0) ON CONFLICT DO NOTHING`, job); err != nil {
			return err
		}
		lease, err := lockLease(m.tx, job)
		if err == nil {
			err = lease.heldBy(job)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// firm is the condition of an entry that never gives way: it was sent, or may have been, the platform says that it has it, or a person has decided about it.
func firm(e string) string {
	return `(` + e + `.state IN ('accepted', 'in_doubt', 'sending', 'dismissed') OR ` + e + `.generation > 1 OR length(` + e + `.another) > 0
		OR ` + e + `.state = 'held' AND ` + e + `.cause = 'exists' OR ` + e + `.state = 'rejected' AND ` + e + `.error LIKE '%"weak":true%'
		OR EXISTS (SELECT 1 FROM attempt a WHERE a.entry_id = ` + e + `.id AND (a.outcome IS NULL OR a.outcome IN ('unknown', 'created'))))`
}

// look finds out what the move means.
func (m *jobMove) look() error {
	m.plan = trade.JobMove{From: m.from, To: m.to, States: map[trade.State]int{}, Samples: []string{}}
	if keyed := m.s.d.keyed; keyed != "" {
		if err := m.exec(keyed); err != nil {
			return err
		}
	}
	var kinds []struct {
		Job   string `db:"job"`
		Sends string `db:"sends"`
	}
	if err := m.all(&kinds, `SELECT job, sends FROM job_kind WHERE job IN (?, ?) ORDER BY job, sends`, m.from, m.to); err != nil {
		return err
	}
	for _, k := range kinds {
		if k.Job == m.from {
			m.plan.Sends = trade.Kind(k.Sends)
		}
	}
	if m.plan.Sends == "" {
		return nil
	}
	for _, k := range kinds {
		if trade.Kind(k.Sends) != m.plan.Sends {
			return fmt.Errorf("job %s has rows of %s, and job %s of %s: only jobs that send the same can be joined", m.from, m.plan.Sends, k.Job, k.Sends)
		}
	}
	var pairs []struct {
		Old     int64  `db:"old"`
		New     int64  `db:"fresh"`
		Key     string `db:"key"`
		OldKept bool   `db:"old_kept"`
		NewKept bool   `db:"new_kept"`
	}
	err := m.all(&pairs, m.s.d.locked(`SELECT o.id AS old, n.id AS fresh, n.key, `+firm("o")+` AS old_kept, `+firm("n")+` AS new_kept
		FROM entry n JOIN entry o ON o.job = ? AND o.key = n.key WHERE n.job = ? ORDER BY n.id`, "o, n"), m.from, m.to)
	if err != nil {
		return err
	}
	for _, p := range pairs {
		switch {
		case !p.NewKept:
			m.replaced = append(m.replaced, p.New)
		case !p.OldKept:
			m.left = append(m.left, p.Old)
		default:
			if m.plan.Collisions++; len(m.plan.Samples) < collisionSamples {
				m.plan.Samples = append(m.plan.Samples, p.Key)
			}
		}
	}
	m.plan.Replaced, m.plan.Left = len(m.replaced), len(m.left)
	return m.count()
}

// count tells how many entries go, and collects what that does to the sums.
func (m *jobMove) count() error {
	var rows []tallyRow
	if err := m.all(&rows, `SELECT job, state, unit, n, volume FROM tally WHERE job = ?`, m.from); err != nil {
		return err
	}
	for _, r := range rows {
		sum, err := r.sum()
		if err != nil {
			return err
		}
		out, in := tallyKey{m.from, r.State, r.Unit}, tallyKey{m.to, r.State, r.Unit}
		m.sums[out] = tallySum{m.sums[out].n - sum.n, m.sums[out].volume.Sub(sum.volume)}
		m.sums[in] = m.sums[in].plus(sum)
		m.plan.States[trade.State(r.State)] += sum.n
		m.plan.Entries += sum.n
	}
	entries, err := lockEntries(m.tx, slices.Concat(m.replaced, m.left))
	if err != nil {
		return err
	}
	for _, e := range entries { // they go nowhere
		q, err := quantity(e.Amount, e.Unit)
		if err != nil {
			return fmt.Errorf("entry %d is damaged: its amount %w", e.ID, err)
		}
		m.sums.remove(m.to, e.State, e.Unit, q.Amount)
		m.sums.add(m.from, string(trade.Withdrawn), e.Unit, q.Amount)
		if e.Job == m.from {
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

// statusAfter finds where the job stands afterwards. A pause of either stays, but for that of a brake that asked for this move.
func (m *jobMove) statusAfter() error {
	was, err := lockStatus(m.tx, m.from)
	if err != nil {
		return err
	}
	status, err := lockStatus(m.tx, m.to)
	if err != nil {
		return err
	}
	asked := false
	if stop := status.Stop; status.State == trade.Paused && stop != nil && stop.Brake != nil {
		former := slices.DeleteFunc(slices.Clone(stop.Brake.Former), func(k trade.KnownJob) bool { return k.Job == m.from })
		if asked = len(former) < len(stop.Brake.Former) && len(former) == 0; len(former) < len(stop.Brake.Former) {
			brake, left := *stop.Brake, *stop
			brake.Former, left.Brake = former, &brake
			left.Text = strings.ReplaceAll(left.Text, "job move "+m.from+" ", "job move "+append(former, trade.KnownJob{})[0].Job+" ")
			status.Stop = &left
		}
	}
	if asked || status.State != trade.Paused {
		status = trade.JobStatus{Job: m.to, State: trade.Idle, Since: m.now}
		if was.State == trade.Paused || was.State == trade.Stopped {
			was.Job, status = m.to, was
			status.Job = m.to
			if was.Stop != nil && was.Stop.Brake != nil {
				stop, brake := *was.Stop, *was.Stop.Brake
				brake.Job, stop.Brake = m.to, &brake
				stop.Text = strings.ReplaceAll(stop.Text, "release "+m.from+" ", "release "+m.to+" ")
				status.Stop = &stop
			}
		}
	}
	m.status, m.plan.Paused = status, status.State == trade.Paused
	return nil
}

// apply does it, and notes it in the audit and in the journal.
func (m *jobMove) apply(record trade.AuditRecord) error {
	if m.journal == "" {
		if err := m.place(); err != nil {
			return err
		}
	}
	record.Act, record.Target = moveName, m.from+" "+m.to
	if _, err := addAudit(m.tx, record); err != nil {
		return err
	}
	if err := m.moveEntries(record.Target); err != nil {
		return err
	}
	if err := m.moveCursor(); err != nil {
		return err
	}
	if err := m.exec(`UPDATE run SET job = ? WHERE job = ?`, m.to, m.from); err != nil {
		return err
	}
	if err := m.remember(m.plan.Sends); err != nil {
		return err
	}
	// Where rows gave way, they stay under the old name, whose keys are compared as before.
	if err := m.exec(`DELETE FROM job_kind WHERE job = ? AND NOT EXISTS (SELECT 1 FROM entry e WHERE e.job = job_kind.job)`, m.from); err != nil {
		return err
	}
	if err := m.exec(`DELETE FROM job_status WHERE job = ?`, m.from); err != nil {
		return err
	}
	if err := knowJob(m.tx, m.to, string(m.plan.Sends)); err != nil {
		return err
	}
	if err := putStatus(m.tx, m.status, ""); err != nil {
		return err
	}
	note := m.noting(journal.Act, m.now)
	note.ActName, note.Who = moveName, cleanText(record.Who)
	note.Moves = append(note.Moves, journal.Move{From: m.from, To: m.to, Sends: string(m.plan.Sends), After: m.after})
	note.Jobs = append(note.Jobs, journal.JobFact{Job: m.from}, jobFact(m.status))
	if err := factPages(m.tx, slices.Concat(m.replaced, m.left), func(facts []journal.Fact) error {
		note.Facts = append(note.Facts, facts...)
		return nil
	}); err != nil {
		return err
	}
	return m.sums.apply(m.tx)
}

// remember keeps that the entries of the job went, for a journal that knows them under the old name.
func (m *jobMove) remember(sends trade.Kind) error {
	return m.exec(`INSERT INTO job_moved (job, sends, moved_to, journal, seq) VALUES (?, ?, ?, ?, ?)`, m.from, string(sends), m.to, m.journal, m.after)
}

// place finds where the journal tells of this move.
func (m *jobMove) place() error {
	if m.s.journal == nil {
		return m.get(&m.after, `SELECT COUNT(*) FROM job_moved WHERE journal = ''`)
	}
	m.journal = m.s.journal.Header().Journal
	return m.get(&m.after, m.s.d.locked(`SELECT seq FROM journal WHERE id = ?`, "journal"), m.journal)
}

// moveEntries gives the entries to the other job. Those that give way stand between the two until their keys are free: under a name that no job can have.
func (m *jobMove) moveEntries(between string) error {
	if m.s.d.name == Postgres {
		if err := m.exec(`SET LOCAL statement_timeout = 0`); err != nil {
			return err
		}
	}
	gives := slices.Concat(m.replaced, m.left)
	for chunk := range slices.Chunk(gives, arrayRows) {
		if err := m.exec(`UPDATE entry SET job = ?, state = 'withdrawn', cause = '', error = NULL, waiting_for = '[]', next_attempt_at = NULL, updated_at = ?, version = version + 1
			WHERE `+m.s.d.among("id"), between, m.now.UnixMilli(), listOf(m.s.d, chunk)); err != nil {
			return err
		}
	}
	if err := m.exec(`UPDATE entry SET job = ?, version = version + 1 WHERE job = ?`, m.to, m.from); err != nil || len(gives) == 0 {
		return err
	}
	return m.exec(`UPDATE entry SET job = ? WHERE job = ?`, m.from, between)
}

// moveCursor lets the job go on reading where it was, under its new name. Its next run compares everything: nobody has looked at both parts together.
func (m *jobMove) moveCursor() error {
	was, err := cursorOf(m.all, m.from)
	if err != nil {
		return err
	}
	cursor, err := cursorOf(m.all, m.to)
	if err != nil {
		return err
	}
	if passed := max(was.Brakes.Passed, cursor.Brakes.Passed); cursor.Brakes.Identity == nil {
		was.Brakes.Former, cursor = cursor.Brakes.Former, was
	} else {
		cursor.Brakes.Passed = passed
	}
	cursor.SweptAt, cursor.Parents = time.Time{}, ""
	if err := setCursor(m.tx, m.to, cursor); err != nil {
		return err
	}
	return m.exec(`DELETE FROM job_cursor WHERE job = ?`, m.from)
}

// moveJobs does again what the journal tells of jobs that were moved after the record that the ledger has last.
func (r *rebuilding) moveJobs(last int64, who string) error {
	for _, move := range r.history.moves {
		if move.After < last {
			continue
		}
		m := &jobMove{tx: r.tx, from: move.From, to: move.To, now: r.now, sums: tallyChange{}, journal: r.history.end.Header.Journal, after: move.After}
		err := m.look()
		switch {
		case err != nil:
		case m.plan.Collisions > 0:
			err = fmt.Errorf("the journal says that the entries of job %s went to job %s, and this ledger has %d keys in both that were sent, such as %s: it is no copy from before",
				move.From, move.To, m.plan.Collisions, strings.Join(m.plan.Samples, ", "))
		case m.plan.Sends == "":
			err = m.remember(trade.Kind(move.Sends))
		default:
			err = m.apply(trade.AuditRecord{At: r.now, Who: who, Reason: "known from the journal"})
		}
		if err != nil {
			return err
		}
	}
	r.note = nil // the journal has all that
	return nil
}

// followMoves gives what is known of rows to the jobs that have them in the ledger by now. The journal of one host tells of a move, and those of the others know the old
// name.
func (r *rebuilding) followMoves() error {
	var moves []journal.Move
	if err := r.all(&moves, `SELECT job AS "from", moved_to AS "to", sends, seq AS "after" FROM job_moved WHERE journal <> ? ORDER BY journal, seq`,
		r.history.end.Header.Journal); err != nil {
		return err
	}
	for _, move := range moves {
		var keys []string
		for _, m := range r.history.order {
			if m.Job == move.From {
				keys = append(keys, m.Key)
			}
		}
		for chunk := range slices.Chunk(keys, inList) {
			var there []string
			if err := r.all(&there, `SELECT n.key FROM entry n WHERE n.job = ? AND `+r.s.d.among("n.key")+` AND NOT EXISTS (SELECT 1 FROM entry o
				WHERE o.job = ? AND o.key = n.key AND (o.state <> 'withdrawn' OR EXISTS (SELECT 1 FROM attempt a WHERE a.entry_id = o.id)))`,
				move.To, listOf(r.s.d, chunk), move.From); err != nil {
				return err
			}
			for _, key := range there {
				r.history.rename(r.history.rows[journal.Row{Job: move.From, Key: key}], move.To)
			}
		}
		r.history.tidy()
	}
	return nil
}
