package office

import (
	"encoding/json"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// RowState is what all programs read of a row. Names, order and nulls are fixed (docs/json.md).
type RowState struct {
	Job      string       `json:"job"`
	Sends    trade.Kind   `json:"sends"`
	Key      string       `json:"key"`
	State    trade.State  `json:"state"`
	Cause    *string      `json:"cause"`
	RemoteID *string      `json:"remote_id"`
	Flags    []trade.Flag `json:"flags"`
}

func rowState(e trade.Entry) RowState {
	return RowState{
		e.Job, e.Sends, e.Key, e.State, trade.OrNull(e.Cause), trade.OrNull(e.RemoteID), OrEmpty(e.Flags),
	}
}

// RowAnswer is one row as programs read it. Names, order and nulls are fixed (docs/json.md).
type RowAnswer struct {
	RowState
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
		RowState: rowState(e), Attempts: e.Attempts, NextAttemptAt: trade.OrNull(e.NextAttemptAt),
		FirstSeenAt: e.FirstSeenAt, UpdatedAt: e.UpdatedAt, Generation: e.Generation,
		WaitingFor: OrEmpty(e.WaitingFor), Show: e.Shown,
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

// RowAct is what an act has done to one row, as programs read it.
type RowAct struct {
	Act     string             `json:"act"`
	Job     string             `json:"job"`
	Key     string             `json:"key"`
	Done    bool               `json:"done"`
	Refused acts.Refusal       `json:"refused"` // why not; null if it was done
	State   *trade.State       `json:"state"`   // the row's state now; null for an unknown row
	Flags   []trade.Flag       `json:"flags"`
	Changes []trade.Difference `json:"changes"` // the differences that the person was shown

	// Set for resend and adopt only.
	Generation int               `json:"generation,omitempty"`
	RemoteID   string            `json:"remote_id,omitempty"`
	Remaining  int               `json:"quarantine_left_seconds,omitempty"`
	Holder     map[string]string `json:"holder,omitempty"`
	Reading    *acts.Readback    `json:"reading,omitempty"`
	Problems   []RowField        `json:"problems,omitempty"`
	WaitingFor []trade.Awaited   `json:"waiting_for,omitempty"`

	MayDouble   bool           `json:"may_double,omitempty"`  // the act may make a second record
	Counterpart map[string]any `json:"counterpart,omitempty"` // what a held row was compared with
}

// RowActOf returns what became of a step of a plan.
func RowActOf(plan acts.RowPlan, s acts.RowStep) RowAct {
	entry := s.Before
	if s.Done {
		entry = s.After
	}
	out := RowAct{
		Act: plan.Act, Job: plan.Job, Key: s.Key, Done: s.Done, Refused: s.Refused,
		State: trade.OrNull(entry.State),
		Flags: OrEmpty(entry.Flags), Changes: OrEmpty(s.Differences), MayDouble: s.MayDouble,
	}
	if c := s.Counterpart; c != nil {
		out.Counterpart = map[string]any{
			"job": c.Job, "key": c.Key,
			"remote_id": trade.OrNull(c.ID),     // null: it is not known
			"sent_at":   trade.OrNull(c.SentAt), // null: it was not sent
		}
	}
	if plan.Act != acts.ActResend && plan.Act != acts.ActAdopt {
		return out
	}
	out.Generation, out.RemoteID, out.Remaining, out.Reading = entry.Generation, entry.RemoteID,
		words.RoundUp(s.Remaining), s.Reading
	out.WaitingFor = s.WaitingFor
	out.Problems = RowFields(s.Problems)
	if s.Holder != (trade.ParentKey{}) {
		out.Holder = map[string]string{"job": s.Holder.Job, "key": s.Holder.Key}
	}
	return out
}

// Approval is an act that waits for the consent of others, or an answer to it, as programs read it.
type Approval struct {
	ID      int64           `json:"approval"`
	Act     string          `json:"act"`
	Target  string          `json:"target"`
	People  []trade.Consent `json:"people"` // the person who ordered the act comes first
	Needs   int             `json:"needs"`
	Until   string          `json:"until"`
	Done    bool            `json:"done"`
	Refused acts.Refusal    `json:"refused"`
}

// ApprovalOf returns what became of an act that waits.
func ApprovalOf(d acts.Decided) Approval {
	ap := d.Approval
	return Approval{
		ap.ID, ap.Act, ap.Target, ap.People, ap.Needs, ap.Until.Format("2006-01-02T15:04:05Z"), d.Done, d.Refused,
	}
}

// Event is an event of the platform as programs read it.
type Event struct {
	Seq     int64     `json:"seq"`
	Event   string    `json:"event"`
	FirstAt time.Time `json:"first_at"`
	LastAt  time.Time `json:"last_at"`
	Times   int       `json:"times"`
	Open    bool      `json:"open"` // it is still to be processed
	Outcome string    `json:"outcome"`
	Bytes   int       `json:"bytes"`
	Body    any       `json:"body,omitempty"` // only for a single event: the JSON that came, or a text
}

// EventOf returns an event without its body.
func EventOf(e trade.InboxEvent) Event {
	return Event{
		Seq: e.Seq, Event: e.Event, FirstAt: e.FirstAt, LastAt: e.LastAt, Times: e.Times,
		Open: !e.NextAt.IsZero(), Outcome: e.Outcome.String(), Bytes: len(e.Body),
	}
}

// ReferenceLine is a code of the de-para as programs read it: one that is stored, or that rows lack.
type ReferenceLine struct {
	Kind    string                     `json:"kind"`
	Code    *string                    `json:"code"` // null: the total of the kind
	ID      *string                    `json:"id"`   // null: rows wait for an id
	Rows    int                        `json:"rows"` // rows that wait for this code, or for any code of the kind
	Label   string                     `json:"label,omitempty"`
	From    string                     `json:"from"`              // ledger; erp: read from there; platform: looked up there
	Total   bool                       `json:"total"`             // what all missing codes of the kind block, each row counted once
	Blocks  map[trade.Kind]*trade.Load `json:"blocks,omitempty"`  // the blocked rows by kind of record
	Invalid map[trade.Kind]*trade.Load `json:"invalid,omitempty"` // rows that need the code and are also invalid
}

// ReferenceLines returns codes that rows lack, then stored ones.
func (o *Office) ReferenceLines(missing []trade.Shortage, stored []trade.Reference) (out []ReferenceLine) {
	for _, s := range missing {
		line := ReferenceLine{
			Kind: s.Kind, Code: &s.Code, Rows: s.Rows(), From: o.ReferenceSource(s.Kind),
			Blocks: trade.ByKind(s.Blocked), Invalid: trade.ByKind(s.Invalid),
		}
		if s.Code == "" {
			line.Code, line.Total = nil, true
		}
		out = append(out, line)
	}
	for _, r := range stored {
		out = append(out, ReferenceLine{
			Kind: r.Kind, Code: &r.Code, ID: &r.ID, Label: r.Label, From: o.ReferenceSource(r.Kind),
		})
	}
	return out
}
