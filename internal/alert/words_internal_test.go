package alert

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/english"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

func TestEveryReasonToStopHasWords(t *testing.T) {
	t.Parallel()
	source := must.Get(os.ReadFile("../../sync/outcome/stop.go"))(t)
	codes := regexp.MustCompile(`StopCode = "([a-z_]+)"`).FindAllStringSubmatch(string(source), -1)
	if len(codes) < 10 {
		t.Fatalf("only %d codes were found: does the test still read them?", len(codes))
	}
	for _, c := range codes {
		if trade.ExplainStop(c[1], trade.Portuguese).What == trade.ExplainStop("", trade.Portuguese).What &&
			!(trade.Stop{Code: c[1]}).Quiet() {
			t.Errorf("stop code %s has no words", c[1])
		}
	}
}

// Every alert says what happened, since when, what it means and what to do, in both languages, and
// leaves no verb unfilled.
func TestEveryAlertSaysAllFour(t *testing.T) {
	t.Parallel()
	job := Job{"contracts", trade.OrderCommitments, 0}
	told := 0
	for _, name := range i18n.Alerts.Names("topic.") {
		name, ok := strings.CutSuffix(name, ".happened")
		if !ok {
			continue
		}
		told++
		topic := Topic(name)
		for _, lang := range []trade.Lang{trade.Portuguese, trade.English} {
			v := voice{lang: lang, zone: saoPaulo, name: "safrasync"}
			d := Detail{
				Jobs: []Job{job}, Rows: 1, Limit: 20, Oldest: monday, Folder: "/var/lib/safrasync",
				Host: "srv1", Free: 100 << 20, Ends: monday, Late: 90,
			}
			m := v.raised(notice{Topic: topic, Since: monday, Detail: d})
			over := v.over(notice{Topic: topic, Since: monday, Gone: monday.Add(3e9), Detail: d})
			for _, text := range []string{m.Subject, m.text(), over.Subject, over.text()} {
				if strings.Contains(text, "%!") || strings.Contains(text, "%[") || strings.Contains(text, "%s") ||
					strings.Contains(text, "{") {
					t.Errorf("%s in %s: %s", topic, lang, text)
				}
			}
			if topic != LateAnswer && strings.Contains(over.text(), strings.SplitAfter(m.text(), "\n")[1]) {
				t.Errorf("%s in %s is over and goes on: %s", topic, lang, over.text())
			}
			if len(m.Parts) != 4 {
				t.Errorf("%s in %s has %d parts, want what, since, meaning and what to do:\n%s", topic, lang,
					len(m.Parts), m.text())
			}
		}
	}
	closed := trade.Alert{Topic: string(InDoubt), Detail: []byte("{}"), ClosedAt: monday}
	past, err := Render(closed, trade.Portuguese, saoPaulo, nil)
	if err != nil || !strings.Contains(past.Happened, " havia ") {
		t.Errorf("of an alert that is over the console says %q, %v", past.Happened, err)
	}
	if told < 10 {
		t.Errorf("only %d topics were found: does the test still read them?", told)
	}
	for _, code := range slices.Concat(sharedStops, endedByPerson, []string{"references"}) {
		why := trade.ExplainStop(code, trade.Portuguese).What
		m := portuguese.raised(notice{
			Topic: Stopped, Since: monday,
			Detail: Detail{Code: code, Jobs: []Job{job}, Rows: 3, Usual: 2},
		})
		if text := m.text(); strings.Contains(text, "{job}") || strings.Contains(text, "%!") ||
			!strings.Contains(text, why) || len(m.Subject) > 160 {
			t.Errorf("%s: %s\n%s", code, m.Subject, text)
		}
	}
}

// thePage finds the page to which a text sends its reader.
var thePage = regexp.MustCompile(`\b(?:em|abra|in|open|under) “([^”]+)”`)

// Messages go to people who have only a browser: they name pages and buttons, as the console does.
// Commands are for IT.
func TestMessagesTellAccountantsPagesAndNotCommands(t *testing.T) {
	t.Parallel()
	for lang, it := range map[trade.Lang]string{trade.Portuguese: "TI", trade.English: "IT"} {
		onPages, pages := map[string]bool{}, map[string]bool{}
		for _, key := range i18n.Console.Names("") {
			onPages[i18n.Console.Text(lang, key)] = true
		}
		for _, page := range i18n.Console.Names("nav.") {
			pages[i18n.Console.Text(lang, "nav."+page)] = true
		}
		for _, key := range append(i18n.Alerts.Names(""), must.Get(english.Literals("*.go"))(t)...) {
			text := i18n.Alerts.Text(lang, key)
			_, said := i18n.SentenceForm(trade.Portuguese, key)
			if !i18n.Alerts.Has(key) && (!said || !strings.Contains(key, " ")) {
				continue
			}
			if strings.Contains(text, "`") && !regexp.MustCompile(`\b`+it+`\b`).MatchString(text) && key != "This is a test that `safrasync check --alert` asked for. If you got it, alerts reach you here." {
				t.Errorf("%s %s names a command, and not who has a command line: %s", lang, key, text)
			}
			for _, named := range regexp.MustCompile(`“([^”]+)”`).FindAllStringSubmatch(text, -1) {
				if !onPages[named[1]] {
					t.Errorf("%s %s names “%s”, which is on no page", lang, key, named[1])
				}
			}
			for _, named := range thePage.FindAllStringSubmatch(text, -1) {
				if !pages[named[1]] {
					t.Errorf("%s %s sends people to “%s”, which is no page", lang, key, named[1])
				}
			}
		}
		v := voice{lang: lang, zone: saoPaulo, name: "safrasync"}
		said := Message{Parts: []Paragraph{{Items: v.causes("contracts", []Cause{{
			State: trade.InDoubt, Cause: trade.CauseUnknown, Rows: 1,
		}})}}}
		value := v.text("Value: %s %s", v.text("(currency not recognized)"), v.money(trade.NewDecimal(12, 0)))
		if sum := v.sentItem(trade.OrderCommitments, SentSum{
			Rows: 1, Values: map[string]trade.Decimal{"reais": trade.NewDecimal(12, 0)},
		}); !slices.Contains(sum.More, value) {
			t.Errorf("a value in no known currency is %q", sum.More)
		}
		_, _, _, do := v.stopSentences(Detail{Code: "refusals", Jobs: []Job{{Name: "contracts"}}}, ".happened")
		for _, text := range []string{said.text(), do} {
			if strings.Contains(text, "safrasync ") || !strings.Contains(text, "“") {
				t.Errorf("accounting is told: %s", text)
			}
		}
	}
}

func TestMessagesNameJobsByTheirTitles(t *testing.T) {
	t.Parallel()
	v := voice{trade.Portuguese, saoPaulo, "safrasync", trade.Titles{"contracts": "Compras"}, ""}
	m := v.raised(notice{
		Topic: Stopped, Since: monday,
		Detail: Detail{Code: "api_key", Jobs: []Job{{Name: "contracts", Sends: trade.OrderCommitments}, {Name: "deliveries"}}},
	})
	if !strings.Contains(m.Subject, "Compras e deliveries") ||
		!strings.Contains(m.text(), "Compras (contracts) e deliveries") {
		t.Errorf("the message says\n%s\n%s", m.Subject, m.text())
	}
	if part := v.digestJob(DigestJob{Job: "contracts", Sends: trade.OrderCommitments})[0]; part.Heading != "Compras (rotina contracts)" {
		t.Errorf("the digest says %q", part.Heading)
	}
}
