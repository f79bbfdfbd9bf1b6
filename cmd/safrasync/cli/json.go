package cli

import (
	"encoding/json"
	"time"

	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// RowJSON is one line of `rows --json`. Names, order and nulls are fixed, because other programs
// read them (docs/json.md).
type RowJSON struct {
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
	Error         *errorJSON      `json:"error"`
	WaitingFor    []trade.Awaited `json:"waiting_for"`
	Title         string          `json:"title"` // of the job
	Show          trade.Shown     `json:"show"`  // what people see of the row, in that order
}

type errorJSON struct {
	Kind     trade.ErrorKind `json:"kind"`
	Status   *int            `json:"status"` // null if no answer came
	Messages []string        `json:"messages"`
	Fields   []FieldJSON     `json:"fields"`
	Code     string          `json:"code"` // of the sentence in text; "" if fields say what is wrong
	Text     string          `json:"text"`
	// what a held row was compared with
	Counterpart *trade.Counterpart `json:"counterpart,omitempty"`
}

// FieldJSON is one problem of a field.
type FieldJSON struct {
	Field  string `json:"field"`
	Rule   string `json:"rule"`
	Column string `json:"column"`
	Value  string `json:"value"`
}

// FieldsOf converts problems to their JSON form.
func FieldsOf(problems []trade.Problem) []FieldJSON {
	return trade.Map(problems, func(p trade.Problem) FieldJSON {
		return FieldJSON{p.Field, p.Rule, p.Column, p.Value}
	})
}

// RowDetailJSON is `row` of `why --json`.
type RowDetailJSON struct {
	RowJSON
	Quantity    trade.Quantity  `json:"quantity"`
	Values      trade.Values    `json:"values"`  // the mapped columns, as "<kind>:<text>"
	Payload     json.RawMessage `json:"payload"` // null while it cannot be sent
	PayloadHash *string         `json:"payload_hash"`
	Warnings    []trade.Problem `json:"warnings"`
	GoneSweeps  int             `json:"gone_sweeps"`
	History     []attemptJSON   `json:"history"` // every attempt, oldest first
	// the id that it had before a person moved its record to the row under its new key
	MovedID      *string            `json:"moved_id"`
	Path         string             `json:"path"`         // of the POST, after api.base_url; "" while it cannot be sent
	Changes      []trade.Difference `json:"changes"`      // where the ERP's row now differs from what was sent
	Acknowledged []trade.Flag       `json:"acknowledged"` // flags that a person has acknowledged and that still hold
	// when its values, requests and answers were removed; null: they are stored
	ReducedAt *time.Time   `json:"reduced_at"`
	Hints     office.Hints `json:"hints"` // what events of the platform reported
}

type attemptJSON struct {
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

// InEnglish returns problems as JSON has them; none is an empty list.
func InEnglish(problems []trade.Problem) []trade.Problem {
	out := append([]trade.Problem{}, problems...)
	for i, p := range out {
		out[i].Detail = phrase.Packed(p.Detail.Error())
	}
	return out
}

// RowOf converts an entry to its JSON form.
func RowOf(c *config.Config, e trade.Entry) RowJSON {
	row := RowJSON{
		Job: e.Job, Sends: e.Sends, Key: e.Key, State: e.State,
		Cause: trade.OrNull(e.Cause), RemoteID: trade.OrNull(e.RemoteID),
		Flags:    OrEmpty(e.Flags),
		Attempts: e.Attempts, NextAttemptAt: trade.OrNull(e.NextAttemptAt), FirstSeenAt: e.FirstSeenAt,
		UpdatedAt:  e.UpdatedAt,
		Generation: e.Generation, WaitingFor: OrEmpty(e.WaitingFor),
	}
	if f := e.Error; f != nil {
		row.Error = &errorJSON{
			Kind: f.Kind, Status: trade.OrNull(f.Status), Messages: OrEmpty(f.Messages),
			Fields: FieldsOf(f.Fields), Code: f.Why.Code, Text: f.Text(), Counterpart: f.Counterpart,
		}
	}
	// A title that is not configured is English.
	row.Title, row.Show = e.Job, e.Shown
	if c != nil {
		row.Title = c.Titles(trade.English).Of(e.Job)
	}
	return row
}

// RowDetailOf converts an entry with its attempts, its later changes and what events reported to its
// JSON form.
func RowDetailOf(c *config.Config, e trade.Entry, attempts []trade.Attempt, changes []trade.Difference,
	hints office.Hints,
) RowDetailJSON {
	out := RowDetailJSON{
		RowJSON: RowOf(c, e), Quantity: e.Quantity, Values: e.Values, Payload: e.Payload,
		PayloadHash: trade.OrNull(string(e.PayloadHash)),
		Warnings:    InEnglish(e.Warnings), GoneSweeps: e.GoneSweeps, Changes: OrEmpty(changes),
		Acknowledged: OrEmpty(e.Acknowledged), History: []attemptJSON{}, Path: mapping.PathOf(e),
		MovedID:   trade.OrNull(e.MovedID),
		ReducedAt: trade.OrNull(e.ReducedAt),
		Hints:     hints,
	}
	out.Hints.Heard = OrEmpty(hints.Heard)
	out.Hints.Like, out.Hints.Unreadable = OrEmpty(hints.Like), OrEmpty(hints.Unreadable)
	for _, t := range attempts {
		body := t.Payload
		if string(body) == "{}" { // retention has removed it
			body = nil
		}
		out.History = append(out.History, attemptJSON{
			No: t.No, ID: t.ID, Generation: t.Generation, RunID: t.RunID, StartedAt: t.StartedAt,
			FinishedAt: trade.OrNull(t.FinishedAt),
			Outcome:    words.OutcomeName(t.Outcome), Status: trade.OrNull(t.Status), Messages: OrEmpty(t.Messages),
			RemoteID: trade.OrNull(t.RemoteID), Reason: t.Reason.String(),
			Request: body, RequestHead: t.RequestHead, AnswerHead: t.AnswerHead, Answer: t.AnswerBody,
			Evidence: t.Evidence,
		})
	}
	return out
}

// AuditJSON is one line of `report --audit --json`.
type AuditJSON struct {
	Seq    int64           `json:"seq"`
	At     time.Time       `json:"at"`
	Who    string          `json:"who"`
	From   string          `json:"from"`
	Act    string          `json:"act"`
	Target string          `json:"target"`
	Reason string          `json:"reason"`
	Detail json.RawMessage `json:"detail"` // values before and after the act
	Prev   string          `json:"prev"`   // hash of the previous record; "" for the first
	Hash   string          `json:"hash"`

	Reduced bool `json:"reduced"` // retention has removed who, from, target, reason and detail
}

// AuditOf converts an audit record to its JSON form. A detail that is not valid JSON becomes null.
func AuditOf(r trade.AuditRecord) AuditJSON {
	detail := json.RawMessage(trade.MaskJSON([]byte(r.Detail)))
	if !json.Valid(detail) {
		detail = json.RawMessage("null")
	}
	return AuditJSON{
		r.Seq, r.At, r.Who, r.From, r.Act, trade.MaskDocuments(r.Target),
		trade.MaskDocuments(r.Because(trade.English, time.UTC)), detail,
		r.Prev, r.Hash, r.Reduced,
	}
}
