// Adopt: a person declares which record of the platform a row is.

package acts

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/sync/identity"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// Adoption is what a person declares about a row: the platform has it.
type Adoption struct {
	ID string // the platform's id; "" only with NoID
	// NoID means that the record was seen there but its id is unknown. It is not for order
	// commitments, which can be read back.
	NoID bool
	// DespiteDifferences adopts even if the record on the platform differs from what was sent.
	DespiteDifferences bool
}

// Readback compares what the platform has under an id with what was sent, field by field in the
// order of the API's table.
type Readback struct {
	ID     string         `json:"id"`
	Fields []FieldReading `json:"fields"`
	Same   int            `json:"same"`   // equal fields
	Differ int            `json:"differ"` // different fields
	// fields that were sent and that the answer lacks; they are not compared
	Unseen []string `json:"unseen"`
}

// Differing returns the fields that the platform has otherwise than they were sent.
func (r Readback) Differing() (out []string) {
	for _, f := range r.Fields {
		if f.There != nil && !f.Same {
			out = append(out, f.Field)
		}
	}
	return out
}

// FieldReading is one field as it was sent and as the platform has it; null if it is absent.
type FieldReading struct {
	Field string  `json:"field"`
	Sent  *string `json:"sent"`
	There *string `json:"there"`
	Same  bool    `json:"same"`
	// the codes of the ERP's table that the ids stand for, with their names; "" = none is known
	SentName  string `json:"sent_name,omitempty"`
	ThereName string `json:"there_name,omitempty"`
	// Recoded means that the platform has the id that the code of the row had before: the table has
	// changed, not the row.
	Recoded bool `json:"recoded,omitempty"`
}

// Adopt plans that a row is the record that the platform has under an id. An order commitment is read
// back and compared with what was sent, or would be; differences are shown, and must be confirmed.
func (a *Acts) Adopt(ctx context.Context, job, key string, adoption Adoption) (RowPlan, error) {
	plan, err := a.plan(ctx, ActAdopt, job, []string{key}, func(step *RowStep) (err error) {
		entry := &step.After
		if !slices.Contains(trade.Decidable, entry.State) {
			step.Refused = refusalOf(entry.State)
			return nil
		}
		id := ""
		if !adoption.NoID {
			var ok bool
			id, ok = PlatformID(entry.Sends, adoption.ID)
			if !ok {
				step.Refused = NotAnID
				return nil
			}
		} else if entry.Sends == trade.OrderCommitments {
			step.Refused = NeedsID
			return nil
		}
		if id != "" {
			step.Holder, err = a.Ledger.Holder(ctx, entry.Sends, id, entry.ID)
			if err != nil {
				return err
			}
			for _, text := range mapping.SentTexts(step.Before) { // its contract, its producer
				if named, err := trade.ParseID(*text); err == nil && named == id {
					step.Refused = IDTaken
				}
			}
			if err := a.mayTakeID(ctx, step, id); err != nil || step.Refused != NotRefused {
				return err
			}
		}
		if entry.Sends == trade.OrderCommitments {
			there, err := a.Platform.GetOrderCommitment(ctx, id)
			var failure *apiclient.CallError
			switch {
			case errors.As(err, &failure) && failure.Answer.NotFound():
				step.Refused = NotOnPlatform
				return nil
			case err != nil:
				return err
			}
			reading := CompareReading(id, mapping.SentTexts(step.Before), there.Fields)
			step.Reading = &reading
			if err := a.nameFields(ctx, step); err != nil {
				return err
			}
			if (step.Reading.Differ > 0 || step.Reading.Same == 0) && !adoption.DespiteDifferences {
				step.Refused = Differs
			}
		}
		entry.Accept(id)
		refs, err := run.Codes(ctx, a.Ledger)
		if err != nil {
			return err
		}
		return a.storeSent(step, refs)
	})
	plan.Order.ID, plan.Order.NoID, plan.Order.DespiteDifferences = adoption.ID, adoption.NoID,
		adoption.DespiteDifferences
	return plan, err
}

// mayTakeID decides whether the row may take an id that another row has. A row that is held because
// it was typed again, is a twin, has a key that another job has sent, or exists on the platform
// already, may take the id from an accepted row that is no longer in the ERP, or whose key has
// another row now: that is the same record under its old key or in its old job.
func (a *Acts) mayTakeID(ctx context.Context, step *RowStep, id string) error {
	if step.Holder == (trade.ParentKey{}) {
		return nil
	}
	step.Refused = IDTaken
	if step.Before.State != trade.Held ||
		!slices.Contains([]string{trade.CauseRetyped, trade.CauseTwin, trade.CauseOtherJob, trade.CauseExists},
			step.Before.Cause) {
		return nil
	}
	old, err := a.Ledger.Entry(ctx, step.Holder.Job, step.Holder.Key)
	if err != nil || old.Sends != step.Before.Sends || old.State != trade.Accepted || old.RemoteID != id {
		return err
	}
	gone := trade.MissingInERP
	if a.job(old.Job) != nil { // a job that is not configured any more has no rows in the ERP
		now, err := a.Rows.Newest(ctx, old.Job, old)
		switch {
		case errors.Is(err, run.ErrCancelled):
			gone = trade.Cancelled
		case errors.Is(err, run.ErrGone):
		case err == nil:
			lost, err := a.keyIsReused(ctx, old, now)
			if err != nil || !lost {
				return err
			}
			gone = ""
		case errors.Is(err, run.ErrDouble):
			return nil
		default:
			return err
		}
	}
	given := old
	given.RemoteID, given.MovedID = "", id
	given.Flags = given.Flags.With(trade.Moved, true).With(trade.MissingInERP, false).With(trade.Cancelled, false)
	if gone != "" { // no other row has its key
		given.Flags = given.Flags.With(trade.Replaced, false)
		given.Acknowledged = given.Acknowledged.With(gone, true) // this act explains its absence
	}
	given.UpdatedAt = a.Now()
	step.Refused, step.GivesUp = NotRefused, &trade.Update{From: old.State, Entry: given}
	return nil
}

// keyIsReused reports whether the key of a row that was sent has another row now.
func (a *Acts) keyIsReused(ctx context.Context, old, now trade.Entry) (bool, error) {
	records, _, err := a.Ledger.Records(ctx, trade.RecordQuery{Kind: old.Sends, Rows: []int64{old.ID}})
	at := slices.IndexFunc(records, func(r trade.Record) bool { return r.RemoteID == old.RemoteID })
	if err != nil || at < 0 {
		return false, err
	}
	content := identity.Content{
		Prints: trade.PrintsOf(now.Sends, now.SourceHash, now.Target, now.Payload), Whole: now.PayloadHash,
	}
	return identity.StandingOf(&records[at], []identity.Content{content}) >= identity.Corrected, nil
}

// maxID is the longest id that is not a UUID, in characters; the client has the same limit.
const maxID = 128

// PlatformID returns an id in the form in which the ledger stores and compares it, and whether it is
// valid. Only for deliveries does the API's document not require a UUID.
func PlatformID(sends trade.Kind, text string) (string, bool) {
	id, err := trade.ParseID(text)
	if err == nil || sends != trade.Deliveries {
		return id, err == nil
	}
	text = strings.TrimSpace(text)
	bad := text == "" || !utf8.ValidString(text) || utf8.RuneCountInString(text) > maxID ||
		strings.ContainsFunc(text, unicode.IsControl)
	return text, !bad
}

// storeSent has an adopted row keep what the platform has: what was sent under the id or, if this row
// did not send it, what was read back. The row as it is now stands beside it, and differs.
func (a *Acts) storeSent(step *RowStep, refs mapping.Codes) error {
	entry, row, job := &step.After, step.Before.NewestValues(), a.job(step.Before.Job)
	there, recoded := map[string]*string{}, map[string]bool{}
	sent := trade.Entry{Sends: entry.Sends, Target: entry.Target}
	switch {
	case job == nil:
		return nil
	case step.GivesUp != nil && len(step.GivesUp.Entry.Payload) > 0:
		sent = step.GivesUp.Entry
		there = mapping.SentTexts(sent)
	case step.Reading != nil && step.Reading.Same+step.Reading.Differ > 0:
		body := map[string]json.RawMessage{}
		_ = json.Unmarshal(entry.Payload, &body) // a row that was never mapped has none
		for _, f := range step.Reading.Fields {
			if f.Same || f.There == nil {
				continue
			}
			rules := trade.Rules(entry.Sends)
			rule := rules[slices.IndexFunc(rules, func(r trade.FieldRule) bool { return r.Field == f.Field })]
			text := rule.Canonical(*f.There)
			there[f.Field], recoded[f.Field], body[f.Field] = &text, f.Recoded, json.RawMessage(text)
			if rule.Type != trade.Number {
				body[f.Field], _ = json.Marshal(text) //nolint:errchkjson // a text
			}
		}
		sent.Payload, _ = json.Marshal(body) //nolint:errchkjson // texts and numbers that were read as JSON
		sent.PayloadHash = trade.PayloadHash(sent.Target, sent.Payload)
		pairs := sent.Prints().Pairs(sent.Sends)
		sent.Content = pairs[0] ^ pairs[1]
	}
	if len(there) == 0 {
		return nil
	}
	newest, err := step.newest()
	if err != nil {
		return err
	}
	if step.Before.Now == nil {
		newest = step.Before.Prints()
	}
	entry.TakePayload(sent)
	entry.Values = sent.Values
	if sent.Job != entry.Job { // its cells are not known: those of the fields that differ are marked
		entry.Values = maps.Clone(row)
		fields := job.RowFields(row, refs)
		for _, f := range job.Mapping.Fields {
			was, now := there[f.Rule.Field], fields[f.Rule.Field].Text
			if was == nil || now == "" || recoded[f.Rule.Field] || f.Rule.Same(*was, now) {
				continue
			}
			for _, column := range f.Spec.Columns {
				entry.Values[column] = trade.Cell{Kind: trade.Marked}
			}
		}
	}
	eval := mapping.Evaluator{Job: job, Refs: refs, Log: zap.NewNop()}
	eval.Compare(entry, row, nil)
	entry.Newest = newest
	return nil
}

// nameFields names the ids of a reading that differ, and says which of them the row's own code had
// before.
func (a *Acts) nameFields(ctx context.Context, step *RowStep) error {
	job := a.job(step.Before.Job)
	former, err := a.Ledger.FormerReferences(ctx)
	if err != nil || job == nil {
		return err
	}
	get := mapping.ColumnsIn(step.Before.NewestValues())
	for _, f := range job.Mapping.Fields {
		i := slices.IndexFunc(step.Reading.Fields,
			func(r FieldReading) bool { return r.Field == f.Rule.Field && !r.Same && r.There != nil })
		if i < 0 || f.Spec.Ref == "" {
			continue
		}
		r, kind, code := &step.Reading.Fields[i], f.Spec.Ref, mapping.CodeOf(get, f.Spec.Columns)
		r.Recoded = slices.Contains(former[kind][code], f.Rule.Canonical(*r.There))
		if r.Recoded {
			step.Reading.Differ--
			step.Reading.Same++
		}
		r.ThereName, err = a.codeOf(ctx, kind, f.Rule.Canonical(*r.There))
		if err == nil && r.Sent != nil {
			r.SentName, err = a.codeOf(ctx, kind, f.Rule.Canonical(*r.Sent))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// CompareReading compares two records field by field, in the order of the API's table.
func CompareReading(id string, sent map[string]*string, there map[string]string) Readback {
	reading := Readback{ID: id, Fields: []FieldReading{}, Unseen: []string{}}
	for _, rule := range trade.Rules(trade.OrderCommitments) {
		f := FieldReading{Field: rule.Field, Sent: sent[rule.Field]}
		if text, has := there[rule.Field]; has {
			f.There = &text
		}
		if f.Sent == nil && f.There == nil {
			continue
		}
		f.Same = f.Sent != nil && f.There != nil && rule.Same(*f.Sent, *f.There)
		switch {
		case f.Same:
			reading.Same++
		case f.There == nil:
			reading.Unseen = append(reading.Unseen, rule.Field)
		default:
			reading.Differ++
		}
		reading.Fields = append(reading.Fields, f)
	}
	return reading
}
