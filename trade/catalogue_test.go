package trade

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

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
	var c *Catalogue
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
		for _, key := range c.Keys() {
			if key == "rule" || key == "ref" || strings.Contains(key, "*") || strings.HasPrefix(key, "stop:") ||
				slices.Contains(AllFlags, Flag(key)) {
				continue
			}
			causes = append(causes, key)
		}
		for _, state := range States {
			for _, cause := range append(causes, "", "message.payday.mandatory", "message.what-ever.happened",
				"Unexpected value") {
				whole(t, string(lang)+" "+string(state)+" "+cause, c.Explain(state, cause, lang))
			}
			if state.Label(lang) == "" {
				t.Errorf("state %s has no name in %s", state, lang)
			}
		}
		for _, flag := range AllFlags {
			whole(t, string(lang)+" "+string(flag), c.Flag(flag, lang))
		}
		for _, code := range append(stops, "process_gone", "of another version") {
			a := c.Stop(code, lang)
			whole(t, string(lang)+" stop "+code, a)
			if _, own := wordsIn(lang).Stops[code]; !own && code != "of another version" {
				t.Errorf("stop %s has no words in %s", code, lang)
			}
		}
	}
	for _, key := range documentKeys {
		if !c.Knows(key) {
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

// A row that may be on the platform is never described as safe to send again, whatever the cause
// and the customer's own words.
func TestWhatMayBeThereIsNeverCalledSafe(t *testing.T) {
	t.Parallel()
	own := map[string]OwnWords{}
	for _, key := range (*Catalogue)(nil).Keys() {
		own[key] = OwnWords{
			Fixer: FixNobody,
			Words: map[Lang]Advice{Portuguese: {Do: "envie outra vez", Again: AgainSafe}},
		}
	}
	for _, c := range []*Catalogue{nil, NewCatalogue(own)} {
		for _, cause := range append(documentKeys, "", CauseUnknown, CauseExists, CauseRetyped) {
			for state, want := range map[State]Again{
				Accepted: AgainNo, Sending: AgainNo, InDoubt: AgainMayDouble,
				Held: AgainMayDouble, Dismissed: AgainNone,
			} {
				if got := c.Explain(state, cause, Portuguese).Again; got != want {
					t.Errorf("%s %s: again is %s, want %s", state, cause, got, want)
				}
			}
		}
	}
}

func TestAKeyOfAPatternIsToldInItsWordsAndIsNotKnown(t *testing.T) {
	t.Parallel()
	var c *Catalogue
	a := c.Explain(Rejected, "message.payday.mandatory", Portuguese)
	if a.What != "a plataforma exige data de pagamento (message.payday.mandatory)" || a.Fixer != FixERP ||
		a.Again != AgainSafe || c.Knows("message.payday.mandatory") {
		t.Errorf("%+v", a)
	}
	if a := c.Explain(Rejected, "message.contract.closed", Portuguese); !strings.Contains(a.What,
		"message.contract.closed") || a.Fixer != FixIT || c.Knows("message.contract.closed") {
		t.Errorf("an unknown key is not shown as it is: %+v", a)
	}
}

func TestTheCustomersWordsComeFirstAndTheRestStays(t *testing.T) {
	t.Parallel()
	c := NewCatalogue(map[string]OwnWords{
		"message.contract.closed": {
			Fixer: FixPlatform,
			Words: map[Lang]Advice{Portuguese: {What: "contrato encerrado na plataforma", Do: "Peça a reabertura."}},
		},
		"rule:payday": {Words: map[Lang]Advice{Portuguese: {Where: "ERP: contrato, aba Financeiro"}}},
		"ref:wallets": {Words: map[Lang]Advice{Portuguese: {Do: "Peça à Ana o de-para de {}."}}},
	})
	if a := c.Explain(Rejected, "message.contract.closed", Portuguese); a.What != "contrato encerrado na plataforma" ||
		a.Who != "plataforma" || a.Fixer != FixPlatform || a.Where == "" || !c.Knows("message.contract.closed") {
		t.Errorf("%+v", a)
	}
	if a := c.Explain(Rejected, "message.contract.closed", English); !strings.Contains(a.What,
		"message.contract.closed") || a.Fixer != FixPlatform {
		t.Errorf("in the other language: %+v", a)
	}
	e := Entry{
		State: Invalid, Cause: "rule:payday",
		Error: &EntryError{Fields: []Problem{{Field: "payday", Rule: RuleRequiredFor + "COMPRA", Column: "dt_pagto"}}},
	}
	if a := c.Entry(e, Portuguese); a.Where != "ERP: contrato, aba Financeiro" ||
		!strings.Contains(a.Do, "Preencha data de pagamento") {
		t.Errorf("%+v", a)
	}
	if a := c.Explain(Waiting, "ref:wallets", Portuguese); a.Do != "Peça à Ana o de-para de carteira." {
		t.Errorf("%+v", a)
	}
}
