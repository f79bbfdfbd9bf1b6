package apiclient

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// Fault separates what [Known] does not: why a call ended as it did, where that changes what is done next.
type Fault int

// The faults.
const (
	// FaultNone: an answer came and its status tells all.
	FaultNone Fault = iota
	// FaultNetwork: name resolution, dial, or a connection lost before any byte of an answer. NotSent or Unknown.
	FaultNetwork
	// FaultCertificate: TLS could not be agreed: expired, wrong host, unknown authority, old version. Always NotSent.
	FaultCertificate
	// FaultWindow: the gate refused. Always NotSent.
	FaultWindow
	// FaultCanceled: the caller's context was cancelled, or the client was closed.
	FaultCanceled
	// FaultTimeout: the time-out of the request, or the caller's deadline, passed; or the client's limits would have held
	// the call back beyond that deadline, and then it is NotSent.
	FaultTimeout
	// FaultRedirect: 3xx. It is never followed; base_url or something before the API is wrong.
	FaultRedirect
	// FaultProtocol: an answer came but was garbled, cut, or of a kind the API cannot give.
	FaultProtocol
	// FaultRequest: the request could not be built from what was given. Always NotSent.
	FaultRequest
)

var faultNames = []string{
	"none", "network", "certificate", "window", "canceled", "timeout", "redirect", "protocol", "request",
}

// String returns the stored name, such as "certificate".
func (f Fault) String() string { return nameOf(faultNames, int(f)) }

// MarshalText returns the stored name.
func (f Fault) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// Error is the error of every call that did not succeed. It carries the whole [Answer].
type Error struct {
	// Op names the call, such as "create order commitment".
	Op string
	Answer
	// Err is the cause, nil when the answer itself is the whole story. Its text is sanitised; errors.Is and errors.As
	// still see the original, so context.Canceled and the gate's own error are found.
	Err error
	// Fault is the kind of the cause.
	Fault Fault
	// method is the verb, which decides about words only.
	method string
}

// messageKey is the shape of a stable key, but for the length of its parts, which would take 170 KiB as a part of the expression.
var messageKey = regexp.MustCompile(`^message(\.[a-z0-9_-]+){1,8}$`)

// IsMessageKey tells whether a message of an error answer is one of the platform's stable keys. What is none may be technical text with somebody's data in it.
func IsMessageKey(m string) bool {
	const most = 60 // characters between two points
	for part := range strings.SplitSeq(m, ".") {
		if len(part) > most {
			return false
		}
	}
	return messageKey.MatchString(m)
}

// Error returns one line: the call, what is known, the status, the stable keys, the cause. It never holds a body, a
// query, a free text of the API or a secret.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", e.Op, e.outcome())
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

// outcome says in words what is known: "not created" would be an odd thing to say of a GET.
func (e *Error) outcome() string {
	creates := e.method == "" || e.method == http.MethodPost
	switch {
	case e.Known == NotCreated && !creates:
		return "refused"
	case e.Known == Unknown && e.method == http.MethodGet:
		return "no usable answer"
	default:
		return strings.ReplaceAll(e.Known.String(), "_", " ")
	}
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// cause gives a foreign error a text of our own. It does not unwrap: the original text may quote bytes of an answer.
type cause struct {
	text string
	raw  error
}

func (c *cause) Error() string { return c.text }

// Is lets errors.Is look into the original.
func (c *cause) Is(target error) bool { return errors.Is(c.raw, target) }

// As lets errors.As look into the original.
func (c *cause) As(target any) bool { return errors.As(c.raw, target) }

// timeoutError is the cause with which a request's context ends when Options.Timeout has passed.
type timeoutError struct{ after time.Duration }

func (e *timeoutError) Error() string {
	return fmt.Sprintf("no complete answer within %v (api.timeout)", e.after)
}

// errClosed is the cause of every call after Close.
var errClosed = errors.New("the client is closed")
