package apiclient_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/internal/apidoc"
	"github.com/safrasync/safrasync/internal/must"
)

const apiPath = "/api/v1/integration"

func deliveryRequest() apiclient.DeliveryRequest {
	return apiclient.DeliveryRequest{
		ContractID: "0101/001008", DeliveredVolume: "1250.50", DeliveredVolumeUnitOfMeasure: "sc",
		DeliveryDate: "2026-11-20",
	}
}

func traceabilityRequest() apiclient.TraceabilityRequest {
	return apiclient.TraceabilityRequest{ProducerID: namedID, UserID: otherID}
}

func scoreRequest() apiclient.CreditScoreRequest {
	return apiclient.CreditScoreRequest{
		Name: "Ana & Filhos", SocialID: "123.456.789-09",
		Reports: []apiclient.CreditReport{apiclient.ReportCreditScore},
	}
}

func analysisRequest() apiclient.CreditAnalysisRequest {
	return apiclient.CreditAnalysisRequest{
		RequesterID: namedID, RequesterName: "Rui", RequesterEmail: "rui@example.com", Name: "Ana",
		Identity: "12.abc.345/01de-35",
		AuthType: apiclient.AuthEmail, PersonType: apiclient.PJ, PeriodConsult: "12",
	}
}

func webhookRequest() apiclient.WebhookRequest {
	return apiclient.WebhookRequest{WebhookEvent: "CREATE_FARM", URL: "https://coop.example/hook"}
}

// endpoint is one row of the table in chapter 4, as the client is to speak it.
type endpoint struct {
	name string
	// the Answer may be empty where there is none
	call    do
	request string // verb and target
	body    string // empty: none
	status  int
	answer  string
	known   apiclient.Known
}

// row is the name of the endpoint in the API's document.
func (e endpoint) row() string {
	if number, _, _ := strings.Cut(e.name, " "); number != "GET" {
		return "4 endpoint " + number
	}
	return "4 endpoint producers by document"
}

func (e endpoint) verb() string { return e.request[:strings.Index(e.request, " ")] }

// do is the call of an endpoint, about the record with this id where it needs one.
type do = func(x context.Context, c *apiclient.Client, id string) (apiclient.Answer, error)

// only leaves out the record of a call that gives no Answer.
func only[T any](_ T, err error) (apiclient.Answer, error) { return apiclient.Answer{}, err }

var endpoints = []endpoint{
	{
		"1 POST order-commitments", func(x context.Context, c *apiclient.Client, _ string) (apiclient.Answer, error) {
			return c.CreateOrderCommitment(x, fullRequest())
		},
		"POST " + postPath, "", 200, created, apiclient.Created,
	},
	{
		"2 GET order-commitments",
		func(x context.Context, c *apiclient.Client, id string) (apiclient.Answer, error) {
			return only(c.GetOrderCommitment(x, id))
		},
		"GET " + postPath + "/" + namedID, "", 200, `{"id":"` + namedID + `"}`, 0,
	},
	{
		"3 POST deliveries", func(x context.Context, c *apiclient.Client, _ string) (apiclient.Answer, error) {
			_, a, err := c.CreateDelivery(x, deliveryRequest())
			return a, err
		},
		"POST " + apiPath + "/deliveries",
		`{"contract_id":"0101/001008","delivered_volume":1250.50,"delivered_volume_unit_of_measure":"sc","delivery_date":"2026-11-20"}`,
		201, `{"id":"E-1"}`, apiclient.Created,
	},
	{
		"4 POST traceability", func(x context.Context, c *apiclient.Client, id string) (apiclient.Answer, error) {
			return c.CreateTraceability(x, strings.ToUpper(id), traceabilityRequest())
		},
		"POST " + apiPath + "/traceability/-/commitments/" + namedID,
		`{"producer_id":"` + namedID + `","user_id":"` + otherID + `"}`,
		200, created, apiclient.Created,
	},
	{
		"5 GET consent", func(x context.Context, c *apiclient.Client, _ string) (apiclient.Answer, error) {
			return only(c.GetConsent(x, apiclient.ConsentQuery{
				Identity: "123.456.789-09", PersonType: apiclient.PF, CorporateIdentity: "12.abc.345/01de-35",
			}))
		},
		"GET " + apiPath + "/financial/analysis-credit/consent?corporateIdentity=" + testAlphaDoc + "&identity=" +
			testCPF + "&personType=PF",
		"", 200, `{"status":"X","consent_date":"2026-11-20T10:00:00Z"}`, 0,
	},
	{
		"6 POST credit-score", func(x context.Context, c *apiclient.Client, _ string) (apiclient.Answer, error) {
			_, a, err := c.RequestCreditScore(x, scoreRequest())
			return a, err
		},
		"POST " + apiPath + "/financial/credit-score",
		`{"name":"Ana & Filhos","social_id":"12345678909","reports":["CREDIT_SCORE"]}`,
		200, `{"id":17}`, apiclient.Created,
	},
	{
		"7 POST analysis-credit", func(x context.Context, c *apiclient.Client, _ string) (apiclient.Answer, error) {
			return c.CreateCreditAnalysis(x, analysisRequest())
		},
		"POST " + apiPath + "/financial/analysis-credit",
		`{"requester_id":"` + namedID +
			`","requester_name":"Rui","requester_email":"rui@example.com","name":"Ana","identity":"` + testAlphaDoc +
			`","auth_type":"EMAIL","person_type":"PJ","period_consult":"12"}`,
		200, created, apiclient.Created,
	},
	{
		"8 GET analysis-credit", func(x context.Context, c *apiclient.Client, id string) (apiclient.Answer, error) {
			return only(c.GetCreditAnalysis(x, id))
		},
		"GET " + apiPath + "/financial/analysis-credit/" + namedID, "", 200, `{"id":"` + namedID + `"}`, 0,
	},
	{
		"9 POST webhooks", func(x context.Context, c *apiclient.Client, _ string) (apiclient.Answer, error) {
			return c.CreateWebhook(x, webhookRequest())
		},
		"POST " + hooksPath, `{"webhook_event":"CREATE_FARM","url":"https://coop.example/hook"}`, 201, created,
		apiclient.Created,
	},
	{
		"10 GET webhooks", func(x context.Context, c *apiclient.Client, _ string) (apiclient.Answer, error) {
			return only(c.Webhooks(x))
		},
		"GET " + hooksPath, "", 200, `[]`, 0,
	},
	{
		"11 GET webhooks by event", func(x context.Context, c *apiclient.Client, _ string) (apiclient.Answer, error) {
			return only(c.GetWebhook(x, "CREATE_FARM"))
		},
		"GET " + hooksPath + "/-/events/CREATE_FARM", "", 200, `{"webhook_event":"CREATE_FARM"}`, 0,
	},
	{
		"12 PUT webhooks", func(x context.Context, c *apiclient.Client, _ string) (apiclient.Answer, error) {
			return c.UpdateWebhook(x, webhookRequest())
		},
		"PUT " + hooksPath, `{"webhook_event":"CREATE_FARM","url":"https://coop.example/hook"}`, 204, "", 0,
	},
	{
		"13 DELETE webhooks", func(x context.Context, c *apiclient.Client, id string) (apiclient.Answer, error) {
			return c.DeleteWebhook(x, id)
		},
		"DELETE " + hooksPath + "/" + namedID, "", 204, "", 0,
	},
	{
		"GET producers by document", func(x context.Context, c *apiclient.Client, _ string) (apiclient.Answer, error) {
			return only(c.GetProducerByDocument(x, "12.abc.345/01de-35"))
		},
		"GET " + apiPath + "/producers/-/documents/" + testAlphaDoc, "", 200, created, 0,
	},
}

func TestEveryEndpointOfChapter4(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Client, "5 rule 1", "7 status 415", "9 prefix", "9 test environment")
	for _, e := range endpoints {
		apidoc.Run(t, apidoc.Client, e.row(), func(t *testing.T) {
			t.Parallel()
			answer := always(e.status, e.answer)
			if e.status == 204 {
				answer = raw("HTTP/1.1 204 No Content\r\n\r\n")
			}
			s := startRaw(t, answer)
			c := newClient(t, apiclient.Settings{BaseURL: s.url() + "/coop"})
			a := must.Get(e.call(context.Background(), c, namedID))(t)
			if a.Known != e.known || (a.ID != "") != (e.known == apiclient.Created) {
				t.Errorf("Known = %v, ID = %q, want %v", a.Known, a.ID, e.known)
			}
			seen := s.requests()
			if len(seen) != 1 {
				t.Fatalf("%d requests, want 1", len(seen))
			}
			r := seen[0]
			if got := r.Method + " " + strings.TrimPrefix(r.RequestURI, "/coop"); got != e.request {
				t.Errorf("request = %s, want %s", got, e.request)
			}
			if e.body != "" {
				if d := cmp.Diff(e.body, string(r.body)); d != "" {
					t.Errorf("body (-want +got):\n%s", d)
				}
			}
			wantType := ""
			if e.verb() != "GET" {
				wantType = "application/json" // on DELETE too (chapter 7, 415)
			}
			if got := r.Header.Get("Content-Type"); got != wantType {
				t.Errorf("Content-Type = %q, want %q", got, wantType)
			}
			if got := r.Header.Get("Authorization"); got != testKey {
				t.Errorf("Authorization = %q, want the key without a scheme", got)
			}
		})
	}
}

// What has no effect when it is done twice is repeated; a POST leaves once, whatever comes back.
func TestReadsPutAndDeleteAreRepeatedAndPostsNever(t *testing.T) {
	t.Parallel()
	for _, e := range endpoints {
		for name, fail := range map[string]answerFunc{
			"500": always(500, `{"messages":["message.internal.error"]}`),
			"502": always(502, `{"messages":["message.integration.connection.refused"]}`),
			"429": always(429, "", "Retry-After: 0"),
			"cut": raw("HTTP/1.1 200 X\r\nContent-Length: 9\r\n\r\n["),
		} {
			if name == "429" && e.verb() != "POST" && !strings.HasPrefix(e.name, "12 ") {
				continue // each would wait a second; the PUT stands for all that are repeated
			}
			t.Run(e.name+" "+name, func(t *testing.T) {
				t.Parallel()
				s := startRaw(t, thenAnswer(1, fail, reply(e.status, e.answer)))
				c := s.client(t)
				c.SetReadBackoff(time.Millisecond)
				_, err := e.call(context.Background(), c, namedID)
				want := 2
				if e.verb() == "POST" {
					want = 1
				}
				if n := len(s.requests()); n != want || (err == nil) != (want == 2) {
					t.Errorf("%d requests, %v; want %d", n, err, want)
				}
			})
		}
	}
}

func TestEveryCallEndsInAnErrorThatSaysWhatIsKnown(t *testing.T) {
	t.Parallel()
	for _, e := range endpoints {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			for answer, want := range map[string]struct {
				post, get, other string
			}{
				reply(403, `{"messages":["message.module.not-contracted"]}`): {"not created", "refused", "refused"},
				reply(403, `"Unexpected value: X"`):                          {"not created", "refused", "refused"},
				reply(415, ""):                                               {"not created", "refused", "refused"},
				reply(501, `{}`):                                             {"not created", "refused", "refused"},
				reply(501, ""): {
					"unknown", "no usable answer",
					"unknown",
				},
				reply(302, ""): {
					"unknown", "no usable answer",
					"unknown",
				},
			} {
				s := startRaw(t, raw(answer))
				_, err := e.call(context.Background(), s.client(t), namedID)
				w := map[string]string{"POST": want.post, "GET": want.get}[e.verb()]
				if w == "" {
					w = want.other
				}
				if failure := asError(t, err); !strings.HasPrefix(err.Error(), failure.Op+": "+w+", status ") {
					t.Errorf("error = %q, want %q", err, w)
				}
			}
		})
	}
}

// None of the shapes in which an answer can be wrong is a panic or a success of a creation.
func TestNoAnswerIsTakenForWhatItIsNot(t *testing.T) {
	t.Parallel()
	for _, e := range endpoints {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			for _, body := range []string{
				``, ` `, `null`, `5`, `"x"`, `[`, `{`, `{}`, `[]`, `[[]]`, `[null]`, `[{},{}]`, `<html>`, `{"id":{}}`,
				`{"id":""}`, `{"id":"\u0000"}`,
				`{"messages":5}`, strings.Repeat(`[`, 20000), "\xff", "\x1f\x8b\x08",
			} {
				s := startRaw(t, always(200, body))
				a, err := e.call(context.Background(), s.client(t), namedID)
				if e.known == apiclient.Created {
					wantKnown(t, a, err, apiclient.CreatedIDUnknown, apiclient.FaultNone)
					continue
				}
				object := strings.HasPrefix(body, `{"`) || body == `{}` || body == `[]` &&
					strings.HasPrefix(e.name, "10 ") ||
					strings.HasPrefix(e.name, "10 ") && (body == `[[]]` || body == `[null]` || body == `[{},{}]`)
				if strings.HasPrefix(e.name, "10 ") && strings.HasPrefix(body, `{`) {
					object = false
				}
				if e.status == 204 {
					object = true // the status says all
				}
				if (err == nil) != object {
					t.Errorf("%.20q: %v", body, err)
				}
				if err != nil && asError(t, err).Fault != apiclient.FaultProtocol {
					t.Errorf("%.20q: fault %v", body, asError(t, err).Fault)
				}
			}
		})
	}
}

func TestF105TheIdOfADeliveryAndOfACreditScoreIsAnyShortTextOrInteger(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		`"E-1/2026 ç"`:                       "E-1/2026 ç",
		`"` + strings.ToUpper(testID) + `"`:  testID, // in its normal form
		`0`:                                  "0",
		`-5`:                                 "-5",
		`12345678901234567890123`:            "12345678901234567890123",
		`"` + strings.Repeat("é", 128) + `"`: strings.Repeat("é", 128),
		`"` + strings.Repeat("é", 129) + `"`: "",
		strings.Repeat("1", 129):             "",
		`""`:                                 "",
		`"  "`:                               "",
		`"a\u0000b"`:                         "",
		`1.5`:                                "",
		`1e3`:                                "",
		`true`:                               "",
		`null`:                               "",
		`{}`:                                 "",
		`["x"]`:                              "",
		`"` + testID + `","id":"` + otherID + `"`: "",
		`"` + testID + `","ID":"` + otherID + `"`: "",
	} {
		s := startRaw(t, always(201, `{"id":`+id+`}`))
		c := s.client(t)
		d, a, err := c.CreateDelivery(context.Background(), deliveryRequest())
		score, b, scoreErr := c.RequestCreditScore(context.Background(), scoreRequest())
		if a.ID != want || b.ID != want || d.ID != want || score.ID != want {
			t.Errorf("%.40s: ids %q, %q, %q, %q; want %q", id, a.ID, b.ID, d.ID, score.ID, want)
		}
		known := apiclient.Created
		if want == "" {
			known = apiclient.CreatedIDUnknown
		}
		wantKnown(t, a, err, known, apiclient.FaultNone)
		wantKnown(t, b, scoreErr, known, apiclient.FaultNone)
	}
}

func TestSubmittedBytesLeaveAsTheyAreAndThroughTheGate(t *testing.T) {
	t.Parallel()
	type submitFunc func(*apiclient.Client, []byte, func() error) (apiclient.Answer, error)
	for name, submit := range map[string]submitFunc{
		"deliveries": func(c *apiclient.Client, b []byte, gate func() error) (apiclient.Answer, error) {
			return c.SubmitDelivery(context.Background(), b, gate)
		},
		"traceability/-/commitments/" + namedID: func(c *apiclient.Client, b []byte,
			gate func() error,
		) (apiclient.Answer, error) {
			return c.SubmitTraceability(context.Background(), namedID, b, gate)
		},
	} {
		s := startRaw(t, always(201, created))
		c := s.client(t)
		body := []byte("{ \"a\" : 1.50 }\n")
		asked := 0
		a, err := submit(c, body, func() error { asked++; return nil })
		wantKnown(t, a, err, apiclient.Created, apiclient.FaultNone)
		if r := s.requests(); asked != 1 || len(r) != 1 || string(r[0].body) != string(body) ||
			r[0].URL.Path != apiPath+"/"+name {
			t.Errorf("%s: gate asked %d times, requests %+v", name, asked, r)
		}
		if a.Evidence.Phase != apiclient.PhaseComplete || a.Evidence.BytesWritten <= int64(len(body)) {
			t.Errorf("%s: evidence = %+v", name, a.Evidence)
		}
		a, err = submit(c, body, func() error { return http.ErrAbortHandler })
		wantKnown(t, a, err, apiclient.NotSent, apiclient.FaultWindow)
		a, err = submit(c, nil, nil)
		wantKnown(t, a, err, apiclient.NotSent, apiclient.FaultRequest)
		if n := len(s.requests()); n != 1 {
			t.Errorf("%s: %d requests, want the first one only", name, n)
		}
	}
	s := startRaw(t, always(201, created))
	a, err := s.client(t).SubmitTraceability(context.Background(), "../x", payload, nil)
	wantKnown(t, a, err, apiclient.NotSent, apiclient.FaultRequest)
	if n := s.conns.Load(); n != 0 {
		t.Errorf("%d connections", n)
	}
}

func TestMissingAndImpossibleFieldsAreNamedTogetherAndNeverSent(t *testing.T) {
	t.Parallel()
	s := startRaw(t, always(201, created))
	c := s.client(t)
	ctx := context.Background()
	bad := "S\xc3O"
	for name, tc := range map[string]struct {
		call func() (apiclient.Answer, error)
		want string
	}{
		"2.2 empty": {
			func() (apiclient.Answer, error) {
				_, a, err := c.CreateDelivery(ctx, apiclient.DeliveryRequest{})
				return a, err
			},
			"contract_id is missing; delivered_volume is missing; delivered_volume_unit_of_measure is missing; delivery_date is missing",
		},
		"2.2 impossible": {
			func() (apiclient.Answer, error) {
				r := deliveryRequest()
				r.DeliveredVolume, r.Car = "1e3", bad
				_, a, err := c.CreateDelivery(ctx, r)
				return a, err
			},
			"delivered_volume is not a plain decimal number such as 1250.5; car is not valid UTF-8; check the character set of the source",
		},
		"2.3 empty": {
			func() (apiclient.Answer, error) {
				return c.CreateTraceability(ctx, testID, apiclient.TraceabilityRequest{AllocatedVolume: "NaN"})
			},
			"producer_id is missing; user_id is missing; allocated_volume is not a plain decimal number such as 1250.5",
		},
		"2.3 order_commitment_id": {
			func() (apiclient.Answer, error) { return c.CreateTraceability(ctx, "17", traceabilityRequest()) },
			"the order_commitment_id is not a UUID (36 characters, 8-4-4-4-12)",
		},
		"2.4 query": {
			func() (apiclient.Answer, error) {
				_, err := c.GetConsent(ctx, apiclient.ConsentQuery{Identity: "12345678908", CorporateIdentity: testCPF})
				return apiclient.Answer{Known: apiclient.NotSent}, err
			},
			"identity is no CPF: its check digits do not agree; a digit is probably wrong; personType is missing; corporateIdentity is not a CNPJ (14 characters)",
		},
		"2.5 empty": {
			func() (apiclient.Answer, error) {
				_, a, err := c.RequestCreditScore(ctx,
					apiclient.CreditScoreRequest{CarList: []string{""}, SigefList: []string{"x", bad}})
				return a, err
			},
			"name is missing; social_id is empty; give a CPF or CNPJ; reports is missing; car_list has an empty entry (number 1); " +
				"sigef_list is not valid UTF-8; check the character set of the source",
		},
		"2.5 empty report": {
			func() (apiclient.Answer, error) {
				r := scoreRequest()
				r.Reports = []apiclient.CreditReport{""}
				_, a, err := c.RequestCreditScore(ctx, r)
				return a, err
			},
			"reports is missing",
		},
		"2.6 empty": {
			func() (apiclient.Answer, error) {
				return c.CreateCreditAnalysis(ctx, apiclient.CreditAnalysisRequest{CorporateIdentity: "1"})
			},
			"requester_id is missing; requester_name is missing; requester_email is missing; name is missing; identity is empty; give a CPF or CNPJ; " +
				"auth_type is missing; person_type is missing; period_consult is missing; corporate_identity is not a CNPJ (14 characters)",
		},
		"2.6 id": {
			func() (apiclient.Answer, error) {
				_, err := c.GetCreditAnalysis(ctx, "x/../y")
				return apiclient.Answer{Known: apiclient.NotSent}, err
			},
			"the id is not a UUID (36 characters, 8-4-4-4-12)",
		},
		"2.7 empty": {
			func() (apiclient.Answer, error) {
				return c.CreateWebhook(ctx, apiclient.WebhookRequest{BasicAuthentication: "topsecret"})
			},
			"webhook_event is missing; url is missing; basic_authentication has no colon; it must be user:password",
		},
		"2.7 id": {
			func() (apiclient.Answer, error) { return c.DeleteWebhook(ctx, "*") },
			"the id is not a UUID (36 characters, 8-4-4-4-12)",
		},
		"2.7 event in the path": {
			func() (apiclient.Answer, error) {
				_, err := c.GetWebhook(ctx, "CREATE_FARM/../x")
				return apiclient.Answer{Known: apiclient.NotSent}, err
			},
			"webhook_event is not the name of an event, such as CREATE_PRODUCER",
		},
		"producer": {
			func() (apiclient.Answer, error) {
				_, err := c.GetProducerByDocument(ctx, "1122233300018")
				return apiclient.Answer{Known: apiclient.NotSent}, err
			},
			"social_identity is one character too short for a CPF (11) or CNPJ (14); a leading zero was probably lost",
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := tc.call()
			e := asError(t, err)
			if a.Known != apiclient.NotSent || e.Known != apiclient.NotSent || e.Fault != apiclient.FaultRequest {
				t.Errorf("Known = %v, fault = %v", a.Known, e.Fault)
			}
			if want := e.Op + ": not sent: " + tc.want; err.Error() != want {
				t.Errorf("error = %q, want %q", err, want)
			}
		})
	}
	if n := s.conns.Load(); n != 0 {
		t.Errorf("%d connections, want 0", n)
	}
}

// The other enumerations are compared with the tables of chapter 2, the events with chapter 6.
func TestTheListsOfEnumerationsHoldWhatTheDocumentLists(t *testing.T) {
	t.Parallel()
	if d := cmp.Diff([]apiclient.CreditReport{"CREDIT_SCORE"}, apiclient.Reports); d != "" {
		t.Errorf("chapter 2.5 (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]apiclient.AuthType{"EMAIL"}, apiclient.AuthTypes); d != "" {
		t.Errorf("chapter 2.6 (-want +got):\n%s", d)
	}
}
