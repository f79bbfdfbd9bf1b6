// Package sandbox is the platform's API in a box: a strict, stateful server, written from the API document alone.
//
// It exists for tests, for `safrasync sandbox` and for the demo. It never imports the client and shares no type with it: two readings of
// the document must agree, and one shared struct would hide a common mistake.
//
// # What it guarantees
//
//   - Where the document speaks, the sandbox does exactly that. Where the document is silent, it takes the strict reading and says so below.
//   - Every order commitment it executes is in [Server.Created] and in the truth log ([Options.Log]) before a byte of the answer leaves. The
//     truth log is the judge of every test about lost or doubled records.
//   - A request that did not arrive whole is never executed.
//   - Faults act on the real connection: a client sees a real EOF, a real reset, a body that is really cut.
//   - State lives in memory and dies with the process. Ids are random even with a fixed seed: a restarted sandbox that handed out its old
//     ids again would look to a ledger like a cache that answers with old records.
//
// The truth log holds whole bodies. Use the sandbox with invented data only.
//
// # What it serves
//
// POST /api/v1/integration/order-commitments, GET the same with an id, and GET /api/v1/integration/webhooks, which always answers an
// empty array (chapter 4, endpoints 1, 2 and 10). One file per resource; routes.go is the list of all.
//
// # The order of refusals
//
//  1. unknown path: 404 with the body of a gateway, in no form of the API, before the key is looked at, as gateways do
//  2. key missing or wrong: 401, gateway body {"data":[],"error":{…}}. A scheme prefix ("Bearer …") is a wrong key (chapter 5)
//  3. wrong verb on a known path: 405, text naming the method; a JSON string for a client that accepts application/json
//  4. Content-Type missing or not application/json on a request with a body, every POST, PUT and PATCH, and every DELETE: 415, empty.
//     A compressed body or a charset other than UTF-8 as well
//  5. body above 1 MiB: 413, gateway page (the document has no 413)
//  6. path parameter that is no UUID: 400 in form (b)
//  7. JSON: syntax, bytes that are not UTF-8, a member twice, an unknown member, null, or a value of another JSON type (a number in
//     quotes): 400, message.malformed-request. The document does not speak of unknown members; refusing them finds a client's typing error
//  8. fields: 400 with every fault at once, message.<field>.mandatory or message.<field>.invalid, in the order of chapter 2.1. A value
//     outside its enumeration is message.<field>.invalid (the 403 text is documented for other enumerations only); so is an empty text. The
//     seven conditional fields of a COMPRA are mandatory, for the other order types optional
//  9. prerequisites, one key for the first that fails: producer, issuer, wallet, link, delivery place. Not found is 404, not linked is 400
//
// Amounts, prices and the order of dates are not judged: the document sets no bounds. A JSON number may have an exponent.
//
// # Faults
//
// A fault is a line of text, see [ParseFault], for tests in Go also a [Fault] from [Options.Intercept]:
//
//	[get:] ACTION {,OPTION} [@RANGE] [%PERCENT] [,body=TEXT]
//
// It acts on creating POSTs, with "get:" on GETs of known paths. N counts whole arrived requests of that kind from 1, refused ones too. Of
// several faults the first that matches acts. What does not execute acts before all refusals, what executes goes through them first.
//
//	lost-before    closes the connection, nothing executed
//	lost-after     executes, then closes the connection without an answer
//	status=N       answers N (200 to 999), not executed; with the body the document has for it
//	module         403 message.module.not-contracted
//	throttle=2s    429 with Retry-After in whole seconds
//	refused        502 message.integration.connection.refused
//	malformed      400 message.malformed-request
//	duplicate      400 message.duplicate.key
//	html           200 with a login page, not executed
//	redirect[=URL] 307 to /login of this server, or to URL, not executed
//	garbage        bytes that are no HTTP, then the connection is closed; not executed
//	noid           executed, 201 {}
//	cut            executed, half of the body, then the connection is closed
//	again          not executed, 201 with the newest id given out earlier; ordinary where there is none
//	twice          executed two times, one answer; two lines in the truth log
//	slow=500ms     executed at once, answered later; ends when the client goes away
//	late=500ms     executed later, even when the client has gone
//	body=TEXT      executed, 201 with this body; acts on every creating POST, for more write status=201,commit@2,body=TEXT
//
// Options:
//
//	commit         executes first: status=500,commit
//	empty          no body: status=401,empty
//	reset          closes with a reset instead of an end of file: lost-after,reset
//	status=N       another status for html and redirect
//	type=MIME      another Content-Type
//	slow= late=    with every action, as above
//	body=TEXT      another body; always last, takes the rest of the line as it is
//
// Selectors: @3 the third, @3- from the third on, @3-5 the third to the fifth, %10 one in ten by the seed. The seed decides by number, not
// by time, so that a seed gives the same faults whatever the concurrency: see [Server.Seed].
//
// A fault never claims a success for a request that was refused: `noid` on an invalid body gives the refusal.
//
// # Where to read on
//
// server.go is the walk of a request; order_commitments.go a resource; fields.go the rules of fields; world.go what the platform knows;
// fault.go and fault_spec.go the faults; wire.go what is done to connections; truth.go the log.
package sandbox
