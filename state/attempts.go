// The attempts: of the last one of each sending the table sent has what is decided by, and the table
// former of those before it. The table exchange has what was sent and answered.

package state

import (
	"database/sql"
	"encoding/json"
	"time"

	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// attemptRow is an attempt without what was sent and answered: a row of the table former, and of the
// view attempt. The last one of a sending is part of its row (sentRow).
type attemptRow struct {
	Origin           int64 // the row of the ERP that it sent
	Epoch            int64
	RunID, Owner     string
	Target           string
	FinishedAt       sql.NullInt64
	No, Late         int
	Messages, Reason string
	journal.AttemptImage
}

var attemptColumns = sqldb.Columns[attemptRow]()

// exchangeRow is what an attempt sent, and what was answered.
type exchangeRow struct {
	Attempt, Payload                  string
	Evidence, RequestHead, AnswerHead sql.NullString
	AnswerBody                        string
}

var exchangeColumns = sqldb.Columns[exchangeRow]()

// Values of the column outcome beside those of trade.Outcome.
const (
	outcomeNone = "none"
	outcomeOpen = journal.OutcomeOpen
)

// isOpen reports whether nobody knows yet how the attempt ended.
func (r *attemptRow) isOpen() bool { return r.Outcome == outcomeOpen }

// outcome returns how the attempt ended, in the words of the business.
func (r *attemptRow) outcome() trade.Outcome {
	if r.isOpen() {
		return trade.OutcomeOpen
	}
	return trade.Outcome(r.Outcome)
}

// ended sets how an attempt ended. Its texts come from another server and are cleaned.
func (r *attemptRow) ended(a trade.Attempt, now time.Time, counts bool) (err error) {
	r.Messages, err = listText(a.Messages)
	r.Outcome, r.FinishedAt = string(a.Outcome), sql.NullInt64{Int64: sqldb.AtOr(a.FinishedAt, now), Valid: true}
	r.Status, r.AnswerID, r.Reason = a.Status, sqldb.CleanText(a.RemoteID), sqldb.SentenceText(a.Reason)
	r.Counts = 0
	if counts {
		r.Counts = 1
	}
	return err
}

// exchangeOf returns what an attempt sent, and what was answered.
func exchangeOf(a trade.Attempt) *exchangeRow {
	text := func(raw json.RawMessage) sql.NullString { return textOrNull(sqldb.CleanText(string(raw))) }
	return &exchangeRow{
		Attempt: a.ID, Payload: string(a.Payload),
		Evidence: text(a.Evidence), RequestHead: text(a.RequestHead), AnswerHead: text(a.AnswerHead),
		AnswerBody: sqldb.CleanText(a.AnswerBody),
	}
}

// openPayloads selects the payloads of open attempts, which are those of their rows.
const openPayloads = `SELECT s.attempt, b.payload FROM sent s JOIN body b ON b.entry_id = s.origin
	WHERE s.outcome = 'open' AND b.payload IS NOT NULL AND `

// writeExchanges stores what attempts sent, and what was answered. What is stored of the payload stays.
func writeExchanges(t *sqldb.Tx, rows []*exchangeRow) error {
	var unread []string
	for _, x := range rows {
		if x.Payload == "" {
			unread = append(unread, x.Attempt)
		}
	}
	payloads := map[string]string{}
	if len(unread) > 0 {
		var found []exchangeRow
		if err := t.All(&found, openPayloads+t.S.D.Among("s.attempt"), sqldb.ListOf(t.S.D, unread)); err != nil {
			return err
		}
		for _, x := range found {
			payloads[x.Attempt] = x.Payload
		}
	}
	written := make([][]any, len(rows))
	for i, x := range rows {
		if x.Payload == "" {
			x.Payload = payloads[x.Attempt]
		}
		if x.Payload == "" {
			x.Payload = noPayload
		}
		written[i] = sqldb.Pick(x, exchangeColumns)
	}
	return t.InsertRows("exchange", exchangeColumns, written, `ON CONFLICT (attempt) DO UPDATE SET evidence = excluded.evidence,
		request_head = excluded.request_head, answer_head = excluded.answer_head, answer_body = excluded.answer_body`)
}

// noPayload replaces a payload that is not known, or no longer kept.
const noPayload = "{}"

// selectAttempt selects whole attempts (trade.Attempt). The payload of an open one is that of its row.
const selectAttempt = `SELECT ` + outcomeColumns + `, a.run_id, a.owner, a.epoch, a.target, a.payload_hash, a.messages, a.reason,
	x.evidence, x.request_head, x.answer_head, COALESCE(x.answer_body, '') AS answer_body,
	COALESCE(CASE WHEN a.outcome = 'open' THEN b.payload ELSE x.payload END, '{}') AS payload
	FROM attempt a JOIN body b ON b.entry_id = a.origin
	LEFT JOIN exchange x ON x.attempt = a.attempt `
