package apiclient

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/safrasync/safrasync/internal/phrase"
)

// FaultCode is why a call ended as it did, where [Known] is not enough to decide what to do next.
type FaultCode int

// The faults.
const (
	// FaultNone: an answer came and its status is sufficient.
	FaultNone FaultCode = iota
	// FaultNetwork: name resolution, dial, or a connection lost before any byte of an answer.
	// NotSent or Unknown.
	FaultNetwork
	// FaultCertificate: the TLS handshake failed because the two sides did not agree: expired,
	// wrong host, unknown authority, old version. Always NotSent.
	FaultCertificate
	// FaultWindow: the gate refused. Always NotSent.
	FaultWindow
	// FaultCanceled: the caller's context was cancelled, or the client was closed.
	FaultCanceled
	// FaultTimeout: the time-out of the request or the caller's deadline passed. Also if the
	// client's limits would have delayed the call beyond that deadline; it is then NotSent.
	FaultTimeout
	// FaultRedirect: 3xx. It is never followed; base_url is wrong, or something in front of the API
	// redirects.
	FaultRedirect
	// FaultProtocol: an answer came but was garbled, cut, or of a kind the API cannot give.
	FaultProtocol
	// FaultRequest: the request could not be built from the arguments. Always NotSent.
	FaultRequest
)

var faultNames = []string{
	"none", "network", "certificate", "window", "canceled", "timeout", "redirect", "protocol", "request",
}

// String returns the stored name, such as "certificate".
func (f FaultCode) String() string { return nameOf(faultNames, int(f)) }

// MarshalText returns the stored name.
func (f FaultCode) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// CallError is the error of every call that did not succeed. It carries the whole [Answer].
type CallError struct {
	// Op names the call, such as "create order commitment".
	Op string
	Answer
	// Err is the cause, nil if the answer alone explains the failure. Its text is sanitised;
	// errors.Is and errors.As still examine the original, so they find context.Canceled and the
	// gate's own error.
	Err error
	// Fault is the kind of cause.
	Fault FaultCode
	// method is the HTTP method; it only affects the wording.
	method string
}

// messageKey matches a stable key, except for the length of its parts: as part of the expression,
// that check would take 170 KiB.
var messageKey = regexp.MustCompile(`^message(\.[a-z0-9_-]+){1,8}$`)

// IsMessageKey reports whether a message of an error answer is one of the platform's stable keys.
// Any other message may be technical text that contains personal data.
func IsMessageKey(m string) bool {
	const most = 60 // characters between two dots
	for part := range strings.SplitSeq(m, ".") {
		if len(part) > most {
			return false
		}
	}
	return messageKey.MatchString(m)
}

// Error returns one line: the call, what is known, the status, the stable keys, the cause. It never
// contains a body, a query, free text of the API or a secret.
func (e *CallError) Error() string {
	var b strings.Builder
	outcome := strings.ReplaceAll(e.Known.String(), "_", " ")
	switch {
	case e.Known == NotCreated && e.method != "" && e.method != http.MethodPost:
		outcome = "refused"
	case e.Known == Unknown && e.method == http.MethodGet:
		outcome = "no usable answer"
	}
	fmt.Fprintf(&b, "%s: %s", e.Op, outcome)
	if e.Status != 0 {
		fmt.Fprintf(&b, ", status %d", e.Status)
		if e.Format != FormatNone {
			fmt.Fprintf(&b, " (body: %s)", e.Format)
		}
	}
	shown, others := 0, 0
	for _, m := range e.Messages {
		if shown == 5 || !IsMessageKey(m) {
			others++
			continue
		}
		shown++
		b.WriteString(" " + m)
	}
	if others > 0 {
		fmt.Fprintf(&b, " (and %d more)", others)
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *CallError) Unwrap() error { return e.Err }

// cause gives an external error a text of our own. It has no Unwrap method, because the original
// text may quote bytes of an answer.
type cause struct {
	*phrase.Text
	raw error
}

// Is lets errors.Is examine the original.
func (c *cause) Is(target error) bool { return errors.Is(c.raw, target) }

// As lets errors.As examine the original.
func (c *cause) As(target any) bool { return errors.As(c.raw, target) }

// timeoutError is the cause with which a request's context ends when Settings.Timeout has passed.
type timeoutError struct{ *phrase.Text }

var errClosed = phrase.New("the client is closed")

// RequestError is why a request was refused unsent. It lists all faults at once. Encode and Check
// return it, and errors.As finds it in the *CallError of a call.
type RequestError struct {
	// Faults holds at least one fault, in the order of the fields.
	Faults []FieldFault
}

// Error returns all faults in one line. It names fields, never values.
func (e *RequestError) Error() string {
	texts := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		texts[i] = f.Phrase().Error()
	}
	return strings.Join(texts, "; ")
}

// FieldFault is a field of a request that cannot be sent. It never contains the value.
type FieldFault struct {
	// Field is the field's name in the document, such as "hmac_secret" (chapter 2).
	Field string
	// Problem is what is wrong.
	Problem Problem
	// Limit is the number of characters that the platform accepts (chapter 8). It is set with
	// ProblemTooLong only; otherwise it is 0.
	Limit int
	text  *phrase.Text
}

// Phrase returns the field and what is wrong with it.
func (f FieldFault) Phrase() *phrase.Text { return phrase.New("%s %w", f.Field, f.text) }

// Problem is a kind of [FieldFault].
type Problem string

// The problems.
const (
	// ProblemMissing: a field that chapter 2 requires is empty.
	ProblemMissing Problem = "missing"
	// ProblemEntry: a list has an empty entry.
	ProblemEntry Problem = "entry"
	// ProblemEncoding: the text is not UTF-8.
	ProblemEncoding Problem = "encoding"
	// ProblemNumber: the text is not a plain decimal number.
	ProblemNumber Problem = "number"
	// ProblemTooLong: more characters than chapter 8 allows.
	ProblemTooLong Problem = "too_long"
	// ProblemDocument: the text is not a CPF or CNPJ.
	ProblemDocument Problem = "document"
	// ProblemMonths: the text is not a number of months (chapter 2.6).
	ProblemMonths Problem = "months"
	// ProblemCredentials: the text is not user:password (chapter 2.7).
	ProblemCredentials Problem = "credentials"
)

// inspection collects everything that is wrong with a request before it is sent. Its texts name
// fields, never values.
type inspection struct{ faults []FieldFault }

func (in *inspection) fault(field string, problem Problem, format string, args ...any) {
	in.faults = append(in.faults, FieldFault{Field: field, Problem: problem, text: phrase.New(format, args...)})
}

// encode returns the body as it is sent, or what is wrong with it.
func (in *inspection) encode(body any) ([]byte, error) {
	if err := in.err(); err != nil {
		return nil, err
	}
	return encode(body)
}

func (in *inspection) err() error {
	if len(in.faults) == 0 {
		return nil
	}
	return &RequestError{in.faults}
}
