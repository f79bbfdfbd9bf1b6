package apiclient_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/safrasync/safrasync/apiclient"
)

// What is done after a POST depends on what is known, never on the kind of error alone.
func ExampleClient_SubmitOrderCommitment() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"messages":["message.wallet.not-found"]}`)
	}))
	defer server.Close()

	client, err := apiclient.New(apiclient.Options{BaseURL: server.URL, APIKey: "an-api-key"})
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
	var e *apiclient.Error
	if errors.As(err, &e) {
		fmt.Println(e.Fault, e.Status, e.APIForm())
	}
	fmt.Println(err)
	// Output:
	// refused: [message.wallet.not-found]
	// none 400 true
	// create order commitment: not created, status 400 (body: a) message.wallet.not-found
}
