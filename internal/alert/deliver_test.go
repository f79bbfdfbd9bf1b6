package alert

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/trade"
)

func TestAMessageIsTriedUntilItArrivesAndTheOtherChannelDoesNotWait(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.mail.refuse("MAIL", 451, "no room for ti@coop.example")
		w.status("contracts", trade.Stopped, "api_key")
		w.tick(time.Minute)
		if n := len(w.hook.take()); n != 1 {
			t.Fatalf("the webhook got %d messages, want 1", n)
		}
		tries := w.mail.refused.Load()
		w.tick(30 * time.Second) // too early for another try
		if tries != 1 || w.mail.refused.Load() != tries {
			t.Errorf("it was tried again after 30 s")
		}
		for range 8 {
			w.tick(15 * time.Minute)
		}
		if n := w.mail.refused.Load() - tries; n < 3 || n > 7 {
			t.Errorf("%d tries in two hours: the pauses should grow", n)
		}
		backlog, err := w.store.Backlog(t.Context())
		if err != nil || backlog.Messages != 1 || backlog.Failing != 1 {
			t.Errorf("backlog %+v, %v", backlog, err)
		}
		for _, want := range []string{
			`"level":"warn","msg":"message not delivered"`,
			`"level":"error","msg":"message overdue: nobody has been told"`, `"fault":"smtp_451"`,
		} {
			if !strings.Contains(w.log.String(), want) {
				t.Errorf("the log lacks %s:\n%s", want, w.log)
			}
		}
		if strings.Contains(w.log.String(), "ti@coop") {
			t.Errorf("the log has an address:\n%s", w.log)
		}
		w.mail.accept()
		w.Service = w.another() // the message outlives the process
		w.tick(time.Hour)
		w.wantMails(begins(Stopped, "api_key", "contracts"))
		if n := len(w.hook.take()); n != 0 {
			t.Errorf("the webhook got %d more messages", n)
		}
	})
}

// The words are those of the language that holds when it is sent; mails in English would be refused.
func TestAMessageIsPutIntoWordsWhenItIsSent(t *testing.T) {
	one(t, func(t *testing.T, w *world) {
		w.Channels, w.Lang = w.Channels[:1], trade.English
		w.Causes, w.Limits.RejectedAbove = causesOfTheHarvest(w.now), 0
		w.mail.refuse("MAIL", 451, "no room")
		w.send("contracts", w.record("contracts", w.contract("1", `{}`))[0], trade.OutcomeNotCreated, "")
		w.tick(time.Minute)
		w.mail.accept()
		w.Lang = trade.Portuguese
		w.tick(time.Hour)
		w.wantMails(begins(Rejected, "", "contracts"))[0].says(t, portuguese.text("Why"),
			trade.Explain(trade.Waiting, "ref:wallets", trade.Portuguese).What)
	})
}

func TestAnAlertThatEndsBeforeAnybodyWasToldIsOneMessage(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.mail.refuse("", 421, "not now")
		w.status("contracts", trade.Stopped, "api_key")
		w.tick(time.Minute)
		w.status("contracts", trade.Idle, "")
		w.tick(time.Minute)
		w.tick(Settling)
		w.mail.accept()
		w.tick(time.Hour)
		m := w.wantMails(ends(Stopped, "api_key", "contracts"))[0]
		if !strings.Contains(m.text, "Começou em 10/08/2026 09:00") {
			t.Errorf("it does not say that it began:\n%s", m.text)
		}
	})
}

func TestAMessageIsGivenUpAfterAWeekAndSaysSo(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.hook.answers(status(404))
		w.status("contracts", trade.Stopped, "api_key")
		w.tick(time.Minute)
		w.tick(GiveUp - time.Hour)
		if b, err := w.store.Backlog(t.Context()); err != nil || b.Messages != 1 {
			t.Fatalf("backlog %+v, %v", b, err)
		}
		w.tick(2 * time.Hour)
		if b, err := w.store.Backlog(t.Context()); err != nil || b.Messages != 0 {
			t.Errorf("backlog %+v, %v", b, err)
		}
		if !strings.Contains(w.log.String(), `"level":"error","msg":"message given up"`) ||
			!strings.Contains(w.log.String(), `"fault":"http_404"`) {
			t.Errorf("the log does not say that it was given up:\n%s", w.log)
		}
	})
}

func TestAnAddressThatWasTakenOutGetsNothingMore(t *testing.T) {
	one(t, func(t *testing.T, w *world) {
		w.hook.answers(status(500))
		w.status("contracts", trade.Stopped, "api_key")
		w.tick(time.Minute)
		w.Service = w.another()
		w.Channels = w.Channels[:1]
		w.hook.answers(nil)
		w.tick(time.Hour)
		if b, err := w.store.Backlog(t.Context()); err != nil || b.Messages != 0 || len(w.hook.take()) != 0 {
			t.Errorf("backlog %+v, %v", b, err)
		}
	})
}

// Whoever corrects a wrong address is told what waited for it.
func TestACorrectedAddressGetsWhatWasNotDelivered(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.Channels = []Channel{w.mail.channel(func(o *EmailOptions) {
			o.To = []string{
				"anna@coop.example",
				"gone@coop.example",
			}
		})}
		w.mail.refuse("RCPT", 550, "no such user")
		w.status("contracts", trade.Stopped, "api_key")
		w.tick(time.Minute)
		w.wantMails()
		w.mail.accept()
		w.Service = w.another()
		w.Channels = []Channel{w.mail.channel(func(o *EmailOptions) { o.To = []string{"ana@coop.example"} })}
		w.tick(2 * time.Minute)
		w.tick(2 * time.Minute)
		if m := w.wantMails(begins(Stopped, "api_key", "contracts"))[0]; m.to != "ana@coop.example" {
			t.Errorf("to %s", m.to)
		}
		w.tick(time.Hour)
		w.wantMails()
	})
}

func TestARefusedAddressDoesNotKeepTheOthersFromTheirs(t *testing.T) {
	one(t, func(t *testing.T, w *world) {
		w.Channels[0] = w.mail.channel(func(o *EmailOptions) {
			o.To = []string{
				"gone@coop.example",
				"ana@coop.example",
			}
		})
		w.mail.refuse("RCPT gone@", 550, "gone@coop.example: no such user")
		w.status("contracts", trade.Stopped, "api_key")
		w.tick(time.Minute)
		if m := w.wantMails(begins(Stopped, "api_key", "contracts"))[0]; m.to != "ana@coop.example" {
			t.Errorf("to %s", m.to)
		}
		if !strings.Contains(w.log.String(), "smtp_550_recipient") || strings.Contains(w.log.String(), "gone@") {
			t.Errorf("log:\n%s", w.log)
		}
	})
}

// A crash after the delivery and before its record repeats the message, under the same id.
func TestAMessageThatMayHaveArrivedIsSentAgainUnderItsID(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.Ledger = forgetful{w.Ledger}
		w.status("contracts", trade.Stopped, "api_key")
		w.now = w.now.Add(time.Minute)
		if err := w.Tick(t.Context()); err == nil {
			t.Fatal("no error")
		}
		first := w.wantMails(begins(Stopped, "api_key", "contracts"))[0]
		w.Service = w.another()
		w.tick(time.Minute)
		w.wantMails() // it is claimed still
		w.tick(claimFor)
		if again := w.wantMails(begins(Stopped, "api_key", "contracts"))[0]; again.id != first.id ||
			!strings.HasSuffix(again.id, "@coop.example>") {
			t.Errorf("ids %s and %s", first.id, again.id)
		}
	})
}

// forgetful is a ledger whose process ends before the record of a delivery.
type forgetful struct{ Storage }

func (forgetful) SettleMessage(context.Context, trade.AlertMessage) error {
	return fmt.Errorf("killed")
}

func TestALedgerThatCannotBeReadIsToldWithoutIt(t *testing.T) {
	one(t, func(t *testing.T, w *world) {
		whole := w.Ledger
		w.Ledger = brokenLedger{whole}
		fail := func(d time.Duration) {
			t.Helper()
			w.now = w.now.Add(d)
			if err := w.Tick(t.Context()); err == nil {
				t.Fatal("no error")
			}
		}
		fail(0)
		fail(time.Minute)
		w.wantMails()
		w.mail.refuse("", 421, "not now")
		fail(2 * time.Minute)
		w.mail.accept()
		fail(time.Minute)
		w.wantMails(begins(NoLedger, ""))
		for range 5 {
			fail(time.Hour)
		}
		w.wantMails()
		if n := len(w.hook.take()); n != 1 {
			t.Errorf("the webhook got %d messages, want 1", n)
		}
		w.Ledger = whole
		w.tick(time.Minute)
		w.wantMails(ends(NoLedger, ""))
		w.tick(time.Hour)
		w.wantMails()
		if n := len(w.hook.take()); n != 1 {
			t.Errorf("the webhook got %d messages that it is over, want 1", n)
		}
	})
}
