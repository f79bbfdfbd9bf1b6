package state

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/trade"
)

// rebuilding is one transaction that brings the ledger to what the journal knows.
type rebuilding struct {
	*tx
	history *history
	plan    *RebuildPlan
	now     time.Time
	who     string
	audit   int64
	sums    tallyChange
	entries map[journal.Row]*rebuiltEntry
}

// rebuiltEntry is what must be known of an entry of the ledger.
type rebuiltEntry struct {
	narrowRow
	PayloadHash trade.Hash `db:"payload_hash"`
	Content     int64      `db:"content"`
	SourceHash  trade.Hash `db:"source_hash"`
	Ready       bool       `db:"ready"` // it has a payload
	attempts    map[string]*attemptRow
	no          int // of its last attempt
}

// rebuiltRow is a row with what it becomes.
type rebuiltRow struct {
	*remembered
	entry *rebuiltEntry // nil: new
	to    trade.State
}

func (r *rebuilding) run(apply bool, record trade.AuditRecord) error {
	if err := nobodyRuns(r.tx); err != nil {
		return err
	}
	var id string
	var own int
	if err := r.get(&id, `SELECT id FROM ledger`); err != nil {
		return err
	}
	if err := r.get(&own, `SELECT COUNT(*) FROM attempt`); err != nil {
		return err
	}
	if id != r.history.end.Header.Ledger && own > 0 {
		return &Error{
			Code: CodeForeign, Path: r.s.where, Hint: "move this ledger away first, or set state.dsn to the right one",
			Err: fmt.Errorf("it has sent rows of its own, and the journal is that of another ledger (%s)", r.history.end.Header.Ledger),
		}
	}
	journals, err := journalRows(r.tx, false)
	if err != nil {
		return err
	}
	if err := r.moveJobs(journals[r.history.end.Header.Journal].Seq, record.Who); err != nil {
		return err
	}
	work, err := r.compare()
	if err != nil {
		return err
	}
	if !apply {
		return nil
	}
	detail, err := json.Marshal(r.plan)
	if err != nil {
		return err
	}
	record.Detail, r.who = string(detail), record.Who
	if r.audit, err = addAudit(r.tx, record); err != nil {
		return err
	}
	return r.apply(work)
}

// compare tells what the journal knows and the ledger does not.
func (r *rebuilding) compare() ([]rebuiltRow, error) {
	if err := r.followMoves(); err != nil {
		return nil, err
	}
	if err := r.load(); err != nil {
		return nil, err
	}
	var work []rebuiltRow
	counts := map[RebuildChange]int{}
	for _, m := range r.history.order {
		row, changes := r.decide(m)
		if !changes {
			r.plan.Same++
			continue
		}
		from := trade.State("")
		if row.entry != nil {
			from = trade.State(row.entry.State)
		}
		counts[RebuildChange{Job: m.Job, From: from, To: row.to}]++
		work = append(work, row)
	}
	for c, n := range counts {
		c.Rows = n
		r.plan.Changes = append(r.plan.Changes, c)
	}
	slices.SortFunc(r.plan.Changes, func(a, b RebuildChange) int {
		return cmp.Or(strings.Compare(a.Job, b.Job), strings.Compare(string(a.To), string(b.To)), strings.Compare(string(a.From), string(b.From)))
	})
	return work, r.comparePauses()
}

// comparePauses finds the jobs that a person had paused and that are not. One that the ledger has paused stays so, whatever the journal says.
func (r *rebuilding) comparePauses() error {
	for _, job := range slices.Sorted(maps.Keys(r.history.jobs)) {
		if !r.history.jobs[job].Paused {
			continue
		}
		status, err := lockStatus(r.tx, job)
		if err != nil {
			return err
		}
		if status.State != trade.Paused {
			r.plan.Paused = append(r.plan.Paused, job)
		}
	}
	return nil
}

// load reads the entries and attempts that the journal names.
func (r *rebuilding) load() error {
	r.entries = map[journal.Row]*rebuiltEntry{}
	keys := map[string][]string{}
	for _, m := range r.history.order {
		keys[m.Job] = append(keys[m.Job], m.Key)
	}
	for job, keys := range keys {
		for chunk := range slices.Chunk(keys, inList) {
			if err := r.loadKeys(job, chunk); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *rebuilding) loadKeys(job string, keys []string) error {
	var rows []rebuiltEntry
	if err := r.all(&rows, `SELECT e.id, e.job, e.sends, e.key, e.state, e.remote_id, e.moved_id, e.flags, e.generation, e.attempts, e.amount, e.unit, e.version,
		e.payload_hash, e.source_hash, e.content, (e.payload IS NOT NULL) AS ready FROM entry e WHERE e.job = ? AND e.key IN (`+marks(len(keys))+`)`, append([]any{job}, anys(keys)...)...); err != nil {
		return err
	}
	if len(rows) == 0 {
		return nil
	}
	byID := map[int64]*rebuiltEntry{}
	ids := make([]int64, len(rows))
	for i := range rows {
		e := &rows[i]
		e.attempts = map[string]*attemptRow{}
		ids[i], byID[e.ID], r.entries[journal.Row{Job: e.Job, Key: e.Key}] = e.ID, e, e
	}
	var attempts []attemptRow
	if err := r.all(&attempts, `SELECT a.id, a.entry_id, a.generation, a.no, a.outcome, a.counts FROM attempt a WHERE a.entry_id IN (`+marks(len(ids))+`)`, anys(ids)...); err != nil {
		return err
	}
	for i := range attempts {
		e := byID[attempts[i].EntryID]
		e.attempts[attempts[i].ID] = &attempts[i]
		e.no = max(e.no, attempts[i].No)
	}
	return r.attemptsElsewhere(job, keys)
}

// attemptsElsewhere finds the attempts of rows which the ledger has under another entry. Of two rows
// that a move joined one gave way and kept its attempts; the journal tells of both under one name.
func (r *rebuilding) attemptsElsewhere(job string, keys []string) error {
	missing := map[string]*rebuiltEntry{}
	for _, key := range keys {
		row := journal.Row{Job: job, Key: key}
		e, m := r.entries[row], r.history.rows[row]
		if e == nil || m == nil {
			continue
		}
		for _, a := range m.attempts {
			if e.attempts[a.ID] == nil {
				missing[a.ID] = e
			}
		}
	}
	for chunk := range slices.Chunk(slices.Sorted(maps.Keys(missing)), inList) {
		var found []attemptRow
		if err := r.all(&found, `SELECT a.id, a.entry_id, a.generation, a.no, a.outcome, a.counts FROM attempt a WHERE a.id IN (`+marks(len(chunk))+`)`, anys(chunk)...); err != nil {
			return err
		}
		for i := range found {
			missing[found[i].ID].attempts[found[i].ID] = &found[i]
		}
	}
	return nil
}

// decide tells what a row becomes. The ledger is a copy from an earlier time, so that the journal, where it is certain, is right.
func (r *rebuilding) decide(m *remembered) (rebuiltRow, bool) {
	row := rebuiltRow{remembered: m, entry: r.entries[m.Row], to: m.final()}
	e := row.entry
	if e == nil {
		return row, row.to != ""
	}
	now := trade.State(e.State)
	switch {
	case now == trade.Accepted:
		row.to = now
	case row.to == "" && (now == trade.Sending || now == trade.InDoubt):
		row.to = trade.State(m.State) // an answer that came after the copy was made
		if row.to == trade.Waiting || row.to == trade.Pending && (!e.Ready || e.PayloadHash != m.Payload) {
			row.to = trade.Held
		}
	case row.to == "":
		row.to = now
	}
	changes := row.to != now || m.Generation > e.Generation || row.moves()
	for _, a := range m.attempts {
		have := e.attempts[a.ID]
		changes = changes || have == nil || have.Outcome.String != a.Outcome && a.Outcome != "" && changeable(have)
	}
	return row, changes
}

// moves tells whether the ledger has the id still that a person gave to the row under the new key.
func (r rebuiltRow) moves() bool {
	return r.MovedID != "" && r.entry.RemoteID.String == r.MovedID
}

// changeable tells whether an attempt of the ledger may still learn its outcome.
func changeable(a *attemptRow) bool {
	return !a.Outcome.Valid || a.Outcome.String == string(trade.OutcomeUnknown)
}

// RebuildPlan says what a rebuilding changes.
type RebuildPlan struct {
	Ledger  string          `json:"ledger"`  // its id
	Damaged string          `json:"damaged"` // the file that cannot be read and is kept under another name; "" when there is none
	Absent  bool            `json:"absent"`  // there is no ledger: it is made anew, without references and audit, which are not in the journal
	Journal string          `json:"journal"` // the folder
	Records int64           `json:"records"` // of the journal
	Until   time.Time       `json:"until"`   // of the last one
	Changes []RebuildChange `json:"changes"` // sums, by job and change of state
	Same    int             `json:"same"`    // rows that stand as the journal says
	Paused  []string        `json:"paused"`  // jobs that a person had paused, and that are paused again
}

// RebuildChange is a number of rows of a job that change in the same way. From is "" for rows that the ledger does not have; From and To are equal where only
// attempts or the generation are added.
type RebuildChange struct {
	Job  string      `json:"job"`
	From trade.State `json:"from"`
	To   trade.State `json:"to"`
	Rows int         `json:"rows"`
}
