package apiclient_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/trade"
)

// What is done after a POST depends on what is known, never on the kind of error alone.
func ExampleClient_SubmitOrderCommitment() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"messages":["message.wallet.not-found"]}`)
	}))
	defer server.Close()

	client, err := apiclient.New(apiclient.Settings{BaseURL: server.URL, APIKey: "an-api-key"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	gate := func() error { return nil } // the send window is checked here
	answer, err := client.SubmitOrderCommitment(context.Background(), []byte(`{"amount":1}`), gate)
	switch answer.Known {
	case apiclient.Created:
		fmt.Println("store", answer.ID)
	case apiclient.NotSent, apiclient.Throttled:
		fmt.Println("send again, after", answer.RetryAfter)
	case apiclient.NotCreated:
		fmt.Println("refused:", answer.Messages)
	default:
		fmt.Println("in doubt: a person must look")
	}
	var e *apiclient.CallError
	if errors.As(err, &e) {
		fmt.Println(e.Fault, e.Status, e.APIForm())
	}
	fmt.Println(err)
	// Output:
	// refused: [message.wallet.not-found]
	// none 400 true
	// create order commitment: not created, status 400 (body: a) message.wallet.not-found
}

// example starts a platform that answers every request with status and body, and a client of it.
func example(status int, body string) (client *apiclient.Client, end func()) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	client, err := apiclient.New(apiclient.Settings{BaseURL: server.URL, APIKey: "an-api-key"})
	if err != nil {
		panic(err)
	}
	return client, func() { client.Close(); server.Close() }
}

// A client keeps its pace, and slows down when the platform asks for it.
func ExampleNew() {
	client, err := apiclient.New(apiclient.Settings{
		BaseURL: "https://api.example.com", APIKey: "an-api-key", Pace: apiclient.NewPace(5, 2),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	fmt.Println(client)
	// Output: apiclient for api.example.com
}

// The echo may differ from what was sent; the delivery exists in any case.
func ExampleClient_Submit_delivery() {
	client, end := example(http.StatusCreated, `{"id":"E-81","contract_id":"0101/001008","delivered_volume":1250.0}`)
	defer end()

	body, err := apiclient.Encode(trade.Deliveries, map[string]string{
		"contract_id": "0101/001008", "delivered_volume": "1250.50", "delivered_volume_unit_of_measure": "sc",
		"delivery_date": "2026-11-20",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := client.Submit(context.Background(), trade.Deliveries, "", body, nil)
	fmt.Println(answer.ID, answer.Known, err)
	delivery, _ := apiclient.ReadRecord(trade.Deliveries, answer.Body)
	fmt.Println(delivery.Fields["delivered_volume"])
	// Output:
	// E-81 created <nil>
	// 1250.0
}

func ExampleClient_Submit_traceability() {
	client, end := example(http.StatusNotFound, `{"messages":["message.producer.not-found"]}`)
	defer end()

	body, err := apiclient.Encode(trade.Traceability, map[string]string{
		"producer_id": "5d1e7c7a-90c4-4e6c-8c51-0e2f4b6a8c9d", "user_id": "b8a7c6d5-0e1f-4a2b-9c3d-4e5f6a7b8c9d",
		"allocated_volume": "20", "unit_of_measurement": "TON",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := client.Submit(context.Background(), trade.Traceability,
		"0b8f8a4e-3c58-4e0f-9f5c-6a3f0d1c2b3a", body, nil)
	fmt.Println(answer.Known)
	fmt.Println(err)
	// Output:
	// not_created
	// create traceability: not created, status 404 (body: a) message.producer.not-found
}

func ExampleClient_GetConsent() {
	client, end := example(http.StatusOK, `{"status":"GRANTED","consent_date":"2026-11-20T10:00:00Z"}`)
	defer end()

	consent, err := client.GetConsent(context.Background(),
		apiclient.ConsentQuery{Identity: "123.456.789-09", PersonType: apiclient.PF})
	fmt.Println(consent.Status, consent.ConsentDate, err)
	_, err = client.GetConsent(context.Background(),
		apiclient.ConsentQuery{Identity: "123.456.789-90", PersonType: apiclient.PF})
	fmt.Println(err) // names the field, never the number
	// Output:
	// GRANTED 2026-11-20T10:00:00Z <nil>
	// get consent: not sent: identity is no CPF: its check digits do not agree; a digit is probably wrong
}

func ExampleClient_RequestCreditScore() {
	client, end := example(http.StatusForbidden, `{"messages":["message.module.not-contracted"]}`)
	defer end()

	_, answer, err := client.RequestCreditScore(context.Background(), apiclient.CreditScoreRequest{
		Name: "Ana", SocialID: "12.ABC.345/01DE-35", Reports: []apiclient.CreditReport{apiclient.ReportCreditScore},
	})
	fmt.Println(answer.HasMessage("message.module.not-contracted"), err != nil)
	// Output: true true
}

// A second webhook for an event is not documented: look first.
func ExampleClient_CreateWebhook() {
	client, end := example(http.StatusCreated, `{"id":"0b8f8a4e-3c58-4e0f-9f5c-6a3f0d1c2b3a"}`)
	defer end()

	request := apiclient.WebhookRequest{
		WebhookEvent: apiclient.EventCreateOrderCommitment, URL: "https://coop.example/hooks/create-order-commitment",
		BasicAuthentication: "safrasync:a-password",
	}
	answer, err := client.CreateWebhook(context.Background(), request)
	fmt.Println(answer.ID, err)
	fmt.Println(request.BasicAuthentication)
	// Output:
	// 0b8f8a4e-3c58-4e0f-9f5c-6a3f0d1c2b3a <nil>
	// [secret]
}

func ExampleClient_GetProducerByDocument() {
	client, end := example(http.StatusNotFound, `{"messages":["message.producer.not-found"]}`)
	defer end()

	_, err := client.GetProducerByDocument(context.Background(), "12.abc.345/01de-35")
	fmt.Println(err)
	// Output: get producer by document: refused, status 404 (body: a) message.producer.not-found
}

func ExampleParseDocument() {
	for _, s := range []string{"123.456.789-09", "12.abc.345/01de-35", "111.111.111-11"} {
		number, person, err := apiclient.ParseDocument(s)
		fmt.Println(number, person, err)
	}
	// Output:
	// 12345678909 PF <nil>
	// 12ABC34501DE35 PJ <nil>
	//   is no CPF: it repeats one digit
}
