// The row of the table attempt, and its conversions.

package state

import (
	"database/sql"
	"encoding/json"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// attemptRow is a row of the table attempt.
type attemptRow struct {
	ID, RunID, Owner, Target, Payload, Messages, RemoteID, Reason, AnswerBody string
	EntryID, Epoch, StartedAt                                                 int64
	Generation, No, Counts, Late, Status                                      int
	PayloadHash                                                               trade.Hash
	FinishedAt                                                                sql.NullInt64
	Outcome, Evidence, RequestHead, AnswerHead                                sql.NullString
}

// attemptColumns are the columns of an attempt.
var attemptColumns = sqldb.Columns[attemptRow]()

// resultColumns are the columns that a settlement writes, after the id that finds the attempt.
var resultColumns = []string{
	"id", "finished_at", "outcome", "counts", "late", "status", "messages", "remote_id", "reason", "evidence",
	"request_head", "answer_head", "answer_body",
}

// Args returns the values of attemptColumns.
func (r *attemptRow) Args() []any { return sqldb.Pick(r, attemptColumns) }

// Result returns the values of resultColumns.
func (r *attemptRow) Result() []any { return sqldb.Pick(r, resultColumns) }

// attemptRowOf returns the row of an attempt. Its texts come from another server and are cleaned.
func attemptRowOf(a trade.Attempt, now time.Time, counts bool) (*attemptRow, error) {
	messages, err := listText(a.Messages)
	if err != nil {
		return nil, phrase.Errorf("attempt %s: %w", a.ID, err)
	}
	r := &attemptRow{
		ID: a.ID, EntryID: a.EntryID, Generation: a.Generation, No: a.No, RunID: a.RunID, Owner: a.Owner,
		Epoch:  a.Epoch,
		Target: a.Target, Payload: string(a.Payload), PayloadHash: a.PayloadHash,
		StartedAt: sqldb.AtOr(a.StartedAt, now), Outcome: textOrNull(string(a.Outcome)),
		Status: a.Status, Messages: messages, RemoteID: sqldb.CleanText(a.RemoteID), Reason: sentenceText(a.Reason),
		Evidence:    textOrNull(sqldb.CleanText(string(a.Evidence))),
		RequestHead: textOrNull(sqldb.CleanText(string(a.RequestHead))),
		AnswerHead:  textOrNull(sqldb.CleanText(string(a.AnswerHead))), AnswerBody: sqldb.CleanText(a.AnswerBody),
	}
	if a.Outcome != trade.OutcomeOpen {
		r.FinishedAt = sql.NullInt64{Int64: sqldb.AtOr(a.FinishedAt, now), Valid: true}
	}
	if counts {
		r.Counts = 1
	}
	return r, nil
}

// Attempt returns the attempt of a row. An error names the damaged column.
func (r *attemptRow) Attempt() (trade.Attempt, error) {
	a := trade.Attempt{
		ID: r.ID, EntryID: r.EntryID, Generation: r.Generation, No: r.No, RunID: r.RunID, Owner: r.Owner,
		Epoch:  r.Epoch,
		Target: r.Target, Payload: json.RawMessage(r.Payload), PayloadHash: r.PayloadHash,
		StartedAt: time.UnixMilli(r.StartedAt).UTC(), FinishedAt: sqldb.Instant(r.FinishedAt),
		Outcome: trade.Outcome(r.Outcome.String), Status: r.Status, RemoteID: r.RemoteID,
		Evidence:    rawOrNil(r.Evidence),
		RequestHead: rawOrNil(r.RequestHead), AnswerHead: rawOrNil(r.AnswerHead), AnswerBody: r.AnswerBody,
	}
	if r.Messages != "[]" {
		if err := json.Unmarshal([]byte(r.Messages), &a.Messages); err != nil {
			return a, phrase.Errorf("attempt %s is damaged in column messages: restore the backup", r.ID)
		}
	}
	var err error
	a.Reason, err = sentenceOf(r.Reason)
	if err != nil {
		return a, phrase.Errorf("attempt %s is damaged in column reason: restore the backup", r.ID)
	}
	return a, nil
}

// sentenceOf reads a sentence of a column.
func sentenceOf(text string) (s trade.Sentence, err error) {
	if text != "" {
		err = json.Unmarshal([]byte(text), &s)
	}
	return s, err
}

// sentenceText returns a sentence as a column has it; "" for none.
func sentenceText(s trade.Sentence) string {
	if s.Code == "" {
		return ""
	}
	text, _ := json.Marshal(s) //nolint:errchkjson // it is made of texts, and of numbers that were formatted
	return string(text)
}

func rawOrNil(text sql.NullString) json.RawMessage {
	if !text.Valid {
		return nil
	}
	return json.RawMessage(text.String)
}
