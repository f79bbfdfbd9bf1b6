package alert

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/ledgertest"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// monday is a working day at nine o'clock in São Paulo, a month without holidays before it.
var monday = time.Date(2026, 8, 10, 12, 0, 0, 0, time.UTC)

var saoPaulo = func() *time.Location {
	zone, err := time.LoadLocation("America/Sao_Paulo")
	if err != nil {
		panic(err)
	}
	return zone
}()

// both runs a test with a ledger in SQLite and one in PostgreSQL.
func both(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	ledgertest.Both(t, func(t *testing.T, driver string) { test(t, newWorld(t, driver)) })
}

// one runs a test with a ledger in SQLite: it is about what is judged, not about what the ledger
// keeps.
func one(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	test(t, newWorld(t, state.SQLite))
}

// world is a ledger with a service and two receivers: a mail server and a webhook.
type world struct {
	t     testing.TB
	store *ledgertest.Ledger
	now   time.Time
	mail  *mailServer
	hook  *hookServer
	log   *zaptest.Buffer
	*Service
}

func newWorld(t testing.TB, driver string) *world {
	t.Helper()
	w := &world{
		t: t, store: ledgertest.Open(t, driver), now: monday, mail: newMailServer(t, STARTTLS),
		hook: newHookServer(t), log: &zaptest.Buffer{},
	}
	w.Service = w.another()
	return w
}

// another is a further instance of the service on the same ledger: a restart, or a second host.
func (w *world) another() *Service {
	encoder := zapcore.NewJSONEncoder(zapcore.EncoderConfig{
		MessageKey: "msg", LevelKey: "level",
		EncodeLevel: zapcore.LowercaseLevelEncoder, EncodeTime: zapcore.RFC3339TimeEncoder,
	})
	return New(Config{
		Ledger: w.store, Channels: []Channel{w.mail.channel(), w.hook.channel(Slack)},
		Jobs:   []Job{{"contracts", trade.OrderCommitments, 72 * time.Hour}, {"deliveries", trade.Deliveries, 0}},
		Limits: Limits{RejectedAbove: 2, OldestWaiting: 48 * time.Hour},
		Lang:   trade.Portuguese, Zone: saoPaulo, Name: "safrasync", Host: "srv1",
		Now: func() time.Time { return w.now },
		Log: zap.New(zapcore.NewCore(encoder, zapcore.Lock(w.log), zapcore.DebugLevel)),
	})
}

// tick lets time pass and looks once.
func (w *world) tick(d time.Duration) {
	w.t.Helper()
	w.now = w.now.Add(d)
	must.Do(w.t, w.Tick(w.t.Context()))
}

// wantMails looks at the subjects of the mails that came since the last look, without their
// beginning.
func (w *world) wantMails(want ...string) []letter {
	w.t.Helper()
	mails := w.mail.take()
	var got []string
	for _, m := range mails {
		got = append(got, strings.TrimPrefix(m.subject, "[safrasync] "))
	}
	if !slices.Equal(got, want) {
		w.t.Fatalf("mails %q, want %q", got, want)
	}
	return mails
}

// portuguese is the voice of the world's messages.
var portuguese = voice{lang: trade.Portuguese, zone: saoPaulo, name: "safrasync"}

// begins is the subject of an alert about jobs that begins, without the name of the program.
func begins(topic Topic, code string, jobs ...string) string {
	return subject("[%s] Attention: %s", topic, code, jobs)
}

func ends(topic Topic, code string, jobs ...string) string {
	return subject("[%s] Resolved: %s", topic, code, jobs)
}

func subject(key i18n.Key, topic Topic, code string, jobs []string) string {
	d := Detail{Code: code}
	for _, name := range jobs {
		d.Jobs = append(d.Jobs, Job{Name: name})
	}
	title, _, _, _ := portuguese.sentences(topic, d, ".happened")
	return strings.TrimPrefix(portuguese.text(key, "safrasync", title), "[safrasync] ")
}

// says checks that a mail tells facts: names, numbers, moments.
func (l letter) says(t *testing.T, facts ...string) {
	t.Helper()
	for _, fact := range facts {
		if !strings.Contains(l.text, fact) {
			t.Errorf("the text lacks %q:\n%s", fact, l.text)
		}
	}
}

// contract is a pending contract; change may make something else of it.
func (w *world) contract(key, body string, change ...func(*trade.Entry)) trade.Entry {
	e := trade.Entry{
		Sends: trade.OrderCommitments, Key: key, KeyParts: []trade.Cell{{Kind: 't', Text: key}}, State: trade.Pending,
		Generation:  1,
		FirstSeenAt: w.now, UpdatedAt: w.now, Values: trade.Values{"num": {Kind: 't', Text: key}},
		SourceHash: trade.HashOf("s" + key), MappedWith: "m",
		Payload: json.RawMessage(body), PayloadHash: trade.HashOf("h" + key),
	}
	for _, c := range change {
		c(&e)
	}
	return e
}

func (w *world) record(job string, entries ...trade.Entry) []trade.Entry {
	w.t.Helper()
	w.store.RecordPage(job, trade.Page{New: entries})
	out := make([]trade.Entry, len(entries))
	for i, e := range entries {
		out[i] = w.store.Read(job, e.Key)
	}
	return out
}

// send sends an entry with an outcome.
func (w *world) send(job string, e trade.Entry, outcome trade.Outcome, remote string) {
	w.t.Helper()
	a := trade.Attempt{
		ID: w.newID(), RunID: "run", EntryID: e.ID, Payload: e.Payload, PayloadHash: e.PayloadHash,
		Target: e.Target, StartedAt: w.now,
	}
	w.store.CommitGroup(job, trade.Group{At: w.now, Intents: []trade.Intent{{Entry: e, Attempt: a}}})
	a.Outcome, a.RemoteID, a.FinishedAt = outcome, remote, w.now
	s := trade.Settlement{Attempt: a, State: trade.Accepted, Counts: true}
	switch outcome {
	case trade.OutcomeUnknown:
		s.State, s.Cause, s.Kind = trade.InDoubt, trade.CauseUnknown, trade.TransportError
		s.Attempt.Reason = trade.SenderGone()
	case trade.OutcomeNotCreated:
		s.State, s.Cause, s.Kind = trade.Rejected, "message.wallet.not-found", trade.APIError
		s.Attempt.Status, s.Attempt.Messages = 400, []string{s.Cause}
		s.Attempt.Reason = trade.Say("attempt.malformed")
	}
	w.store.CommitGroup(job, trade.Group{At: w.now, Settle: []trade.Settlement{s}})
}

// settleDoubt is the late answer that ends a doubt.
func (w *world) settleDoubt(job, key, remote string) {
	w.t.Helper()
	attempts := must.Get(w.store.Attempts(w.t.Context(), w.store.Read(job, key).ID))(w.t)
	a := attempts[len(attempts)-1]
	a.Outcome, a.RemoteID, a.FinishedAt, a.Status = trade.OutcomeCreated, remote, w.now, 201
	w.store.CommitGroup(job, trade.Group{
		At:     w.now,
		Settle: []trade.Settlement{{Attempt: a, State: trade.Accepted, Counts: true}},
	})
}

func (w *world) status(job string, s trade.JobState, code string) {
	w.t.Helper()
	status := trade.JobStatus{Job: job, State: s, Since: w.now}
	if code != "" {
		status.Stop = &trade.Stop{Code: code, Why: trade.Say("what the engine says")}
	}
	must.Do(w.t, w.store.SetJobStatus(w.t.Context(), status))
}

// run records a run that ends now.
func (w *world) run(job string, change ...func(*trade.RunReport)) {
	w.t.Helper()
	r := trade.RunReport{ID: w.newID(), Job: job, StartedAt: w.now, EndedAt: trade.End{Time: w.now}}
	for _, c := range change {
		c(&r)
	}
	must.Do(w.t, w.store.FinishRun(w.t.Context(), r))
}

func sweep(late int) func(*trade.RunReport) {
	return func(r *trade.RunReport) {
		n := 10
		r.Sweep, r.InScope, r.Gone = true, &n, new(int)
		if late > 0 {
			r.Late = &trade.Late{Rows: late, Largest: 3 * 3600}
		}
	}
}

// newID makes an id of the world's time, as the engine makes them of its own (UUIDv7).
func (w *world) newID() string {
	id := uuid.Must(uuid.NewV7())
	ms := w.now.UnixMilli()
	for i := range 6 {
		id[i] = byte(ms >> (40 - 8*i))
	}
	return id.String()
}

// brokenLedger is a ledger that cannot be reached.
type brokenLedger struct{ Storage }

func (brokenLedger) Jobs(context.Context) ([]string, error) { return nil, fmt.Errorf("disk I/O error") }
