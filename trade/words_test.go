package trade

import (
	"strings"
	"testing"
)

func TestAValueThatCannotBeReadIsNotCalledEmpty(t *testing.T) {
	t.Parallel()
	p := Problem{Field: "haverst", Rule: RuleUnreadable, Column: "safra", Detail: "bytes not valid UTF-8 at 3"}
	if got, want := p.Sentence(Portuguese), "safra: valor ilegível no ERP (o byte que não é UTF-8 é o 3); o valor está na coluna safra"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := p.Sentence(English), "harvest is unreadable in the ERP (bytes not valid UTF-8 at 3); the value is in column safra"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestPortugueseHasNoEnglishDetails(t *testing.T) {
	t.Parallel()
	for detail, want := range map[string]string{
		"values of the field": "(a do próprio campo)", "values products": "(products)", "infinite number": "(número infinito)", "date -infinity": "(data infinita)",
		"byte not defined in WIN1252 at 3": "(byte sem letra em WIN1252 at 3)", "something new": "(something new)",
	} {
		if got := (Problem{Field: "product", Rule: RuleUnmapped, Column: "c", Value: "x", Detail: detail}).Sentence(Portuguese); !strings.Contains(got, want) {
			t.Errorf("%q does not say %q", got, want)
		}
	}
}

func TestEveryFieldHasANameInPlainWords(t *testing.T) {
	t.Parallel()
	for _, lang := range []Lang{Portuguese, English} {
		for _, rule := range Rules(OrderCommitments) {
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
	unmapped := Problem{Field: "product", Rule: RuleUnmapped, Column: "prod", Value: "feijao", Detail: "values products"}
	unconfigured := Problem{Field: "payday", Rule: RuleRequiredFor + "COMPRA"}
	for _, c := range []struct {
		name    string
		problem Problem
		do, who string
	}{
		{"empty", empty, "Preencha produto no ERP", "no ERP"},
		{"a map may lack the value", unmapped, "a TI o inclui na tabela de conversão", "ou TI"},
		{"nothing is mapped", unconfigured, "Mapeie ou corrija data de pagamento na configuração", "TI, na configuração"},
		{"below zero", Problem{Field: "price", Rule: RulePositive, Column: "preco", Value: "-1"}, "Corrija preço no ERP", "no ERP"},
		{"the program", Problem{Rule: RuleInternal}, "falha do programa", "TI"},
	} {
		if a := c.problem.Advice(Portuguese); !strings.Contains(a.Do, c.do) || !strings.Contains(a.Who, c.who) || a.What == "" {
			t.Errorf("%s: %+v", c.name, a)
		}
	}
	for _, rule := range []string{RuleRequired, RuleRequiredFor + "COMPRA", RuleNumber, RuleDate, RuleUUID, RuleHarvest, RuleOneOf, RuleUnmapped, RulePositive, RuleDateOrder, RuleDateWindow, RuleUnreadable, RuleTooLong, RuleDocument, RuleInternal} {
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
