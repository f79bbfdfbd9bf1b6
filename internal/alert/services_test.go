package alert

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// telegramFault returns what sendMessage of the Bot API refuses; "" if nothing.
func telegramFault(r *http.Request) string {
	var body struct {
		Chat    string `json:"chat_id"`
		Text    string `json:"text"`
		Form    string `json:"parse_mode"`
		Preview *struct {
			Disabled bool `json:"is_disabled"`
		} `json:"link_preview_options"`
	}
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&body); err != nil || r.URL.Path != "/bot1:T0KEN/sendMessage" {
		return "Not Found"
	}
	if body.Chat != "-100" {
		return "Bad Request: chat not found"
	}
	var shown strings.Builder
	tags := xml.NewDecoder(strings.NewReader("<m>" + body.Text + "</m>"))
	for {
		token, err := tags.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		switch t := token.(type) {
		case xml.CharData:
			shown.Write(t)
		case xml.StartElement:
			name := t.Name.Local
			if !slices.Contains([]string{"m", "b", "i", "a"}, name) || name == "a" && len(t.Attr) != 1 {
				return "Bad Request: can't parse entities: unsupported start tag " + name
			}
		}
		if err != nil || body.Form != "HTML" {
			return "Bad Request: can't parse entities"
		}
	}
	if n := len(utf16.Encode([]rune(shown.String()))); n == 0 || n > 4096 {
		return "Bad Request: message is too long"
	}
	return ""
}

// pagerDutyFault returns what the Events API v2 refuses; "" if nothing.
func pagerDutyFault(r *http.Request) (action, dedup, fault string) {
	var body struct {
		Key     string `json:"routing_key"`
		Action  string `json:"event_action"`
		Dedup   string `json:"dedup_key"`
		Client  string `json:"client"`
		Payload *struct {
			Summary   string         `json:"summary"`
			Source    string         `json:"source"`
			Severity  string         `json:"severity"`
			Timestamp time.Time      `json:"timestamp"`
			Component string         `json:"component"`
			Group     string         `json:"group"`
			Class     string         `json:"class"`
			Details   map[string]any `json:"custom_details"`
		} `json:"payload"`
		Links []struct {
			Href string `json:"href"`
			Text string `json:"text"`
		} `json:"links"`
	}
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&body)
	p := body.Payload
	switch {
	case err != nil || len(body.Key) != 32 || body.Dedup == "" || len(body.Dedup) > 255:
		return "", "", "Event object is invalid"
	case !slices.Contains([]string{"trigger", "acknowledge", "resolve"}, body.Action):
		return "", "", "event_action"
	case body.Action == "trigger" && (p == nil || p.Summary == "" || len([]rune(p.Summary)) > 1024 || p.Source == "" ||
		!slices.Contains([]string{"critical", "error", "warning", "info"}, p.Severity)):
		return "", "", "payload"
	case p != nil && p.Details[""] != nil:
		return "", "", "a detail without a name"
	}
	return body.Action, body.Dedup, ""
}

// service is a receiver that takes only what the service documents, and says what it refuses, as
// that service does.
func service(t *testing.T, form Form) (send func(Message) error, got func() []string) {
	var events []string
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch form {
		case Telegram:
			w.Header().Set("Content-Type", "application/json")
			if fault := telegramFault(r); fault != "" {
				t.Error(fault)
				w.WriteHeader(http.StatusBadRequest)
				_, _ = io.WriteString(w, `{"ok":false,"error_code":400,"description":"`+fault+`"}`)
				return
			}
			_, _ = io.WriteString(w, `{"ok":true,"result":{"message_id":7}}`)
		default:
			action, dedup, fault := pagerDutyFault(r)
			if fault != "" {
				t.Error(fault)
				w.WriteHeader(http.StatusBadRequest)
				_, _ = io.WriteString(w, `{"status":"invalid event","errors":["`+fault+`"]}`)
				return
			}
			events = append(events, action+" "+dedup)
			w.WriteHeader(http.StatusAccepted)
			_, _ = io.WriteString(w, `{"status":"success","message":"Event processed","dedup_key":"`+dedup+`"}`)
		}
	}))
	t.Cleanup(server.Close)
	path := map[Form]string{Telegram: "/bot1:T0KEN/sendMessage", PagerDuty: "/v2/enqueue"}[form]
	channel := NewWebhook(WebhookOptions{
		URL: func() string { return server.URL + path }, Form: form, Chat: "-100", Timeout: 10 * time.Second,
		Key:   func() string { return strings.Repeat("k", 32) },
		Roots: server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs,
	})
	return func(m Message) error { return channel.Send(t.Context(), webhookTarget, m) },
		func() []string { return events }
}

// Each message, also the longest, is one that the service takes as it is documented.
func TestEachServiceGetsWhatItDocuments(t *testing.T) {
	t.Parallel()
	v := portuguese
	v.console = "https://safrasync.coop.example"
	causes := make([]Cause, 40)
	for i := range causes {
		causes[i] = Cause{
			State: trade.Rejected, Cause: "message.wallet.not-found", Rows: i + 1, Subjects: 3, Oldest: monday,
		}
	}
	jobs := make([]DigestJob, 12)
	for i := range jobs {
		jobs[i] = DigestJob{
			Job: "contratos <&> " + strings.Repeat("x", i), Sends: trade.OrderCommitments, Causes: causes,
		}
	}
	digest := v.message(notice{Digest: &Digest{From: monday, Until: monday.Add(24 * time.Hour), Jobs: jobs}})
	digest.Kind = kindDigest
	test := TestMessage(Config{
		Lang: trade.Portuguese, Zone: saoPaulo, Name: "coop", Now: func() time.Time { return monday },
	})
	messages := []Message{sample, digest, test}
	for topic := range topicPages {
		d := Detail{
			Jobs: []Job{{Name: "venda & troca", Sends: trade.OrderCommitments}}, Rows: 3, Code: "api_key", Causes: causes,
		}
		for _, gone := range []time.Time{{}, monday} {
			m := v.message(notice{Topic: topic, Since: monday, Gone: gone, Detail: d})
			m.Kind = kindRaised
			messages = append(messages, m)
		}
	}
	long := sample
	long.Subject = strings.Repeat("ação 🌱 ", 300)
	messages = append(messages, long)
	for _, form := range []Form{Telegram, PagerDuty} {
		send, _ := service(t, form)
		for i, m := range messages {
			m.ID = "0190"
			if form == Telegram && len(m.Subject) > 1000 {
				continue // no subject of ours is so long
			}
			if err := send(m); err != nil {
				t.Errorf("%s, message %d (%s): %v", form, i, m.Subject, err)
			}
		}
	}
}

// What is over ends the incident that its beginning opened.
func TestTheEndOfAnAlertResolvesItsIncident(t *testing.T) {
	t.Parallel()
	send, got := service(t, PagerDuty)
	m := sample
	m.ID, m.Alert, m.Kind = "m1", "a1", kindRaised
	must.Do(t, send(m))
	m.ID, m.Kind = "m2", kindOver
	must.Do(t, send(m))
	if want := []string{"trigger a1", "resolve a1"}; !slices.Equal(got(), want) {
		t.Errorf("events %q, want %q", got(), want)
	}
}

// A test message leaves no incident open.
func TestATestOfAlertsOpensAnIncidentAndResolvesIt(t *testing.T) {
	t.Parallel()
	send, got := service(t, PagerDuty)
	now := func() time.Time { return monday }
	m := TestMessage(Config{Lang: trade.Portuguese, Zone: saoPaulo, Name: "coop", Now: now})
	m.ID = "m1"
	must.Do(t, send(m))
	if want := []string{"trigger m1", "resolve m1"}; !slices.Equal(got(), want) {
		t.Errorf("events %q, want %q", got(), want)
	}
}

// The form for programs has all that the message says, under the names that the documents give.
func TestAProgramGetsTheMessageInJSON(t *testing.T) {
	t.Parallel()
	v := portuguese
	v.console = "https://safrasync.coop.example"
	m := v.message(notice{Topic: InDoubt, Since: monday, Detail: Detail{Jobs: []Job{{Name: "contracts"}}, Rows: 1}})
	m.ID, m.Alert, m.Kind, m.At = "m1", "a1", kindRaised, monday
	var got struct {
		ID, Alert, Kind, Topic, Group, Subject, Foot string
		At                                           time.Time
		Parts                                        []struct{ Heading, Text string }
		Link                                         struct{ Text, URL string }
	}
	must.Do(t, json.Unmarshal(must.Get(json.Marshal(m))(t), &got))
	if got.ID != "m1" || got.Alert != "a1" || got.Kind != "raised" || got.Topic != "in_doubt" ||
		got.Group != "accounting" || got.Subject != m.Subject || !got.At.Equal(monday) ||
		got.Link.URL != "https://safrasync.coop.example/doubts" || len(got.Parts) != len(m.Parts) ||
		got.Parts[0].Text != m.Parts[0].Text || got.Foot == "" {
		t.Errorf("%+v", got)
	}
}

// Each group of people is called by the alerts that it can end.
func TestEachAlertCallsAGroup(t *testing.T) {
	t.Parallel()
	for topic, want := range map[Topic]trade.Department{
		InDoubt: trade.Accounting, Rejected: trade.Accounting, LongWaiting: trade.Accounting,
		Contradicted: trade.Accounting, LateAnswer: trade.Accounting, DiskFull: trade.IT, Certificate: trade.IT,
		BackupOld: trade.IT, NoLedger: trade.IT, NothingNew: trade.IT,
	} {
		if got := groupOf(topic, Detail{}); got != want {
			t.Errorf("%s calls %s, want %s", topic, got, want)
		}
	}
	for code, want := range map[string]trade.Department{
		"api_key": trade.IT, "erp": trade.IT, "refusals": trade.Accounting, "brake_new_rows": trade.Accounting,
		"unknown to this program": trade.IT,
	} {
		if got := groupOf(Stopped, Detail{Code: code}); got != want {
			t.Errorf("a stop of %s calls %s, want %s", code, got, want)
		}
	}
}

// A cause of which somebody takes care is quiet until its day, unless it grows.
func TestACauseThatSomebodyTakesCareOfIsQuietUntilItGrows(t *testing.T) {
	for name, c := range map[string]struct {
		rows int           // refused in the end
		wait time.Duration // until then
		told bool
	}{
		"quiet": {3, time.Hour, false}, "grown": {4, time.Hour, true}, "its day": {3, 73 * time.Hour, true},
	} {
		t.Run(name, func(t *testing.T) {
			one(t, func(t *testing.T, w *world) {
				w.OldestLimitOff()
				refuse := func(key string) {
					w.send("contracts", w.record("contracts", w.contract(key, `{}`))[0], trade.OutcomeNotCreated, "")
				}
				for i := range 3 {
					refuse(fmt.Sprint(i))
				}
				cause := w.store.Read("contracts", "0").Cause
				must.Do(t, w.store.OwnCause(t.Context(), trade.CauseOwner{
					Key: cause, Cause: cause, Owner: "Maria", Until: w.now.Add(72 * time.Hour),
					Rows: map[string]int{"contracts": 3},
				}, trade.AuditRecord{At: w.now, Who: "ana", Act: "cause own", Target: cause}))
				if c.rows > 3 {
					refuse("3")
				}
				w.tick(c.wait)
				if c.told {
					w.wantMails(begins(Rejected, "", "contracts"))
				} else {
					w.wantMails()
				}
			})
		})
	}
}

// A cause that was mostly solved is told again when it grows, also below what it had.
func TestACauseThatWasSolvedIsToldWhenItGrowsAgain(t *testing.T) {
	one(t, func(t *testing.T, w *world) {
		w.OldestLimitOff()
		w.send("contracts", w.record("contracts", w.contract("0", `{}`))[0], trade.OutcomeNotCreated, "")
		cause := w.store.Read("contracts", "0").Cause
		must.Do(t, w.store.OwnCause(t.Context(), trade.CauseOwner{
			Key: "k", Cause: cause, Owner: "Maria", Until: w.now.Add(720 * time.Hour), Rows: map[string]int{"contracts": 5},
		}, trade.AuditRecord{At: w.now, Who: "ana", Act: "cause own", Target: cause}))
		w.tick(time.Hour) // four of the five are solved
		w.wantMails()
		for i := range 3 {
			w.send("contracts", w.record("contracts", w.contract(fmt.Sprint(i+10), `{}`))[0], trade.OutcomeNotCreated, "")
		}
		w.tick(time.Hour)
		w.wantMails(begins(Rejected, "", "contracts"))
	})
}
