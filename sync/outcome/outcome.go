// The table of outcomes: what an answer proves; pure (I2).

package outcome

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/trade"
)

// Decision is what an answer, or the lack of one, means: for the attempt, for its entry, and for
// the job. It is made by one function without a clock, a database or a network, and carries its
// reason.
type Decision struct {
	Outcome trade.Outcome
	State   trade.State
	Cause   string
	Kind    trade.ErrorKind
	Reason  string // one English sentence
	Weak    bool   // refused in no form of the API
	Counts  bool   // the attempt is one of the entry's
	Retry   retry
	Stop    *StopOrder
	Wait    time.Duration // how long the job waits before the next request (429)
	Slow    bool          // 503, 504: back off before the next request
	Stalled bool          // the send window passed: several times in a row mean that the API is not reached in time
	Missing []blockOf     // records of the platform that it does not know
	BadForm bool          // malformed-request: three in a row stop the job
	// a refusal of the request, not of its record: three with nothing accepted between stop the job
	Strange bool
	Ask     bool // something on the road may have answered: the harmless question is asked again
	NoID    bool // 2xx without an id: two in a row stop the job
}

// retry says when a row is due again.
type retry int

// When a row is due again.
const (
	RetryNone  retry = iota // now, or never: the state says which
	RetrySoon               // backoff of seconds to minutes: the API was not reached
	RetryLater              // 15 min, 1 h, 6 h, daily: the platform lacks a record
)

// StopOrder is a stop and how far it reaches.
type StopOrder struct {
	Code  StopCode
	Text  string
	Reach reach
}

// reach says which jobs a stop concerns.
type reach int

// How far a stop reaches.
const (
	ThisJob   reach = iota // only this job
	SameSends              // all jobs that send the same kind
	AllJobs                // the fault is in the key, the address or the network: every job would meet it
)

// blockOf names a record of the platform by its de-para kind; the id comes from the payload.
type blockOf struct {
	Kind    string // a de-para kind, wallet_links or order_commitments
	Message string
}

// prerequisites are the message keys that a record on the platform cures (chapters 4 and 7, and
// those that follow the pattern of chapter 7), with the record that they speak of.
var prerequisites = map[string]string{
	"message.producer.not-found":         "producers",
	"message.user.not-found":             "users",
	"message.issuer.not-found":           "users",
	"message.wallet.not-found":           "wallets",
	"message.wallet.producer-not-linked": WalletLinks,
	"message.delivery-place.not-found":   "delivery_places",
	"message.farm.not-found":             "farms",
	"message.order-commitment.not-found": OrderCommitments,
	"message.contract.not-found":         OrderCommitments,
}

// Message keys that decide about more than their row (chapter 7).
const (
	KeyMalformed    = "message.malformed-request"
	KeyDuplicate    = "message.duplicate.key"
	KeyNotContract  = "message.module.not-contracted"
	KeyRefused      = "message.integration.connection.refused"
	unexpectedValue = "Unexpected value: "
)

// curable reports whether a message key speaks of a record that may appear on the platform.
func curable(key string) bool {
	return prerequisites[key] != "" || strings.HasPrefix(key, "message.") &&
		(strings.HasSuffix(key, ".not-found") || strings.HasSuffix(key, "not-linked"))
}

// Decide reads one answer of a POST (design §5). strict trusts no 502 and no empty 401 or 415.
func Decide(a apiclient.Answer, fault apiclient.Fault, strict bool) Decision {
	switch a.Known {
	case apiclient.Created:
		return Decision{
			Outcome: trade.OutcomeCreated, State: trade.Accepted, Counts: true,
			Reason: "the API confirmed it",
		}
	case apiclient.NotSent:
		return decideNotSent(a, fault)
	case apiclient.Throttled:
		return Decision{
			Outcome: trade.OutcomeNotCreated, State: trade.Pending,
			Reason: fmt.Sprintf("the API asks to wait %s (429)", a.RetryAfter), Wait: a.RetryAfter,
		}
	case apiclient.CreatedIDUnknown:
		d := InDoubt(fmt.Sprintf("the API answered %d without one readable id; it was probably created", a.Status))
		d.NoID = true
		return d
	case apiclient.NotCreated:
		if strict && (a.Status == http.StatusBadGateway || a.Format == apiclient.FormatEmpty && a.APIForm()) {
			d := InDoubt(fmt.Sprintf("the API answered %d, which `doubt: strict` does not trust", a.Status))
			d.Ask = a.Format == apiclient.FormatEmpty
			return d
		}
		return decideRefused(a)
	}
	return decideUnknown(a, fault)
}

// decideNotSent: proof that no byte of the request left.
func decideNotSent(a apiclient.Answer, fault apiclient.Fault) Decision {
	d := Decision{Outcome: trade.OutcomeNotSent, State: trade.Pending, Reason: notSentReason(a)}
	switch fault {
	case apiclient.FaultCertificate:
		d.Stop = &StopOrder{StopCertificate, d.Reason, AllJobs}
	case apiclient.FaultRequest:
		d.Stop = &StopOrder{StopAddress, "the request could not be built: " + d.Reason, AllJobs}
	case apiclient.FaultWindow:
		d.Stalled = true
	case apiclient.FaultCanceled:
	default:
		d.Retry = RetrySoon
	}
	return d
}

func notSentReason(a apiclient.Answer) string {
	if a.Evidence.Err == "" {
		return "no byte left"
	}
	return "no byte left: " + a.Evidence.Err
}

// decideUnknown: bytes left, and no answer that the document gives a meaning to.
func decideUnknown(a apiclient.Answer, fault apiclient.Fault) Decision {
	switch {
	case a.Status == 0 && fault == apiclient.FaultProtocol:
		d := InDoubt("the answer was no proper HTTP")
		d.Stop = &StopOrder{StopAnswers, d.Reason + ": something between us and the API answers instead of it", ThisJob}
		return d
	case a.Status != 0 && (a.Status < 200 || a.Status > 599):
		d := InDoubt(fmt.Sprintf("the API answered %d, which ends no request", a.Status))
		d.Stop = &StopOrder{StopAnswers, d.Reason + ": something between us and the API answers instead of it", ThisJob}
		return d
	case a.Status == 0:
		return InDoubt("the connection broke after bytes had left: " + a.Evidence.Err)
	case a.Status >= 300 && a.Status < 400:
		d := InDoubt(fmt.Sprintf("the API answered with a redirect (%d), which is never followed", a.Status))
		d.Stop = &StopOrder{StopAddress, d.Reason + "; api.base_url is wrong, or a proxy is in the way", AllJobs}
		return d
	}
	if (a.Status < http.StatusInternalServerError || a.Status == http.StatusNotImplemented) && !a.APIForm() {
		d := InDoubt(
			fmt.Sprintf("%d came in no form of the API: something on the road answered, and a record may exist or not",
				a.Status))
		d.Ask = true
		return d
	}
	if a.Status == http.StatusBadGateway && slices.Contains(a.Messages, KeyRefused) &&
		a.Evidence.Duration > 3*time.Second {
		return InDoubt(
			fmt.Sprintf(
				"the API said after %s that its own service refused the connection (502): only within 3 s does that prove that nothing was made",
				a.Evidence.Duration.Round(100*time.Millisecond)))
	}
	d := InDoubt(fmt.Sprintf("the API answered %d, after which a record may exist or not", a.Status))
	d.Slow = a.Status == http.StatusServiceUnavailable || a.Status == http.StatusGatewayTimeout
	return d
}

// InDoubt is the decision on an attempt whose outcome nobody knows.
func InDoubt(reason string) Decision {
	return Decision{
		Outcome: trade.OutcomeUnknown, State: trade.InDoubt, Cause: trade.CauseUnknown,
		Kind: trade.TransportError, Counts: true, Reason: reason,
	}
}

// decideRefused: the document says that nothing was created.
func decideRefused(a apiclient.Answer) Decision {
	switch a.Status {
	case http.StatusUnauthorized:
		return DecideUnauthorized(a)
	case http.StatusForbidden:
		return decideForbidden(a)
	case http.StatusConflict:
		return exists(a, "the platform says that it collides with a record that exists")
	case http.StatusBadGateway:
		return Decision{
			Outcome: trade.OutcomeNotCreated, State: trade.Pending, Retry: RetrySoon, Counts: true,
			Reason: "the API could not reach its own service and refused at once (502)",
		}
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return decideMessages(a)
	case http.StatusRequestEntityTooLarge:
		return rejected(a, "the API found the request too large (413)"+said(a))
	case http.StatusNotFound:
		d := decideMessages(a)
		d.Strange = d.State == trade.Rejected && d.Retry != RetryLater
		return d
	}
	d := rejected(a, fmt.Sprintf("the API refused the form of the request (%d)%s", a.Status, said(a)))
	d.Strange = true
	return d
}

// said is what came back, for a sentence; "" where the keys say all.
func said(a apiclient.Answer) string {
	if a.Text == "" || a.Format == apiclient.FormatA && len(StableKeys(a.Messages)) == len(a.Messages) {
		return keysOf(a.Messages)
	}
	return ": " + a.Text
}

// DecideUnauthorized judges a 401: of the gateway, or of a service behind it.
func DecideUnauthorized(a apiclient.Answer) Decision {
	if a.Format == apiclient.FormatEmpty {
		return ours("the gateway accepted the key and a service inside refused it (401 without a body)", &StopOrder{
			StopKeyInside,
			"the API's gateway accepted the key, but a service inside refused it: ask the operator of the API",
			AllJobs,
		})
	}
	return ours("the API refused the key (401)",
		&StopOrder{StopKey, "the API refused the key: renew api.api_key, then run `safrasync check`", AllJobs})
}

func decideForbidden(a apiclient.Answer) Decision {
	switch {
	case slices.Contains(a.Messages, KeyNotContract):
		return ours("the module is not contracted (403)",
			&StopOrder{
				StopModule,
				"the cooperative has not contracted the module that this job needs: ask the platform", SameSends,
			})
	case a.APIForm() && a.Format == apiclient.FormatC:
		return rejected(a, "the API does not know a value: "+strings.TrimPrefix(a.Text, unexpectedValue))
	}
	return ours("the key has no permission for this route (403)",
		&StopOrder{
			StopPermission, "the API key has no permission for this kind of record: ask the platform",
			SameSends,
		})
}

// decideMessages reads the keys of a refused record: duplicate before malformed before data before
// prerequisite.
func decideMessages(a apiclient.Answer) Decision {
	switch {
	case len(a.Messages) == 0:
		return rejected(a, fmt.Sprintf("the API refused it (%d)%s", a.Status, said(a)))
	case slices.Contains(a.Messages, KeyDuplicate):
		return exists(a, "the platform says that it exists already")
	case slices.Contains(a.Messages, KeyMalformed):
		d := rejected(a, "the API could not read the request")
		d.Cause, d.BadForm = KeyMalformed, true
		return d
	}
	for _, m := range a.Messages {
		if !curable(m) {
			d := rejected(a, "the API refused it"+said(a))
			d.Cause = causeOf(m)
			return d
		}
	}
	d := rejected(a, "the platform lacks a record"+keysOf(a.Messages))
	d.Retry = RetryLater
	for _, m := range a.Messages {
		if kind := prerequisites[m]; kind != "" {
			d.Missing = append(d.Missing, blockOf{kind, m})
		}
	}
	return d
}

// rejected: nothing was created. Where no form of the API is recognised only a person moves the
// row.
func rejected(a apiclient.Answer, reason string) Decision {
	d := Decision{
		Outcome: trade.OutcomeNotCreated, State: trade.Rejected, Kind: trade.APIError, Counts: true,
		Reason: reason,
	}
	if d.Weak = !a.APIForm(); d.Weak {
		d.Reason += "; it came in no form of the API, so only a person moves the row"
	}
	if len(a.Messages) > 0 {
		d.Cause = causeOf(a.Messages[0])
	}
	return d
}

// causeOf is a message as a cause: only a key is one. Another text is kept with the answer, and may
// be long or speak of a person (I10).
func causeOf(message string) string {
	if !isMessageKey(message) {
		return ""
	}
	return message
}

// keysOf tells the keys among messages, for a sentence.
func keysOf(messages []string) string {
	keys := StableKeys(messages)
	if len(keys) == 0 {
		return ""
	}
	return ": " + strings.Join(keys, ", ")
}

func exists(a apiclient.Answer, reason string) Decision {
	return Decision{
		Outcome: trade.OutcomeNotCreated, State: trade.Held, Cause: trade.CauseExists, Kind: trade.ConflictError,
		Counts: true,
		Reason: reason + " (link its id, or declare that it is another one)" + said(a),
	}
}

// ours: refused because of our key, address or program. The row goes back, and the attempt does not
// count.
func ours(reason string, stop *StopOrder) Decision {
	return Decision{Outcome: trade.OutcomeNotCreated, State: trade.Pending, Reason: reason, Stop: stop}
}

// messageKey is the form of a stable key (chapter 7), but for its length.
var messageKey = regexp.MustCompile(`^message\.[a-z0-9._-]+$`)

const messageKeyMost = len("message.") + 100

// isMessageKey reports whether a text has the form of a stable key (chapter 7).
func isMessageKey(text string) bool {
	return len(text) <= messageKeyMost && messageKey.MatchString(text)
}

// StableKeys leaves out what is no message key: a technical text may carry a person's data, and
// does not belong in a log (I10).
func StableKeys(messages []string) []string {
	var out []string
	for _, m := range messages {
		if isMessageKey(m) {
			out = append(out, m)
		}
	}
	return out
}

// OrderCommitments are records that rows of ours made: they are there until the platform says
// otherwise, and nobody need ask first.
const OrderCommitments = "order_commitments"

// WalletLinks are the links of wallets to producers, as a kind of record that the platform may
// lack.
const WalletLinks = "wallet_links"
