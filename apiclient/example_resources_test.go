package apiclient_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/safrasync/safrasync/apiclient"
)

// What the document does not show is read tolerantly; what this program does not know stays in Raw.
func ExampleClient_GetOrderCommitment() {
	client, end := example(http.StatusOK, `{"id":"0b8f8a4e-3c58-4e0f-9f5c-6a3f0d1c2b3a","amount":1500.50,"unit_of_measurement":{"code":"SC"},
		"order_date":"2026-11-20T00:00:00Z","price":[],"stage":"SIGNED"}`)
	defer end()

	commitment, err := client.GetOrderCommitment(context.Background(), "0B8F8A4E-3C58-4E0F-9F5C-6A3F0D1C2B3A")
	fmt.Println(commitment.Fields["amount"], commitment.Fields["unit_of_measurement"], commitment.Fields["order_date"],
		commitment.Unread, err)
	// Output: 1500.50 SC 2026-11-20 [price] <nil>
}

func ExampleClient_CreateCreditAnalysis() {
	client, end := example(http.StatusForbidden, "Unexpected value: FISICA")
	defer end()

	answer, err := client.CreateCreditAnalysis(context.Background(), apiclient.CreditAnalysisRequest{
		RequesterID: "b8a7c6d5-0e1f-4a2b-9c3d-4e5f6a7b8c9d", RequesterName: "Ana", RequesterEmail: "ana@coop.example",
		Name: "Joana", Identity: "123.456.789-09", AuthType: apiclient.AuthEmail, PersonType: "FISICA",
		PeriodConsult: "12",
	})
	value, _ := answer.UnexpectedValue()
	fmt.Println(answer.Known, value)
	fmt.Println(err)
	// Output:
	// not_created FISICA
	// create credit analysis: not created, status 403 (body: c)
}

func ExampleClient_GetCreditAnalysis() {
	client, end := example(http.StatusOK,
		`{"id":"0b8f8a4e-3c58-4e0f-9f5c-6a3f0d1c2b3a","person_type":"PJ","period_consult":12}`)
	defer end()

	analysis, err := client.GetCreditAnalysis(context.Background(), "0b8f8a4e-3c58-4e0f-9f5c-6a3f0d1c2b3a")
	fmt.Println(analysis.PersonType, analysis.PeriodConsult, err)
	// Output: PJ 12 <nil>
}

// Secrets print as [secret], and in Raw they are replaced.
func ExampleClient_Webhooks() {
	client, end := example(http.StatusOK, `[{"id":"0b8f8a4e-3c58-4e0f-9f5c-6a3f0d1c2b3a","webhook_event":"CREATE_FARM",
		"url":"https://coop.example/farm","basic_authentication":"user:password"}]`)
	defer end()

	hooks, err := client.Webhooks(context.Background())
	for _, hook := range hooks {
		fmt.Println(hook.WebhookEvent, hook.URL, hook.BasicAuthentication)
	}
	fmt.Println(err)
	// Output:
	// CREATE_FARM https://coop.example/farm [secret]
	// <nil>
}

// Registering again what is there already is not documented: change it instead.
func ExampleClient_UpdateWebhook() {
	client, end := example(http.StatusNoContent, "")
	defer end()

	answer, err := client.UpdateWebhook(context.Background(), apiclient.WebhookRequest{
		WebhookEvent: "CREATE_FARM", URL: "https://coop.example/farm",
	})
	fmt.Println(answer.Status, err)
	// Output: 204 <nil>
}

func ExampleClient_DeleteWebhook() {
	client, end := example(http.StatusNoContent, "")
	defer end()

	answer, err := client.DeleteWebhook(context.Background(), "0b8f8a4e-3c58-4e0f-9f5c-6a3f0d1c2b3a")
	fmt.Println(answer.Status, err)
	// Output: 204 <nil>
}

// Every error of a call is a *CallError with the whole answer: what is known decides what may be done
// next.
func ExampleError() {
	client, end := example(http.StatusInternalServerError, `{"messages":["message.internal.error"]}`)
	defer end()

	_, err := client.CreateTraceability(context.Background(), "0b8f8a4e-3c58-4e0f-9f5c-6a3f0d1c2b3a",
		apiclient.TraceabilityRequest{
			ProducerID: "5d1e7c7a-90c4-4e6c-8c51-0e2f4b6a8c9d", UserID: "b8a7c6d5-0e1f-4a2b-9c3d-4e5f6a7b8c9d",
		})
	var failure *apiclient.CallError
	if errors.As(err, &failure) {
		switch failure.Known {
		case apiclient.NotSent, apiclient.NotCreated, apiclient.Throttled:
			fmt.Println("may be sent again")
		default:
			fmt.Println("it may exist: a person must look")
		}
	}
	// Output: it may exist: a person must look
}

// What is wrong with a request is found before anything is sent, all of it at once.
func ExampleRequestError() {
	err := apiclient.WebhookRequest{BasicAuthentication: "no colon"}.Check()
	var request *apiclient.RequestError
	if errors.As(err, &request) {
		for _, fault := range request.Faults {
			fmt.Println(fault.Field, fault.Problem)
		}
	}
	// Output:
	// webhook_event missing
	// url missing
	// basic_authentication credentials
}
