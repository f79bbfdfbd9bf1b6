// What people are shown about a row in doubt.

package acts

import (
	"context"
	"time"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// Doubt is what is known about a row that may be on the platform.
type Doubt struct {
	Attempts  []trade.Attempt
	Remaining time.Duration // of its quarantine (I14)
}

// Doubt returns what is known about a row that may be on the platform. It uses only the ledger. If
// this boot did not know the doubt yet, its quarantine begins now.
func (a *Acts) Doubt(ctx context.Context, entry trade.Entry) (Doubt, error) {
	attempts, err := a.Ledger.Attempts(ctx, entry.ID)
	if err != nil {
		return Doubt{}, err
	}
	step := RowStep{Before: entry, Attempts: attempts}
	if err := a.remaining(ctx, &step); err != nil {
		return Doubt{}, err
	}
	if step.Remaining >= a.Limits.LeastQuarantine() {
		err = a.Watch(ctx, entry.Job)
	}
	return Doubt{attempts, step.Remaining}, err
}

// SentFields returns the fields of the request that was sent for an entry, or that would be sent,
// in the order of the API's table.
func SentFields(entry trade.Entry) []FieldReading {
	sent := mapping.SentTexts(entry)
	var out []FieldReading
	for _, rule := range trade.Rules(entry.Sends) {
		if text := sent[rule.Field]; text != nil {
			out = append(out, FieldReading{Field: rule.Field, Sent: text})
		}
	}
	return out
}

// AnsweredFields returns the fields of the record that an answer repeats; nil if it repeats none.
// Only answers to deliveries repeat the record.
func AnsweredFields(sends trade.Kind, attempt trade.Attempt) map[string]string {
	if sends != trade.Deliveries || attempt.Outcome != trade.OutcomeCreated {
		return nil
	}
	d, err := apiclient.ReadRecord(sends, []byte(attempt.AnswerBody))
	if err != nil {
		return nil
	}
	return d.Fields
}
