package apiclient

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
)

var benchRequest = DeliveryRequest{
	ContractID: "0b8f8a4e-3c58-4e0f-9f5c-6a3f0d1c2b3a", DeliveredVolume: "27480.125",
	DeliveredVolumeUnitOfMeasure: "kg", DeliveryDate: "2026-05-10",
	Car: "MT-5107925-B5C72DC4EE60CAEA63367C29A80B21EA",
}

const benchAnswer = `{"id":"5d1e7c7a-90c4-4e6c-8c51-0e2f4b6a8c9d","contract_id":"0b8f8a4e-3c58-4e0f-9f5c-6a3f0d1c2b3a","delivered_volume":27480.125}`

// BenchmarkEncode writes the body of a delivery.
func BenchmarkEncode(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		must.Get(benchRequest.Encode())(b)
	}
}

// BenchmarkClassify judges an answer: its form, its id, and what it means.
func BenchmarkClassify(b *testing.B) {
	for _, answer := range []struct {
		name   string
		status int
		body   string
	}{{"created", 201, benchAnswer}, {
		"refused", 400,
		`{"messages":["message.wallet.not-found","message.producer.not-found"]}`,
	}} {
		b.Run(answer.name, func(b *testing.B) {
			resp := &http.Response{
				StatusCode: answer.status, ProtoMajor: 1,
				Header: http.Header{"Content-Type": {"application/json"}},
			}
			b.ReportAllocs()
			for b.Loop() {
				form := readForm(resp.StatusCode, resp.Header, []byte(answer.body))
				known := classify(resp, form, true, 0)
				_, err := anyIDFromBody([]byte(answer.body))
				if (answer.status == 201) != (err == nil) || answer.status == 400 && known != NotCreated {
					b.Fatal(known, err)
				}
			}
		})
	}
}

// BenchmarkSubmit POSTs a delivery to a server of the standard library, one after another. What it
// allocates is the server's too.
func BenchmarkSubmit(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, benchAnswer)
	}))
	defer server.Close()
	c := must.Get(New(Settings{BaseURL: server.URL, APIKey: "canary-key-9d41f7"}))(b)
	defer c.Close()
	body := must.Get(benchRequest.Encode())(b)
	gate := func() error { return nil }
	b.ReportAllocs()
	for b.Loop() {
		if a, err := c.SubmitDelivery(b.Context(), body, gate); err != nil || a.Known != Created {
			b.Fatal(a.Known, err)
		}
	}
}
