package trade

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/must"
)

// whole fails the test unless an advice has all required parts.
func whole(t *testing.T, name string, a Advice) {
	t.Helper()
	for part, text := range map[string]string{
		"what": a.What, "who": a.Who, "where": a.Where, "do": a.Do,
		"fixer": string(a.Fixer), "again": string(a.Again),
	} {
		if strings.TrimSpace(text) == "" || strings.Contains(text, "{}") || strings.Contains(text, "%!") {
			t.Errorf("%s: %s is %q in %+v", name, part, text, a)
		}
	}
	for _, lang := range []Lang{Portuguese, English} {
		if !slices.Contains(Fixers, a.Fixer) || a.Fixer.Label(lang) == "" || a.Again.Label(lang) == "" {
			t.Errorf("%s: fixer %q and again %q have no words in %s", name, a.Fixer, a.Again, lang)
		}
	}
}

// documentKeys are the message keys in the API's document (chapters 2, 4 and 7).
var documentKeys = []string{
	"message.wallet.not-found", "message.wallet.producer-not-linked", "message.producer.not-found",
	"message.producer.already-exists", "message.delivery-place.not-found",
	"message.name.mandatory", "message.module.not-contracted", "message.malformed-request", "message.duplicate.key",
	"message.producer.social-identity.invalid",
	"message.entidade.not-found", "message.internal.error", "message.integration.connection.refused",
}

func TestTheCatalogueHasWordsForEverythingThatCanBeShown(t *testing.T) {
	t.Parallel()
	causes := slices.Concat(documentKeys,
		inTheCode(t, 15, `"(message\.[a-z.-]+[a-z])"`, "../sync/outcome/outcome.go", "../apiclient/sandbox/answers.go",
			"../apiclient/sandbox/submissions.go"),
		[]string{
			CauseParent, CauseDuplicateKey, CauseRetyped, CauseTwin, CauseOtherJob, CauseVanished, CauseExists,
			CauseUnknown, "ref:" + ProducerByDocument,
		})
	for _, kind := range []string{"producers", "users", "wallets", "delivery_places", "farms"} {
		causes = append(causes, "ref:"+kind)
	}
	for _, kind := range Kinds {
		for _, rule := range Rules(kind) {
			causes = append(causes, "rule:"+rule.Field)
		}
	}
	stops := inTheCode(t, 20, `StopCode = "([a-z_]+)"`, "../sync/outcome/stop.go")
	for _, lang := range []Lang{Portuguese, English} {
		for _, key := range i18n.Trade.Names("causes.") {
			key, ok := strings.CutSuffix(key, ".do")
			if ok && key != "rule" && key != "ref" && !strings.Contains(key, "*") {
				causes = append(causes, key)
			}
		}
		for _, state := range States {
			for _, cause := range append(causes, "", "message.payday.mandatory", "message.what-ever.happened",
				"Unexpected value") {
				whole(t, string(lang)+" "+string(state)+" "+cause, Explain(state, cause, lang))
			}
			if state.Label(lang) == "" {
				t.Errorf("state %s has no name in %s", state, lang)
			}
		}
		for _, flag := range AllFlags {
			whole(t, string(lang)+" "+string(flag), ExplainFlag(flag, lang))
		}
		for _, code := range append(stops, "process_gone", "of another version") {
			a := ExplainStop(code, lang)
			whole(t, string(lang)+" stop "+code, a)
			if adviceOf(lang, "stops."+code).Do == "" && code != "of another version" {
				t.Errorf("stop %s has no words in %s", code, lang)
			}
		}
	}
	for _, key := range documentKeys {
		if !KnowsMessage(key) {
			t.Errorf("%s stands in the API's document, and the catalogue does not have it", key)
		}
	}
}

// inTheCode are what files name by a pattern, of which there are so many at least.
func inTheCode(t *testing.T, least int, pattern string, files ...string) (found []string) {
	t.Helper()
	for _, file := range files {
		for _, m := range regexp.MustCompile(pattern).FindAllSubmatch(must.Get(os.ReadFile(file))(t), -1) {
			found = append(found, string(m[1]))
		}
	}
	if len(found) < least {
		t.Fatalf("only %d were found in %v: does the test still read them?", len(found), files)
	}
	return found
}

// Every event of the API has a name for people, in both languages.
func TestEveryEventHasAName(t *testing.T) {
	t.Parallel()
	for _, event := range inTheCode(t, 25, `"([A-Z]+(?:_[A-Z]+)+)"`, "../apiclient/webhooks.go") {
		pt, en := EventLabel(event, Portuguese), EventLabel(event, English)
		if pt == event || en == event || pt == en {
			t.Errorf("%s is called %q and %q", event, pt, en)
		}
	}
}

// A row that may be on the platform is never described as safe to send again, whatever the cause.
func TestWhatMayBeThereIsNeverCalledSafe(t *testing.T) {
	t.Parallel()
	for _, cause := range append(documentKeys, "", CauseUnknown, CauseExists, CauseRetyped) {
		for state, want := range map[State]Again{
			Accepted: AgainNo, Sending: AgainNo, InDoubt: AgainMayDouble,
			Held: AgainMayDouble, Dismissed: AgainNone,
		} {
			if got := Explain(state, cause, Portuguese).Again; got != want {
				t.Errorf("%s %s: again is %s, want %s", state, cause, got, want)
			}
		}
	}
}

func TestAKeyOfAPatternIsToldInItsWordsAndIsNotKnown(t *testing.T) {
	t.Parallel()
	a := Explain(Rejected, "message.payday.mandatory", Portuguese)
	if a.What != "a plataforma exige data de pagamento (message.payday.mandatory)" || a.Fixer != FixERP ||
		a.Again != AgainSafe || KnowsMessage("message.payday.mandatory") {
		t.Errorf("%+v", a)
	}
	if a := Explain(Rejected, "message.contract.closed", Portuguese); !strings.Contains(a.What,
		"message.contract.closed") || a.Fixer != FixIT || KnowsMessage("message.contract.closed") {
		t.Errorf("an unknown key is not shown as it is: %+v", a)
	}
}
