package alert

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/robfig/cron/v3"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// atSeven comes every day, at seven o'clock in São Paulo.
var atSeven = func() cron.Schedule {
	daily, err := cron.ParseStandard("CRON_TZ=America/Sao_Paulo 0 7 * * *")
	if err != nil {
		panic(err)
	}
	return daily
}()

var update = flag.Bool("update", false, "write the golden files")

const contractBody = `{"amount":%s,"product":"%s","unit_of_measurement":"%s","order_type":"%s","currency":"%s","price":%s}`

// harvest is a day's work: contracts of two products, in three units and two currencies, deliveries
// of them, and what did not go.
func (w *world) harvest() {
	w.t.Helper()
	price := func(text string) string {
		if text == "" {
			return "null"
		}
		return text
	}
	var contracts []trade.Entry
	for i, c := range [][6]string{
		{"1000.5", "SOJA", "SC", "COMPRA", "BRL", "131.45"},
		{"2000", "SOJA", "SC", "COMPRA", "BRL", "129.9"},
		{"61.75", "SOJA", "TON", "COMPRA", "USD", "402.3333"},
		{"500", "SOJA", "SC", "A_FIXAR", "", ""},
		{"100", "SOJA", "SC", "FIXACAO_COMPRA", "BRL", "132.1"},
		{"100", "MILHO", "KG", "COMPRA", "BRL", "1.1275"},
	} {
		body := fmt.Sprintf(contractBody, c[0], c[1], c[2], c[3], c[4], price(c[5]))
		contracts = append(contracts, w.contract(fmt.Sprintf("01|%04d", i+1), body))
	}
	contracts = w.record("contracts", contracts...)
	for i, e := range contracts {
		w.send("contracts", e, trade.OutcomeCreated, remoteID(i+1))
	}
	waiting := func(e *trade.Entry) {
		e.State, e.Cause, e.Payload, e.PayloadHash, e.WaitingFor = trade.Waiting, "ref:wallets", nil, "",
			[]trade.Awaited{{Ref: "wallets", Code: "12"}}
	}
	w.record("contracts", w.contract("01|0100", "", waiting), w.contract("01|0101", "", waiting))
	doubt := w.record("contracts", w.contract("01|0102",
		fmt.Sprintf(contractBody, "10", "SOJA", "SC", "COMPRA", "BRL", "130")))
	w.send("contracts", doubt[0], trade.OutcomeUnknown, "")

	delivery := func(e *trade.Entry) { e.Sends = trade.Deliveries }
	var deliveries []trade.Entry
	for i, body := range []string{
		`{"contract_id":"` + remoteID(1) + `","delivered_volume":30000,"delivered_volume_unit_of_measure":"kg"}`,
		`{"contract_id":"` + remoteID(6) + `","delivered_volume":100,"delivered_volume_unit_of_measure":"kg"}`,
		`{"contract_id":"` + remoteID(2) + `","delivered_volume":12.345,"delivered_volume_unit_of_measure":"ton"}`,
		`{"contract_id":"4711","delivered_volume":1,"delivered_volume_unit_of_measure":"sc"}`,
	} {
		deliveries = append(deliveries, w.contract(fmt.Sprintf("01|T%d", i+1), body, delivery))
	}
	for i, e := range w.record("deliveries", deliveries...) {
		w.send("deliveries", e, trade.OutcomeCreated, remoteID(100+i))
	}
	w.record("deliveries", w.contract("01|T9", "", delivery, func(e *trade.Entry) {
		e.State, e.Cause, e.Payload, e.PayloadHash = trade.Waiting, trade.CauseParent, nil, ""
		e.WaitingFor = []trade.Awaited{{Job: "contracts", Key: "01|0100"}}
	}))
	w.run("contracts", sweep(0), func(r *trade.RunReport) { r.New, r.Changed = 9, 2 })
	w.run("deliveries", func(r *trade.RunReport) { r.New = 5 })
	for i, act := range []string{"dismiss", "adopt", "dismiss"} {
		must.Do(w.t, w.store.AppendAudit(w.t.Context(),
			trade.AuditRecord{At: w.now.Add(time.Duration(i)), Who: "maria", Act: act, Reason: "x"}))
	}
}

func remoteID(n int) string { return fmt.Sprintf("1b98fbe4-6680-4a11-9ba1-%012d", n) }

// causesOfTheHarvest are what the program makes of the rows that did not go.
func causesOfTheHarvest(since time.Time) func(context.Context, string, []trade.State) ([]Cause, error) {
	cause := func(state trade.State, cause string, c Cause) Cause {
		c.State, c.Cause, c.Oldest = state, cause, since
		return c
	}
	kg, err := trade.ParseDecimal("72030")
	if err != nil {
		panic(err)
	}
	return func(_ context.Context, job string, _ []trade.State) ([]Cause, error) {
		if job == "contracts" {
			return []Cause{
				cause(trade.Waiting, "ref:wallets",
					Cause{Rows: 2, Subjects: 1, Volumes: []trade.ProductSums{
						{Product: "SOJA", Sums: trade.Sums{Rows: 2, Kilograms: kg}},
					}}),
				cause(trade.InDoubt, trade.CauseUnknown, Cause{Rows: 1}),
			}, nil
		}
		return []Cause{cause(trade.Waiting, trade.CauseParent, Cause{Rows: 1})}, nil
	}
}

// shortOfTheHarvest is what the program makes of the code that the de-para lacks.
func shortOfTheHarvest(context.Context) ([]trade.Shortage, error) {
	loads := map[trade.Pile]*trade.Load{
		{Kind: trade.OrderCommitments}: {Rows: 1}, {Kind: trade.OrderCommitments, Fixing: true}: {Rows: 1},
		{Kind: trade.Deliveries}: {Rows: 1},
	}
	return []trade.Shortage{{Kind: "wallets", Code: "12", Blocked: loads}, {Kind: "wallets", Blocked: loads}}, nil
}

func TestTheDigestSaysWhatAnAccountantAsks(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.DigestAt = atSeven
		w.OldestLimitOff()
		w.tick(0) // the first start is where the first digest begins
		w.now = w.now.Add(time.Hour)
		w.Causes, w.Shortages = causesOfTheHarvest(w.now), shortOfTheHarvest
		w.harvest()
		w.tick(10 * time.Minute) // the doubt is noticed
		w.tick(10 * time.Minute)
		w.wantMails(begins(InDoubt, "", "contracts"))
		for _, lang := range []trade.Lang{trade.English, trade.Portuguese} {
			w.Lang = lang
			_, text, err := w.Digest(t.Context())
			must.Do(t, err)
			golden(t, "digest."+string(lang)+".txt", text)
		}
		w.tick(22 * time.Hour)
		m := w.wantMails("Resumo de 11/08/2026: enviados 6 contratos e 4 entregas; por resolver: 4")[0]
		golden(t, "digest.html", m.html)
		var subjects []string // as the console lists the digests
		for _, stored := range must.Get(w.store.LatestMessages(t.Context(), 10))(t) {
			if stored.AlertID == "" {
				subjects = append(subjects, must.Get(DigestSubject(stored, w.Config))(t))
			}
		}
		if !slices.Equal(slices.Compact(subjects), []string{m.subject}) {
			t.Errorf("the digests are listed as %q, the mail is %q", subjects, m.subject)
		}
		w.tick(time.Hour)
		w.wantMails()
		w.now = w.now.AddDate(0, 0, 4) // four mornings were missed
		w.tick(0)
		w.wantMails("Resumo de 15/08/2026: nada enviado; 4 linhas por resolver")
	})
}

func TestTwoInstancesMakeOneDigest(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.DigestAt = atSeven
		w.tick(0)
		other := w.another()
		other.DigestAt = w.DigestAt
		w.now = w.now.Add(24 * time.Hour)
		for _, s := range []*Service{other, w.Service, w.another()} {
			must.Do(t, s.Tick(t.Context()))
		}
		w.wantMails("Resumo de 11/08/2026: nada novo, nada pendente")
	})
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	got = strings.ReplaceAll(got, "\r\n", "\n")
	path := filepath.Join("testdata", name)
	if *update {
		must.Do(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want := must.Get(os.ReadFile(path))(t)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// A record whose answer has arrived, and is stored a moment later, is in the one digest or in the
// next.
func TestADigestMissesNothingThatIsStoredWhileItIsMade(t *testing.T) {
	one(t, func(t *testing.T, w *world) {
		w.DigestAt = atSeven
		w.tick(0)
		body := fmt.Sprintf(contractBody, "100", "MILHO", "KG", "COMPRA", "BRL", "1.1275")
		e := w.record("contracts", w.contract("01|0001", body))[0]
		w.now = monday.Add(22 * time.Hour)
		a := trade.Attempt{
			ID: w.newID(), RunID: "run", EntryID: e.ID, Payload: e.Payload, PayloadHash: e.PayloadHash,
			StartedAt: w.now.Add(-time.Second),
		}
		w.store.CommitGroup("contracts", trade.Group{At: w.now, Intents: []trade.Intent{{Entry: e, Attempt: a}}})
		a.Outcome, a.RemoteID, a.FinishedAt = trade.OutcomeCreated, remoteID(1), w.now.Add(-time.Millisecond)
		w.tick(0) // a digest
		w.store.CommitGroup("contracts", trade.Group{
			At:     w.now,
			Settle: []trade.Settlement{{Attempt: a, State: trade.Accepted, Counts: true}},
		})
		w.tick(24 * time.Hour)
		mails := w.mail.take()
		if len(mails) != 2 || !strings.Contains(mails[1].text, "100 kg") {
			t.Errorf("%d digests, and the record is in none of them: %+v", len(mails), mails)
		}
	})
}
