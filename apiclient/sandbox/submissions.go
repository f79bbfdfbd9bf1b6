package sandbox

import (
	"net/http"
	"strings"
	"time"
)

// orderCommitmentFields is chapter 2.1, in its order. "haverst" is the document's own spelling.
//
// The document does not mention the following, so it is accepted: amounts and prices of any sign,
// dates in any order, the conditional fields with the other order types. A value outside its
// enumeration breaks a stated rule, so it gets a 400; the 403 in format (c) is documented for other
// enumerations only.
var orderCommitmentFields = []field{
	{name: "amount", kind: isNumber, odd: oddNumber},
	{name: "producer_id", kind: isText, valid: isUUID},
	{name: "issuer_id", kind: isText, valid: isUUID},
	{name: "product", kind: isText, valid: oneOf("SOJA", "TRIGO", "MILHO")},
	{name: "delivery_place_id", kind: isText, valid: isUUID},
	{name: "haverst", kind: isText, valid: seasonShape.MatchString},
	{name: "unit_of_measurement", kind: isText, valid: isUnit},
	{name: "order_type", kind: isText, valid: oneOf("COMPRA", "FIXACAO_COMPRA", "FIXACAO_DEPOSITO", "A_FIXAR")},
	{name: "order_date", kind: isText, valid: isDate},
	{name: "wallet_id", kind: isText, valid: isUUID},
	{name: "currency", kind: isText, valid: oneOf("BRL", "USD", "EUR"), need: ifPurchase},
	{name: "price", kind: isNumber, need: ifPurchase, odd: oddNumber},
	{name: "initial_delivery_date", kind: isText, valid: isDate, need: ifPurchase},
	{name: "end_delivery_date", kind: isText, valid: isDate, need: ifPurchase},
	{name: "modality", kind: isText, valid: oneOf("BALCAO", "DISPONIVEL", "FUTURO", "EXPORTACAO"), need: ifPurchase},
	{name: "payday", kind: isText, valid: isDate, need: ifPurchase},
	{name: "payment_type", kind: isText, valid: oneOf("DINHEIRO", "TROCA"), need: ifPurchase},
}

var isUnit = oneOf("SC", "KG", "TON")

const commitmentParameter = "order_commitment_id"

// createOrderCommitment refuses with the status and key of the first prerequisite that fails (chapter
// 1; chapter 4, rule 2). Rule 2 leaves 400 or 404 open. Chapter 7 has 404 for a lookup that finds
// nothing and 400 for a broken business rule, so "not found" is 404 and "not linked" is 400. Rule 2
// does not mention the issuer, but chapter 1 requires it to exist like the others; its key follows the
// pattern message.entidade.not-found. The document states no order; this one is ours.
func (s *Server) createOrderCommitment(rq *request, v values) *answer {
	if first, last := v.text("initial_delivery_date"), v.text("end_delivery_date"); last != "" && last < first {
		rq.remark(remarkDateOrder, "end_delivery_date")
	}
	producer, wallet := v.text("producer_id"), v.text("wallet_id")
	switch {
	case !s.World.Knows(Producers, producer):
		return messages(http.StatusNotFound, keyProducerNotFound)
	case !s.World.Knows(Users, v.text("issuer_id")):
		return messages(http.StatusNotFound, keyUserNotFound)
	case !s.World.Knows(Wallets, wallet):
		return messages(http.StatusNotFound, "message.wallet.not-found")
	case !s.World.Linked(wallet, producer):
		return messages(http.StatusBadRequest, "message.wallet.producer-not-linked")
	case !s.World.Knows(DeliveryPlaces, v.text("delivery_place_id")):
		return messages(http.StatusNotFound, "message.delivery-place.not-found")
	}
	// The success status is not shown; 201 is used, like the creations that show theirs.
	return s.created(rq, v)
}

func (s *Server) getOrderCommitment(rq *request) *answer {
	id, refusal := s.pathID(rq, commitmentParameter)
	if refusal != nil {
		return refusal
	}
	found, ok := s.find(ResourceOrderCommitments, id)
	if !ok {
		return messages(http.StatusNotFound, keyCommitmentNotFound)
	}
	return jsonText(http.StatusOK, []byte(s.shownCommitment(id, found)))
}

// pathID returns a path parameter that must be a UUID, in lower case. The refusal is in format (b).
func (s *Server) pathID(rq *request, parameter string) (string, *answer) {
	id := rq.params[parameter]
	if !isUUID(id) {
		// The parameter cannot be converted to its type.
		return "", s.badRequest("message." + strings.ToLower(parameter) + ".invalid")
	}
	return strings.ToLower(id), nil
}

// badRequest returns the 400 in format (b).
func (s *Server) badRequest(message string) *answer {
	return jsonAnswer(http.StatusBadRequest, struct {
		Timestamp string `json:"timestamp"`
		Status    int    `json:"status"`
		Error     string `json:"error"`
		Message   string `json:"message,omitempty"`
	}{
		s.opts.Now().UTC().Format(time.RFC3339Nano), http.StatusBadRequest,
		http.StatusText(http.StatusBadRequest), message,
	})
}

// deliveryFields is chapter 2.2. The unit is in lower case here, unlike in 2.1 and 2.3.
var deliveryFields = []field{
	{name: "contract_id", kind: isText, odd: oddIfEmpty},
	{name: "delivered_volume", kind: isNumber, odd: oddNumber},
	{name: "delivered_volume_unit_of_measure", kind: isText, valid: oneOf("kg", "sc", "ton")},
	{name: "delivery_date", kind: isText, valid: isDate},
	{name: "car", kind: isText, valid: carShape.MatchString, need: never, odd: oddCAR},
}

func (s *Server) createDelivery(rq *request, v values) *answer {
	if known, here := s.knowsContract(v.text("contract_id")); !known {
		return messages(http.StatusNotFound, "message.contract.not-found")
	} else if !here {
		rq.remark(remarkContract, "contract_id")
	}
	return s.created(rq, v)
}

// knowsContract returns whether a delivery may name this contract ("a delivery only needs a known
// contract_id", chapter 1), and whether it is an order commitment created here. The document does
// not state which identifiers are contract ids, so everything that may be one is accepted: the id
// of an order commitment, the entries of the world's list of contracts, and any text in an open
// world. A closed world without that list knows its order commitments; it also accepts a text that
// is not a UUID, because it may be a number of the cooperative's own that the platform knows.
func (s *Server) knowsContract(id string) (known, here bool) {
	if isUUID(id) {
		if _, here := s.find(ResourceOrderCommitments, id); here {
			return true, true
		}
	}
	known, said := s.World.contract(id)
	return known || !said && !isUUID(id), false
}

// traceabilityFields is chapter 2.3. Volume without a unit is accepted, because the document has a
// default, TON.
var traceabilityFields = []field{
	{name: "producer_id", kind: isText, valid: isUUID},
	{name: "user_id", kind: isText, valid: isUUID},
	{name: "farm_id", kind: isText, valid: isUUID, need: never},
	{name: "allocated_volume", kind: isNumber, need: never, odd: oddNumber},
	{name: "unit_of_measurement", kind: isText, valid: isUnit, need: never},
}

// createTraceability requires an existing order commitment (chapter 1). The document does not state
// what happens with an unknown producer, user or farm. Chapter 1 calls these registrations
// prerequisites of the commercial flow, of which traceability is a part, and chapter 7 has 404 for
// a lookup that finds nothing; so they get 404, with keys that follow the pattern of chapter 7.
// This happens only in a world that forgets one of them. The document does not require the producer
// to be that of the commitment, so any producer is accepted; likewise, the volume may exceed that
// of the commitment.
func (s *Server) createTraceability(rq *request) *answer {
	commitment, refusal := s.pathID(rq, commitmentParameter)
	if refusal != nil {
		return refusal
	}
	v, refusal := rq.readBody(traceabilityFields)
	if refusal != nil {
		return refusal
	}
	farm, hasFarm := v["farm_id"]
	_, exists := s.find(ResourceOrderCommitments, commitment)
	switch {
	case !exists:
		return messages(http.StatusNotFound, keyCommitmentNotFound)
	case !s.World.Knows(Producers, v.text("producer_id")):
		return messages(http.StatusNotFound, keyProducerNotFound)
	case !s.World.Knows(Users, v.text("user_id")):
		return messages(http.StatusNotFound, keyUserNotFound)
	case hasFarm && !s.World.Knows(Farms, farm.text):
		return messages(http.StatusNotFound, "message.farm.not-found")
	}
	return s.created(rq, v)
}
