package apiclient_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/apidoc"
	"github.com/safrasync/safrasync/internal/must"
)

// creates wants the request executed, and gives the record that the sandbox made of it.
func (m meeting) creates(f form, commitment string, request any) (apiclient.Answer, sandbox.Record) {
	m.t.Helper()
	a, err := send(m.t, m.Client, commitment, request)
	wantKnown(m.t, a, err, apiclient.Created, apiclient.FaultNone)
	made := m.box.CreatedOf(f.resource)
	if len(made) == 0 || made[len(made)-1].ID != a.ID {
		m.t.Fatalf("the newest of %d records is not %q", len(made), a.ID)
	}
	if odd := m.last().Remarks; len(odd) != 0 {
		m.t.Errorf("the sandbox took it with remarks: %v", odd)
	}
	return a, made[len(made)-1]
}

// Each field of chapter 2: what the client sends the sandbox reads, what the one leaves out the
// other does not miss, what the one refuses the other would have refused, and no value of an
// enumeration is strange to either.
func TestTogetherChapter2_FieldsOfRequests(t *testing.T) {
	t.Parallel()
	for _, f := range forms {
		for _, field := range f.fields {
			apidoc.Run(t, apidoc.Together, f.row(field.name), func(t *testing.T) {
				t.Parallel()
				m := meet(t, sandbox.Options{})
				commitment := m.commitment()
				_, rec := m.creates(f, commitment, f.full)
				if _, read := rec.Fields[field.name]; !read || len(rec.Fields) != len(f.fields) ||
					string(members(t, rec.Body)[field.name]) != field.json {
					t.Errorf("the sandbox read %v", rec.Fields)
				}
				empty := with(f.full, field.name, "")
				if field.need != optional {
					before := m.box.Requests()
					a, err := send(t, m.Client, commitment, empty)
					wantKnown(t, a, err, apiclient.NotSent, apiclient.FaultRequest)
					if n := m.box.Requests(); n != before {
						t.Errorf("%d requests without %s", n-before, field.name)
					}
					m.refuses(rec, f, commitment, field.name)
				}
				if field.need == forPurchase {
					empty = with(empty, "order_type", "A_FIXAR")
				}
				if field.need != required {
					_, rec := m.creates(f, commitment, empty)
					if value, there := rec.Fields[field.name]; there {
						t.Errorf("without %s the sandbox read %v", field.name, value)
					}
				}
				if field.values != nil {
					m.agreeOnTheValues(f, commitment, field)
				}
			})
		}
	}
}

// refuses sends the body of a record again, without a field and past the client's own check: as
// frozen bytes where the client takes them, else in plain HTTP.
func (m meeting) refuses(rec sandbox.Record, f form, commitment, field string) {
	m.t.Helper()
	body, ctx := without(m.t, rec.Body, field), context.Background()
	var a apiclient.Answer
	switch f.chapter {
	case "2.1":
		a, _ = m.SubmitOrderCommitment(ctx, body, nil)
	case "2.2":
		a, _ = m.SubmitDelivery(ctx, body, nil)
	case "2.3":
		a, _ = m.SubmitTraceability(ctx, commitment, body, nil)
	default:
		a.Status, a.Messages = m.post(map[string]string{
			"2.5": "4 endpoint 6", "2.6": "4 endpoint 7", "2.7": "4 endpoint 9",
		}[f.chapter], body)
	}
	if want := []string{"message." + field + ".mandatory"}; a.Status != 400 || !slices.Equal(a.Messages, want) {
		m.t.Errorf("without %s: %d %v, want 400 %v", field, a.Status, a.Messages, want)
	}
}

// post asks an endpoint without the client.
func (m meeting) post(endpoint string, body []byte) (status int, messages []string) {
	m.t.Helper()
	_, path, _ := strings.Cut(routes[endpoint].route, " ")
	req := must.Get(http.NewRequestWithContext(m.t.Context(), http.MethodPost, m.box.URL+path,
		bytes.NewReader(body)))(m.t)
	req.Header.Set("Authorization", testKey)
	req.Header.Set("Content-Type", "application/json")
	res := must.Get((&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req))(m.t)
	defer func() { _ = res.Body.Close() }()
	var answer struct {
		Messages []string `json:"messages"`
	}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
		m.t.Errorf("%s: %v", endpoint, err)
	}
	return res.StatusCode, answer.Messages
}

func (m meeting) agreeOnTheValues(f form, commitment string, field fieldRow) {
	m.t.Helper()
	for _, value := range field.values {
		_, rec := m.creates(f, commitment, with(f.full, field.name, value))
		if rec.Fields[field.name] != value {
			m.t.Errorf("the sandbox read %v, want %s", rec.Fields[field.name], value)
		}
	}
	made := len(m.box.CreatedOf())
	a, err := send(m.t, m.Client, commitment, with(f.full, field.name, "NONE_OF_THEM"))
	wantKnown(m.t, a, err, apiclient.NotCreated, apiclient.FaultNone)
	invalid := a.Status == 400 && a.HasMessage("message."+field.name+".invalid")
	if field.name == "person_type" { // the only one of them that chapter 7 answers with 403
		invalid = a.Status == 403 && a.Text == "Unexpected value: NONE_OF_THEM"
	}
	if !invalid || len(m.box.CreatedOf()) != made {
		m.t.Errorf("another value of %s: %d %v %q", field.name, a.Status, a.Messages, a.Text)
	}
}

func TestTogetherChapter2_FieldsOfAnswers(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	ids := map[string]string{
		"2.1": "2.1 answer id", "2.2": "2.2 answer id", "2.3": "2.3 answer id", "2.5": "2.5 answer id",
		"2.6": "2.6 answer id", "2.7": "2.7 id",
	}
	for _, f := range forms {
		apidoc.Run(t, apidoc.Together, ids[f.chapter], func(t *testing.T) {
			t.Parallel()
			m := meet(t, sandbox.Options{})
			commitment := m.commitment()
			one, _ := m.creates(f, commitment, f.full)
			if two, _ := m.creates(f, commitment, f.full); one.ID == two.ID {
				t.Errorf("two records have the id %s", one.ID)
			}
			if f.chapter == "2.7" {
				if a, err := m.DeleteWebhook(ctx, one.ID); err != nil || a.Status != 204 {
					t.Errorf("DeleteWebhook = %d, %v", a.Status, err)
				}
			}
		})
	}
	apidoc.Run(t, apidoc.Together, "2.1 retrieval", func(t *testing.T) {
		t.Parallel()
		m := meet(t, sandbox.Options{})
		oc, err := m.GetOrderCommitment(ctx, m.commitment())
		if err != nil || oc.ID != m.box.Created()[0].ID || len(oc.Unread) != 0 {
			t.Errorf("GetOrderCommitment = %+v, %v", oc, err)
		}
		if d := cmp.Diff(fullRequest(), requestFrom(oc)); d != "" {
			t.Errorf("read back (-want +got):\n%s", d)
		}
	})
	for row, field := range map[string]func(apiclient.ReadBack) [2]string{
		"2.2 answer contract_id": func(d apiclient.ReadBack) [2]string {
			return [2]string{
				d.Fields["contract_id"],
				deliveryRequest().ContractID,
			}
		},
		"2.2 answer delivered_volume": func(d apiclient.ReadBack) [2]string {
			return [2]string{d.Fields["delivered_volume"], string(deliveryRequest().DeliveredVolume)}
		},
	} {
		apidoc.Run(t, apidoc.Together, row, func(t *testing.T) {
			t.Parallel()
			d, a, err := meet(t, sandbox.Options{}).CreateDelivery(ctx, deliveryRequest())
			wantKnown(t, a, err, apiclient.Created, apiclient.FaultNone)
			if got := field(d); got[0] != got[1] || len(d.Unread) != 0 {
				t.Errorf("read %q, want %q", got[0], got[1])
			}
		})
	}
	for row, field := range map[string]func(apiclient.Consent) string{
		"2.4 status":       func(c apiclient.Consent) string { return c.Status },
		"2.4 consent_date": func(c apiclient.Consent) string { return c.ConsentDate },
	} {
		apidoc.Run(t, apidoc.Together, row, func(t *testing.T) {
			t.Parallel()
			c, err := meet(t, sandbox.Options{}).GetConsent(ctx,
				apiclient.ConsentQuery{Identity: testCPF, PersonType: apiclient.PF})
			if err != nil || field(c) == "" || len(c.Unread) != 0 {
				t.Errorf("GetConsent = %+v, %v", c, err)
			}
		})
	}
	// "" stands for a value of the platform's own, of which only that it is there can be said.
	for row, field := range map[string]func(apiclient.CreditScore) [2]string{
		"2.5 answer identity_id":    func(s apiclient.CreditScore) [2]string { return [2]string{s.IdentityID, ""} },
		"2.5 answer cooperative_id": func(s apiclient.CreditScore) [2]string { return [2]string{s.CooperativeID, ""} },
		"2.5 answer name": func(s apiclient.CreditScore) [2]string {
			return [2]string{
				s.Name,
				scoreRequest().Name,
			}
		},
		"2.5 answer social_id":  func(s apiclient.CreditScore) [2]string { return [2]string{s.SocialID, testCPF} },
		"2.5 answer type":       func(s apiclient.CreditScore) [2]string { return [2]string{s.Type, ""} },
		"2.5 answer created_at": func(s apiclient.CreditScore) [2]string { return [2]string{s.CreatedAt, ""} },
	} {
		apidoc.Run(t, apidoc.Together, row, func(t *testing.T) {
			t.Parallel()
			s, a, err := meet(t, sandbox.Options{}).RequestCreditScore(ctx, scoreRequest())
			wantKnown(t, a, err, apiclient.Created, apiclient.FaultNone)
			if got := field(s); got[0] == "" || got[1] != "" && got[0] != got[1] || len(s.Unread) != 0 {
				t.Errorf("read %q, want %q", got[0], got[1])
			}
		})
	}
}
