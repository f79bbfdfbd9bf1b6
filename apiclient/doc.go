// Package apiclient is the typed client of the integration API.
//
// It exists to answer one question exactly: after a call, what do we know? The API has no idempotency key, no update and
// no delete, so a POST whose outcome is guessed wrongly either loses a contract or doubles it. Every call therefore ends
// in an [Answer], on success and on failure alike, whose [Known] is one of:
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
//   - A POST leaves at most once per call. Nothing repeats it: no retry here, no redirect, no HTTP/2, and Go's own repeat
//     on a dead connection is stopped at the connection itself (conn.go).
//   - The proof of [NotSent] comes from that connection too: it counts the plain bytes above TLS, and any attempt to
//     write one, even a failed attempt, ends the proof.
//   - Just before the first byte, and never after it, the caller's gate is asked. That is where a send window is checked.
//   - Header, body and time are bounded, and nothing is decompressed: no answer can fill the memory.
//   - The key goes to the configured host only, and appears in no error, header copy, body copy or printed value.
//
// The package knows no type of ours: numbers are JSON number text, dates are text.
//
// Read on: options.go and client.go (one call from start to end), exchange.go and conn.go (the evidence), classify.go
// (what a status means), body.go and id.go (how answers are read), then one file per resource.
package apiclient
