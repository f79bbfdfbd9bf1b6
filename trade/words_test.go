package trade

import (
	"slices"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/phrase"
)

func TestAValueThatCannotBeReadIsNotCalledEmpty(t *testing.T) {
	t.Parallel()
	p := Problem{Field: "haverst", Rule: RuleUnreadable, Column: "safra", Detail: "bytes not valid UTF-8 at 3"}
	empty := Problem{Field: "haverst", Rule: RuleRequired, Column: "safra"}
	for _, lang := range []Lang{Portuguese, English} {
		got := p.Sentence(lang)
		if !strings.Contains(got, "safra") || !strings.Contains(got, "3") || got == empty.Sentence(lang) {
			t.Errorf("%s: %q", lang, got)
		}
	}
}

func TestPortugueseHasNoEnglishDetails(t *testing.T) {
	t.Parallel()
	for detail, want := range map[phrase.Packed]string{
		"values of the field": "(a do próprio campo)", phrase.Pack("values %s", "products"): "(products)",
		"infinite number": "(número infinito)", "something new": "(something new)",
		phrase.Pack("byte not defined in %s at %d", "WIN1252", 3): "(em WIN1252 não existe o byte que está na posição 3)",
	} {
		if got := (Problem{
			Field: "product", Rule: RuleUnmapped, Column: "c", Value: "x",
			Detail: detail,
		}).Sentence(Portuguese); !strings.Contains(got, want) {
			t.Errorf("%q does not say %q", got, want)
		}
	}
}

func TestEveryFieldHasANameInPlainWords(t *testing.T) {
	t.Parallel()
	for _, lang := range []Lang{Portuguese, English} {
		for _, rule := range slices.Concat(Rules(OrderCommitments), Rules(Deliveries), Rules(Traceability)) {
			if label := FieldLabel(rule.Field, lang); strings.Contains(label, "_") {
				t.Errorf("%s: %s is called %q", lang, rule.Field, label)
			}
		}
	}
	if got := FieldLabel("initial_delivery_date", English); got != "initial delivery date" {
		t.Errorf("initial_delivery_date is called %q", got)
	}
}

func TestAdviceFitsTheRule(t *testing.T) {
	t.Parallel()
	empty := Problem{Field: "product", Rule: RuleRequired, Column: "prod"}
	unmapped := Problem{
		Field: "product", Rule: RuleUnmapped, Column: "prod", Value: "feijao",
		Detail: phrase.Pack("values %s", "products"),
	}
	unconfigured := Problem{Field: "payday", Rule: RuleRequiredFor + "COMPRA"}
	for _, c := range []struct {
		name    string
		problem Problem
		do, who string
	}{
		{"empty", empty, "Preencha produto no ERP", "no ERP"},
		{"a map may lack the value", unmapped, "a TI o inclui na tabela de conversão", "ou TI"},
		{
			"nothing is mapped", unconfigured, "Mapeie ou corrija data de pagamento na configuração",
			"TI, na configuração",
		},
		{
			"below zero",
			Problem{Field: "price", Rule: RulePositive, Column: "preco", Value: "-1"},
			"Corrija preço no ERP", "no ERP",
		},
		{"the program", Problem{Rule: RuleInternal}, "falha do programa", "TI"},
	} {
		if a := c.problem.Advice(Portuguese); !strings.Contains(a.Do, c.do) || !strings.Contains(a.Who, c.who) ||
			a.What == "" {
			t.Errorf("%s: %+v", c.name, a)
		}
	}
	for _, rule := range []string{
		RuleRequired, RuleRequiredFor + "COMPRA", RuleNumber, RuleDate, RuleUUID, RuleHarvest,
		RuleOneOf, RuleUnmapped, RulePositive, RuleDateOrder, RuleDateWindow, RuleUnreadable, RuleTooLong, RuleDocument,
		RuleInternal,
	} {
		p := Problem{Field: "payday", Rule: rule, Column: "c", Value: "v", Detail: "payday"}
		pt, en := p.Advice(Portuguese), p.Advice(English)
		for _, a := range []Advice{pt, en} {
			if a.What == "" || a.Who == "" || a.Do == "" || strings.ContainsAny(a.What+a.Do, "{}") {
				t.Errorf("%s: %+v", rule, a)
			}
		}
		if pt.Do == en.Do {
			t.Errorf("%s: one advice for both languages: %+v", rule, pt)
		}
	}
}

func TestARefusalWithoutACauseHasWords(t *testing.T) {
	t.Parallel()
	for _, lang := range []Lang{Portuguese, English} {
		a := Explain(Rejected, "", lang)
		if a.Do == "" || strings.HasSuffix(strings.TrimSpace(a.What), ":") {
			t.Errorf("%s: %+v", lang, a)
		}
	}
	if got := Explain(Pending, "", English).What; got != "not sent yet" {
		t.Errorf("a pending row is explained with %q", got)
	}
}

// The advice on a row that waits for its contract is what cures the contract, with words for every
// state of a contract.
func TestAdviceOnAParentIsTheParentsCure(t *testing.T) {
	t.Parallel()
	for _, lang := range []Lang{Portuguese, English} {
		for _, state := range append([]State{""}, States...) {
			for _, cause := range []string{
				"", "rule:payday", "ref:wallets", "message.wallet.not-found",
				CauseDuplicateKey,
			} {
				a := Awaited{Job: "contracts", Key: "01|000122", ParentState: state, ParentCause: cause}
				advice := a.Advice(lang)
				for _, text := range []string{a.Sentence(lang), advice.What, advice.Who, advice.Do} {
					if text == "" || strings.ContainsAny(text, "{}") {
						t.Errorf("%s, parent %q (%s): %q in %+v", lang, state, cause, text, advice)
					}
				}
			}
		}
	}
	invalid := Awaited{Job: "contracts", Key: "01|000122", ParentState: Invalid, ParentCause: "rule:payday"}
	got := invalid.Advice(Portuguese)
	if !strings.Contains(got.What, "tem erro: data de pagamento") ||
		!strings.Contains(got.Do, "Corrija data de pagamento") {
		t.Errorf("advice %+v", got)
	}
}

func TestEveryKindHasAName(t *testing.T) {
	t.Parallel()
	for _, kind := range Kinds {
		for _, lang := range []Lang{Portuguese, English} {
			if one, many := kind.Label(lang), kind.Plural(lang); one == "" || many == "" ||
				strings.Contains(one+many, "_") {
				t.Errorf("%s: %s is called %q and %q", lang, kind, one, many)
			}
		}
	}
}

func TestSeveralColumnsAreOneCode(t *testing.T) {
	t.Parallel()
	empty := Problem{Field: "contract_id", Rule: RuleRequired, Column: "filial, num"}
	one := Problem{Field: "contract_id", Rule: RuleRequired, Column: "filial"}
	if got := empty.Sentence(Portuguese); !strings.Contains(got, "filial, num") ||
		got == strings.Replace(one.Sentence(Portuguese), "filial", "filial, num", 1) {
		t.Errorf("%q", got)
	}
	wrong := Problem{Field: "producer_id", Rule: RuleUUID, Column: "cod, loja", Value: "P1|01"}
	if got := wrong.Sentence(English); !strings.HasSuffix(got, `; columns cod, loja have "P1|01"`) {
		t.Errorf("%q", got)
	}
}

func TestThePlausibleTimeIsWrittenAsPeopleWriteDays(t *testing.T) {
	t.Parallel()
	p := Problem{
		Rule: RuleDateWindow, Field: "payday", Detail: "2000-01-01 … 2031-11-23", Column: "dt_pagto",
		Value: "0206-03-15",
	}
	for lang, want := range map[Lang]string{
		Portuguese: "(01/01/2000 … 23/11/2031); a coluna dt_pagto tem “0206-03-15”",
		English:    "(2000-01-01 … 2031-11-23); column dt_pagto",
	} {
		if got := p.Sentence(lang); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", lang, got, want)
		}
	}
}
