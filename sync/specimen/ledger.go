package specimen

import (
	"regexp"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// entry masks what the ledger knows of a row. It takes what it names: a field that is added to an entry
// does not leave the installation by itself.
func (m *masker) entry(e *trade.Entry, would, masked map[string]string) *trade.Entry {
	if e == nil {
		return nil
	}
	out := &trade.Entry{
		Job: e.Job, Sends: e.Sends, Key: m.key(e.Key), State: e.State, Cause: m.cause(e.Cause),
		RemoteID: m.text(e.RemoteID), MovedID: m.text(e.MovedID), Flags: e.Flags, Acknowledged: e.Acknowledged,
		Generation: e.Generation, Attempts: e.Attempts, NextAttemptAt: e.NextAttemptAt, FirstSeenAt: e.FirstSeenAt,
		UpdatedAt: e.UpdatedAt, GoneSweeps: e.GoneSweeps, ReducedAt: e.ReducedAt, Dismissal: e.Dismissal,
		Values: m.values(e.Values), Now: m.values(e.Now), AckValues: m.values(e.AckValues),
		Target:   m.text(e.Target),
		Payload:  m.body(e.Sends, e.Payload, would, masked),
		Warnings: m.problems(e.Sends, e.Warnings), WaitingFor: m.awaited(e.WaitingFor),
	}
	if f := e.Error; f != nil {
		out.Error = &trade.EntryError{
			Kind: f.Kind, Status: f.Status, Messages: m.messages(f.Messages), Fields: m.problems(e.Sends, f.Fields),
			Why: m.sentence(f.Why), Weak: f.Weak,
		}
		if c := f.Counterpart; c != nil {
			out.Error.Counterpart = &trade.Counterpart{
				Job: c.Job, Key: m.key(c.Key), RemoteID: m.text(c.RemoteID), Rows: c.Rows,
			}
		}
	}
	return out
}

var causeForm = regexp.MustCompile(`^[a-z_]+(:[a-z_]+)?$`)

func (m *masker) cause(cause string) string {
	if causeForm.MatchString(cause) || apiclient.IsMessageKey(cause) {
		return cause
	}
	return m.text(cause)
}

func (m *masker) messages(messages []string) []string {
	out := make([]string, len(messages))
	for i, text := range messages {
		out[i] = m.message(text)
	}
	return out
}

func (m *masker) problems(kind trade.Kind, problems []trade.Problem) []trade.Problem {
	var out []trade.Problem
	for _, p := range problems {
		if rule, ok := trade.Rule(kind, p.Field); !ok || !mapping.NamedText(rule, p.Value) {
			p.Value = m.key(p.Value)
		}
		if p.Rule == trade.RuleDeclared {
			p.Detail = phrase.Packed(m.text(string(p.Detail)))
		}
		out = append(out, p)
	}
	return out
}

func (m *masker) awaited(awaited []trade.Awaited) []trade.Awaited {
	var out []trade.Awaited
	for _, a := range awaited {
		code := m.key(a.Code)
		if a.Ref == trade.ProducerByDocument {
			code = m.code(a.Code)
		}
		a.Code, a.Key, a.ID = code, m.key(a.Key), m.text(a.ID)
		out = append(out, a)
	}
	return out
}

// attempts masks what was sent, and what came back.
func (m *masker) attempts(attempts []trade.Attempt, kind trade.Kind, would, masked map[string]string) []trade.Attempt {
	var out []trade.Attempt
	for _, t := range attempts {
		out = append(out, trade.Attempt{
			No: t.No, Generation: t.Generation, StartedAt: t.StartedAt, FinishedAt: t.FinishedAt, Outcome: t.Outcome,
			Status: t.Status, Messages: m.messages(t.Messages), RemoteID: m.text(t.RemoteID),
			Reason: m.sentence(t.Reason), Target: m.text(t.Target), Payload: m.body(kind, t.Payload, would, masked),
			AnswerBody: m.answer(kind, t.AnswerBody),
		})
	}
	return out
}
