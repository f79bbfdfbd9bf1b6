package state

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

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
	return must.Get(s.User(ctx, name))(f.t)
}

// F047, F048: each call of the database fails once, and each value that it answers is another one,
// in what the people of the console do and look at, and in what the platform tells by itself: here
// and in the tests below.
func TestEveryCallOfTheDatabaseFailsOnceInWhatPeopleAre(t *testing.T) {
	t.Parallel()
	breakable(t, func(t *testing.T, f *fragile) {
		ctx, s := t.Context(), f.s
		f.user("ana")
		bia := f.user("bia")
		f.read("Users", func() error { return second(s.Users(ctx)) })
		f.read("User", func() error { return second(s.User(ctx, "bia")) })
		bia.Issuer, bia.Subject = "https://issuer.example", "1"
		f.each("ChangeUser", func() error { return done(s.ChangeUser(ctx, bia, anAct("bia"))) })
		f.read("UserFrom", func() error { return second(s.UserFrom(ctx, "https://issuer.example", "1")) })
		_, err := s.User(ctx, "nobody")
		_, unknown := s.UserFrom(ctx, "https://issuer.example", "2")
		if !errors.Is(err, trade.ErrNobody) || !errors.Is(unknown, trade.ErrNobody) {
			t.Errorf("nobody is %v and %v", err, unknown)
		}
		f.each("OwnCause", func() error {
			return s.OwnCause(ctx, trade.CauseOwner{Key: "ref:wallets", Owner: "Maria"}, anAct("ref:wallets"))
		})
		f.each("LowerCause", func() error {
			return s.LowerCause(ctx, trade.CauseOwner{Key: "ref:wallets", Owner: "Maria", At: anAct("").At})
		})
		f.read("CauseOwners", func() error { return second(s.CauseOwners(ctx)) })
	})
}

// F047, F048.
func TestEveryCallOfTheDatabaseFailsOnceWhilePeopleLogIn(t *testing.T) {
	t.Parallel()
	breakable(t, func(t *testing.T, f *fragile) {
		ctx, s := t.Context(), f.s
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
		f.read("Login", func() error { return second(s.Login(ctx, "login")) })
		f.read("KnownDevice", func() error { return second(s.KnownDevice(ctx, "browser", ana.ID, at)) })
		f.read("Blocked", func() error { return second(s.Blocked(ctx, []string{"name:ana"})) })
		f.each("LoginSeen", func() error { return s.LoginSeen(ctx, "login", at.Add(time.Minute)) })
		f.each("PruneLogins", func() error { return s.PruneLogins(ctx, at, at, at.Add(time.Hour), at) })
		f.each("LogOut", func() error { return s.LogOut(ctx, "login", anAct("ana")) })
		_, err := s.Login(ctx, "login")
		login.User.Version++
		changed := s.LogIn(ctx, login, "", "", nil, anAct("ana"))
		if !errors.Is(err, trade.ErrNobody) || !errors.Is(changed, trade.ErrNobody) {
			t.Errorf("a login that is over: %v; one who was changed meanwhile: %v", err, changed)
		}
	})
}

// F047, F048.
func TestEveryCallOfTheDatabaseFailsOnceInWebhooks(t *testing.T) {
	t.Parallel()
	breakable(t, func(t *testing.T, f *fragile) {
		ctx, s := t.Context(), f.s
		hook := trade.Webhook{
			ID: "w-1", Event: "CREATE_ORDER_COMMITMENT", Address: "https://coop.example",
			PathHash: "path", LoginHash: "login", State: trade.WebhookAsked, AskedAt: at,
		}
		f.each("AskWebhook", func() error { return s.AskWebhook(ctx, hook, anAct(hook.Event)) })
		hook.State, hook.RemoteID, hook.SettledAt = trade.WebhookActive, "remote-w", at
		f.each("SettleWebhook", func() error { return s.SettleWebhook(ctx, hook, at, anAct(hook.Event)) })
		f.read("Webhooks", func() error { return second(s.Webhooks(ctx, at)) })
		f.read("EventSilence", func() error { return second(s.EventSilence(ctx)) })
	})
}

// F047, F048.
func TestEveryCallOfTheDatabaseFailsOnceInTheInbox(t *testing.T) {
	t.Parallel()
	breakable(t, func(t *testing.T, f *fragile) {
		ctx, s := t.Context(), f.s
		event := func(hash, body string) trade.InboxEvent {
			return trade.InboxEvent{
				Event: "CREATE_FARM", Hash: hash, Body: []byte(body), FirstAt: at, LastAt: at, Times: 1,
				NextAt: at,
			}
		}
		f.each("StoreEvents", func() error {
			return s.StoreEvents(ctx, []trade.InboxEvent{event("a", `{"id":"x"}`), event("b", "x\x00")})
		})
		due := func() ([]trade.InboxEvent, error) { return s.DueEvents(ctx, at, 10) }
		f.read("DueEvents", func() error { return second(due()) })
		f.read("Inbox", func() error { return second(s.Inbox(ctx, trade.InboxFilter{Text: "x"})) })
		events, err := due()
		if err != nil || len(events) != 2 {
			t.Fatalf("%d events are due, %v", len(events), err)
		}
		for i := range events {
			events[i].NextAt, events[i].Outcome = time.Time{}, trade.Say("event.nothing")
		}
		f.each("EventsDone", func() error { return s.EventsDone(ctx, events) })
		f.each("ReplayEvents", func() error {
			n, err := s.ReplayEvents(ctx, []int64{events[0].Seq, events[1].Seq}, at, anAct("inbox"))
			return done(n == 2, err)
		})
		mustExec(t, s, `UPDATE inbox SET body = '!' WHERE coded = 1`)
		_, err = due()
		says(t, err, fmt.Sprintf("event %d of the inbox is damaged", events[1].Seq))
	})
}

// F047, F048.
func TestEveryCallOfTheDatabaseFailsOnceInWhatEventsTellOfRecords(t *testing.T) {
	t.Parallel()
	breakable(t, func(t *testing.T, f *fragile) {
		ctx, s := t.Context(), f.s
		heard := trade.EventNote{
			Kind: "order_commitments", ID: "r-1", Event: "UPDATE_ORDER_COMMITMENT", Seq: 1, At: at,
			Word: "APPROVED",
		}
		c := trade.Candidate{
			ID: "r-2", Seq: 2, Event: "CREATE_ORDER_COMMITMENT", Purpose: trade.ForDoubts, HeardAt: at,
			LastAt: at, NextAt: at,
		}
		other := c
		other.ID = "r-3"
		f.each("StoreNotes", func() error {
			return s.StoreNotes(ctx, []trade.EventNote{heard}, []trade.Candidate{c, other})
		})
		f.read("DueCandidates", func() error { return second(s.DueCandidates(ctx, at, 10)) })
		f.read("Candidates", func() error { return second(s.Candidates(ctx, at, 10)) })
		f.read("ReadBack", func() error { return second(s.ReadBack(ctx, at, 10)) })
		f.each("ClaimCandidate", func() error { return done(s.ClaimCandidate(ctx, c, at.Add(time.Minute))) })
		c.State, c.Tries, c.Fields, c.NextAt = "read", 1, map[string]string{"amount": "1"}, time.Time{}
		f.each("SaveCandidate", func() error { return s.SaveCandidate(ctx, c) })
		f.each("PostponeCandidates", func() error { return s.PostponeCandidates(ctx, []string{"r-3"}, at.Add(time.Hour)) })
		f.each("ForgetCandidates", func() error { return s.ForgetCandidates(ctx, []string{"r-3"}) })
		f.read("Hints", func() error { return second(s.Hints(ctx, map[string][]string{"order_commitments": {"r-1"}}, at, 10)) })
		f.read("LastNotes", func() error {
			return second(s.LastNotes(ctx, "order_commitments", "UPDATE_ORDER_COMMITMENT", []string{"r-1"}))
		})
		lease := mustLease(t, s, "contracts")
		sent := mustSend(t, s, lease, mustRecord(t, s, lease, newEntry("a"))[0])
		mustSettle(t, s, lease, created(sent, "remote-a"))
		f.read("Ours", func() error { return second(s.Ours(ctx, []string{"remote-a", "r-1"})) })
		f.read("EntriesWith",
			func() error { return second(s.EntriesWith(ctx, trade.OrderCommitments, []string{"remote-a"})) })
		later := at.Add(time.Hour)
		mustCommit(t, s, lease,
			trade.Group{Block: []trade.Block{{
				Kind: "wallets", ID: "w-1", Message: "message.wallet.not-found", FirstAt: at,
				NextAt: later, Tries: 1,
			}}})
		f.each("WakeFor", func() error {
			n, err := s.WakeFor(ctx, []string{"wallets"}, []string{"w-1"}, at)
			return done(n == 1, err)
		})
		must.Do(t, s.RecordLookups(ctx, trade.ProducerByDocument,
			[]trade.Lookup{{Code: "a", FirstAt: at, AskedAt: at, NextAt: later}}))
		f.each("AskLookupsAgain", func() error {
			n, err := s.AskLookupsAgain(ctx, at)
			return done(n == 1, err)
		})
	})
}

// F047, F048.
func TestEveryCallOfTheDatabaseFailsOnceInDoubts(t *testing.T) {
	t.Parallel()
	breakable(t, func(t *testing.T, f *fragile) {
		ctx, s := t.Context(), f.s
		lease := mustLease(t, s, "contracts")
		for _, key := range []string{"a", "b", "c"} {
			sent := mustSend(t, s, lease, mustRecord(t, s, lease, newEntry(key))[0])
			if key == "c" {
				break // in flight
			}
			lost := unknown(sent)
			lost.Attempt.Messages = []string{"message.a.b"}
			mustSettle(t, s, lease, lost)
		}
		f.read("Doubts", func() error { return second(s.Doubts(ctx)) })
		a := mustEntry(t, s, "contracts", "a")
		f.read("MessageKeys", func() error { return second(s.MessageKeys(ctx)) })
		f.read("Outcomes", func() error { return second(s.Outcomes(ctx, []int64{a.ID})) })
		f.read("EntryByID", func() error { return second(s.EntryByID(ctx, a.ID)) })
		if _, err := s.EntryByID(ctx, a.ID+1000); !errors.Is(err, sqldb.ErrNotFound) {
			t.Errorf("an entry that is not there: %v", err)
		}
		mustExec(t, s, `UPDATE sent SET messages = '!' WHERE origin = ?`, a.ID)
		_, err := s.MessageKeys(ctx)
		says(t, err, "damaged in column messages")
		_, err = s.Doubts(ctx)
		says(t, err, "reading the doubts")
	})
}

// F047, F048.
func TestEveryCallOfTheDatabaseFailsOnceOnPages(t *testing.T) {
	t.Parallel()
	breakable(t, func(t *testing.T, f *fragile) {
		ctx, s := t.Context(), f.s
		lease := mustLease(t, s, "contracts")
		rows := mustRecord(t, s, lease, newEntry("a"), newEntry("b"),
			short("w", trade.OrderCommitments, trade.Waiting, sacas("1"), contract("a")))
		must.Do(t, s.AppendAudit(ctx, anAct("contracts a")))
		run := trade.RunReport{
			ID: sqldb.NewID(), Job: "contracts", StartedAt: at, EndedAt: trade.End{Time: at},
			States: map[trade.State]int{}, Flags: map[trade.Flag]int{},
		}
		must.Do(t, s.FinishRun(ctx, run))
		page := func(name string, q trade.RowQuery) {
			t.Helper()
			q.Limit = 5
			f.read("RowPage "+name, func() error { return second(s.RowPage(ctx, q)) })
		}
		page("by number", trade.RowQuery{Sort: trade.NewestFirst})
		page("by key", trade.RowQuery{Sort: trade.ByKey})
		page("of a state, by key", trade.RowQuery{Sort: trade.ByKey, States: []trade.State{trade.Waiting}})
		page("by key, the second", trade.RowQuery{Sort: trade.ByKey, After: fmt.Sprint(rows[0].ID)})
		page("of a time", trade.RowQuery{Sort: trade.OldestFirst, From: at.Add(-time.Hour)})
		for _, sort := range trade.Columns {
			page("by "+string(sort), trade.RowQuery{Sort: sort})
		}
		page("by value, the second", trade.RowQuery{Sort: trade.ByValue, After: "1_2"})
		page("by title, the second", trade.RowQuery{Sort: trade.ByTitle, After: fmt.Sprint(rows[0].ID)})
		facts := trade.FactQuery{Product: "SOJA", Branch: "0"}
		page("of a product", trade.RowQuery{Facts: facts, Sort: "-" + trade.ByDay})
		for _, whole := range []bool{true, false} {
			f.read("RowSums", func() error { return second(s.RowSums(ctx, trade.RowQuery{Facts: facts}, whole)) })
		}
		f.read("RowNames", func() error {
			_, _, err := s.RowNames(ctx, trade.ByBranch, nil, "0", 5)
			return err
		})
		if _, err := s.RowPage(ctx, trade.RowQuery{After: "1_x", Sort: trade.ByValue, Limit: 5}); err == nil {
			t.Error("RowPage takes 1_x for where a page begins")
		}
		if _, err := s.RowPage(ctx, trade.RowQuery{After: "x", Limit: 5}); err == nil {
			t.Error("RowPage takes x for where a page begins")
		}
		f.read("RunRows", func() error { return second(s.RunRows(ctx, run)) })
		f.read("RunSent", func() error { return second(s.RunSent(ctx, run)) })
		f.read("Run", func() error { return second(s.Run(ctx, run.ID)) })
		f.read("RunsBefore", func() error { return second(s.RunsBefore(ctx, run.ID)) })
		f.read("RunPage", func() error { return second(s.RunPage(ctx, "contracts", "", 5)) })
		f.read("AuditPage", func() error { return second(s.AuditPage(ctx, trade.AuditQuery{Limit: 5})) })
		f.read("AuditOf", func() error { return second(s.AuditOf(ctx, "contracts a", 5)) })
		acts := func(fn func(trade.AuditRecord) error) func() error {
			return func() error { return s.ActsBetween(ctx, []string{"dismiss"}, at, at.Add(time.Hour), fn) }
		}
		f.read("ActsBetween", acts(func(trade.AuditRecord) error { return nil }))
		enough := errors.New("enough")
		if err := acts(func(trade.AuditRecord) error { return enough })(); !errors.Is(err, enough) {
			t.Errorf("ActsBetween: %v", err)
		}
		parent := rows[0]
		parent.RemoteID = sqldb.NewID()
		f.read("Dependents", func() error { return second(s.Dependents(ctx, parent, 5)) })
		f.read("Place", func() error { _, _, err := s.Place(ctx, parent, []trade.State{parent.State}); return err })
		f.read("NewContents", func() error { return second(s.NewContents(ctx, "contracts", trade.Pending, 0, 5)) })
		f.read("Stuck", func() error { return second(s.Stuck(ctx, "contracts")) })
		mustExec(t, s, `UPDATE run SET report = '!'`)
		_, err := s.RunPage(ctx, "contracts", "", 5)
		says(t, err, "the record of a run is damaged")
	})
}

// fullWriter is where nothing can be written.
type fullWriter struct{}

func (fullWriter) Write([]byte) (int, error) { return 0, errors.New("no space") }

// F047, F048: a closing is stored piece by piece: one that failed leaves pieces that count for nothing, which
// the next one removes.
func TestEveryCallOfTheDatabaseFailsOnceWhileAReportIsClosed(t *testing.T) {
	t.Parallel()
	breakable(t, func(t *testing.T, f *fragile) {
		ctx, s := t.Context(), f.s
		day := trade.DateOf(at)
		rows := bytes.Repeat([]byte("row"), trade.ClosingPart/2)
		var kept trade.Closing
		for at := 1; ; at++ {
			c := trade.Closing{ID: sqldb.NewID(), Day: day, Who: "maria", Reason: "x", Head: []byte(`{}`)}
			f.b.arm(at, false)
			c, err := s.CloseReport(ctx, c, bytes.NewReader(rows), anAct(day.String()))
			hit := f.b.disarm()
			if (hit == "") != (err == nil) {
				t.Fatalf("call %d of the database (%q fails) and %v", at, hit, err)
			}
			list, look := s.Closings(ctx, day)
			if look != nil || len(list) > 0 != (err == nil) {
				t.Fatalf("after call %d of the database failed (%s) there are %d closings, %v", at, hit, len(list), look)
			}
			if hit == "" {
				kept = list[0]
				if kept.ID != c.ID || kept.Parts < 2 {
					t.Fatalf("it closed %+v, and there is %+v", c, kept)
				}
				break
			}
			f.broken++
		}
		f.read("Closings", func() error { return second(s.Closings(ctx, day)) })
		f.read("ClosedRows", func() error { return s.ClosedRows(ctx, kept, io.Discard) })
		says(t, s.ClosedRows(ctx, kept, fullWriter{}), "no space")
		short := kept
		short.Parts++
		if err := s.ClosedRows(ctx, short, io.Discard); !errors.Is(err, trade.ErrClosingDamaged) {
			t.Errorf("a part that is not there: %v", err)
		}
	})
}
