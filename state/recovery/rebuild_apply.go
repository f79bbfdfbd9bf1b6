package recovery

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/state/audit"
	"github.com/safrasync/safrasync/state/jobs"
	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/ledger"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// Rebuilding is one transaction that updates the ledger from the journal.
type Rebuilding struct {
	*sqldb.Tx
	History *History
	Plan    *RebuildPlan
	Now     time.Time
	Who     string
	audit   int64
	Sums    ledger.TallyChange
	entries map[journal.Row]*rebuiltEntry
}

// rebuiltEntry holds what a rebuild needs of an entry of the ledger.
type rebuiltEntry struct {
	ledger.NarrowRow
	PayloadHash, SourceHash trade.Hash
	Acknowledged            string
	OwnID, GivenID          sql.NullString // the platform's id that it has, or gave to another
	Ready                   bool           // it has a payload
	attempts                map[string]*ledger.AttemptRow
	no                      int // of its last attempt
}

// RebuiltRow is a row and the state that it gets.
type RebuiltRow struct {
	*remembered
	entry *rebuiltEntry // nil: new
	to    trade.State
	on    *ledger.OwnedRecord // by which it is accepted
}

// Run compares the history with the ledger and, if apply is true, writes what is missing.
func (r *Rebuilding) Run(apply bool, record trade.AuditRecord) error {
	if err := jobs.NobodyRuns(r.Tx); err != nil {
		return err
	}
	var id string
	var own int
	if err := r.Get(&id, `SELECT id FROM ledger`); err != nil {
		return err
	}
	if err := r.Get(&own, `SELECT COUNT(*) FROM attempt`); err != nil {
		return err
	}
	if id != r.History.End.Header.Ledger && own > 0 {
		return &sqldb.Error{
			Code: sqldb.CodeForeign, Path: r.S.Where,
			Hint: "move this ledger away first, or set state.dsn to the right one",
			Err: fmt.Errorf("it has sent rows of its own, and the journal is that of another ledger (%s)",
				r.History.End.Header.Ledger),
		}
	}
	journals, err := sqldb.JournalRows(r.Tx, false)
	if err != nil {
		return err
	}
	if err := r.moveJobs(journals[r.History.End.Header.Journal].Seq, record.Who); err != nil {
		return err
	}
	work, err := r.Compare()
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
	if r.audit, err = audit.AddNumbered(r.Tx, record); err != nil {
		return err
	}
	return r.apply(work)
}

// Compare returns the rows for which the journal has something that the ledger lacks, and counts
// them in the plan.
func (r *Rebuilding) Compare() ([]RebuiltRow, error) {
	if err := r.followMoves(); err != nil {
		return nil, err
	}
	if err := r.load(); err != nil {
		return nil, err
	}
	var work []RebuiltRow
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
			from = trade.State(row.entry.State)
		}
		counts[RebuildChange{Job: m.Job, From: from, To: row.to}]++
		if m.double {
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
func (r *Rebuilding) comparePauses() error {
	for _, job := range slices.Sorted(maps.Keys(r.History.Jobs)) {
		if !r.History.Jobs[job].Paused {
			continue
		}
		status, err := jobs.LockStatus(r.Tx, job)
		if err != nil {
			return err
		}
		if status.State != trade.Paused {
			r.Plan.Paused = append(r.Plan.Paused, job)
		}
	}
	return nil
}

// load reads the entries and attempts that the journal names.
func (r *Rebuilding) load() error {
	r.entries = map[journal.Row]*rebuiltEntry{}
	keys := map[string][]string{}
	for _, m := range r.History.Order {
		keys[m.Job] = append(keys[m.Job], m.Key)
	}
	for job, keys := range keys {
		for chunk := range slices.Chunk(keys, sqldb.InList) {
			if err := r.loadKeys(job, chunk); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *Rebuilding) loadKeys(job string, keys []string) error {
	var rows []rebuiltEntry
	if err := r.All(&rows, `SELECT e.id, e.job, e.sends, e.key, e.state, e.record_id, e.flags, e.generation, e.attempts, e.amount, e.unit, e.version,
		e.payload_hash, e.source_hash, e.acknowledged, (e.payload IS NOT NULL) AS ready, `+ledger.RecordIDs+` FROM entry e `+ledger.JoinRecord+`WHERE e.job = ? AND e.key IN (`+sqldb.Placeholders(len(keys))+`)`, append([]any{job}, sqldb.Anys(keys)...)...); err != nil {
		return err
	}
	if len(rows) == 0 {
		return nil
	}
	byID := map[int64]*rebuiltEntry{}
	ids := make([]int64, len(rows))
	for i := range rows {
		e := &rows[i]
		e.attempts = map[string]*ledger.AttemptRow{}
		ids[i], byID[e.ID], r.entries[journal.Row{Job: e.Job, Key: e.Key}] = e.ID, e, e
	}
	var attempts []ledger.AttemptRow
	if err := r.All(&attempts,
		`SELECT a.id, a.entry_id, a.generation, a.no, a.outcome, a.counts FROM attempt a WHERE `+
			r.S.D.Among("a.entry_id"), sqldb.ListOf(r.S.D, ids)); err != nil {
		return err
	}
	for i := range attempts {
		e := byID[attempts[i].EntryID]
		e.attempts[attempts[i].ID] = &attempts[i]
		e.no = max(e.no, attempts[i].No)
	}
	return r.attemptsElsewhere(job, keys)
}

// attemptsElsewhere finds attempts that the ledger has under another entry. If a move joined two
// rows, one was withdrawn and kept its attempts; the journal has both under one name.
func (r *Rebuilding) attemptsElsewhere(job string, keys []string) error {
	missing := map[string]*rebuiltEntry{}
	for _, key := range keys {
		row := journal.Row{Job: job, Key: key}
		e, m := r.entries[row], r.History.rows[row]
		if e == nil || m == nil {
			continue
		}
		for _, a := range m.attempts {
			if e.attempts[a.ID] == nil {
				missing[a.ID] = e
			}
		}
	}
	var found []ledger.AttemptRow
	err := r.All(&found,
		`SELECT a.id, a.entry_id, a.generation, a.no, a.outcome, a.counts FROM attempt a WHERE `+r.S.D.Among("a.id"),
		sqldb.ListOf(r.S.D, slices.Collect(maps.Keys(missing))))
	for i := range found {
		missing[found[i].ID].attempts[found[i].ID] = &found[i]
	}
	return err
}

// decide determines the state of a row, and whether the row changes. The ledger is an earlier copy,
// so where the journal is certain, it is right.
func (r *Rebuilding) decide(m *remembered) (RebuiltRow, bool) {
	row := RebuiltRow{remembered: m, entry: r.entries[m.Row], to: m.Final()}
	e := row.entry
	if e == nil {
		return row, row.to != ""
	}
	now := trade.State(e.State)
	m.attempts = slices.DeleteFunc(m.attempts, func(a *rememberedAttempt) bool {
		return a.Outcome == "" && e.attempts[a.ID] == nil && (now == trade.Accepted || e.sentElsewhere(m, a.Generation))
	})
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
	r.History.keepApart(m, e)
	changes := row.to != now || m.Generation > e.Generation || row.moves() || row.explains()
	for _, a := range m.attempts {
		have := e.attempts[a.ID]
		changes = changes || have == nil || have.Outcome.String != a.Outcome && a.Outcome != "" && changeable(have)
	}
	return row, changes
}

// keepApart gives an attempt that the ledger lacks a generation of its own, if its own has another
// attempt that may have created a record: two hosts have sent the row, each from a ledger that lacked
// what the other had sent. Both are evidence, and the row may be on the platform twice.
func (h *History) keepApart(m *remembered, e *rebuiltEntry) {
	top := max(m.Generation, e.Generation)
	spent := map[int]bool{}
	for _, have := range e.attempts {
		top = max(top, have.Generation)
		outcome := have.Outcome.String
		if told := m.attempt(have.ID); told != nil && told.Outcome != "" && changeable(have) {
			outcome = told.Outcome
		}
		// an attempt of a row that was joined with this one is not in its way
		if have.EntryID == e.ID && (outcome == "" || mayExist(outcome)) {
			spent[have.Generation] = true
		}
	}
	for _, a := range m.attempts {
		top = max(top, a.Generation)
	}
	for _, a := range m.attempts {
		if e.attempts[a.ID] != nil || a.Outcome != "" && !mayExist(a.Outcome) {
			continue
		}
		if spent[a.Generation] {
			top++
			if image, ok := h.records[origin{m.Row, m.Sends, a.Generation}]; ok {
				delete(h.records, originOf(image))
				image.Generation = top
				h.record(image)
			}
			a.Generation, m.Generation, m.double = top, top, true
		}
		spent[a.Generation] = true
	}
}

// mayExist reports whether an attempt with this outcome may have created a record.
func mayExist(outcome string) bool {
	return outcome == string(trade.OutcomeUnknown) || outcome == string(trade.OutcomeCreated)
}

// sentElsewhere reports whether another host has sent the row in a generation, with an outcome that
// is open or unknown. An intent of this host's journal that the ledger lacks was then never in it,
// and never left.
func (e *rebuiltEntry) sentElsewhere(m *remembered, generation int) bool {
	for id, have := range e.attempts {
		known := slices.ContainsFunc(m.attempts, func(a *rememberedAttempt) bool { return a.ID == id })
		if !known && have.Generation == generation && changeable(have) {
			return true
		}
	}
	return false
}

// moves reports whether the entry still has the id that a person assigned to the row under the new
// key.
func (r RebuiltRow) moves() bool {
	return r.MovedID != "" && r.entry.OwnID.String == r.MovedID
}

// explains reports whether a person has explained an absence that the entry does not have as
// explained.
func (r RebuiltRow) explains() bool {
	return r.to.Created() && slices.ContainsFunc(r.Explained, func(f trade.Flag) bool {
		return !strings.Contains(r.entry.Acknowledged, `"`+string(f)+`"`)
	})
}

// changeable reports whether the outcome of an attempt of the ledger may still change.
func changeable(a *ledger.AttemptRow) bool {
	return !a.Outcome.Valid || a.Outcome.String == string(trade.OutcomeUnknown)
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
