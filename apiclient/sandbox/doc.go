// Package sandbox simulates the platform's API: a stateful server, written from the API document
// alone.
//
// It serves rehearsals (`safrasync sandbox`, docs/configuration.md), tests and the demo. It never
// imports the client and shares no type with it: two readings of the document must agree, and one
// shared struct would hide a common mistake.
//
// # What it guarantees
//
//   - Where the document states something, the sandbox does exactly that. Where it does not, the
//     sandbox is lenient: it never invents a refusal. It adds a [Remark] to the report for
//     what it accepted but the real platform may refuse.
//   - Every record it creates is in [Server.CreatedOf] and in the truth log ([Options.Log]) before
//     a byte of the answer is sent. Every test about lost or doubled records is judged by the
//     truth log.
//   - A request that did not arrive whole is never executed.
//   - Faults act on the real connection: a client sees a real EOF, a real reset, a body that is
//     really cut.
//   - What it holds is lost when the process ends: a fresh start has no records and no webhooks.
//     Ids are random even with a fixed seed: if a restarted sandbox assigned its old ids again, a
//     ledger would take it for a cache that answers with old records.
//
// The truth log and the report contain whole bodies (the report without secrets and document numbers).
// They are for rehearsals, not for sharing.
//
// # What it serves
//
// Endpoints 1 to 13 of chapter 4, the lookup of a producer by document, and DELETE owner-details,
// which always fails. Each resource has its own file; routes.go joins them. Below /_sandbox/ the
// sandbox shows what happened and takes commands, see inspect.go.
//
// # The order of refusals
//
//  1. unknown path: 404 with the body of a gateway, in no form of the API, before the key is
//     checked, as gateways do
//  2. key missing or wrong: 401, gateway body {"data":[],"error":{…}} (chapter 5)
//  3. module not contracted: 403, message.module.not-contracted
//  4. wrong method on a known path: 405, text naming the method; a JSON string for a client that
//     accepts application/json
//  5. Content-Type missing or not application/json on a request with a body, every POST and PUT,
//     and every DELETE: 415, empty
//  6. body above 1 MiB: 413, gateway page. The only refusal not in the document: it protects
//     the sandbox
//  7. path parameter that is not a UUID: 400 in form (b)
//  8. JSON syntax, bytes that are not UTF-8, or a field of another JSON type (a number in quotes):
//     400, message.malformed-request
//  9. a person type that is neither PF nor PJ: 403, text "Unexpected value: …"
//  10. fields: 400 with every fault at once, message.<field>.mandatory or message.<field>.invalid,
//     in the order of the table. A value outside a shape or an enumeration of the table is invalid.
//     The seven conditional fields are mandatory for a COMPRA and optional for other order types
//  11. a webhook's url above 250 characters, or hmac_secret above 120: 500, message.internal.error
//  12. what must exist, one key for the first that fails. Not found is 404, not linked 400
//
// PUT webhooks has its own body for its 400 (chapter 4).
//
// # What the document does not state
//
// Accepted with a remark: members and parameters that the document does not know; null (counts as
// absent); empty texts; numbers with an exponent, zero or negative; an end
// of delivery before its beginning; documents that do not look like a CPF
// or CNPJ; report and authentication types other than those shown; a key with a blank where any key
// is accepted; repeated headers (the first counts); parameters of the Content-Type; an
// Idempotency-Key; a state code in car that is not two letters; contracts that were not created
// here; a second webhook for an event; webhook addresses that cannot be reached over https;
// credentials without a colon; an update that leaves a secret out.
//
// Accepted without a remark: a traceability volume above that of its commitment; a traceability
// producer other than the commitment's; a credit score for a producer that the platform does not
// know. Success is 201 for a creation and 200 for a read. Retrieval returns the fields that were
// sent. The consent's status is "CONSENTED". A webhook is shown without its secrets. An event's
// body does not name the event; each event is sent once. Where the document shows no message key,
// the key follows its patterns. The reason for each of these is in the code that does it.
//
// # Faults
//
// A fault is a line of text, see [ParseFault]; tests in Go may also return a [Disturbance] from
// [Options.Intercept]. Faults can be changed while the sandbox runs, with [Server.SetFaults] or PUT
// /_sandbox/faults.
//
//	[get:|change:|any:] [RESOURCE:] ACTION {,OPTION} [@RANGE] [%PERCENT] [,body=TEXT]
//
// It acts on creating POSTs; with "get:" on GETs, with "change:" on PUTs and DELETEs, with "any:"
// on all of them. RESOURCE restricts it to one of order_commitments, deliveries, traceability,
// credit_score, credit_analysis, webhooks, consent, producers, owner_details. N counts, from 1, the
// requests that arrived whole and on which the fault could act, including refused ones:
// status=503@2 is the second creating POST of all, deliveries:status=503@2 the second delivery. It
// counts every such request since the sandbox started, not since the fault was switched on: after
// 355 POSTs the next one is @356. GET /_sandbox/report shows the current numbers. If several faults
// match, the first acts. A fault that does not execute the request acts before all refusals; with a
// fault that executes it, the refusals come first.
//
//	lost-before    closes the connection, nothing executed
//	lost-after     executes, then closes the connection without an answer
//	hang           never answers, until the client gives up; not executed
//	status=N       answers N (200 to 999) with the body that the document has for it; not executed
//	module         403 message.module.not-contracted
//	throttle=2s    429 with Retry-After in whole seconds
//	unavailable=2s 503 with Retry-After in whole seconds
//	refused        502 message.integration.connection.refused
//	malformed      400 message.malformed-request
//	duplicate      400 message.duplicate.key
//	html           200 with a login page, not executed
//	redirect[=URL] 307 to /login of this server, or to URL, not executed
//	garbage        bytes that are not HTTP, then the connection is closed; not executed
//	garbled        executed; the whole answer with an unreadable body
//	noid           executed, 201 {}
//	cut            executed; half of the body, then the connection is closed
//	again          not executed, 201 with the newest id of the same resource from an earlier
//	               answer; the normal answer if there is none
//	twice          executed twice, answered once; two lines in the truth log
//	slow=500ms     executed at once, answered later; ends when the client goes away
//	late=500ms     executed later, even if the client has gone
//	body=TEXT      executed, 201 with this body; acts on every creating POST; for options and
//	               selectors write status=201,commit@2,body=TEXT
//
// Options:
//
//	commit         executes the request first: status=500,commit
//	empty          no body: status=401,empty
//	reset          closes with a reset instead of an end of file: lost-after,reset
//	status=N       another status for html and redirect
//	type=MIME      another Content-Type
//	slow= late=    with any action, as above
//	body=TEXT      another body; always last, takes the rest of the line as it is
//
// Selectors: @3 the third, @3- from the third on, @3-5 the third to the fifth, %10 one in ten,
// chosen by the seed. The choice depends on the number and not on time, so a seed produces the same
// faults whatever the concurrency; see [Server.Seed].
//
// A key that expires is any:status=401@20-; one that an internal service refuses is
// any:status=401,empty@20-. An answer passed through from a service behind the API, format (d), is
// status=422,body={"detail":"…"}.
//
// A fault never claims success for a request that was refused: `noid` on an invalid body answers
// with the refusal.
//
// # What happens to events
//
// Tests in Go disturb events on their way with [Options.Events].
//
// [Server.TypeCommitment],
// [Server.ChangeCommitment] and [Server.DeleteCommitment] simulate what people do on the platform.
//
// # Where to read on
//
// server.go handles a request; submissions.go holds the records that are created; fields.go the
// rules for fields; world.go what the platform knows; events.go the events it sends; platform.go
// what people do there; fault.go and fault_spec.go the faults of requests, connections and events;
// remarks.go the remarks and the truth log.
package sandbox
