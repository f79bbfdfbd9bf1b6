package apiclient

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// Known says what is known after a call about the record it was to create. The zero value is
// [Unknown]: who forgets to set it claims nothing.
type Known int

// The kinds of knowledge. Only NotSent, NotCreated and Throttled allow sending again without a
// person.
const (
	// Unknown: the request may have been executed. Also for everything the document does not
	// describe.
	Unknown Known = iota
	// NotSent: no write of a request byte was ever begun. Proof, whatever the error was.
	NotSent
	// NotCreated: the answer is a refusal, by its status, and for most by being in a form of the
	// API:
	// see [Answer.APIForm].
	NotCreated
	// Created: a complete answer of success with exactly one valid id, in Answer.ID.
	Created
	// CreatedIDUnknown: the status says success, but no single valid id could be read.
	CreatedIDUnknown
	// Throttled: 429. Not created; wait for Answer.RetryAfter.
	Throttled
)

var knownNames = []string{"unknown", "not_sent", "not_created", "created", "created_id_unknown", "throttled"}

// String returns the stored name, such as "not_sent".
func (k Known) String() string { return nameOf(knownNames, int(k)) }

// MarshalText returns the stored name.
func (k Known) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Format is the form in which the body of an answer came (chapter 7, Formats). The status decides
// what is known. The form matters in two places: the 502 that names a refused connection, and
// refusals that only the API itself can give.
type Format int

// The forms.
const (
	// FormatNone: no body was read, because no answer came.
	FormatNone Format = iota
	// FormatA: {messages: [key, ...]}, at least one key, all of them strings.
	FormatA
	// FormatB: {timestamp, status, error} and mostly message.
	FormatB
	// FormatC: plain text, or a JSON string.
	FormatC
	// FormatD: another JSON object or list: the raw body of a downstream service. Also one with odd
	// "messages".
	FormatD
	// FormatGateway401: 401 with {data: [...], error: {...}}, from the gateway in front of the API
	// (chapter 5).
	FormatGateway401
	// FormatEmpty: no byte. With 401 it means that an internal service refused the credential.
	FormatEmpty
	// FormatHTML: mark-up; something between us and the API answered.
	FormatHTML
	// FormatSuccess: a JSON document with a 2xx.
	FormatSuccess
	// FormatOther: none of these, also broken JSON.
	FormatOther
	// FormatCut: the answer ended early: connection lost, time-out, or cancelled while it was read.
	FormatCut
	// FormatTooLarge: more than 1 MiB; the rest was not read.
	FormatTooLarge
	// FormatEncoded: compressed although it was asked not to be; not decoded.
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
// Text may hold the data of a person, so they belong in the ledger and not in a log.
type Answer struct {
	// Known is the outcome of a call that creates. Where nothing is created (GET, PUT, DELETE) a
	// success leaves it Unknown: look at the error, its Status and its Fault.
	Known Known
	// ID is the id of the new record: a lower-case UUID, for a delivery and a credit score any text
	// of at most 128 characters, or an integer, as it came. Empty unless Known is Created.
	ID string
	// Status is the HTTP status, 0 when no complete status line and header arrived.
	Status int
	// Format is the form of the body.
	Format Format
	// Messages holds the keys of format (a) in their order, or the one key of format (b); compare
	// them exactly. At most 64, each of at most 300 bytes.
	Messages []string
	// Text describes the answer or the fault for people, in one short line: the keys, the text of
	// format (c), or what went wrong on the way. Numbers that look like a CPF or CNPJ are masked.
	Text string
	// RetryAfter is how long a 429 tells us to wait: at least 1 s, at most 1 h, 60 s when it says
	// nothing usable.
	RetryAfter time.Duration
	// ThrottledUntil is when RetryAfter will have passed, by the wall clock in UTC; zero without a
	// 429.
	ThrottledUntil time.Time
	// Body is what was read of the body, at most 1 MiB. See Excerpt.
	Body []byte
	// Header is a redacted copy of the headers that came back.
	Header http.Header
	// RequestHeader is a redacted copy of the headers that were sent, or would have been.
	RequestHeader http.Header
	// Evidence says how far the request got.
	Evidence Evidence
}

// APIForm reports whether the body is in a form of the API: any JSON object or list (formats (a),
// (b) and (d), and that of the gateway), or text or nothing where that is documented: text with 405
// and with the 403 for an unknown enumeration value, nothing with 401 and 415. Where it is false,
// something else may have answered.
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

// NotFound reports whether the platform itself says that it has no such record: 404 in format (a)
// or (b). In another form it may come from what stands before it.
func (a Answer) NotFound() bool {
	return a.Status == http.StatusNotFound && (a.Format == FormatA || a.Format == FormatB)
}

// UnexpectedValue returns the value that a 403 in format (c) calls unknown, as in "Unexpected
// value: XX" (chapter 7, Status codes), shortened and without what looks like a CPF or CNPJ; false
// for every other answer. Which field it was sent in, the platform does not say.
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

// Excerpt returns the beginning of the body for people: at most 2 KiB of valid UTF-8 on one line,
// without control and invisible characters, numbers that look like a CPF or CNPJ masked.
func (a Answer) Excerpt() string { return sanitise(a.Body, 2<<10) }

func nameOf(names []string, i int) string {
	if i < 0 || i >= len(names) {
		return "invalid"
	}
	return names[i]
}
