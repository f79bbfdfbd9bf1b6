package office

import (
	"encoding/json"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// RowAnswer is one row as programs read it. Names, order and nulls are fixed (docs/json.md).
type RowAnswer struct {
	Job           string          `json:"job"`
	Sends         trade.Kind      `json:"sends"`
	Key           string          `json:"key"`
	State         trade.State     `json:"state"`
	Cause         *string         `json:"cause"`
	RemoteID      *string         `json:"remote_id"`
	Flags         []trade.Flag    `json:"flags"`
	Attempts      int             `json:"attempts"`
	NextAttemptAt *time.Time      `json:"next_attempt_at"`
	FirstSeenAt   time.Time       `json:"first_seen_at"`
	UpdatedAt     time.Time       `json:"updated_at"`
	Generation    int             `json:"generation"`
	Error         *RowError       `json:"error"`
	WaitingFor    []trade.Awaited `json:"waiting_for"`
	Title         string          `json:"title"` // of the job
	Show          trade.Shown     `json:"show"`  // what people see of the row, in that order
}

// RowError is why a row was not sent.
type RowError struct {
	Kind     trade.ErrorKind `json:"kind"`
	Status   *int            `json:"status"` // null if no answer came
	Messages []string        `json:"messages"`
	Fields   []RowField      `json:"fields"`
	Code     string          `json:"code"` // of the sentence in text; "" if fields say what is wrong
	Text     string          `json:"text"`
	// what a held row was compared with
	Counterpart *trade.Counterpart `json:"counterpart,omitempty"`
}

// RowField is one problem of a field.
type RowField struct {
	Field  string `json:"field"`
	Rule   string `json:"rule"`
	Column string `json:"column"`
	Value  string `json:"value"`
}

// RowFields returns problems of fields as programs read them.
func RowFields(problems []trade.Problem) []RowField {
	return trade.Map(problems, func(p trade.Problem) RowField { return RowField{p.Field, p.Rule, p.Column, p.Value} })
}

// Row returns a row as programs read it.
func (o *Office) Row(e trade.Entry) RowAnswer {
	row := RowAnswer{
		Job: e.Job, Sends: e.Sends, Key: e.Key, State: e.State, Cause: trade.OrNull(e.Cause),
		RemoteID: trade.OrNull(e.RemoteID), Flags: OrEmpty(e.Flags), Attempts: e.Attempts,
		NextAttemptAt: trade.OrNull(e.NextAttemptAt), FirstSeenAt: e.FirstSeenAt, UpdatedAt: e.UpdatedAt,
		Generation: e.Generation, WaitingFor: OrEmpty(e.WaitingFor), Show: e.Shown,
		Title: o.conf.Titles(trade.English).Of(e.Job), // one that is not configured is English
	}
	if f := e.Error; f != nil {
		row.Error = &RowError{
			Kind: f.Kind, Status: trade.OrNull(f.Status), Messages: OrEmpty(f.Messages), Fields: RowFields(f.Fields),
			Code: f.Why.Code, Text: f.Text(), Counterpart: f.Counterpart,
		}
	}
	return row
}

// RowDetail is everything about a row that the ledger has.
type RowDetail struct {
	RowAnswer
	Quantity    trade.Quantity  `json:"quantity"`
	Values      trade.Values    `json:"values"`  // the mapped columns, as "<kind>:<text>"
	Payload     json.RawMessage `json:"payload"` // null while it cannot be sent
	PayloadHash *string         `json:"payload_hash"`
	Warnings    []trade.Problem `json:"warnings"`
	GoneSweeps  int             `json:"gone_sweeps"`
	History     []RowAttempt    `json:"history"` // every attempt, oldest first
	// the id that it had before a person moved its record to the row under its new key
	MovedID      *string            `json:"moved_id"`
	Path         string             `json:"path"`         // of the POST, after api.base_url; "" while it cannot be sent
	Changes      []trade.Difference `json:"changes"`      // where the ERP's row now differs from what was sent
	Acknowledged []trade.Flag       `json:"acknowledged"` // flags that a person has acknowledged and that still hold
	// when its values, requests and answers were removed; null: they are stored
	ReducedAt *time.Time `json:"reduced_at"`
	Hints     Hints      `json:"hints"` // what events of the platform reported
}

// RowAttempt is one attempt to send a row.
type RowAttempt struct {
	No          int             `json:"no"`
	ID          string          `json:"id"`
	Generation  int             `json:"generation"`
	RunID       string          `json:"run_id"`
	StartedAt   time.Time       `json:"started_at"`
	FinishedAt  *time.Time      `json:"finished_at"`
	Outcome     string          `json:"outcome"` // open, created, not_created, not_sent, unknown
	Status      *int            `json:"status"`
	Messages    []string        `json:"messages"`
	RemoteID    *string         `json:"remote_id"`
	Reason      string          `json:"reason"`
	Request     json.RawMessage `json:"request"`
	RequestHead json.RawMessage `json:"request_headers"`
	AnswerHead  json.RawMessage `json:"answer_headers"`
	Answer      string          `json:"answer"` // beginning of its body
	Evidence    json.RawMessage `json:"evidence"`
}

// detail returns a row with its attempts, its later changes and what events reported.
func (o *Office) detail(e trade.Entry, attempts []trade.Attempt, changes []trade.Difference, hints Hints) *RowDetail {
	out := &RowDetail{
		RowAnswer: o.Row(e), Quantity: e.Quantity, Values: e.Values, Payload: e.Payload,
		PayloadHash: trade.OrNull(string(e.PayloadHash)), Warnings: InEnglish(e.Warnings), GoneSweeps: e.GoneSweeps,
		History: make([]RowAttempt, len(attempts)), MovedID: trade.OrNull(e.MovedID), Path: mapping.PathOf(e),
		Changes: OrEmpty(changes), Acknowledged: OrEmpty(e.Acknowledged), ReducedAt: trade.OrNull(e.ReducedAt),
		Hints: hints,
	}
	out.Hints.Heard = OrEmpty(hints.Heard)
	out.Hints.Like, out.Hints.Unreadable = OrEmpty(hints.Like), OrEmpty(hints.Unreadable)
	for i, t := range attempts {
		out.History[i] = RowAttempt{
			No: t.No, ID: t.ID, Generation: t.Generation, RunID: t.RunID, StartedAt: t.StartedAt,
			FinishedAt: trade.OrNull(t.FinishedAt), Outcome: words.OutcomeName(t.Outcome),
			Status: trade.OrNull(t.Status), Messages: OrEmpty(t.Messages), RemoteID: trade.OrNull(t.RemoteID),
			Reason: t.Reason.String(), Request: t.Payload, RequestHead: t.RequestHead, AnswerHead: t.AnswerHead,
			Answer: t.AnswerBody, Evidence: t.Evidence,
		}
		if string(t.Payload) == "{}" { // retention has removed it
			out.History[i].Request = nil
		}
	}
	return out
}

// InEnglish returns problems as JSON has them; none is an empty list.
func InEnglish(problems []trade.Problem) []trade.Problem {
	out := append([]trade.Problem{}, problems...)
	for i, p := range out {
		out[i].Detail = phrase.Packed(p.Detail.Error())
	}
	return out
}

// OrEmpty returns an empty list for a nil one, so that readers of JSON need not distinguish null
// from [].
func OrEmpty[S ~[]T, T any](list S) S { return append(S{}, list...) }

// Audit is one act of the audit as programs read it.
type Audit struct {
	Seq     int64           `json:"seq"`
	At      time.Time       `json:"at"`
	Who     string          `json:"who"`
	From    string          `json:"from"`
	Act     string          `json:"act"`
	Target  string          `json:"target"`
	Reason  string          `json:"reason"`
	Detail  json.RawMessage `json:"detail"` // values before and after the act
	Prev    string          `json:"prev"`   // hash of the previous record; "" for the first
	Hash    string          `json:"hash"`
	Reduced bool            `json:"reduced"` // retention has removed who, from, target, reason and detail
}

// AuditOf returns an audit record as programs read it. A detail that is not valid JSON becomes null.
func AuditOf(r trade.AuditRecord) Audit {
	detail := json.RawMessage(trade.MaskJSON([]byte(r.Detail)))
	if !json.Valid(detail) {
		detail = json.RawMessage("null")
	}
	return Audit{
		r.Seq, r.At, r.Who, r.From, r.Act, trade.MaskDocuments(r.Target),
		trade.MaskDocuments(r.Because(trade.English, time.UTC)), detail, r.Prev, r.Hash, r.Reduced,
	}
}
