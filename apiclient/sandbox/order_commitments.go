package sandbox

import (
	"net/http"
	"strings"

	"github.com/google/uuid"
)

// orderCommitmentFields is chapter 2.1, in its order. "haverst" is the document's own spelling and therefore the name.
var orderCommitmentFields = []field{
	{"amount", isNumber, anyNumber, always},
	{"producer_id", isText, isUUID, always},
	{"issuer_id", isText, isUUID, always},
	{"product", isText, oneOf("SOJA", "TRIGO", "MILHO"), always},
	{"delivery_place_id", isText, isUUID, always},
	{"haverst", isText, isSeason, always},
	{"unit_of_measurement", isText, oneOf("SC", "KG", "TON"), always},
	{"order_type", isText, oneOf("COMPRA", "FIXACAO_COMPRA", "FIXACAO_DEPOSITO", "A_FIXAR"), always},
	{"order_date", isText, isDate, always},
	{"wallet_id", isText, isUUID, always},
	{"currency", isText, oneOf("BRL", "USD", "EUR"), ifPurchase},
	{"price", isNumber, anyNumber, ifPurchase},
	{"initial_delivery_date", isText, isDate, ifPurchase},
	{"end_delivery_date", isText, isDate, ifPurchase},
	{"modality", isText, oneOf("BALCAO", "DISPONIVEL", "FUTURO", "EXPORTACAO"), ifPurchase},
	{"payday", isText, isDate, ifPurchase},
	{"payment_type", isText, oneOf("DINHEIRO", "TROCA"), ifPurchase},
}

const commitmentParameter = "order_commitment_id"

// orderCommitmentRoutes are endpoints 1 and 2 (chapter 4).
func (s *Server) orderCommitmentRoutes() []route {
	return []route{
		{
			pattern: prefix + "/order-commitments",
			verbs:   map[string]endpoint{http.MethodPost: {handle: s.createOrderCommitment, creates: true}},
		},
		{
			pattern: prefix + "/order-commitments/{" + commitmentParameter + "}",
			verbs:   map[string]endpoint{http.MethodGet: {handle: s.getOrderCommitment}},
		},
	}
}

func (s *Server) createOrderCommitment(rq *request) answer {
	v, ok := readValues(rq.body, orderCommitmentFields)
	if !ok {
		return messages(http.StatusBadRequest, keyMalformed)
	}
	if keys := v.check(orderCommitmentFields, v.text("order_type") == "COMPRA"); len(keys) > 0 {
		return messages(http.StatusBadRequest, keys...)
	}
	if status, key := s.world.missing(v); key != "" {
		return messages(status, key)
	}
	id := uuid.NewString()
	s.store(rq, id, v)
	return newAnswer(http.StatusCreated, "application/json", v.echo(id, orderCommitmentFields))
}

// store executes: from here on the record exists, whatever the client gets to see.
func (s *Server) store(rq *request, id string, v values) {
	header := rq.http.Header.Clone()
	header.Del("Authorization")
	rec := Record{
		N: rq.n, ID: id, Resource: "order_commitments", At: s.opts.Now(),
		Header: header, Body: rq.body, Fields: v.decoded(),
	}
	rec = rec.clone()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records = append(s.records, rec)
	s.byID[id] = v
	rq.records = append(rq.records, rec)
}

func (s *Server) getOrderCommitment(rq *request) answer {
	id := rq.params[commitmentParameter]
	if !isUUID(id) {
		return parameterInvalid(s.opts.Now(), commitmentParameter)
	}
	id = strings.ToLower(id)
	s.mu.Lock()
	found, ok := s.byID[id]
	s.mu.Unlock()
	if !ok {
		return messages(http.StatusNotFound, "message.order-commitment.not-found")
	}
	return newAnswer(http.StatusOK, "application/json", found.echo(id, orderCommitmentFields))
}

// missing finds the first prerequisite that fails (chapter 1, chapter 4 rule 2). Rule 2 leaves 400 or 404 open; chapter 7 has 404 for a
// lookup that finds nothing and 400 for a broken business rule, so not found is 404 and not linked 400.
func (w *World) missing(v values) (status int, key string) {
	producer, wallet := v.text("producer_id"), v.text("wallet_id")
	switch {
	case !w.Knows(Producers, producer):
		return http.StatusNotFound, "message.producer.not-found"
	case !w.Knows(Users, v.text("issuer_id")):
		return http.StatusNotFound, "message.user.not-found"
	case !w.Knows(Wallets, wallet):
		return http.StatusNotFound, "message.wallet.not-found"
	case !w.Linked(wallet, producer):
		return http.StatusBadRequest, "message.wallet.producer-not-linked"
	case !w.Knows(DeliveryPlaces, v.text("delivery_place_id")):
		return http.StatusNotFound, "message.delivery-place.not-found"
	}
	return 0, ""
}
