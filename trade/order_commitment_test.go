package trade

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// conditional are the seven fields of chapter 2.1 that depend on the order type.
var conditional = []string{
	"currency", "price", "initial_delivery_date", "end_delivery_date", "modality", "payday",
	"payment_type",
}

var today = Date{2026, 11, 21}

// complete returns a draft that may be sent.
func complete(orderType string) Draft {
	d := Draft{Sends: OrderCommitments, Fields: map[string]DraftField{}}
	for field, text := range map[string]string{
		"amount": "100.5", "producer_id": "db5b5fab-8f4d-4e27-9da1-494c73cf256d",
		"issuer_id": "c4ff64de-bb5d-4b48-bc3b-66fa30d0b194", "product": "SOJA",
		"delivery_place_id": "563e9bed-4510-4358-acc6-d8f2c74c7ccf", "haverst": "2025/2026",
		"unit_of_measurement": "SC", "order_type": orderType,
		"order_date": "2026-03-10", "wallet_id": "1b98fbe4-6680-4a11-9ba1-192ec42b7170", "currency": "BRL",
		"price": "120", "initial_delivery_date": "2026-04-01",
		"end_delivery_date": "2026-05-01", "modality": "BALCAO", "payday": "2026-06-01", "payment_type": "DINHEIRO",
	} {
		d.Fields[field] = DraftField{Text: text, Origin: Origin{Columns: []string{"col_" + field}, Value: text}}
	}
	return d
}

func (d Draft) set(field, text string) Draft {
	d.Fields[field] = DraftField{Text: text, Origin: Origin{Columns: []string{"col_" + field}, Value: text}}
	return d
}

func found(problems []Problem) string {
	var out []string
	for _, p := range problems {
		out = append(out, p.Field+" "+p.Rule)
	}
	return strings.Join(out, ", ")
}

// F036: every subset of the seven conditional fields, for every order type.
func TestF036OnlyCompraRequiresTheConditionalFieldsAndNamesAllThatAreMissing(t *testing.T) {
	t.Parallel()
	for _, orderType := range []string{"COMPRA", "FIXACAO_COMPRA", "FIXACAO_DEPOSITO", "A_FIXAR"} {
		for subset := range 1 << len(conditional) {
			d := complete(orderType)
			var missing []string
			for i, field := range conditional {
				if subset&(1<<i) == 0 {
					d.set(field, "")
					missing = append(missing, field)
				}
			}
			oc, problems := Check(d, Checks{}, today)
			var want []string
			if orderType == "COMPRA" {
				for _, field := range missing {
					want = append(want, field+" required_for_COMPRA")
				}
			}
			if got := found(problems); got != strings.Join(want, ", ") {
				t.Fatalf("%s without %v: problems %q, want %q", orderType, missing, got, strings.Join(want, ", "))
			}
			for _, field := range conditional {
				if _, has := oc[field]; has == slices.Contains(missing, field) {
					t.Fatalf("%s without %v: %v has what the ERP has not, or the reverse", orderType, missing, oc)
				}
			}
		}
	}
}

// F037, F038: values outside their enumeration or shape, and values that cannot be intended.
func TestTheRulesOfChapter21(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, field, text, want string }{
		{"a missing amount", "amount", "", "amount required"},
		{"an amount of zero", "amount", "0", "amount positive"},
		{"a negative amount", "amount", "-4229", "amount positive"},
		{"a negative price", "price", "-0.01", "price positive"},
		{"an id that is no UUID", "wallet_id", "12", "wallet_id uuid"},
		{"a product in lower case", "product", "soja", "product one_of"},
		{"an unknown currency", "currency", "SACA", "currency one_of"},
		{"a harvest of one year", "haverst", "SAFRINHA", "haverst harvest"},
		{"a harvest of two years apart", "haverst", "2024/2026", "haverst date_window"},
		{"a winter harvest", "haverst", "2026/2026", ""},
		{"an end before the beginning", "end_delivery_date", "2026-03-31", "end_delivery_date date_order"},
		{"the same day is no reversed period", "end_delivery_date", "2026-04-01", ""},
		{"a year of the Romans", "order_date", "0206-03-15", "order_date date_window"},
		{"the last plausible day", "order_date", "2031-11-21", ""},
		{"the first implausible day", "order_date", "2031-11-22", "order_date date_window"},
		{"a day that does not exist", "payday", "2026-02-30", "payday date"},
		{"a payday before the order is an advance", "payday", "2026-01-01", ""},
		{"a value longer than any field", "haverst", strings.Repeat("x", 10_485_760), "haverst too_long"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, problems := Check(complete("COMPRA").set(tt.field, tt.text), Checks{}, today)
			if got := found(problems); got != tt.want {
				t.Errorf("problems %q, want %q", got, tt.want)
			}
			for _, p := range problems {
				if len(p.Value) > 300 {
					t.Errorf("the problem repeats %d bytes of the value", len(p.Value))
				}
			}
		})
	}
}

func TestAllProblemsOfARowAreToldAtOnceInTheOrderOfTheTable(t *testing.T) {
	t.Parallel()
	d := complete("COMPRA").set("amount", "-1").set("product", "FEIJAO").set("order_date", "").set("payday", "")
	_, problems := Check(d, Checks{}, today)
	if got, want := found(problems),
		"amount positive, product one_of, order_date required, payday required_for_COMPRA"; got != want {
		t.Errorf("problems %q, want %q", got, want)
	}
	if got, want := problems[3].Sentence(English), "COMPRA requires payday; column col_payday is empty"; got != want {
		t.Errorf("sentence %q, want %q", got, want)
	}
	if got, want := problems[3].Sentence(Portuguese),
		"COMPRA exige data de pagamento; a coluna col_payday está vazia"; got != want {
		t.Errorf("sentence %q, want %q", got, want)
	}
	if got, want := Cause(problems), "rule:amount"; got != want {
		t.Errorf("cause %q, want %q", got, want)
	}
}

func TestChecksCanWarnOrBeOff(t *testing.T) {
	t.Parallel()
	d := complete("COMPRA").set("price", "0")
	for severity, want := range map[Severity]struct {
		problems int
		refused  bool
	}{"": {1, true}, Refuse: {1, true}, Warning: {1, false}, Off: {0, false}} {
		_, problems := Check(d, Checks{Price: severity}, today)
		if len(problems) != want.problems || Refused(problems) != want.refused {
			t.Errorf("price %q: %d problems, refused %t", severity, len(problems), Refused(problems))
		}
	}
}

func TestEverythingThatPeopleReadHasWordsInBothLanguages(t *testing.T) {
	t.Parallel()
	rules := []string{
		RuleRequired, RuleRequiredFor + "COMPRA", RuleNumber, RuleDate, RuleUUID, RuleHarvest, RuleOneOf, RuleUnmapped,
		RulePositive, RuleDateOrder,
		RuleDateWindow, RuleUnreadable, RuleTooLong, RuleInternal,
	}
	causes := []string{
		"rule:payday", "ref:wallets", CauseParent, CauseDuplicateKey, CauseRetyped, CauseTwin, CauseOtherJob,
		CauseVanished, CauseExists, CauseUnknown, "message.wallet.not-found",
		"message.wallet.producer-not-linked", "message.producer.not-found", "message.delivery-place.not-found",
		"message.malformed-request", "message.never.seen",
	}
	for _, lang := range []Lang{Portuguese, English} {
		for _, s := range States {
			if s.Label(lang) == "" {
				t.Errorf("%s: no label for state %s", lang, s)
			}
		}
		for _, f := range []Flag{Changed, MissingInERP, Cancelled, Forced, EchoDiffers, Twin, DeletedRemote} {
			if f.Label(lang) == "" {
				t.Errorf("%s: no label for flag %s", lang, f)
			}
		}
		for _, rule := range rules {
			s := Problem{Field: "payday", Rule: rule, Column: "dt_pagto", Value: "x", Detail: "D"}.Sentence(lang)
			if strings.Contains(s, "{") || strings.Contains(s, ": "+rule) {
				t.Errorf("%s: %s has no sentence: %q", lang, rule, s)
			}
		}
		for _, cause := range causes {
			a := Explain(Rejected, cause, lang)
			if a.What == "" || a.Who == "" || a.Do == "" || strings.Contains(a.What+a.Do, "{}") {
				t.Errorf("%s: advice for %s is %+v", lang, cause, a)
			}
		}
	}
	for _, rule := range Rules(OrderCommitments) {
		if FieldLabel(rule.Field, Portuguese) == rule.Field {
			t.Errorf("no Portuguese name for %s", rule.Field)
		}
	}
}

func TestTheMovesAreComplete(t *testing.T) {
	t.Parallel()
	for _, from := range States {
		if _, ok := Moves[from]; !ok {
			t.Errorf("no moves from %s", from)
		}
		for _, to := range Moves[from] {
			if !slices.Contains(States, to) {
				t.Errorf("%s moves to %s, which is no state", from, to)
			}
		}
	}
	for _, forbidden := range [][2]State{
		{Accepted, Pending},
		{InDoubt, Sending},
		{InDoubt, Withdrawn},
		{Sending, Dismissed},
		{Rejected, Sending},
		{Invalid, Sending},
		{Waiting, Sending},
	} {
		if CanMove(forbidden[0], forbidden[1]) {
			t.Errorf("%s must not move to %s", forbidden[0], forbidden[1])
		}
	}
	if len(Moves) != len(States)+1 {
		t.Errorf("%d rows of moves for %d states", len(Moves), len(States))
	}
}

func ExampleProblem_Sentence() {
	p := Problem{Field: "payday", Rule: "required_for_COMPRA", Column: "dt_pagto"}
	fmt.Println(p.Sentence(English))
	fmt.Println(p.Sentence(Portuguese))
	// Output:
	// COMPRA requires payday; column dt_pagto is empty
	// COMPRA exige data de pagamento; a coluna dt_pagto está vazia
}
