package apiclient

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// Known is what is known, after a call, about the record that the call was to create. The zero
// value is [Unknown], so code that forgets to set it claims nothing.
type Known int

// The kinds of knowledge. Only NotSent, NotCreated and Throttled allow sending again without a
// person.
const (
	// Unknown: the request may have been executed. Also used for every answer that the document
	// does not describe.
	Unknown Known = iota
	// NotSent: no write of a request byte was ever begun. This is proof, whatever the error was.
	NotSent
	// NotCreated: the answer is a refusal. Its status decides; most statuses also need a body in a
	// form of the API (see [Answer.APIForm]).
	NotCreated
	// Created: a complete 2xx answer with exactly one valid id, in Answer.ID.
	Created
	// CreatedIDUnknown: the status is 2xx, but no single valid id could be read.
	CreatedIDUnknown
	// Throttled: 429. Not created; wait for Answer.RetryAfter.
	Throttled
)

var knownNames = []string{"unknown", "not_sent", "not_created", "created", "created_id_unknown", "throttled"}

// String returns the stored name, such as "not_sent".
func (k Known) String() string { return nameOf(knownNames, int(k)) }

// MarshalText returns the stored name.
func (k Known) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Format is the form of an answer's body (chapter 7, Formats). What is known depends on the status;
// the form matters in two places only: the 502 that names a refused connection, and refusals that
// only the API itself can give.
type Format int

// The forms.
const (
	// FormatNone: no body was read, because no answer came.
	FormatNone Format = iota
	// FormatA: {messages: [key, ...]}, at least one key, all of them strings.
	FormatA
	// FormatB: {timestamp, status, error} and usually message.
	FormatB
	// FormatC: plain text, or a JSON string.
	FormatC
	// FormatD: another JSON object or list, which is the raw body of a downstream service. Also an
	// object whose "messages" has an unexpected shape.
	FormatD
	// FormatGateway401: 401 with {data: [...], error: {...}}, from the gateway in front of the API
	// (chapter 5).
	FormatGateway401
	// FormatEmpty: zero bytes. With 401 it means that an internal service refused the credential.
	FormatEmpty
	// FormatHTML: markup; something between this program and the API answered.
	FormatHTML
	// FormatSuccess: a JSON document with a 2xx.
	FormatSuccess
	// FormatOther: none of these, including broken JSON.
	FormatOther
	// FormatCut: the answer ended early: connection lost, time-out, or cancelled while it was read.
	FormatCut
	// FormatTooLarge: more than 1 MiB; the rest was not read.
	FormatTooLarge
	// FormatEncoded: compressed although the request asked for identity; it is not decoded.
	FormatEncoded
)

var formatNames = []string{
	"none", "a", "b", "c", "d", "gateway401", "empty", "html", "success", "other", "cut", "too_large", "encoded",
}

// String returns the stored name, such as "gateway401".
func (f Format) String() string { return nameOf(formatNames, int(f)) }

// MarshalText returns the stored name.
func (f Format) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// Answer is everything known after a call, on success and on failure. It holds no secret; Body and
// Text may hold personal data, so they belong in the ledger and not in a log.
type Answer struct {
	// Known is the outcome of a call that creates. Where nothing is created (GET, PUT, DELETE) it
	// stays Unknown on success; use the error, its Status and its Fault.
	Known Known
	// ID is the id of the new record, empty unless Known is Created. It is a lower-case UUID; for a
	// delivery and a credit score it is any text of at most 128 characters, or an integer, as
	// received.
	ID string
	// Status is the HTTP status, 0 when no complete status line and header arrived.
	Status int
	// Format is the form of the body.
	Format Format
	// Messages holds the keys of format (a) in order, or the one key of format (b). Compare them
	// exactly. It holds at most 64 keys, each of at most 300 bytes.
	Messages []string
	// Text describes the answer or the fault for people, in one short line: the keys, the text of
	// format (c), or the transport fault. Numbers that look like a CPF or CNPJ are masked.
	Text string
	// RetryAfter is how long a 429 asks the caller to wait: at least 1 s, at most 1 h, and 60 s if
	// the answer has no usable Retry-After.
	RetryAfter time.Duration
	// ThrottledUntil is when RetryAfter will have passed, by the wall clock in UTC; zero without a
	// 429.
	ThrottledUntil time.Time
	// Body is what was read of the body, at most 1 MiB. See Excerpt.
	Body []byte
	// Header is a redacted copy of the response headers.
	Header http.Header
	// RequestHeader is a redacted copy of the request headers, whether or not they were sent.
	RequestHeader http.Header
	// Evidence records how far the request got.
	Evidence Evidence
}

// APIForm reports whether the body is in a form of the API. Any JSON object or list is (formats
// (a), (b) and (d), and that of the gateway). Plain text is only with 405 and with the 403 for an
// unknown enumeration value, an empty body only with 401 and 415, where the document has them. If
// it is false, something other than the API may have answered.
func (a Answer) APIForm() bool {
	switch a.Format {
	case FormatA, FormatB, FormatD, FormatGateway401:
		return true
	case FormatC:
		_, enumeration := a.UnexpectedValue()
		return enumeration || a.Status == http.StatusMethodNotAllowed
	case FormatEmpty:
		return a.Status == http.StatusUnauthorized || a.Status == http.StatusUnsupportedMediaType
	default:
		return false
	}
}

// NotFound reports whether the platform itself states that it has no such record: 404 in format (a)
// or (b). A 404 in another form may come from a proxy in front of it.
func (a Answer) NotFound() bool {
	return a.Status == http.StatusNotFound && (a.Format == FormatA || a.Format == FormatB)
}

// UnexpectedValue returns the value that a 403 in format (c) calls unknown, as in "Unexpected
// value: XX" (chapter 7, Status codes), shortened and with anything that looks like a CPF or CNPJ
// masked. ok is false for every other answer. The platform does not name the field that held the
// value.
func (a Answer) UnexpectedValue() (value string, ok bool) {
	if a.Status != http.StatusForbidden || a.Format != FormatC {
		return "", false
	}
	value, ok = strings.CutPrefix(a.Text, "Unexpected value:")
	if !ok {
		return "", false
	}
	return strings.TrimSpace(value), true
}

// HasMessage reports whether key is among Messages, compared exactly.
func (a Answer) HasMessage(key string) bool { return slices.Contains(a.Messages, key) }

// Excerpt returns the beginning of the body for people to read: at most 2 KiB of valid UTF-8 on one
// line, without control and invisible characters, and with numbers that look like a CPF or CNPJ
// masked.
func (a Answer) Excerpt() string { return sanitise(a.Body, 2<<10) }

func nameOf(names []string, i int) string {
	if i < 0 || i >= len(names) {
		return "invalid"
	}
	return names[i]
}
