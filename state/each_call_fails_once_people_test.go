package state

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/safrasync/safrasync/state/readmodel"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// frail is a ledger with a journal, behind a breaker.
func frail(t *testing.T, backend backend) *fragile {
	t.Helper()
	f := &fragile{kept: &kept{t: t, o: backend.open(t)}, b: &breaker{}}
	f.o.Version, f.o.Journal = "1.0.0-test", filepath.Join(t.TempDir(), "journal")
	if err := f.try(f.b.tuning()); err != nil {
		t.Fatal(err)
	}
	return f
}

// F047, F048: each call of the database fails once, and each value that it answers is another one,
// in what the people of the console do and look at, and in what the platform tells by itself.
func TestEveryCallOfTheDatabaseFailsOnceInWhatPeopleAndEventsBring(t *testing.T) {
	t.Parallel()
	for _, backend := range backends {
		for name, run := range map[string]func(*fragile){
			"people": (*fragile).people, "logins": (*fragile).logins, "webhooks": (*fragile).webhooks,
			"inbox": (*fragile).events, "records": (*fragile).records,
			"doubts": (*fragile).doubts, "pages": (*fragile).pages, "closings": (*fragile).closings,
		} {
			t.Run(backend.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				f := frail(t, backend)
				run(f)
				t.Logf("%d calls failed, %d values were damaged", f.broken, f.spoilt)
			})
		}
	}
}

// done makes an error of what was not done.
func done(ok bool, err error) error {
	if err == nil && !ok {
		return errors.New("it was not done")
	}
	return err
}

// user adds somebody, and gives who that is.
func (f *fragile) user(name string) trade.User {
	f.t.Helper()
	ctx, s := f.t.Context(), f.s
	f.each("AddUser", func() error {
		return s.AddUser(ctx, trade.User{Name: name, Role: trade.Administrator, Password: "hash"}, anAct(name))
	})
	u, err := s.User(ctx, name)
	if err != nil {
		f.t.Fatal(err)
	}
	return u
}

func (f *fragile) people() {
	ctx, s := f.t.Context(), f.s
	f.user("ana")
	bia := f.user("bia")
	f.read("Users", result(func() ([]trade.User, error) { return s.Users(ctx) }))
	f.read("User", result(func() (trade.User, error) { return s.User(ctx, "bia") }))
	bia.Issuer, bia.Subject = "https://issuer.example", "1"
	f.each("ChangeUser", func() error { return done(s.ChangeUser(ctx, bia, anAct("bia"))) })
	f.read("UserFrom", result(func() (trade.User, error) { return s.UserFrom(ctx, "https://issuer.example", "1") }))
	_, err := s.User(ctx, "nobody")
	_, unknown := s.UserFrom(ctx, "https://issuer.example", "2")
	if !errors.Is(err, trade.ErrNobody) || !errors.Is(unknown, trade.ErrNobody) {
		f.t.Errorf("nobody is %v and %v", err, unknown)
	}
	f.each("SaveFilter", func() error {
		return s.SaveFilter(ctx, trade.SavedFilter{User: bia.ID, Name: "mine", Query: "x=1"}, anAct("mine"))
	})
	f.read("SavedFilters", result(func() ([]trade.SavedFilter, error) { return s.SavedFilters(ctx, bia.ID) }))
}

func (f *fragile) logins() {
	ctx, s := f.t.Context(), f.s
	ana := f.user("ana")
	try := func(bucket string) func() error {
		return func() error {
			ok, _, err := s.Try(ctx, []string{bucket}, at, func(had trade.Tries) trade.Tries {
				return trade.Tries{Bucket: bucket, Failures: had.Failures + 1, At: at, Until: at}
			})
			return done(ok, err)
		}
	}
	f.each("Try", try("ana"))
	f.each("Try again", try("ana"))
	f.each("Try of another", try("bia"))
	login := trade.Login{Hash: "login", User: ana, BeganAt: at, SeenAt: at, ProvedAt: at, From: "127.0.0.1"}
	f.each("LogIn", func() error { return s.LogIn(ctx, login, "another", "browser", []string{"ana"}, anAct("ana")) })
	f.read("Login", result(func() (trade.Login, error) { return s.Login(ctx, "login") }))
	f.read("KnownDevice", result(func() (bool, error) { return s.KnownDevice(ctx, "browser", ana.ID, at) }))
	f.each("LoginSeen", func() error { return s.LoginSeen(ctx, "login", at.Add(time.Minute)) })
	f.each("PruneLogins", func() error { return s.PruneLogins(ctx, at, at, at.Add(time.Hour), at) })
	f.each("LogOut", func() error { return s.LogOut(ctx, "login", anAct("ana")) })
	_, err := s.Login(ctx, "login")
	login.User.Version++
	changed := s.LogIn(ctx, login, "", "", nil, anAct("ana"))
	if !errors.Is(err, trade.ErrNobody) || !errors.Is(changed, trade.ErrNobody) {
		f.t.Errorf("a login that is over: %v; one who was changed meanwhile: %v", err, changed)
	}
}

func (f *fragile) webhooks() {
	ctx, s := f.t.Context(), f.s
	hook := trade.Webhook{
		ID: "w-1", Event: "CREATE_ORDER_COMMITMENT", Address: "https://coop.example",
		PathHash: "path", LoginHash: "login", State: trade.WebhookAsked, AskedAt: at,
	}
	f.each("AskWebhook", func() error { return s.AskWebhook(ctx, hook, anAct(hook.Event)) })
	hook.State, hook.RemoteID, hook.SettledAt = trade.WebhookActive, "remote-w", at
	f.each("SettleWebhook", func() error { return s.SettleWebhook(ctx, hook, at, anAct(hook.Event)) })
	f.read("Webhooks", result(func() ([]trade.Webhook, error) { return s.Webhooks(ctx, at) }))
	f.read("EventSilence", result(func() (trade.EventSilence, error) { return s.EventSilence(ctx) }))
}

func (f *fragile) events() {
	ctx, s := f.t.Context(), f.s
	event := func(hash, body string) trade.InboxEvent {
		return trade.InboxEvent{
			Event: "CREATE_FARM", Hash: hash, Body: []byte(body), FirstAt: at, LastAt: at, Times: 1,
			NextAt: at,
		}
	}
	f.each("TakeEvents", func() error {
		return s.TakeEvents(ctx, []trade.InboxEvent{event("a", `{"id":"x"}`), event("b", "x\x00")})
	})
	due := func() ([]trade.InboxEvent, error) { return s.DueEvents(ctx, at, 10) }
	f.read("DueEvents", result(due))
	f.read("Inbox", result(func() ([]trade.InboxEvent, error) { return s.Inbox(ctx, trade.InboxFilter{Text: "x"}) }))
	events, err := due()
	if err != nil || len(events) != 2 {
		f.t.Fatalf("%d events are due, %v", len(events), err)
	}
	for i := range events {
		events[i].NextAt, events[i].Outcome = time.Time{}, "nothing of ours"
	}
	f.each("EventsDone", func() error { return s.EventsDone(ctx, events) })
	f.each("ReplayEvents", func() error {
		n, err := s.ReplayEvents(ctx, []int64{events[0].Seq, events[1].Seq}, at, anAct("inbox"))
		return done(n == 2, err)
	})
	f.read("EventsWaiting", result(func() (int, error) { return s.EventsWaiting(ctx) }))
	mustExec(f.t, s, `UPDATE inbox SET body = '!' WHERE coded = 1`)
	_, err = due()
	says(f.t, err, fmt.Sprintf("event %d of the inbox is damaged", events[1].Seq))
}

func (f *fragile) records() {
	ctx, s := f.t.Context(), f.s
	heard := trade.Heard{
		Kind: "order_commitments", ID: "r-1", Event: "UPDATE_ORDER_COMMITMENT", Seq: 1, At: at,
		Word: "APPROVED",
	}
	c := trade.Candidate{
		ID: "r-2", Seq: 2, Event: "CREATE_ORDER_COMMITMENT", Purpose: trade.ForDoubts, HeardAt: at,
		LastAt: at, NextAt: at,
	}
	other := c
	other.ID = "r-3"
	f.each("NoteHeard", func() error { return s.NoteHeard(ctx, []trade.Heard{heard}, []trade.Candidate{c, other}) })
	f.read("DueCandidates", result(func() ([]trade.Candidate, error) { return s.DueCandidates(ctx, at, 10) }))
	f.read("Candidates", result(func() ([]trade.Candidate, error) { return s.Candidates(ctx, at, 10) }))
	f.read("ReadBack", result(func() ([]trade.Candidate, error) { return s.ReadBack(ctx, at, 10) }))
	f.each("ClaimCandidate", func() error { return done(s.ClaimCandidate(ctx, c, at.Add(time.Minute))) })
	c.State, c.Tries, c.Fields, c.NextAt = "read", 1, map[string]string{"amount": "1"}, time.Time{}
	f.each("SaveCandidate", func() error { return s.SaveCandidate(ctx, c) })
	f.each("PostponeCandidates", func() error { return s.PostponeCandidates(ctx, []string{"r-3"}, at.Add(time.Hour)) })
	f.each("ForgetCandidates", func() error { return s.ForgetCandidates(ctx, []string{"r-3"}) })
	f.read("Hints", result(func() (trade.Hints, error) {
		return s.Hints(ctx, map[string][]string{"order_commitments": {"r-1"}}, at, 10)
	}))
	f.read("LastHeard", result(func() (map[string]trade.Heard, error) {
		return s.LastHeard(ctx, "order_commitments", "UPDATE_ORDER_COMMITMENT", []string{"r-1"}, at.Add(time.Hour))
	}))
	lease := mustLease(f.t, s, "contracts")
	sent := mustSend(f.t, s, lease, mustRecord(f.t, s, lease, newEntry("a"))[0])
	mustCommit(f.t, s, lease, trade.Group{Settle: []trade.Settlement{created(sent, "remote-a")}})
	f.read("Ours", result(func() (map[string]string, error) { return s.Ours(ctx, []string{"remote-a", "r-1"}) }))
	f.read("EntriesWith",
		result(func() ([]trade.Entry, error) {
			return s.EntriesWith(ctx, trade.OrderCommitments, []string{"remote-a"})
		}))
	later := at.Add(time.Hour)
	mustCommit(f.t, s, lease,
		trade.Group{Block: []trade.Block{{
			Kind: "wallets", ID: "w-1", Message: "message.wallet.not-found", FirstAt: at,
			NextAt: later, Tries: 1,
		}}})
	f.each("WakeFor", func() error {
		n, err := s.WakeFor(ctx, []string{"wallets"}, []string{"w-1"}, at)
		return done(n == 1, err)
	})
	if err := s.RecordLookups(ctx, trade.ProducerByDocument,
		[]trade.Lookup{{Code: "a", FirstAt: at, AskedAt: at, NextAt: later}}); err != nil {
		f.t.Fatal(err)
	}
	f.each("AskLookupsAgain", func() error {
		n, err := s.AskLookupsAgain(ctx, at)
		return done(n == 1, err)
	})
}

func (f *fragile) doubts() {
	ctx, s := f.t.Context(), f.s
	lease := mustLease(f.t, s, "contracts")
	for _, key := range []string{"a", "b", "c"} {
		sent := mustSend(f.t, s, lease, mustRecord(f.t, s, lease, newEntry(key))[0])
		if key == "c" {
			break // in flight
		}
		lost := unknown(sent)
		lost.Attempt.Messages = []string{"message.a.b"}
		mustCommit(f.t, s, lease, trade.Group{Settle: []trade.Settlement{lost}})
	}
	f.read("Doubts", result(func() ([]trade.Doubt, error) { return s.Doubts(ctx) }))
	a := mustEntry(f.t, s, "contracts", "a")
	f.read("MessageKeys", result(func() ([]trade.SeenMessage, error) { return s.MessageKeys(ctx) }))
	f.read("Outcomes", result(func() (map[int64][]trade.Attempt, error) { return s.Outcomes(ctx, []int64{a.ID}) }))
	f.read("EntryNo", result(func() (trade.Entry, error) { return s.EntryNo(ctx, a.ID) }))
	if _, err := s.EntryNo(ctx, a.ID+1000); !errors.Is(err, sqldb.ErrNotFound) {
		f.t.Errorf("an entry that is not there: %v", err)
	}
	mustExec(f.t, s, `UPDATE attempt SET messages = '!' WHERE entry_id = ?`, a.ID)
	_, err := s.MessageKeys(ctx)
	says(f.t, err, "damaged in column messages")
	_, err = s.Doubts(ctx)
	says(f.t, err, "reading the doubts")
}

func (f *fragile) pages() {
	ctx, s := f.t.Context(), f.s
	lease := mustLease(f.t, s, "contracts")
	rows := mustRecord(f.t, s, lease, newEntry("a"), newEntry("b"),
		short("w", trade.OrderCommitments, trade.Waiting, sacas("1"), contract("a")))
	if err := s.AppendAudit(ctx, anAct("contracts a")); err != nil {
		f.t.Fatal(err)
	}
	run := trade.RunReport{
		ID: sqldb.NewID(), Job: "contracts", StartedAt: at, EndedAt: at,
		States: map[trade.State]int{}, Flags: map[trade.Flag]int{},
	}
	if err := s.FinishRun(ctx, run); err != nil {
		f.t.Fatal(err)
	}
	page := func(name string, q trade.RowQuery) {
		f.t.Helper()
		q.Limit = 5
		f.read("RowPage "+name, result(func() (trade.RowPage, error) { return s.RowPage(ctx, q) }))
	}
	page("by number", trade.RowQuery{Sort: trade.NewestFirst})
	page("by key", trade.RowQuery{Sort: trade.ByKey})
	page("of a state, by key", trade.RowQuery{Sort: trade.ByKey, States: []trade.State{trade.Waiting}})
	page("by key, the second", trade.RowQuery{Sort: trade.ByKey, After: fmt.Sprint(rows[0].ID)})
	page("of a time", trade.RowQuery{Sort: trade.OldestFirst, From: at.Add(-time.Hour)})
	if _, err := s.RowPage(ctx, trade.RowQuery{After: "x", Limit: 5}); err == nil {
		f.t.Error("RowPage takes x for where a page begins")
	}
	f.read("Run", result(func() (trade.RunReport, error) { return s.Run(ctx, run.ID) }))
	f.read("RunPage", result(func() (trade.RunPage, error) { return s.RunPage(ctx, "contracts", "", 5) }))
	f.read("AuditPage", result(func() (trade.AuditPage, error) { return s.AuditPage(ctx, trade.AuditQuery{Limit: 5}) }))
	f.read("AuditOf", result(func() ([]trade.AuditRecord, error) { return s.AuditOf(ctx, "contracts a", 5) }))
	acts := func(fn func(trade.AuditRecord) error) func() error {
		return func() error { return s.ActsBetween(ctx, []string{"dismiss"}, at, at.Add(time.Hour), fn) }
	}
	f.read("ActsBetween", acts(func(trade.AuditRecord) error { return nil }))
	enough := errors.New("enough")
	if err := acts(func(trade.AuditRecord) error { return enough })(); !errors.Is(err, enough) {
		f.t.Errorf("ActsBetween: %v", err)
	}
	parent := rows[0]
	parent.RemoteID = sqldb.NewID()
	f.read("Dependents", result(func() ([]trade.Entry, error) { return s.Dependents(ctx, parent, 5) }))
	f.read("Place", result(func() (int, error) { n, _, err := s.Place(ctx, parent); return n, err }))
	f.read("DueContents", result(func() ([]trade.Entry, error) { return s.DueContents(ctx, "contracts", at, 0, 5) }))
	f.read("Stuck", result(func() ([]trade.Stand, error) { return s.Stuck(ctx, "contracts") }))
	mustExec(f.t, s, `UPDATE run SET report = '!'`)
	_, err := s.RunPage(ctx, "contracts", "", 5)
	says(f.t, err, "the record of a run is damaged")
}

// fullWriter is where nothing can be written.
type fullWriter struct{}

func (fullWriter) Write([]byte) (int, error) { return 0, errors.New("no space") }

// A closing is stored piece by piece: one that failed leaves pieces that count for nothing, which
// the next one removes.
func (f *fragile) closings() {
	ctx, s := f.t.Context(), f.s
	day := trade.DateOf(at)
	rows := bytes.Repeat([]byte("row"), readmodel.ClosingPart/2)
	var kept trade.Closing
	for at := 1; ; at++ {
		c := trade.Closing{ID: sqldb.NewID(), Day: day, Who: "maria", Reason: "x", Head: []byte(`{}`)}
		f.b.arm(at, false)
		c, err := s.CloseReport(ctx, c, bytes.NewReader(rows), anAct(day.String()))
		hit := f.b.disarm()
		if (hit == "") != (err == nil) {
			f.t.Fatalf("call %d of the database (%q fails) and %v", at, hit, err)
		}
		list, look := s.Closings(ctx, day)
		if look != nil || len(list) > 0 != (err == nil) {
			f.t.Fatalf("after call %d of the database failed (%s) there are %d closings, %v", at, hit, len(list), look)
		}
		if hit == "" {
			kept = list[0]
			if kept.ID != c.ID || kept.Parts < 2 {
				f.t.Fatalf("it closed %+v, and there is %+v", c, kept)
			}
			break
		}
		f.broken++
	}
	f.read("Closings", result(func() ([]trade.Closing, error) { return s.Closings(ctx, day) }))
	f.read("ClosedRows", func() error { return s.ClosedRows(ctx, kept, io.Discard) })
	says(f.t, s.ClosedRows(ctx, kept, fullWriter{}), "no space")
	short := kept
	short.Parts++
	if err := s.ClosedRows(ctx, short, io.Discard); !errors.Is(err, readmodel.ErrClosingDamaged) {
		f.t.Errorf("a part that is not there: %v", err)
	}
}
