// Package apiclient is the typed client of the integration API.
//
// It exists to answer one question exactly: after a call, what do we know? The API has no
// idempotency key, no update and no delete, so a POST whose outcome is guessed wrongly either loses
// a contract or doubles it. Every call therefore ends in an [Answer], on success and on failure
// alike, whose [Known] is one of:
//
//   - [NotSent]: proof that no byte of the request left this process;
//   - [NotCreated]: a documented refusal;
//   - [Throttled]: refused with 429, to be tried again later;
//   - [Created]: a complete answer of success with exactly one valid id;
//   - [CreatedIDUnknown]: an answer of success without such an id;
//   - [Unknown]: anything else. It may exist.
//
// What it guarantees:
//
//   - A POST leaves at most once per call. Nothing repeats it: no retry here, no redirect, no
//     HTTP/2, and Go's own repeat on a dead connection is stopped at the connection itself
//     (conn.go).
//   - The proof of [NotSent] comes from that connection too: it counts the plain bytes above TLS,
//     and any attempt to write one, even a failed attempt, ends the proof.
//   - Just before the first byte, and never after it, the caller's gate is asked. That is where a
//     send window is checked.
//   - Header, body and time are bounded, and nothing is decompressed: no answer can fill the
//     memory.
//   - The key goes to the configured host only, and appears in no error, header copy, body copy or
//     printed value. Nor do the URLs, two of which carry a CPF or CNPJ, nor the credentials of a
//     webhook.
//   - What has no effect when it is done twice (GET, PUT, DELETE) is repeated a few times, with
//     growing and random pauses, when the network or the platform failed.
//   - What the platform is known to answer with 500 (chapters 7 and 8) is refused before it is
//     sent.
//   - Answers are read tolerantly: unknown fields stay in Raw, and a field in no known shape is
//     named, never an error.
//
// # What it offers
//
// All endpoints of chapter 4, each method and field with its chapter:
//
//	 1 POST   order-commitments                     [Client.SubmitOrderCommitment],
//	 [Client.CreateOrderCommitment]
//	 2 GET    order-commitments/{id}                [Client.GetOrderCommitment]
//	 3 POST   deliveries                            [Client.SubmitDelivery],
//	 [Client.CreateDelivery]
//	 4 POST   traceability/-/commitments/{id}       [Client.SubmitTraceability],
//	 [Client.CreateTraceability]
//	 5 GET    financial/analysis-credit/consent     [Client.GetConsent]
//	 6 POST   financial/credit-score                [Client.RequestCreditScore]
//	 7 POST   financial/analysis-credit             [Client.CreateCreditAnalysis]
//	 8 GET    financial/analysis-credit/{id}        [Client.GetCreditAnalysis]
//	 9 POST   webhooks                              [Client.CreateWebhook]
//	10 GET    webhooks                              [Client.ListWebhooks], [Client.Webhooks]
//	11 GET    webhooks/-/events/{webhook_event}     [Client.GetWebhook]
//	12 PUT    webhooks                              [Client.UpdateWebhook]
//	13 DELETE webhooks/{id}                         [Client.DeleteWebhook]
//	   GET    producers/-/documents/{number}        [Client.GetProducerByDocument]
//
// DELETE owner-details/{id}, which chapter 4 also names, is not offered: every call to it fails
// with 500 (chapter 7), and a 500 says nothing about what was done.
//
// The Submit methods take frozen bytes and a gate, for a caller that has written down what it is
// about to send; the others take a request and encode it. A required field is a value and refused
// when empty, before anything is sent; an optional one is left out when empty. Whether a value
// belongs to its enumeration is the platform's to judge: its lists may grow.
//
// The package knows no type of ours: numbers are JSON number text, dates are text.
//
// Read on: options.go and client.go (one call from start to end), exchange.go and conn.go (the
// evidence), classify.go (what a status means), body.go, id.go and record.go (how answers are
// read), pacer.go (limits and repetition), document.go (CPF and CNPJ), then one file
// per resource.
package apiclient
