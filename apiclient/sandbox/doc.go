// Package sandbox is the platform's API in a box: a stateful server, written from the API document
// alone.
//
// It exists for rehearsals (`safrasync sandbox`, docs/configuration.md), for tests and for the
// demo. It never imports the client and shares no type with it: two readings of the document must
// agree, and one shared struct would hide a common mistake.
//
// # What it guarantees
//
//   - Where the document speaks, the sandbox does exactly that. Where the document is silent, it is
//     lenient: it never invents a refusal. What it took without liking it is a [Remark] on the
//     inspection page, because the real platform may be less patient.
//   - Every record it executes is in [Server.CreatedOf], in the truth log ([Options.Log]) and in
//     the state file ([Options.StatePath]) before a byte of the answer leaves. The truth log is the
//     judge of every test about lost or doubled records.
//   - A request that did not arrive whole is never executed.
//   - Faults act on the real connection: a client sees a real EOF, a real reset, a body that is
//     really cut.
//   - Without a state file the state dies with the process: a fresh start has no records and no
//     webhooks. Ids are random even with a fixed seed: a restarted sandbox that handed out its old
//     ids again would look to a ledger like a cache that answers with old records.
//
// The truth log, the state file and the page hold whole bodies (the page without secrets and
// document numbers). They are for rehearsals, not for sharing.
//
// # What it serves
//
// Endpoints 1 to 13 of chapter 4, the lookup of a producer by document, and DELETE owner-details,
// which fails always. One file per resource; routes.go joins them. Below /_sandbox/ it shows what
// happened and takes commands, see inspect.go.
//
// # The order of refusals
//
//  1. unknown path: 404 with the body of a gateway, in no form of the API, before the key is looked
//     at, as gateways do
//  2. key missing or wrong: 401, gateway body {"data":[],"error":{…}} (chapter 5)
//  3. module not contracted: 403, message.module.not-contracted
//  4. wrong verb on a known path: 405, text naming the method; a JSON string for a client that
//     accepts application/json
//  5. Content-Type missing or not application/json on a request with a body, every POST and PUT,
//     and every DELETE: 415, empty
//  6. body above 1 MiB: 413, gateway page. The only refusal that is not the document's: it protects
//     the sandbox
//  7. path parameter that is no UUID: 400 in form (b)
//  8. JSON syntax, bytes that are not UTF-8, or a field of another JSON type (a number in quotes):
//     400, message.malformed-request
//  9. a person type that is neither PF nor PJ: 403, text "Unexpected value: …"
//  10. fields: 400 with every fault at once, message.<field>.mandatory or message.<field>.invalid,
//     in the order of the table. A value outside a shape or an enumeration of the table is invalid.
//     The seven conditional fields of a COMPRA are mandatory, for the other order types optional
//  11. a webhook's url above 250 characters, or hmac_secret above 120: 500, message.internal.error
//  12. what must exist, one key for the first that fails. Not found is 404, not linked 400
//
// PUT webhooks has a body of its own for its 400 (chapter 4).
//
// # Where the document is silent
//
// Taken with a remark: members and parameters that the document does not know; members that come
// twice (the last counts); null (counts as absent); empty texts; numbers with an exponent, zero or
// negative; an end of delivery before its beginning; documents that do not look like a CPF or CNPJ;
// report and authentication types other than those shown; a key with a blank where any key is
// accepted; repeated headers (the first counts); parameters of the Content-Type; an
// Idempotency-Key; a state code in car that is not of two letters; contracts that were not made
// here; a second webhook for an event; webhook addresses that could not be reached over https;
// credentials without a colon; an update that leaves a secret out.
//
// Taken without one: an amount of traceability above that of its commitment; a producer there who
// is not the commitment's; a credit score for a producer that the platform does not know. Success
// is 201 for what creates and 200 for what reads. Retrieval shows the fields that were sent. The
// consent's status is "CONSENTED". A webhook is shown without its secrets. An event's body does not
// name the event; it is sent once. Where the document gives no key, the key follows its patterns.
// Each of these stands with its reason where it is done.
//
// # Faults
//
// A fault is a line of text, see [ParseFault], for tests in Go also a [Fault] from
// [Options.Intercept]. It can be switched while the sandbox runs: [Server.SetFaults], or PUT
// /_sandbox/faults.
//
//	[get:|change:|any:] [RESOURCE:] ACTION {,OPTION} [@RANGE] [%PERCENT] [,body=TEXT]
//
// It acts on creating POSTs; with "get:" on GETs, with "change:" on PUTs and DELETEs, with "any:"
// on all of them. RESOURCE keeps it to one of order_commitments, deliveries, traceability,
// credit_score, credit_analysis, webhooks, consent, producers, owner_details. N counts the whole
// arrived requests that the fault could act on from 1, refused ones too: status=503@2 is the second
// creating POST of all, deliveries:status=503@2 the second delivery. It counts every such request
// since the sandbox started, not since the fault was switched on: after 355 POSTs the next one is
// @356. GET /_sandbox/report says how far the numbers are. Of several faults the first that matches
// acts. What does not execute acts before all refusals, what executes goes through them first.
//
//	lost-before    closes the connection, nothing executed
//	lost-after     executes, then closes the connection without an answer
//	hang           never answers, until the client gives up; not executed
//	status=N       answers N (200 to 999), not executed; with the body the document has for it
//	module         403 message.module.not-contracted
//	throttle=2s    429 with Retry-After in whole seconds
//	unavailable=2s 503 with Retry-After in whole seconds
//	refused        502 message.integration.connection.refused
//	malformed      400 message.malformed-request
//	duplicate      400 message.duplicate.key
//	html           200 with a login page, not executed
//	redirect[=URL] 307 to /login of this server, or to URL, not executed
//	garbage        bytes that are no HTTP, then the connection is closed; not executed
//	garbled        executed, the whole answer with an unreadable body
//	noid           executed, 201 {}
//	cut            executed, half of the body, then the connection is closed
//	again          not executed, 201 with the newest id of the same resource given out earlier;
//	               ordinary where there is none
//	twice          executed two times, one answer; two lines in the truth log
//	slow=500ms     executed at once, answered later; ends when the client goes away
//	late=500ms     executed later, even when the client has gone
//	body=TEXT      executed, 201 with this body; acts on every creating POST, for more write
//	               status=201,commit@2,body=TEXT
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
// Selectors: @3 the third, @3- from the third on, @3-5 the third to the fifth, %10 one in ten by
// the seed. The seed decides by number, not by time, so that a seed gives the same faults whatever
// the concurrency: see [Server.Seed].
//
// A key that expires is any:status=401@20-; one that a service inside refuses
// any:status=401,empty@20-. An answer passed through from a service behind the API, format (d), is
// status=422,body={"detail":"…"}.
//
// A fault never claims a success for a request that was refused: `noid` on an invalid body gives
// the refusal.
//
// # What happens to events
//
//	[EVENT:] WORD {,WORD} [@RANGE] [%PERCENT]
//
//	late=2s    sent later
//	again[=N]  sent N times more, 1 without a number
//	lost       never sent
//	swapped    sent after a later event
//	first      sent, and answered, before the answer to the request that caused it
//	forged     another one besides, with a wrong password
//	invented   another one besides, with the right password, of a record that does not exist
//	shape=S    another body: id, nested, list or text; the shapes of the platform's own are not
//	           documented
//
// N counts the events of that name, or all of them, for each webhook. [Server.TypeCommitment],
// [Server.ChangeCommitment] and [Server.DeleteCommitment] are what people do on the platform.
//
// # Where to read on
//
// server.go is the way of a request; submissions.go the records that are created; fields.go the
// rules of fields; world.go what the platform knows; events.go what it sends; fault_event.go what
// happens to that on its way; platform.go what people do there; fault.go and fault_spec.go the
// faults, those of connections too; remarks.go the log; state_file.go what outlives the process.
package sandbox
