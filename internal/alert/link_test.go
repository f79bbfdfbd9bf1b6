package alert

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// Each alert leads to the page that has what it is about, with its job where the page has rows.
func TestEachAlertLeadsToItsPage(t *testing.T) {
	t.Parallel()
	v := portuguese
	v.console = "https://safrasync.coop.example"
	d := Detail{Code: "brake_new_rows", Jobs: []Job{{Name: "venda & troca"}}}
	for topic, want := range map[Topic]string{
		Stopped: "/routines", InDoubt: "/doubts",
		Rejected:     "/rows?job=venda+%26+troca&state=rejected",
		LongWaiting:  "/rows?job=venda+%26+troca&state=waits",
		NothingNew:   "/routines",
		SweepMissed:  "/routines",
		Contradicted: "/changed", LateAnswer: "/audit",
		DiskFull: "/alerts", Certificate: "/alerts",
		BackupOld: "/alerts", Unseen: "/alerts", Silent: "/events",
		Unheard: "/events", Accounts: "/audit",
	} {
		for _, n := range []notice{{Topic: topic, Detail: d}, {Topic: topic, Detail: d, Gone: monday}} {
			text := v.message(n).text()
			path, _, _ := strings.Cut(want, "?")
			line := "Abrir " + i18n.PageName(trade.Portuguese, path) + " no painel: " + v.console + want + "\n"
			if !strings.Contains(text, line) {
				t.Errorf("%s lacks %q:\n%s", topic, line, text)
			}
			v := portuguese
			if text := v.message(n).text(); strings.Contains(text, "://") {
				t.Errorf("%s has a link without an address of the console:\n%s", topic, text)
			}
		}
	}
}

// A link arrives in the form of each receiver, for the alert and for each cause.
func TestALinkArrivesInEachForm(t *testing.T) {
	one(t, func(t *testing.T, w *world) {
		v := portuguese
		v.console = "https://safrasync.coop.example"
		m := v.message(notice{Topic: Rejected, Since: monday, Detail: Detail{
			Rows: 3, Jobs: []Job{{Name: "contracts"}},
			Causes: []Cause{{State: trade.Rejected, Cause: "message.wallet.not-found", Rows: 3}},
		}})
		m.ID, m.At = "0190", monday
		open := "Abrir " + i18n.PageName(trade.Portuguese, "/rows") + " no painel"
		const page = "https://safrasync.coop.example/rows?job=contracts&state=rejected"
		const rows = "https://safrasync.coop.example/rows?cause=message.wallet.not-found&job=contracts&state=rejected"
		amp := func(url string) string { return strings.ReplaceAll(url, "&", "&amp;") }
		must.Do(t, w.mail.channel().Send(t.Context(), "email:ti@coop.example", m))
		letter := w.mail.take()[0]
		letter.says(t, open+": "+page, "Ver os documentos no painel: "+rows)
		for _, url := range []string{page, rows} {
			if !strings.Contains(letter.html, `<a href="`+amp(url)+`"`) {
				t.Errorf("the page lacks %s:\n%s", url, letter.html)
			}
		}
		for form, wants := range map[Form][]string{
			Slack: {"<" + amp(page) + "|" + open + ">", "<" + amp(rows) + "|Ver os documentos no painel>"},
			Teams: {
				`"title":"` + open + `","type":"Action.OpenUrl","url":"` + page,
				"[Ver os documentos no painel](" + rows + ")",
			},
		} {
			must.Do(t, w.hook.channel(form).Send(t.Context(), webhookTarget, m))
			var body any
			must.Do(t, json.Unmarshal(w.hook.take()[0], &body))
			var plain strings.Builder // its keys are in the order of their names
			encoder := json.NewEncoder(&plain)
			encoder.SetEscapeHTML(false)
			must.Do(t, encoder.Encode(body))
			for _, want := range wants {
				if !strings.Contains(plain.String(), want) {
					t.Errorf("%s lacks %s:\n%s", form, want, plain.String())
				}
			}
		}
	})
}

// An alert counts the rows to which it leads, also those of causes that somebody takes care of.
func TestAnAlertCountsTheRowsToWhichItLeads(t *testing.T) {
	t.Parallel()
	job := jobFacts{
		Job: Job{Name: "contracts"}, configured: true, quiet: 2, ages: trade.Ages{Unsent: monday},
		states: map[trade.State]int{
			trade.Rejected: 5, trade.Pending: 1, trade.Sending: 1, trade.Waiting: 1, trade.Accepted: 9,
		},
	}
	limits := Limits{RejectedAbove: 2, OldestWaiting: time.Minute}
	judged := judgeRows(facts{at: monday.Add(24 * time.Hour)}, job, limits, time.UTC)
	for _, c := range judged {
		rows := 0
		for _, s := range States(trade.Alert{Topic: string(c.topic)}) {
			rows += job.states[s]
		}
		if c.detail.Rows != rows || len(judged) != 2 {
			t.Errorf("%s counts %d rows and leads to %d", c.topic, c.detail.Rows, rows)
		}
	}
}
