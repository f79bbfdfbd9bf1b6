// Package apiclient is the typed client of the integration API.
//
// It exists to answer one question exactly: after a call, what do we know? The API has no
// idempotency key, no update and no delete, so a wrong guess about the outcome of a POST either
// loses a contract or creates it twice. Every call therefore ends in an [Answer], on success and on
// failure alike, whose [Known] is one of:
//
//   - [NotSent]: proof that no byte of the request left this process;
//   - [NotCreated]: a documented refusal;
//   - [Throttled]: refused with 429, to be tried again later;
//   - [Created]: a complete 2xx answer with exactly one valid id;
//   - [CreatedIDUnknown]: a 2xx answer without such an id;
//   - [Unknown]: anything else. The record may exist.
//
// What it guarantees:
//
//   - A POST is sent at most once per call. Nothing repeats it: there is no retry here, no
//     redirect and no HTTP/2, and Go's own repetition on a dead connection is stopped at the
//     connection itself (conn.go).
//   - The proof of [NotSent] comes from that connection too: it counts the plain bytes above TLS,
//     and any attempt to write one, even a failed attempt, ends the proof.
//   - The caller's gate is called just before the first byte, and never after it. The gate is where
//     a send window is checked.
//   - Header, body and time are bounded, and nothing is decompressed, so no answer can exhaust the
//     memory.
//   - The key is sent to the configured host only, and appears in no error, header copy, body copy
//     or printed value. Neither do the URLs, two of which contain a CPF or CNPJ, nor the
//     credentials of a webhook.
//   - Requests that are harmless when executed twice (GET, PUT, DELETE) are repeated a few times,
//     with growing and random pauses, if the network or the platform failed.
//   - Requests that the platform is known to answer with 500 (chapters 7 and 8) are refused before
//     they are sent.
//   - Answers are parsed tolerantly: unknown fields stay in Raw, and a field of an unknown shape is
//     named in Unread and is never an error.
//
// # What it offers
//
// All endpoints of chapter 4, each method and field with its chapter:
//
//	 1 POST   order-commitments                     [Client.Submit]
//	 2 GET    order-commitments/{id}                [Client.GetOrderCommitment]
//	 3 POST   deliveries                            [Client.Submit]
//	 4 POST   traceability/-/commitments/{id}       [Client.Submit]
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
// with 500 (chapter 7), and a 500 does not tell what was executed.
//
// Submit takes encoded bytes and a gate, for a caller that has stored what it is about to send; the
// other methods take a request and encode it. A required field is refused when empty, before
// anything is sent; an optional one is left out when empty. The package does not check whether a
// value belongs to its enumeration, because the platform's lists may grow.
//
// The package uses no type of the rest of the program: numbers are JSON number text, and dates are
// text.
//
// Read on: options.go and client.go (one call from start to end), exchange.go and conn.go (the
// evidence), classify.go (what a status means), body.go, id.go and record.go (how answers are
// parsed), pace.go (limits and repetition), document.go (CPF and CNPJ), then one file per
// resource.
package apiclient
