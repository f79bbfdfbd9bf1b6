package sandbox

import "net/http"

// deliveryFields is chapter 2.2. The unit is in lower case here, unlike in 2.1 and 2.3.
var deliveryFields = []field{
	{name: "contract_id", kind: isText, odd: oddIfEmpty},
	{name: "delivered_volume", kind: isNumber, odd: oddNumber},
	{name: "delivered_volume_unit_of_measure", kind: isText, valid: oneOf("kg", "sc", "ton")},
	{name: "delivery_date", kind: isText, valid: isDate},
	{name: "car", kind: isText, valid: isCAR, need: never, odd: oddCAR},
}

// deliveryRoutes is endpoint 3 (chapter 4).
func (s *Server) deliveryRoutes() []route {
	return []route{{
		pattern: prefix + "/deliveries", resource: ResourceDeliveries, module: Commercial,
		verbs: map[string]endpoint{http.MethodPost: {handle: s.createDelivery, creates: true}},
	}}
}

func (s *Server) createDelivery(rq *request) answer {
	v, refusal := rq.readBody(deliveryFields)
	if refusal != nil {
		return *refusal
	}
	if known, here := s.knowsContract(v.text("contract_id")); !known {
		return messages(http.StatusNotFound, "message.contract.not-found")
	} else if !here {
		rq.remark(remarkContract, "contract_id")
	}
	return s.created(rq, ResourceDeliveries, v)
}

// knowsContract says whether a delivery may name this contract ("a delivery only needs a known contract_id", chapter 1), and whether it is
// an order commitment made here. Which identifiers are contract ids is not stated, so everything that may be one is taken: the id of an order
// commitment, what the world's list of contracts has, in an open world any text. A closed world without that list knows its order
// commitments; a text that is no UUID may still be a number of the cooperative's own that the platform knows.
func (s *Server) knowsContract(id string) (known, here bool) {
	if isUUID(id) {
		if _, here := s.find(ResourceOrderCommitments, id); here {
			return true, true
		}
	}
	known, said := s.world.contract(id)
	return known || !said && !isUUID(id), false
}
