package state

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// put adds an entry in any state by hand, through states that lead there.
func put(t *testing.T, s *Store, key string, state trade.State) int64 {
	t.Helper()
	paths := map[trade.State][]trade.State{
		trade.Pending: {trade.Pending}, trade.Waiting: {trade.Waiting}, trade.Invalid: {trade.Invalid},
		trade.Held:    {trade.Held},
		trade.Sending: {trade.Pending, trade.Sending}, trade.Accepted: {trade.Pending, trade.Sending, trade.Accepted},
		trade.Rejected:  {trade.Pending, trade.Sending, trade.Rejected},
		trade.InDoubt:   {trade.Pending, trade.Sending, trade.InDoubt},
		trade.Dismissed: {trade.Pending, trade.Dismissed}, trade.Withdrawn: {trade.Pending, trade.Withdrawn},
	}
	row := entryRowOf(newEntry(key), at)
	row.Job, row.State = "j", paths[state][0]
	mustExec(t, s, sqldb.InsertText("entry", newColumns, 1, ""), sqldb.Pick(row, newColumns)...)
	var id int64
	must.Do(t, s.db.Read.Get(&id, s.db.Q(`SELECT id FROM entry WHERE job = 'j' AND key = ?`), key))
	row.EntryID = id
	mustExec(t, s, sqldb.InsertText("body", bodyColumns, 1, ""), sqldb.Pick(row, bodyColumns)...)
	for _, next := range paths[state][1:] {
		if err := moveByHand(t, s, id, next); err != nil {
			t.Fatalf("moving to %s: %v", next, err)
		}
	}
	return id
}

func moveByHand(t *testing.T, s *Store, id int64, to trade.State) error {
	t.Helper()
	on := "NULL"
	if to == trade.Accepted { // as the late answer of an earlier attempt
		on = fmt.Sprintf("(SELECT id FROM sent WHERE entry_id = %d AND generation = 99)", id)
		recordByHand(t, s, id, "made", `'remote-' || id`)
	}
	if to == trade.Sending {
		mustExec(t, s,
			`UPDATE sent SET outcome = 'not_sent', finished_at = 1 WHERE origin = ? AND outcome = 'open'`, id)
		openAttempt(t, s, id, 1)
	}
	return byHand(s, fmt.Sprintf(`UPDATE entry SET state = '%s', record_id = %s WHERE id = %d`, to, on, id))
}

// recordByHand gives an entry a record that went in another generation than its attempts.
func recordByHand(t *testing.T, s *Store, id int64, certainty, remote string) {
	t.Helper()
	mustExec(t, s, `INSERT INTO sent (origin, entry_id, kind, job, key, generation, certainty, remote_id, parent, sent_cells, sent_payload,
		sent_fields, sent_ab, sent_ac, sent_bc, kg, sent_at, version)
		SELECT id, id, sends, job, key, 99, '`+certainty+`', `+remote+`, '', source_hash, payload_hash, payload_hash, 0, 0, 0, '0', 0, 1 FROM entry
		WHERE id = ? ON CONFLICT DO NOTHING`, id)
}

func openAttempt(t *testing.T, s *Store, entry int64, generation int) string {
	t.Helper()
	id := sqldb.NewID()
	must.Do(t, tryAttempt(s, id, entry, generation))
	return id
}

// tryAttempt opens an attempt of a generation as the program does: in a sending of its own, or in the
// place of the one before.
func tryAttempt(s *Store, id string, entry int64, generation int) error {
	columns := strings.Join(attemptColumns, ", ")
	var had int
	if err := s.db.Read.Get(&had, s.db.Q(`SELECT COUNT(*) FROM sent WHERE origin = ? AND generation = ?`), entry, generation); err != nil {
		return err
	}
	if had == 0 {
		return byHand(s, `INSERT INTO sent (origin, entry_id, kind, job, key, generation, certainty, remote_id, parent, sent_cells, sent_payload,
			sent_fields, sent_ab, sent_ac, sent_bc, kg, sent_at, version, attempt, no, outcome)
			SELECT id, id, sends, job, key, CAST(? AS BIGINT), 'maybe', '', '', source_hash, payload_hash, payload_hash,
			0, 0, 0, '0', 0, 1, CAST(? AS TEXT), 1, 'open'
			FROM entry WHERE id = ?`, generation, id, entry)
	}
	if err := byHand(s, `INSERT INTO former (`+columns+`) SELECT `+columns+` FROM sent WHERE origin = ? AND generation = ?`,
		entry, generation); err != nil {
		return err
	}
	return byHand(s, `UPDATE sent SET attempt = ?, no = no + 1, outcome = 'open', finished_at = NULL WHERE origin = ? AND generation = ?`,
		id, entry, generation)
}

func TestTheDatabaseAllowsTheMovesAndRefusesAllOthers(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		for _, from := range trade.States {
			for _, to := range trade.States {
				if from == to {
					continue
				}
				id := put(t, s, fmt.Sprintf("%s-%s", from, to), from)
				err := moveByHand(t, s, id, to)
				if trade.CanMove(from, to) && err != nil {
					t.Errorf("%s to %s is allowed, but: %v", from, to, err)
				}
				if !trade.CanMove(from, to) && err == nil {
					t.Errorf("%s to %s is not allowed, but the database let it happen", from, to)
				}
			}
		}
		for _, state := range trade.States {
			if slices.Contains(trade.Moves[""], state) {
				continue
			}
			row := entryRowOf(newEntry("start-"+string(state)), at)
			row.Job, row.State = "j", state
			if state == trade.Accepted {
				row.RecordID = 1
			}
			insert := sqldb.InsertText("entry", newColumns, 1, "")
			if err := byHand(s, insert, sqldb.Pick(row, newColumns)...); err == nil {
				t.Errorf("an entry could start as %s", state)
			}
		}
	})
}

func TestTheDatabaseRefusesNonsense(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		pending, accepted, sending := put(t, s, "p", trade.Pending), put(t, s, "a", trade.Accepted),
			put(t, s, "s", trade.Sending)
		other := put(t, s, "o", trade.Sending)
		recordByHand(t, s, other, "maybe", `''`)
		mustExec(t, s,
			`INSERT INTO audit (at, who, origin, act, target, reason, detail, prev, hash) VALUES (1, 'w', 'o', 'a', 't', 'r', '{}', '', 'h')`)
		for name, query := range map[string]string{
			"a state that is none":          `UPDATE entry SET state = 'done' WHERE id = $pending`,
			"accepted without a record":     `UPDATE entry SET state = 'accepted' WHERE id = $sending`,
			"a record without accepted":     `UPDATE entry SET record_id = (SELECT id FROM sent WHERE entry_id = $other AND generation = 99) WHERE id = $other`,
			"the record of another":         `UPDATE entry SET state = 'accepted', record_id = (SELECT id FROM sent WHERE entry_id = $accepted AND generation = 99) WHERE id = $other`,
			"an id that another has":        `UPDATE sent SET certainty = 'stated', remote_id = 'remote-$accepted' WHERE entry_id = $other AND generation = 99`,
			"another id":                    `UPDATE sent SET remote_id = 'other' WHERE entry_id = $accepted AND generation = 99`,
			"what was made is not":          `UPDATE sent SET certainty = 'void', remote_id = '' WHERE entry_id = $accepted AND generation = 99`,
			"an id of what may be":          `UPDATE sent SET remote_id = 'x' WHERE entry_id = $other AND generation = 99`,
			"a generation without an audit": `UPDATE entry SET generation = 2 WHERE id = $pending`,
			"a generation that is skipped":  `UPDATE entry SET generation = 3, resend_audit_id = 1 WHERE id = $pending`,
			"an audit that does not exist":  `UPDATE entry SET generation = 2, resend_audit_id = 99 WHERE id = $pending`,
			"sending without an attempt":    `UPDATE entry SET state = 'sending' WHERE id = $pending`,
			"pending without a payload":     `UPDATE entry SET sendable = 0 WHERE id = $pending`,
			"another key":                   `UPDATE entry SET key = 'k' WHERE id = $pending`,
			"another job":                   `UPDATE entry SET job = 'k' WHERE id = $pending`,
			"another first time":            `UPDATE entry SET first_seen_at = 5 WHERE id = $pending`,
			"the key of another":            `INSERT INTO entry SELECT 99, job, sends, key, key_parts, state, cause, record_id, flags, generation, resend_audit_id, attempts, next_attempt_at, first_seen_at, updated_at, error, waiting_for, source_hash, mapped_with, sendable, payload_hash, content, amount, unit, gone_sweeps, version FROM entry WHERE id = $pending`,
			"no entry any more":             `DELETE FROM entry WHERE id = $pending`,
			"no attempt any more":           `DELETE FROM sent WHERE origin = $sending`,
			"another payload":               `UPDATE sent SET payload_hash = CAST('x' AS ` + s.db.D.Bytes + `) WHERE origin = $sending`,
			"an attempt of another":         `UPDATE sent SET origin = $pending WHERE origin = $sending`,
			"an attempt of nothing":         `UPDATE sent SET origin = 999 WHERE origin = $sending`,
			"an outcome that is none":       `UPDATE sent SET outcome = 'done', finished_at = 1 WHERE origin = $sending`,
			"an outcome without a time":     `UPDATE sent SET outcome = 'unknown' WHERE origin = $sending`,
			"created without an id":         `UPDATE sent SET outcome = 'created', finished_at = 1 WHERE origin = $sending`,
			"a fork of the audit":           `INSERT INTO audit (at, who, origin, act, target, reason, detail, prev, hash) VALUES (1, 'w', 'o', 'a', 't', 'r', '{}', '', 'other')`,
			"another audit":                 `UPDATE audit SET reason = 'none'`,
			"no audit any more":             `DELETE FROM audit`,
			"a job in a state that is none": `INSERT INTO job_status (job, state) VALUES ('j', 'asleep')`,
			"a text where a number belongs": `UPDATE entry SET attempts = 'many' WHERE id = $pending`,
		} {
			query = strings.NewReplacer("$pending", fmt.Sprint(pending), "$sending", fmt.Sprint(sending), "$accepted",
				fmt.Sprint(accepted), "$other", fmt.Sprint(other)).Replace(query)
			if err := byHand(s, query); err == nil {
				t.Errorf("%s: the database let it happen", name)
			}
		}
		mustExec(t, s, fmt.Sprintf(`UPDATE entry SET generation = 2, resend_audit_id = 1 WHERE id = %d`, pending))
	})
}

func TestF069TheDatabaseLetsAnOutcomeChangeOnlyFromUnknownToCertain(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		outcomes := []trade.Outcome{
			trade.OutcomeCreated, trade.OutcomeNotCreated, trade.OutcomeNotSent,
			trade.OutcomeUnknown,
		}
		set := func(id string, outcome trade.Outcome) error {
			if outcome == trade.OutcomeOpen {
				return byHand(s, `UPDATE sent SET outcome = 'open', finished_at = NULL WHERE attempt = ?`, id)
			}
			return byHand(s, `UPDATE sent SET outcome = ?, finished_at = 1, answer_id = 'r' WHERE attempt = ?`,
				string(outcome), id)
		}
		for _, from := range outcomes {
			for _, to := range append(outcomes, trade.OutcomeOpen) {
				if from == to {
					continue
				}
				id := openAttempt(t, s, put(t, s, sqldb.NewID(), trade.Pending), 1)
				if err := set(id, from); err != nil {
					t.Fatalf("open to %s: %v", from, err)
				}
				err := set(id, to)
				if want := from == trade.OutcomeUnknown && to != trade.OutcomeOpen; want != (err == nil) {
					t.Errorf("%s to %q: %v, want it allowed: %v", from, to, err, want)
				}
			}
		}
	})
}

func TestI3TheDatabaseAllowsOneAttemptPerGenerationThatMayHaveCreatedARecord(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		for _, outcome := range []trade.Outcome{
			trade.OutcomeOpen, trade.OutcomeCreated, trade.OutcomeUnknown,
			trade.OutcomeNotCreated, trade.OutcomeNotSent,
		} {
			entry := put(t, s, "e-"+string(outcome), trade.Pending)
			id := openAttempt(t, s, entry, 1)
			if outcome != trade.OutcomeOpen {
				mustExec(t, s, `UPDATE sent SET outcome = ?, finished_at = 1, answer_id = 'r' WHERE attempt = ?`,
					string(outcome), id)
			}
			err := tryAttempt(s, sqldb.NewID(), entry, 1)
			if free := outcome == trade.OutcomeNotCreated || outcome == trade.OutcomeNotSent; free != (err == nil) {
				t.Errorf("a second attempt after %q: %v", outcome, err)
			}
			if err := tryAttempt(s, sqldb.NewID(), entry, 2); err != nil {
				t.Errorf("an attempt of the next generation after %q: %v", outcome, err)
			}
		}
	})
}

// A change that the database refuses ends its transaction: nothing of it stays, also when whoever
// wrote it goes on.
func TestARefusalOfTheDatabaseEndsTheTransaction(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		first, second := put(t, s, "1", trade.Pending), put(t, s, "2", trade.Accepted)
		tx := must.Get(s.db.Write.BeginTxx(t.Context(), nil))(t)
		defer func() { _ = tx.Rollback() }()
		must.Get(tx.ExecContext(t.Context(), s.db.Q(`UPDATE entry SET state = 'dismissed' WHERE id = ?`),
			first))(t)
		if _, err := tx.ExecContext(t.Context(), s.db.Q(`UPDATE entry SET state = 'pending' WHERE id = ?`),
			second); err == nil || !strings.Contains(err.Error(), "safrasync: this change of state is not allowed") {
			t.Errorf("an accepted entry went back: %v", err)
		}
		if err := tx.Commit(); err == nil {
			t.Error("what was refused was committed")
		}
		var state string
		if err := s.db.Read.GetContext(t.Context(), &state, s.db.Q(`SELECT state FROM entry WHERE id = ?`),
			first); err != nil || state != string(trade.Pending) {
			t.Errorf("the change before the refused one stayed: %s, %v", state, err)
		}
	})
}
