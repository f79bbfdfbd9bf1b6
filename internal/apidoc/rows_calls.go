package apidoc

const (
	theClientReceivesNothing = "the client receives no events"
	noSuchIDLeaves           = "the client lets no such id out"
	notOffered               = "the client does not offer it: every call fails"
)

var endpoints = []Row{
	row("4 endpoint 1", "POST order-commitments"),
	row("4 endpoint 2", "GET order-commitments by id"),
	row("4 endpoint 3", "POST deliveries, 201"),
	row("4 endpoint 4", "POST traceability of an order commitment"),
	row("4 endpoint 5", "GET consent, identity and personType in the query"),
	row("4 endpoint 6", "POST credit-score, no GET"),
	row("4 endpoint 7", "POST analysis-credit"),
	row("4 endpoint 8", "GET analysis-credit by id"),
	row("4 endpoint 9", "POST webhooks, 201"),
	row("4 endpoint 10", "GET webhooks, 200 with an array"),
	row("4 endpoint 11", "GET webhooks by event in the path"),
	row("4 endpoint 12", "PUT webhooks by event in the body, 204"),
	row("4 endpoint 13", "DELETE webhooks by id, 204"),
	row("4 endpoint producers by document", "GET, named in the error rules"),
	row("4 endpoint owner-details", "DELETE, 500 on every call").not(Together, notOffered).not(Client, notOffered),
	row("4 PUT webhooks 400", "timestamp, status, error"),
	row("4 PUT webhooks 401", "its body is not shown"),
	row("4 PUT webhooks 404", "its body is not shown"),
}

var rules = []Row{
	row("4 rule 1", "COMPRA without a conditional field: 400"),
	row("4 rule 2", "unknown wallet, producer, place, or wallet not linked: 400 or 404").not(Client, onlyThePlatform),
	row("4 rule 3", "traceability needs producer_id and user_id only"),
	row("4 rule 4", "endpoints 6 and 7 in either order"),
}

var authentication = []Row{
	row("5 rule 1", "the key in Authorization, no scheme, on every request"),
	row("5 rule 2", "missing or wrong key: 401 of the gateway"),
	row("5 rule 3", "401 with an empty body: an internal service refused"),
	row("5 rule 4", "403 module not contracted"),
	row("5 rule 5", "403 of a key without permission, its body not shown"),
	row("5 rule 6", "events carry Basic credentials").not(Client, theClientReceivesNothing),
	row("5 rule 7", "issuance and expiry of keys").notShown(),
}

// Events lists the 25 events of chapter 6 in its order.
var Events = []string{
	"CREATE_PRODUCER", "UPDATE_PRODUCER", "DELETE_PRODUCER",
	"CREATE_WAREHOUSE", "UPDATE_WAREHOUSE", "DELETE_WAREHOUSE",
	"CREATE_FARM", "UPDATE_FARM", "DELETE_FARM",
	"CREATE_GUEST_USER", "UPDATE_GUEST_USER", "DELETE_GUEST_USER",
	"CREATE_DELIVERY_PLACE", "UPDATE_DELIVERY_PLACE", "DELETE_DELIVERY_PLACE",
	"CREATE_ORDER_COMMITMENT", "UPDATE_ORDER_COMMITMENT", "DELETE_ORDER_COMMITMENT",
	"CREATE_WALLET", "UPDATE_WALLET", "DELETE_WALLET",
	"UPDATE_WORKFLOW_ORDER_COMMITMENT",
	"CHANGE_PRODUCER_STATUS_ESG",
	"CHANGE_FARM_STATUS_ESG",
	"PRODUCER_PRODUCTION",
}

func events() []Row {
	rows := make([]Row, len(Events))
	for i, name := range Events {
		rows[i] = row("6 event "+name, "one of the 25")
	}
	return rows
}

var receiver = []Row{
	row("6 receiver 1", "POST with a JSON body").not(Client, theClientReceivesNothing),
	row("6 receiver 2", "answers 200 in time").not(Client, theClientReceivesNothing),
	row("6 receiver 3", "reachable over HTTPS").not(Client, "the platform judges the address"),
	row("6 receiver 4", "is shown Basic credentials to validate").not(Client, theClientReceivesNothing),
}

var formats = []Row{
	row("7 format a", "an object with messages, one or several keys"),
	row("7 format b", "timestamp, status, error, message.<parameter>.invalid").not(Together, noSuchIDLeaves),
	row("7 format c", "plain text, or a JSON string"),
	row("7 format d", "the raw body of a downstream service"),
	row("7 object with messages", "checked before messages is read").not(Sandbox, "a duty of clients"),
	row("7 listing", "200 with an empty array; lookups 404"),
}

var statuses = []Row{
	row("7 status 400 validation", "keys of all fields that fail"),
	row("7 status 400 malformed", "syntax, or a field of another type"),
	row("7 status 400 duplicate", "message.duplicate.key"),
	row("7 status 400 COMPRA", "a conditional field is missing"),
	row("7 status 401", "gateway body, or empty"),
	row("7 status 403 module", "message.module.not-contracted"),
	row("7 status 403 enumeration", "Unexpected value"),
	row("7 status 404", "a lookup finds nothing"),
	row("7 status 405", "text naming the verb"),
	row("7 status 409", "collides with an existing record"),
	row("7 status 415", "Content-Type, also on DELETE; empty"),
	row("7 status 500", "unhandled failure"),
	row("7 status 502", "downstream refuses the connection"),
	row("7 status other", "original status, raw body"),
	row("7 known 500 url", "longer than the limit"),
	row("7 known 500 hmac_secret", "longer than the limit"),
	row("7 known 500 owner-details", "every call").not(Together, notOffered).not(Client, notOffered),
}

var keys = rowsOf("7 key", `
	message.wallet.not-found: unknown wallet
	message.wallet.producer-not-linked: wallet of somebody else
	message.producer.not-found: unknown producer
	message.producer.already-exists: document already registered
	message.delivery-place.not-found: unknown delivery place
	message.name.mandatory: name missing
	message.module.not-contracted: module not contracted
`)

var limits = []Row{
	row("8 url length", "250 characters"),
	row("8 hmac_secret length", "120 characters"),
	row("8 receiver response time", "30 seconds, 200").
		not(Client, theClientReceivesNothing).not(Together, "between platform and receiver; the client takes no part"),
}

var versions = []Row{
	row("9 prefix", "/api/v1/integration in every path"),
	row("9 test environment", "another base address, the same paths").not(Sandbox,
		"the sandbox is such an address itself"),
}
