// What an answer makes of its attempt and its entry, as the ledger is asked to store it. The ledger
// stores it in state/attempts_settle.go.

package sending

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// settleInto adds everything that is to be settled to a group.
func (s *Sender) settleInto(group *trade.Group) {
	group.Settle = make([]trade.Settlement, 0, len(s.settling))
	for _, f := range s.settling {
		a, d := f.answer, f.decision
		attempt := f.attempt
		attempt.FinishedAt, attempt.Outcome, attempt.Reason = f.at, d.Outcome, d.Reason
		attempt.Status, attempt.Messages, attempt.RemoteID = a.Status, a.Messages, a.ID
		attempt.Evidence, _ = json.Marshal(a.Evidence) // of numbers and texts, which cannot fail
		attempt.RequestHead, attempt.AnswerHead = headerOf(a.RequestHeader), headerOf(a.Header)
		attempt.AnswerBody = a.Excerpt()
		out := trade.Settlement{
			Attempt: attempt, State: d.State, Cause: d.Cause, Kind: d.Kind, Weak: d.Weak, Counts: d.Counts,
			NextAttemptAt: s.nextAttempt(f), Entry: f.Entry, RecordID: f.recordID,
		}
		for _, flag := range []trade.Flag{trade.Twin, trade.NearTwin} {
			if f.Entry.Flags.Has(flag) {
				out.Flags = out.Flags.With(flag, true)
			}
		}
		if d.EchoDiffers {
			out.Flags = out.Flags.With(trade.EchoDiffers, true)
		}
		if d.Cause == trade.CauseExists && attempt.Generation > 1 { // F120
			out.Attempt.Reason = trade.Say("attempt.earlier", "why", d.Reason)
			out.Flags = out.Flags.With(trade.Contradicted, true)
		}
		group.Settle = append(group.Settle, out)
	}
	group.Block, group.Unblock = s.newBlocks, s.endedBlocks
}

// nextAttempt returns when a row is due again by time.
func (s *Sender) nextAttempt(f *flight) time.Time {
	switch f.decision.Retry {
	case outcome.RetrySoon:
		ceiling := min(backoffMost, backoffFirst<<min(s.streaks.unreached+f.Entry.Attempts, 16))
		return f.at.Add(backoffFirst/2 + rand.N(ceiling))
	case outcome.RetryLater:
		next := mapping.NoTime
		for _, m := range f.decision.Missing {
			for _, n := range run.NeedsOf(f.Entry) {
				if b, ok := s.traffic.blocks.missing[n]; ok && n.Kind == m.Kind &&
					(next.IsZero() || b.NextAt.After(next)) {
					next = b.NextAt
				}
			}
		}
		// a kind of record that the document does not name: the row itself asks again
		if tries := f.Entry.Attempts + 1; len(f.decision.Missing) == 0 && tries < run.AskMost {
			next = run.NextAsk(f.at, tries, f.at)
		}
		return next
	}
	return mapping.NoTime
}

func headerOf(h http.Header) json.RawMessage {
	if len(h) == 0 {
		return nil
	}
	data, _ := json.Marshal(h) // of texts, which cannot fail
	return data
}

// otherField returns a field of an answer that was sent, and that the answer has with another value;
// "" if there is none. What the answer leaves out, or has in an undocumented form, is ignored.
func otherField(kind trade.Kind, payload json.RawMessage, body []byte) string {
	sent, there := fieldsOf(payload), fieldsOf(body)
	for _, rule := range trade.Rules(kind) {
		a, b := textOf(sent[rule.Field]), textOf(there[rule.Field])
		if rule.Type == trade.Day {
			b, _, _ = strings.Cut(b, "T") // of a timestamp the date as written
		}
		if a != "" && b != "" && !strings.EqualFold(a, b) && !rule.Same(a, b) && !sameID(a, b) {
			return rule.Field
		}
	}
	return ""
}

// fieldsOf returns the fields of a JSON object; none if it is another document.
func fieldsOf(body []byte) (out map[string]any) {
	read := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))))
	read.UseNumber()
	if read.Decode(&out) != nil {
		return nil
	}
	return out
}

// textOf returns a value that is a text, a number, or an object with a code; "" for any other.
func textOf(value any) string {
	switch v := value.(type) {
	case string:
		return strings.TrimSpace(v)
	case json.Number:
		return v.String()
	case map[string]any:
		code, _ := v["code"].(string)
		return code
	}
	return ""
}

func sameID(a, b string) bool {
	idA, errA := trade.ParseID(a)
	idB, errB := trade.ParseID(b)
	return errA == nil && errB == nil && idA == idB
}
