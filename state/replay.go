package state

import (
	"cmp"
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
// after a rollback or a loss, everything. It is a merge, so that journals may be replayed in any order, and
// again:
//
//   - a row is found by job and key, what was sent by the id of its attempt; no number of a ledger counts
//   - an outcome only becomes more certain: open, unknown, certain
//   - two attempts of one generation that may both have created a record are both kept: the one that the
//     ledger lacks gets the next free generation, and the row is marked as a double
//   - an attempt without an answer is unknown, and its row in doubt, unless it is accepted or dismissed
//   - the newer image of a row gives its state, cause and flags; what was sent or decided stays
//   - of two images of what was sent the newer one counts, unless it takes away what may exist
//
// compare merges in memory (decide), which is the plan; apply writes what changes.
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
	sent    *recordSet // what was sent of the entries
	// the attempts of the entries, by id; those of sent, and those that others have followed
	attempts map[string]*attemptRow
	pauses   []string // the jobs of Plan.Paused, and the ledger
	settled  int      // answers that only the journal had
	doubts   int      // attempts that only the journal had, and no answer to them
}

// replayedEntry is an entry of the ledger.
type replayedEntry struct {
	trade.Entry
	Ready bool // it has a payload
	sent  []*ownedRecord
	no    int // of its last attempt
}

// replayedRow is a row and the state that it gets.
type replayedRow struct {
	*pastRow
	entry  *replayedEntry // nil: new
	to     trade.State
	on     *ownedRecord // by which it is accepted
	newer  bool         // the ledger has an older state of it
	double bool         // an attempt of a generation was sent too, by a host that did not know of it
}

// look compares the history with the ledger, and returns what is missing.
func (r *replay) look() ([]replayedRow, error) {
	if err := nobodyRuns(r.Tx); err != nil {
		return nil, err
	}
	var id string
	var own int
	if err := r.Get(&id, `SELECT id FROM ledger`); err != nil {
		return nil, err
	}
	if err := r.Get(&own, `SELECT COUNT(*) FROM sent WHERE attempt <> ''`); err != nil {
		return nil, err
	}
	if id != r.History.End.Header.Ledger && own > 0 {
		return nil, r.S.Refuse(sqldb.CodeForeign,
			phrase.Errorf("it has sent rows of its own, and the journal is that of another ledger (%s)",
				r.History.End.Header.Ledger),
			phrase.New("move this ledger away first, or set state.dsn to the right one"))
	}
	journals, err := sqldb.JournalRows(r.Tx, false)
	if err != nil {
		return nil, err
	}
	if err := r.moveJobs(journals[r.History.End.Header.Journal].Seq, r.Who); err != nil {
		return nil, err
	}
	return r.compare()
}

// compare returns the rows for which the journal has something that the ledger lacks, and counts
// them in the plan. decide merges each of them; apply writes them.
func (r *replay) compare() ([]replayedRow, error) {
	// The ledger has the records up to its position in the journal already, if the journal has that record
	// as the ledger knows it.
	id := r.History.End.Header.Journal
	rows, err := sqldb.JournalRows(r.Tx, false)
	if err != nil {
		return nil, err
	}
	if have := rows[id]; have.Seq > 0 && r.History.dir != "" {
		c, err := journal.Compare(r.History.dir, have.Seq)
		if err != nil {
			return nil, r.S.JournalFault(err)
		}
		if c.Mark == have.Mark && !c.Older {
			r.since = have.Seq
		}
	}
	// names that another host's move changed become those of the ledger
	var moves []struct {
		journal.Move
		Journal string
	}
	if err := r.All(&moves, `SELECT job AS "from", moved_to AS "to", sends, seq AS "after", journal FROM job_moved
		WHERE journal <> ? ORDER BY journal, seq`, id); err != nil {
		return nil, err
	}
	for _, m := range moves {
		r.History.move(m.Move, func(by noted) bool { return by.seen[m.Journal] <= m.After })
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
	// A job that is paused in the ledger stays paused, whatever the journal has.
	r.pauses = nil
	for _, job := range slices.Sorted(maps.Keys(r.History.Jobs)) {
		if !r.History.Jobs[job].Paused {
			continue
		}
		status, err := lockStatus(r.Tx, job)
		if err != nil {
			return nil, err
		}
		if status.State == trade.Paused {
			continue
		}
		r.pauses = append(r.pauses, job)
		if job != theLedger {
			r.Plan.Paused = append(r.Plan.Paused, job)
		}
	}
	return work, nil
}

// load reads the entries that the journal names, and what was sent of them.
func (r *replay) load() error {
	r.entries, r.attempts = map[journal.RowRef]*replayedEntry{}, map[string]*attemptRow{}
	keys := map[string][]string{}
	name := func(refs ...journal.RowRef) {
		for _, at := range refs {
			keys[at.Job] = append(keys[at.Job], at.Key)
		}
	}
	r.History.link()
	for _, m := range r.History.Order {
		name(m.RowRef)
	}
	for _, s := range r.History.sent {
		name(s.Row(), s.OwnerRow())
	}
	for at, s := range r.History.sightings {
		name(at)
		for _, of := range s.Of {
			name(of.RowRef)
		}
	}
	if err := eachKeys(keys, r.loadKeys); err != nil {
		return err
	}
	byID, list := map[int64]*replayedEntry{}, make([]*trade.Entry, 0, len(r.entries))
	for _, e := range r.entries {
		byID[e.ID], list = e, append(list, &e.Entry)
	}
	var former []attemptRow
	err := r.All(&former, `SELECT attempt, origin, generation, no, outcome FROM former WHERE `+r.S.D.Among("origin"),
		sqldb.ListOf(r.S.D, slices.Collect(maps.Keys(byID))))
	if err != nil {
		return err
	}
	for i := range former {
		a := &former[i]
		r.attempts[a.Attempt], byID[a.Origin].no = a, max(byID[a.Origin].no, a.No)
	}
	r.sent, err = loadRecords(r.Tx, list, r.Now)
	if err != nil {
		return err
	}
	for _, have := range r.sent.byID {
		if a := have.attemptRow; a.Attempt != "" { // a copy: another attempt may follow it
			r.attempts[a.Attempt] = &a
		}
		if e := byID[have.Origin]; e != nil {
			e.sent, e.no = append(e.sent, have), max(e.no, have.No)
		}
	}
	return nil
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
	err := r.All(&rows, `SELECT `+selected(lockedColumns)+`, e.sendable AS ready
		FROM entry e WHERE e.job = ? AND e.key IN (`+sqldb.Placeholders(len(keys))+`)`,
		args...)
	for i := range rows {
		r.entries[journal.RowRef{Job: rows[i].Job, Key: rows[i].Key}] = &rows[i]
	}
	return err
}

// decide merges a row and what was sent of it with the ledger, and determines the state of the row, and
// whether it changes. Of two images of the row the one with the higher version is the newer one; but what
// was sent, or decided, in a ledger that this one was rolled back from, is never forgotten because this one
// went on.
func (r *replay) decide(m *pastRow) (replayedRow, bool) {
	row := replayedRow{pastRow: m, entry: r.entries[m.RowRef], newer: true}
	if m.seq <= r.since {
		return row, false
	}
	e := cmp.Or(row.entry, &replayedEntry{})
	now, lacks := e.State, false
	for _, s := range m.sent {
		for _, a := range s.former {
			lacks = lacks || r.attempts[a.Attempt] == nil
		}
		have := r.attempts[s.Attempt]
		s.dropped = false
		switch {
		case s.Attempt == "":
		case have != nil && !have.Changeable(): // whatever the journal has of it is older
			s.Outcome, s.AnswerID = have.Outcome, have.AnswerID
		case have != nil:
			lacks = lacks || s.Outcome != outcomeOpen && s.Outcome != have.Outcome
		// The process ended before the ledger had this intent, so nothing left: since then the ledger has
		// replayed the journal, or sent another attempt of the generation.
		case s.Outcome == outcomeOpen && row.entry != nil && (s.began <= r.since || now == trade.Accepted ||
			slices.ContainsFunc(e.sent, func(o *ownedRecord) bool {
				return r.History.attempts[o.Attempt] == nil && o.Generation == s.Generation && o.Changeable()
			})):
			s.dropped = true
		default:
			lacks = true
		}
	}
	// An attempt that the ledger lacks gets a generation of its own, if its own has another attempt that may
	// have created a record: two hosts have sent the row, each from a ledger that lacked what the other had
	// sent. Both are evidence, and the row may be on the platform twice.
	top, spent := max(m.Generation, e.Generation), map[int]bool{}
	for _, have := range e.sent {
		last := have.AttemptImage
		if s := m.attempt(have.Attempt); s != nil {
			if s.Outcome != outcomeOpen {
				last = s.AttemptImage
			}
			// one has the id of an answer, the other that of a person
			if have.RemoteID != s.RemoteID && min(have.RemoteID, s.RemoteID) != "" {
				lacks = lacks || !e.Flags.Has(trade.Contradicted)
				m.Flags = m.Flags.With(trade.Contradicted, true)
			}
		}
		top = max(top, have.Generation)
		spent[have.Generation] = spent[have.Generation] || !last.Free() ||
			have.Attempt == "" && have.Certainty == string(trade.Stated)
	}
	for _, s := range m.sent {
		top = max(top, s.Generation)
	}
	for _, s := range m.sent {
		stated := s.Attempt == "" && s.Certainty == string(trade.Stated) &&
			!slices.ContainsFunc(e.sent, func(o *ownedRecord) bool { return o.RemoteID == s.RemoteID })
		if s.dropped || !stated && (s.Free() || r.attempts[s.Attempt] != nil) {
			continue
		}
		if spent[s.Generation] {
			lacks = true
			top++
			s.Generation, m.Generation, s.raised = top, top, true
		}
		spent[s.Generation], row.double = true, row.double || s.raised
	}
	row.to = m.final()
	if row.entry == nil {
		if s := r.History.sightings[m.RowRef]; row.to == "" && s != nil && len(s.Of) > 0 { // it was withdrawn since
			row.to, m.Cause = trade.Held, trade.CauseRetyped
		}
		return row, row.to != ""
	}
	row.newer = m.Version > e.Version && (now != trade.Accepted || m.State == string(trade.Accepted))
	firm := now == trade.Sending || now == trade.InDoubt || now == trade.Held || now == trade.Dismissed
	switch {
	case now == trade.Accepted, row.to == "" && m.State == string(trade.Sending):
		row.to = now
	case row.to == trade.Accepted:
	case row.to != "" && !row.newer && !lacks && (firm || row.to == trade.InDoubt):
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
	return row, lacks || row.to != now || m.Generation > e.Generation || row.newer && row.to.MayBeOnPlatform()
}

// attempt returns what was sent by the last attempt with an id; nil if the journal does not have it.
func (m *pastRow) attempt(id string) *pastSent {
	for _, s := range m.sent {
		if s.Attempt == id && id != "" {
			return s
		}
	}
	return nil
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
