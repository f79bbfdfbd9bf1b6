package words

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// failureFrom asks a platform that answers like this, and gives the client's error.
func failureFrom(t *testing.T, status int, body string) *apiclient.CallError {
	t.Helper()
	platform := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	defer platform.Close()
	client := must.Get(apiclient.New(apiclient.Settings{BaseURL: platform.URL, APIKey: "key"}))(t)
	defer client.Close()
	request := must.Get(apiclient.Encode(trade.Traceability, map[string]string{"producer_id": "a", "user_id": "b"}))(t)
	_, err := client.Submit(context.Background(), trade.Traceability, "0b8f8a4e-3c58-4e0f-9f5c-6a3f0d1c2b3a",
		request, nil)
	var failure *apiclient.CallError
	if !errors.As(err, &failure) {
		t.Fatalf("status %d: %v is no *apiclient.CallError", status, err)
	}
	return failure
}

func TestEachRefusalIsSaidInPortugueseWithWhatToDoNext(t *testing.T) {
	t.Parallel()
	v := Voice{Lang: trade.Portuguese, Zone: time.UTC}
	for name, c := range map[string]struct {
		status     int
		body       string
		what, next string
	}{
		"401 of the gateway": {401, `{"data":[],"error":{}}`, "recusou a chave", "api.api_key"},
		"401 of a service":   {401, ``, "um serviço interno a recusou", "suporte da plataforma"},
		"403 module": {
			403, `{"messages":["message.module.not-contracted"]}`,
			"não contratou este módulo", "plataforma",
		},
		"403 unknown value":         {403, `Unexpected value: FISICA`, "não conhece o valor FISICA", "person_type"},
		"403 unknown value, a name": {403, `Unexpected value: Ana Maria`, "não aceitou os dados", "Corrija"},
		"403 unknown value, digits": {403, `Unexpected value: 123456`, "não aceitou os dados", "Corrija"},
		"403 of the gateway":        {403, `{"message":"no"}`, "não tem permissão", "plataforma"},
		"404 producer": {
			404, `{"messages":["message.producer.not-found"]}`,
			"não tem produtor com este documento", "cadastre",
		},
		"404 of the API": {
			404, `{"messages":["message.webhook.not-found"]}`, "não encontrou o registro",
			"Confira",
		},
		"404 of something else": {404, `<html>`, "não conhece este endereço", "api.base_url"},
		"400 malformed": {
			400, `{"messages":["message.malformed-request"]}`, "não entendeu a requisição",
			"suporte",
		},
		"400 duplicate": {
			400, `{"messages":["message.duplicate.key"]}`, "já tem um registro igual",
			"antes de tentar de novo",
		},
		"409": {
			409, `{"messages":["collision"]}`, "já tem um registro igual",
			"antes de tentar de novo",
		},
		"400 field": {
			400, `{"messages":["message.name.mandatory"]}`, "não aceitou os dados",
			"Corrija",
		},
		"405": {
			405, `Request method 'POST' is not supported`, "não conhece este endereço",
			"api.base_url",
		},
		"415": {415, ``, "não conhece este endereço", "api.base_url"},
		"429": {429, ``, "pede uma pausa", "Espere até"},
		"500": {
			500, `{"messages":["NullPointerException at Ana"]}`, "houve um erro interno",
			"detalhe técnico",
		},
		"502": {
			502, `{"messages":["message.integration.connection.refused"]}`, "fora do ar",
			"mais tarde",
		},
		"503":                        {503, ``, "indisponível", "mais tarde"},
		"302":                        {302, ``, "redirecionamento", "api.base_url"},
		"418":                        {418, ``, "nenhuma das que a API documenta", "suporte"},
		"201 without an id":          {201, `{}`, "não traz um id", "Procure"},
		"200 with a page for people": {200, `<html>login`, "não traz um id", "Procure"},
	} {
		got := FailureOf(v, failureFrom(t, c.status, c.body))
		if !strings.Contains(got.What, c.what) || !strings.Contains(got.Next, c.next) {
			t.Errorf("%s: %q, %q; want %q, %q", name, got.What, got.Next, c.what, c.next)
		}
		if strings.Contains(got.What+got.Next, "Ana") || strings.Contains(got.What+got.Next, "%!") {
			t.Errorf("%s: %q, %q", name, got.What, got.Next)
		}
	}
}

func TestEveryFaultHasWords(t *testing.T) {
	t.Parallel()
	v := Voice{Lang: trade.Portuguese, Zone: time.UTC}
	said := map[string]bool{}
	for fault := apiclient.FaultNetwork; fault <= apiclient.FaultRequest; fault++ {
		got := FailureOf(v, &apiclient.CallError{Fault: fault, Answer: apiclient.Answer{Known: apiclient.NotSent}})
		if got.What == "" || got.Next == "" {
			t.Errorf("%s: %+v", fault, got)
		}
		said[got.What] = true
	}
	lost := FailureOf(v, &apiclient.CallError{Fault: apiclient.FaultNetwork})
	said[lost.What] = true
	if len(said) != 8 { // a refusal by the window is an interruption
		t.Errorf("%d different sentences: %v", len(said), said)
	}
}
