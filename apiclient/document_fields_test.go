package apiclient_test

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/internal/apidoc"
	"github.com/safrasync/safrasync/internal/must"
)

// Chapter 2 on the client alone: what is in flight, and what never gets there. Subtests are named
// after the rows.

func TestClientChapter2_FieldsOfRequests(t *testing.T) {
	t.Parallel()
	for _, f := range forms {
		for _, field := range f.fields {
			apidoc.Run(t, apidoc.Client, f.row(field.name), func(t *testing.T) {
				t.Parallel()
				s := startRaw(t, always201)
				c := s.client(t)
				sent := func(request any) map[string]json.RawMessage {
					t.Helper()
					a, err := send(t, c, namedID, request)
					wantKnown(t, a, err, apiclient.Created, apiclient.FaultNone)
					seen := s.requests()
					return members(t, seen[len(seen)-1].body)
				}
				full := sent(f.full)
				if len(full) != len(f.fields) || string(full[field.name]) != field.json {
					t.Errorf("%s = %s among %d members, want %s among %d", field.name, full[field.name], len(full),
						field.json, len(f.fields))
				}
				empty := with(f.full, field.name, "")
				before := len(s.requests())
				if field.need != optional {
					a, err := send(t, c, namedID, empty)
					wantKnown(t, a, err, apiclient.NotSent, apiclient.FaultRequest)
					if !strings.Contains(err.Error(), ": not sent: "+field.name+" is ") {
						t.Errorf("error = %v, want %s named alone", err, field.name)
					}
					if n := len(s.requests()); n != before {
						t.Errorf("%d requests without %s", n-before, field.name)
					}
				}
				if field.need == forPurchase {
					empty = with(empty, "order_type", "A_FIXAR")
				}
				if field.need != required {
					if got, there := sent(empty)[field.name]; there {
						t.Errorf("an empty %s is sent as %s", field.name, got)
					}
				}
				if field.values == nil {
					return
				}
				if list, ours := enumerations[f.row(field.name)]; ours {
					want, _ := json.Marshal(field.values)
					have, _ := json.Marshal(list)
					if d := cmp.Diff(string(want), string(have)); d != "" {
						t.Errorf("the client's list (-want +got):\n%s", d)
					}
				}
				for _, value := range field.values {
					if got := sent(with(f.full, field.name, value))[field.name]; string(got) != `"`+value+`"` {
						t.Errorf("%s is sent as %s", value, got)
					}
				}
			})
		}
	}
}

// always201 answers every creation.
var always201 = always(201, created)

func TestClientChapter2_FieldsOfAnswers(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	on := func(t *testing.T, answer string) *apiclient.Client {
		return startRaw(t, always(200, answer)).client(t)
	}
	upper := `{"id":"` + strings.ToUpper(testID) + `"}`
	for row, request := range map[string]any{
		"2.1 answer id": fullRequest(), "2.3 answer id": traceabilityRequest(), "2.6 answer id": analysisRequest(),
		"2.7 id": webhookRequest(),
	} {
		apidoc.Run(t, apidoc.Client, row, func(t *testing.T) {
			t.Parallel()
			a, err := send(t, on(t, upper), namedID, request)
			wantKnown(t, a, err, apiclient.Created, apiclient.FaultNone)
			if a.ID != testID {
				t.Errorf("ID = %q, want %q", a.ID, testID)
			}
			a, err = send(t, on(t, `{"id":"17"}`), namedID, request)
			wantKnown(t, a, err, apiclient.CreatedIDUnknown, apiclient.FaultNone)
		})
	}
	const echo = `{"id":"E-1","contract_id":"C-1","delivered_volume":12.50,"more":[1]}`
	for row, field := range map[string]func(apiclient.ReadBack) [2]string{
		"2.2 answer id":          func(d apiclient.ReadBack) [2]string { return [2]string{d.ID, "E-1"} },
		"2.2 answer contract_id": func(d apiclient.ReadBack) [2]string { return [2]string{d.Fields["contract_id"], "C-1"} },
		"2.2 answer delivered_volume": func(d apiclient.ReadBack) [2]string {
			return [2]string{d.Fields["delivered_volume"], "12.50"}
		},
	} {
		apidoc.Run(t, apidoc.Client, row, func(t *testing.T) {
			t.Parallel()
			d, a, err := on(t, echo).CreateDelivery(ctx, deliveryRequest())
			wantKnown(t, a, err, apiclient.Created, apiclient.FaultNone)
			if got := field(d); got[0] != got[1] || len(d.Unread) != 0 {
				t.Errorf("read %q, want %q (not read: %v)", got[0], got[1], d.Unread)
			}
		})
	}
	for row, field := range map[string]func(apiclient.Consent) [2]string{
		"2.4 status": func(c apiclient.Consent) [2]string { return [2]string{c.Status, "any word"} },
		"2.4 consent_date": func(c apiclient.Consent) [2]string {
			return [2]string{
				c.ConsentDate,
				"2026-11-20T10:00:00.5-03:00",
			}
		},
	} {
		apidoc.Run(t, apidoc.Client, row, func(t *testing.T) {
			t.Parallel()
			c, err := on(t, `{"status":"any word","consent_date":"2026-11-20T10:00:00.5-03:00"}`).
				GetConsent(ctx, apiclient.ConsentQuery{Identity: testCPF, PersonType: apiclient.PF})
			if got := field(c); err != nil || got[0] != got[1] || len(c.Unread) != 0 {
				t.Errorf("read %q, %v; want %q", got[0], err, got[1])
			}
		})
	}
	const score = `{"id":"S-1","identity_id":"i","cooperative_id":"c","name":"n","social_id":"s","type":"any word","created_at":"2026-11-20T10:00:00Z"}`
	for row, field := range map[string]func(apiclient.CreditScore) [2]string{
		"2.5 answer id":             func(s apiclient.CreditScore) [2]string { return [2]string{s.ID, "S-1"} },
		"2.5 answer identity_id":    func(s apiclient.CreditScore) [2]string { return [2]string{s.IdentityID, "i"} },
		"2.5 answer cooperative_id": func(s apiclient.CreditScore) [2]string { return [2]string{s.CooperativeID, "c"} },
		"2.5 answer name":           func(s apiclient.CreditScore) [2]string { return [2]string{s.Name, "n"} },
		"2.5 answer social_id":      func(s apiclient.CreditScore) [2]string { return [2]string{s.SocialID, "s"} },
		"2.5 answer type":           func(s apiclient.CreditScore) [2]string { return [2]string{s.Type, "any word"} },
		"2.5 answer created_at": func(s apiclient.CreditScore) [2]string {
			return [2]string{
				s.CreatedAt,
				"2026-11-20T10:00:00Z",
			}
		},
	} {
		apidoc.Run(t, apidoc.Client, row, func(t *testing.T) {
			t.Parallel()
			s, a, err := on(t, score).RequestCreditScore(ctx, scoreRequest())
			wantKnown(t, a, err, apiclient.Created, apiclient.FaultNone)
			if got := field(s); got[0] != got[1] || len(s.Unread) != 0 {
				t.Errorf("read %q, want %q (not read: %v)", got[0], got[1], s.Unread)
			}
		})
	}
	apidoc.Run(t, apidoc.Client, "2.1 retrieval", func(t *testing.T) {
		t.Parallel()
		sent := must.Get(fullRequest().Encode())(t)
		oc, err := on(t, `{"id":"`+testID+`",`+string(sent[1:])).GetOrderCommitment(ctx, testID)
		if err != nil || oc.ID != testID || len(oc.Unread) != 0 {
			t.Errorf("GetOrderCommitment = %+v, %v", oc, err)
		}
		if d := cmp.Diff(fullRequest(), requestFrom(oc)); d != "" {
			t.Errorf("read back (-want +got):\n%s", d)
		}
	})
}

// requestFrom is the request with which an order commitment like this one would be made.
func requestFrom(oc apiclient.ReadBack) (r apiclient.OrderCommitmentRequest) {
	into := reflect.ValueOf(&r).Elem()
	for i := range into.NumField() {
		field, _, _ := strings.Cut(into.Type().Field(i).Tag.Get("json"), ",")
		into.Field(i).SetString(oc.Fields[field])
	}
	return r
}
