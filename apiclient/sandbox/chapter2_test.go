package sandbox_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/apidoc"
)

// One subtest for each field of the tables 2.1 to 2.7, named after it.

func TestChapter2_ARequiredFieldThatIsMissingIsNamed(t *testing.T) {
	t.Parallel()
	forEachCreation(t, func(t *testing.T, resource string, k kindOf) {
		for _, name := range k.required {
			apidoc.Run(t, apidoc.Sandbox, k.row(name), func(t *testing.T) {
				t.Parallel()
				b := start(t, sandbox.Options{})
				for _, value := range []string{"", "null"} {
					g := b.creates(resource, k.with(name, value))
					if g.status != 400 || g.body != messages("message."+name+".mandatory") {
						t.Errorf("without %s = %d %s", name, g.status, g.body)
					}
				}
				b.wantMade(resource, 0)
			})
		}
	})
}

func TestChapter2_AnOptionalFieldMayBeAbsent(t *testing.T) {
	t.Parallel()
	forEachCreation(t, func(t *testing.T, resource string, k kindOf) {
		for name := range k.fields {
			if slices.Contains(k.required, name) {
				continue
			}
			apidoc.Run(t, apidoc.Sandbox, k.row(name), func(t *testing.T) {
				t.Parallel()
				b := start(t, sandbox.Options{})
				if g := b.creates(resource, k.with(name, "")); g.status != 201 {
					t.Errorf("without %s = %d %s", name, g.status, g.body)
				}
				b.wantMade(resource, 1)
			})
		}
	})
}

func TestChapter2_AFieldOfAnotherTypeIsMalformed(t *testing.T) {
	t.Parallel()
	wrong := func(kind string) []string {
		all := map[string]string{"text": `"1"`, "number": "1", "list": `["x"]`}
		delete(all, kind)
		return append(slices.Sorted(maps.Values(all)), "true", "{}", "[1]", "[null]")
	}
	forEachCreation(t, func(t *testing.T, resource string, k kindOf) {
		for kind, names := range map[string][]string{"text": k.texts, "number": k.numbers, "list": k.lists} {
			for _, name := range names {
				apidoc.Run(t, apidoc.Sandbox, k.row(name), func(t *testing.T) {
					t.Parallel()
					b := start(t, sandbox.Options{})
					for _, value := range wrong(kind) {
						g := b.creates(resource, k.with(name, value))
						if g.status != 400 || g.body != messages("message.malformed-request") {
							t.Errorf("%s = %s: %d %s", name, value, g.status, g.body)
						}
					}
					b.wantMade(resource, 0)
				})
			}
		}
	})
}

func TestChapter2_AValueOutsideItsShapeOrEnumerationIsInvalid(t *testing.T) {
	t.Parallel()
	forEachCreation(t, func(t *testing.T, resource string, k kindOf) {
		for name, values := range k.invalid {
			apidoc.Run(t, apidoc.Sandbox, k.row(name), func(t *testing.T) {
				t.Parallel()
				b := start(t, sandbox.Options{})
				for _, value := range values {
					g := b.creates(resource, k.with(name, value))
					if g.status != 400 || g.body != messages("message."+name+".invalid") {
						t.Errorf("%s = %s: %d %s", name, value, g.status, g.body)
					}
				}
				b.wantMade(resource, 0)
			})
		}
	})
}

// Of an enumeration each value, of the rest what is unusual and right.
func TestChapter2_EveryValueOfAnEnumerationIsTaken(t *testing.T) {
	t.Parallel()
	tests := map[string]map[string][]string{
		sandbox.ResourceOrderCommitments: {
			"product": {"SOJA", "TRIGO", "MILHO"}, "unit_of_measurement": {"SC", "KG", "TON"},
			"order_type": {"COMPRA", "FIXACAO_COMPRA", "FIXACAO_DEPOSITO", "A_FIXAR"},
			"currency":   {"BRL", "USD", "EUR"},
			"modality":   {"BALCAO", "DISPONIVEL", "FUTURO", "EXPORTACAO"}, "payment_type": {"DINHEIRO", "TROCA"},
			"producer_id": {strings.ToUpper(producer)}, "order_date": {"2024-02-29"},
		},
		sandbox.ResourceDeliveries:     {"delivered_volume_unit_of_measure": {"kg", "sc", "ton"}},
		sandbox.ResourceTraceability:   {"unit_of_measurement": {"SC", "KG", "TON"}},
		sandbox.ResourceCreditAnalysis: {"person_type": {"PF", "PJ"}},
		sandbox.ResourceWebhooks:       {"webhook_event": sandbox.Events()},
	}
	for resource, fields := range tests {
		for name, values := range fields {
			apidoc.Run(t, apidoc.Sandbox, creations[resource].row(name), func(t *testing.T) {
				t.Parallel()
				b := start(t, sandbox.Options{})
				for _, value := range values {
					if g := b.creates(resource, creations[resource].with(name, quote(value))); g.status != 201 {
						t.Errorf("%s = %s: %d %s", name, value, g.status, g.body)
					}
				}
			})
		}
	}
}

func TestChapter2_AllMissingFieldsAreNamedAtOnceInTheOrderOfTheTable(t *testing.T) {
	t.Parallel()
	forEachCreation(t, func(t *testing.T, resource string, k kindOf) {
		b := start(t, sandbox.Options{})
		var want []string
		for _, name := range k.required {
			if resource != sandbox.ResourceOrderCommitments || !slices.Contains(conditional, name) {
				want = append(want, "message."+name+".mandatory")
			}
		}
		if diff := cmp.Diff(messages(want...), b.creates(resource, "{}").body); diff != "" {
			t.Errorf("body (-want +got):\n%s", diff)
		}
	})
}

func TestChapter2_AConditionalFieldMayBeAbsentForTheOtherOrderTypes(t *testing.T) {
	t.Parallel()
	k := creations[sandbox.ResourceOrderCommitments]
	for _, name := range conditional {
		apidoc.Run(t, apidoc.Sandbox, k.row(name), func(t *testing.T) {
			t.Parallel()
			b := start(t, sandbox.Options{})
			for _, kind := range []string{"A_FIXAR", "FIXACAO_COMPRA", "FIXACAO_DEPOSITO"} {
				if g := b.post(k.with("order_type", quote(kind), name, "")); g.status != 201 {
					t.Errorf("%s without %s = %d %s", kind, name, g.status, g.body)
				}
				for _, wrong := range k.invalid[name] { // one that is there must be right
					if g := b.post(k.with("order_type", quote(kind), name, wrong)); g.status != 400 ||
						g.body != messages("message."+name+".invalid") {
						t.Errorf("%s with %s = %s: %d %s", kind, name, wrong, g.status, g.body)
					}
				}
			}
			b.wantCreated(3)
		})
	}
}

// conditional are the fields of 2.1 that only a COMPRA must have.
var conditional = []string{
	"currency", "price", "initial_delivery_date", "end_delivery_date", "modality", "payday",
	"payment_type",
}

// answersOf holds the rows about the answer to a creation. Those of 2.5 have a separate test.
var answersOf = map[string][]string{
	sandbox.ResourceOrderCommitments: {"2.1 answer id"},
	sandbox.ResourceDeliveries:       {"2.2 answer id", "2.2 answer contract_id", "2.2 answer delivered_volume"},
	sandbox.ResourceTraceability:     {"2.3 answer id"},
	sandbox.ResourceCreditScore:      {"2.5 answer id"},
	sandbox.ResourceCreditAnalysis:   {"2.6 answer id"},
	sandbox.ResourceWebhooks:         {"2.7 id"},
}

func TestChapter2_TheRecordIsAnsweredWithItsIDAndStoredAsSent(t *testing.T) {
	t.Parallel()
	forEachCreation(t, func(t *testing.T, resource string, k kindOf) {
		apidoc.Covers(t, apidoc.Sandbox, answersOf[resource]...)
		b := start(t, sandbox.Options{})
		sent := k.with()
		g := b.creates(resource, sent)
		rec := b.wantMade(resource, 1)[0]
		var answer map[string]any
		if err := json.Unmarshal([]byte(g.body), &answer); err != nil || g.status != 201 || answer["id"] != rec.ID {
			t.Errorf("POST = %d %s (%v), want 201 and the id %s", g.status, g.body, err, rec.ID)
		}
		if string(rec.Body) != sent || rec.Resource != resource || len(rec.Fields) != len(k.fields) {
			t.Errorf("record = %+v", rec)
		}
		// The answers of 2.1, 2.2, 2.3 and 2.6 have the fields that were sent; 2.5 has its own, 2.7
		// holds secrets.
		if resource != sandbox.ResourceCreditScore && resource != sandbox.ResourceWebhooks {
			var want map[string]any
			_ = json.Unmarshal([]byte(sent), &want)
			want["id"] = rec.ID
			if diff := cmp.Diff(want, answer); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		}
	})
}

func TestChapter24_ConsentHasAStatusAndADate(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Sandbox, "2.4 status", "2.4 consent_date")
	b := start(t, sandbox.Options{})
	g := b.get(consent + "?identity=10143486764&personType=PF")
	var c struct {
		Status string `json:"status"`
		Date   string `json:"consent_date"`
	}
	if err := json.Unmarshal([]byte(g.body), &c); err != nil || g.status != 200 || c.Status == "" ||
		!strings.Contains(c.Date, "T") {
		t.Errorf("GET = %d %s (%v)", g.status, g.body, err)
	}
}

func TestChapter25_TheAnswerHasTheSevenFields(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Sandbox, "2.5 answer id", "2.5 answer identity_id", "2.5 answer cooperative_id",
		"2.5 answer name",
		"2.5 answer social_id", "2.5 answer type", "2.5 answer created_at")
	b := start(t, sandbox.Options{})
	read := func() (fields map[string]string) {
		g := b.creates(sandbox.ResourceCreditScore, creations[sandbox.ResourceCreditScore].with())
		if err := json.Unmarshal([]byte(g.body), &fields); err != nil {
			t.Fatalf("%s: %v", g.body, err)
		}
		return fields
	}
	one, two := read(), read()
	want := []string{"cooperative_id", "created_at", "id", "identity_id", "name", "social_id", "type"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(one))); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	if one["id"] == two["id"] || one["identity_id"] != two["identity_id"] ||
		one["cooperative_id"] != two["cooperative_id"] {
		t.Errorf("of one producer: %v and %v", one, two)
	}
}

func TestChapter27_SecretsAreNotReadBack(t *testing.T) {
	t.Parallel()
	b := start(t, sandbox.Options{})
	k := creations[sandbox.ResourceWebhooks]
	secret := []string{"basic_authentication", `"ana:segredo-1"`, "hmac_secret", `"segredo-2"`}
	made := b.creates(sandbox.ResourceWebhooks, k.with(secret...))
	for _, g := range []got{
		made, b.get(webhooks), b.get(webhooks + "/-/events/CREATE_FARM"), b.get("/_sandbox/report"),
	} {
		if g.status >= 300 || strings.Contains(g.body, "segredo") || !strings.Contains(g.body, "CREATE_FARM") {
			t.Errorf("%d %s", g.status, g.body)
		}
	}
	for _, line := range b.lines() {
		if strings.Contains(string(line.Body), "segredo") {
			t.Errorf("truth log = %s", line.Body)
		}
	}
	if w := b.Webhooks()[0]; w.BasicAuthentication != "ana:segredo-1" || w.HMACSecret != "segredo-2" {
		t.Errorf("webhook = %+v", w)
	}
}
