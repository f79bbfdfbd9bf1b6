package state

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// replay is one transaction that brings the ledger up to what a journal has: what a crash left, or,
// after a rollback or a loss, everything.
type replay struct {
	*sqldb.Tx
	History *journalHistory
	Plan    *RebuildPlan
	Now     time.Time
	Who     string
	since   int64 // the ledger has everything up to this record
	writes  bool  // what is decided is written in the same transaction
	audit   int64
	entries map[journal.RowRef]*replayedEntry
	attempt map[string]*attemptRow // those of the entries
	sent    *recordSet             // theirs
	pauses  []string               // the jobs of Plan.Paused, and the ledger
	settled int                    // answers that only the journal had
	doubts  int                    // attempts that only the journal had, and no answer to them
}

// replayedEntry is an entry of the ledger with its attempts.
type replayedEntry struct {
	trade.Entry
	Ready    bool // it has a payload
	attempts map[string]*attemptRow
	no       int // of its last attempt
}

// replayedRow is a row and the state that it gets.
type replayedRow struct {
	*remembered
	entry  *replayedEntry // nil: new
	to     trade.State
	on     *ownedRecord // by which it is accepted
	newer  bool         // the ledger has an older state of it
	double bool         // an attempt of a generation was sent too, by a host that did not know of it
}

// Run compares the history with the ledger and, if apply is true, writes what is missing.
func (r *replay) Run(apply bool, record trade.AuditRecord) error {
	r.writes = apply
	if err := nobodyRuns(r.Tx); err != nil {
		return err
	}
	var id string
	var own int
	if err := r.Get(&id, `SELECT id FROM ledger`); err != nil {
		return err
	}
	if err := r.Get(&own, `SELECT COUNT(*) FROM sent WHERE attempt <> ''`); err != nil {
		return err
	}
	if id != r.History.End.Header.Ledger && own > 0 {
		return r.S.Refuse(sqldb.CodeForeign,
			phrase.Errorf("it has sent rows of its own, and the journal is that of another ledger (%s)",
				r.History.End.Header.Ledger),
			phrase.New("move this ledger away first, or set state.dsn to the right one"))
	}
	journals, err := sqldb.JournalRows(r.Tx, false)
	if err != nil {
		return err
	}
	if err := r.moveJobs(journals[r.History.End.Header.Journal].Seq, record.Who); err != nil {
		return err
	}
	work, err := r.compare()
	if err != nil {
		return err
	}
	if !apply {
		return nil
	}
	detail, err := json.Marshal(r.Plan)
	if err != nil {
		return err
	}
	record.Detail, r.Who = string(detail), record.Who
	r.audit, err = addNumbered(r.Tx, record)
	if err != nil {
		return err
	}
	return r.apply(work)
}

// compare returns the rows for which the journal has something that the ledger lacks, and counts
// them in the plan.
func (r *replay) compare() ([]replayedRow, error) {
	if err := r.place(); err != nil {
		return nil, err
	}
	if err := r.load(); err != nil {
		return nil, err
	}
	var work []replayedRow
	r.Plan.Doubles = 0
	counts := map[RebuildChange]int{}
	for _, m := range r.History.Order {
		row, changes := r.decide(m)
		if !changes {
			r.Plan.Same++
			continue
		}
		from := trade.State("")
		if row.entry != nil {
			from = row.entry.State
		}
		counts[RebuildChange{Job: m.Job, From: from, To: row.to}]++
		if row.double {
			r.Plan.Doubles++
		}
		work = append(work, row)
	}
	for c, n := range counts {
		c.Rows = n
		r.Plan.Changes = append(r.Plan.Changes, c)
	}
	slices.SortFunc(r.Plan.Changes, func(a, b RebuildChange) int {
		return cmp.Or(strings.Compare(a.Job, b.Job), strings.Compare(string(a.To), string(b.To)),
			strings.Compare(string(a.From), string(b.From)))
	})
	return work, r.comparePauses()
}

// comparePauses finds the jobs that a person had paused and that are not paused. A job that is
// paused in the ledger stays paused, whatever the journal has.
func (r *replay) comparePauses() error {
	r.pauses = nil
	for _, job := range slices.Sorted(maps.Keys(r.History.Jobs)) {
		if !r.History.Jobs[job].Paused {
			continue
		}
		status, err := lockStatus(r.Tx, job)
		if err != nil {
			return err
		}
		if status.State == trade.Paused {
			continue
		}
		r.pauses = append(r.pauses, job)
		if job != theLedger {
			r.Plan.Paused = append(r.Plan.Paused, job)
		}
	}
	return nil
}

// place determines which records the ledger has already: those up to its position in the journal, if
// the journal has that record as the ledger knows it. Names that another host's move changed become
// those of the ledger.
func (r *replay) place() error {
	id := r.History.End.Header.Journal
	rows, err := sqldb.JournalRows(r.Tx, false)
	if err != nil {
		return err
	}
	if have := rows[id]; have.Seq > 0 && r.History.dir != "" {
		c, err := journal.Compare(r.History.dir, have.Seq)
		if err != nil {
			return r.S.JournalFault(err)
		}
		if c.Mark == have.Mark && !c.Older {
			r.since = have.Seq
		}
	}
	var moves []struct {
		journal.Move
		Journal string
	}
	if err := r.All(&moves, `SELECT job AS "from", moved_to AS "to", sends, seq AS "after", journal FROM job_moved
		WHERE journal <> ? ORDER BY journal, seq`, id); err != nil {
		return err
	}
	for _, m := range moves {
		r.History.move(m.Move, func(by told) bool { return by.seen[m.Journal] <= m.After })
	}
	return nil
}

// load reads the entries and attempts that the journal names.
func (r *replay) load() error {
	r.entries, r.attempt = map[journal.RowRef]*replayedEntry{}, map[string]*attemptRow{}
	keys := map[string][]string{}
	for _, m := range r.History.Order {
		keys[m.Job] = append(keys[m.Job], m.Key)
	}
	for _, record := range r.History.records {
		for _, at := range []journal.RowRef{record.RowRef, record.OwnerRow()} {
			if r.History.rows[at] == nil {
				keys[at.Job] = append(keys[at.Job], at.Key)
			}
		}
	}
	for at, s := range r.History.sightings {
		refs := []journal.RowRef{at}
		for _, of := range s.Of {
			refs = append(refs, of.RowRef)
		}
		for _, ref := range refs {
			if r.History.rows[ref] == nil {
				keys[ref.Job] = append(keys[ref.Job], ref.Key)
			}
		}
	}
	return eachKeys(keys, r.loadKeys)
}

func (r *replay) loadKeys(job string, keys []string) error {
	args := append([]any{job}, sqldb.Anys(keys)...)
	if r.writes && r.S.D.Lock != "" { // nobody changes a row between the look at it and the write
		if err := r.All(&[]int64{}, r.S.D.Locked(`SELECT e.id FROM entry e WHERE e.job = ? AND e.key IN (`+
			sqldb.Placeholders(len(keys))+`) ORDER BY e.id`, "e"), args...); err != nil {
			return err
		}
	}
	var rows []replayedEntry
	if err := r.All(&rows, `SELECT `+selected(lockedColumns)+`, e.sendable AS ready
		FROM entry e WHERE e.job = ? AND e.key IN (`+sqldb.Placeholders(len(keys))+`)`,
		args...); err != nil {
		return err
	}
	byID, ids := map[int64]*replayedEntry{}, make([]int64, len(rows))
	for i := range rows {
		e := &rows[i]
		e.attempts = map[string]*attemptRow{}
		ids[i], byID[e.ID], r.entries[journal.RowRef{Job: e.Job, Key: e.Key}] = e.ID, e, e
	}
	var attempts []attemptRow
	if err := r.All(&attempts, `SELECT attempt, origin, generation, no, outcome, counts, answer_id FROM attempt WHERE `+
		r.S.D.Among("origin"), sqldb.ListOf(r.S.D, ids)); err != nil {
		return err
	}
	for i := range attempts {
		a := &attempts[i]
		r.attempt[a.Attempt] = a
		e := byID[a.Origin]
		e.attempts[a.Attempt], e.no = a, max(e.no, a.No)
	}
	return nil
}

// decide determines the state of a row, and whether the row changes. Of two images of it the one
// with the higher version is the newer one; but what was sent, or decided, in a ledger that this one
// was rolled back from, is never forgotten because this one went on.
func (r *replay) decide(m *remembered) (replayedRow, bool) {
	e := r.entries[m.RowRef]
	row := replayedRow{remembered: m, entry: e, newer: true}
	if m.seq <= r.since {
		return row, false
	}
	if e == nil {
		row.to = m.final()
		if s := r.History.sightings[m.RowRef]; row.to == "" && s != nil && len(s.Of) > 0 { // it was withdrawn since
			row.to, m.Cause = trade.Held, trade.CauseRetyped
		}
		return row, row.to != ""
	}
	now, told := e.State, false
	m.attempts = slices.DeleteFunc(m.attempts, func(a *rememberedAttempt) bool { return r.neverLeft(e, a) })
	for _, a := range m.attempts {
		have := r.attempt[a.ID]
		switch {
		case have == nil:
			told = true
		case !changeable(have): // whatever the journal has of it is older
			a.Outcome, a.RemoteID = string(have.outcome()), have.AnswerID
		case a.Outcome != "" && a.Outcome != string(have.outcome()):
			told = true
		}
	}
	row.newer = m.Version > e.Version && (now != trade.Accepted || m.State == string(trade.Accepted))
	firm := now == trade.Sending || now == trade.InDoubt || now == trade.Held || now == trade.Dismissed
	row.to = m.final()
	switch {
	case now == trade.Accepted, row.to == "" && m.State == string(trade.Sending):
		row.to = now
	case row.to == trade.Accepted:
	case row.to != "" && !row.newer && !told && (firm || row.to == trade.InDoubt):
		row.to = now
	case row.to == "" && (now == trade.Sending || now == trade.InDoubt):
		row.to = trade.State(m.State) // an answer that came after the copy was made
		ready := e.Ready && e.PayloadHash == m.Payload
		if row.to == trade.Waiting && m.Next == nil || row.to == trade.Pending && !ready {
			row.to = trade.Held
		}
	case row.to == "":
		row.to = now
	}
	row.keepApart(r.attempt)
	return row, told || row.to != now || m.Generation > e.Generation || row.newer && row.to.Created()
}

// neverLeft reports whether an attempt without an answer that the ledger lacks was never sent: the
// process ended before the ledger had its intent. It shows in that the ledger took up what the
// journal had by then, or that the ledger let another attempt of the generation go.
func (r *replay) neverLeft(e *replayedEntry, a *rememberedAttempt) bool {
	if a.Outcome != "" || r.attempt[a.ID] != nil {
		return false
	}
	if a.seq <= r.since || e.State == trade.Accepted {
		return true
	}
	for id, have := range e.attempts {
		if r.History.sent[id] == nil && have.Generation == a.Generation && changeable(have) {
			return true
		}
	}
	return false
}

// keepApart gives an attempt that the ledger lacks a generation of its own, if its own has another
// attempt that may have created a record: two hosts have sent the row, each from a ledger that lacked
// what the other had sent. Both are evidence, and the row may be on the platform twice.
func (row *replayedRow) keepApart(known map[string]*attemptRow) {
	m, e := row.remembered, row.entry
	top := max(m.Generation, e.Generation)
	spent := map[int]bool{}
	for _, have := range e.attempts {
		top = max(top, have.Generation)
		outcome := string(have.outcome())
		if told := m.attempt(have.Attempt); told != nil && told.Outcome != "" {
			outcome = told.Outcome
		}
		if outcome == "" || mayExist(outcome) {
			spent[have.Generation] = true
		}
	}
	for _, a := range m.attempts {
		top = max(top, a.Generation)
	}
	for _, a := range m.attempts {
		if known[a.ID] != nil || a.Outcome != "" && !mayExist(a.Outcome) {
			continue
		}
		if spent[a.Generation] {
			top++
			if m.raised == nil {
				m.raised = map[int]int{}
			}
			m.raised[a.Generation] = top
			a.Generation, m.Generation = top, top
		}
		spent[a.Generation] = true
	}
	row.double = len(m.raised) > 0
}

// mayExist reports whether an attempt with this outcome may have created a record.
func mayExist(outcome string) bool {
	return outcome == string(trade.OutcomeUnknown) || outcome == string(trade.OutcomeCreated)
}

// changeable reports whether the outcome of an attempt of the ledger may still change.
func changeable(a *attemptRow) bool {
	return a.isOpen() || a.Outcome == string(trade.OutcomeUnknown)
}

// RebuildPlan describes what a rebuild changes.
type RebuildPlan struct {
	Ledger string `json:"ledger"` // its id
	// the unreadable file, which is kept under another name; "" if there is none
	Damaged string `json:"damaged"`
	// there is no ledger: a new one is made, without references and audit, which are not in the
	// journal
	Absent  bool            `json:"absent"`
	Journal string          `json:"journal"` // the folder
	Records int64           `json:"records"` // of the journal
	Until   time.Time       `json:"until"`   // of the last one
	Changes []RebuildChange `json:"changes"` // counts by job and change of state
	Same    int             `json:"same"`    // rows that already agree with the journal
	// rows among the changes that were sent from this ledger too: they may be on the platform twice
	Doubles int      `json:"doubles"`
	Paused  []string `json:"paused"` // jobs that a person had paused: they are paused again
	// the bytes of the journal after its last record that cannot be read, if they may have been
	// records: what happened after Until is not known
	Lost int64 `json:"lost_bytes"`
	// the jobs that are paused because of that, until a person has looked on the platform
	Braked []string `json:"braked"`
}

// RebuildChange is a number of rows of a job that change in the same way. From is "" for rows that
// the ledger lacks; From and To are equal if only attempts or the generation are added.
type RebuildChange struct {
	Job  string      `json:"job"`
	From trade.State `json:"from"`
	To   trade.State `json:"to"`
	Rows int         `json:"rows"`
}

// Rows returns how many rows the plan changes.
func (p RebuildPlan) Rows() int {
	n := 0
	for _, c := range p.Changes {
		n += c.Rows
	}
	return n
}
