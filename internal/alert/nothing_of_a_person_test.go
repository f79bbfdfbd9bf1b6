package alert

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// canaries are what no message and no log line may have (I10): documents, a name, a price, a body,
// credentials.
var canaries = []string{"123.456.789-09", "12345678909", "CANARIO", "4242.4242", "canary"}

// I10: whatever stands in keys, values, errors, bodies and stops, messages tell counts, sums and
// words of their own.
func TestI10NothingOfAPersonAndNoSecretIsInAMessage(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.DigestAt = atSeven
		w.tick(0)
		body := `{"amount":10,"product":"JOSE CANARIO","unit_of_measurement":"12345678909","order_type":"CANARIO","currency":"canary","price":4242.4242,"note":"123.456.789-09"}`
		dirty := func(e *trade.Entry) {
			e.Values = trade.Values{
				"nome": {Kind: 't', Text: "JOSE CANARIO"},
				"cpf":  {Kind: 't', Text: "123.456.789-09"},
			}
		}
		invalid := func(e *trade.Entry) {
			e.State, e.Cause, e.Payload, e.PayloadHash = trade.Invalid, "rule:payday", nil, ""
			e.Error = &trade.EntryError{
				Kind: trade.ValidationError, Why: trade.Say("cause.said", "text", "JOSE CANARIO"),
				Fields: []trade.Problem{{
					Field: "payday", Rule: trade.RuleDate, Column: "cpf",
					Value: "123.456.789-09",
				}},
			}
		}
		var all []trade.Entry
		for i := range 8 {
			all = append(all, w.contract(fmt.Sprintf("CANARIO 123.456.789-0%d", i), body, dirty))
		}
		all = append(all, w.contract("CANARIO 9", "", dirty, invalid))
		rows := w.record("contracts", all...)
		w.send("contracts", rows[0], trade.OutcomeCreated, remoteID(1))
		w.send("contracts", rows[1], trade.OutcomeUnknown, "")
		for _, e := range rows[2:6] {
			w.send("contracts", e, trade.OutcomeNotCreated, "")
		}
		w.mail.refuse("DATA", 554, "JOSE CANARIO 12345678909 "+smtpPassword)
		for _, code := range []string{"erp", "some_new_code"} {
			must.Do(t, w.store.SetJobStatus(t.Context(),
				trade.JobStatus{Job: "deliveries", State: trade.Stopped, Since: w.now, Stop: &trade.Stop{
					Code: code, Why: trade.Say("pq: value 123.456.789-09 of JOSE CANARIO"),
					Brake: &trade.Brake{Rows: 3, Samples: []string{"CANARIO"}},
				}}))
			w.tick(5 * time.Minute)
		}
		w.run("contracts", sweep(3), func(r *trade.RunReport) {
			r.Notes, r.Late.Samples = trade.Notes{trade.Say("CANARIO")}, []string{"CANARIO"}
			r.Alarms = []trade.Alarm{{Kind: trade.LateAfterDismissal, Key: "CANARIO", Other: "CANARIO"}}
		})
		w.tick(24 * time.Hour)
		w.mail.accept()
		w.tick(2 * time.Hour)
		mails, hooks := w.mail.take(), w.hook.take()
		if len(mails) < 5 || len(hooks) < len(mails) {
			t.Fatalf("%d mails and %d posts: the test does not see what it should", len(mails), len(hooks))
		}
		out := w.log.String()
		for _, m := range mails {
			out += m.raw + m.subject + m.text + m.html
		}
		for _, h := range hooks {
			out += string(h)
		}
		_, text, err := w.Digest(t.Context())
		must.Do(t, err)
		out += text
		for _, c := range append(canaries, base64.StdEncoding.EncodeToString([]byte(smtpPassword)), hookSecret,
			smtpPassword, "ti@coop.example wrote") {
			if at := strings.Index(out, c); at >= 0 {
				t.Errorf("%q is in the output: …%s…", c, out[max(0, at-200):min(len(out), at+100)])
			}
		}
	})
}
