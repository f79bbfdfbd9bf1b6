package apiclient

import (
	"context"
)

// pathProducerByDocument is the path of the lookup of a producer (chapter 4, after the table), up
// to the number.
const pathProducerByDocument = "/api/v1/integration/producers/-/documents/"

// Producer is what the lookup by document returns. The document does not show its fields, so the id
// and the name are looked up, and everything is in Raw. It is parsed tolerantly.
type Producer struct {
	// ID comes from "id" or "producer_id", in lower case; it is the producer_id of the other
	// requests.
	ID string `read:"uuid id,producer_id"`
	// Name comes from "name".
	Name string `read:"text name"`
	Received
}

// GetProducerByDocument looks a producer up by CPF or CNPJ (chapter 4, after the table), written
// with or without punctuation. A number that is not a CPF or CNPJ is refused unsent, with
// FaultRequest. Every error is a *CallError: 404 with message.producer.not-found means that no
// producer has the number. The number is in the URL; no error, header copy or text shows it.
func (c *Client) GetProducerByDocument(ctx context.Context, document string) (Producer, error) {
	var in inspection
	in.document("social_identity", &document, anyDocument)
	return read(ctx, c, call{
		op: "get producer by document", path: pathProducerByDocument + document, bad: in.err(),
		persons: documentForms(document),
	}, readOnly[Producer])
}
