// The table of outcomes: what an answer proves (I2). Pure.

package outcome

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/trade"
)

// Decision is what an answer, or the lack of one, means for the attempt, for its entry, and for the
// job, with its reason.
type Decision struct {
	Outcome trade.Outcome
	State   trade.State
	Cause   string
	Kind    trade.ErrorKind
	Reason  trade.Sentence
	Weak    bool // refused, but in no form of the API
	Counts  bool // the attempt counts as an attempt of the entry
	Retry   retry
	Stop    *StopOrder
	Wait    time.Duration // how long the job waits before the next request (429)
	Slow    bool          // 503, 504: back off before the next request
	Stalled bool          // the send window passed; several in a row: API not reached in time
	Missing []blockOf     // records that the platform lacks
	BadForm bool          // malformed-request: three in a row stop the job
	// a refusal of the request, not of its record: three without an accepted row between them stop
	// the job
	RequestRefused bool
	ProbeAgain     bool // something on the way may have answered: send the harmless GET again
	NoID           bool // 2xx without an id: two in a row stop the job, of this or the next kind
	EchoDiffers    bool // 2xx with the fields of another request
}

// retry is when a row is due again.
type retry int

// When a row is due again.
const (
	RetryNone  retry = iota // now, or never: the state decides
	RetrySoon               // backoff of seconds to minutes: the API was not reached
	RetryLater              // 15 min, 1 h, 6 h, daily: the platform lacks a record
)

// StopOrder is a stop and how far it reaches.
type StopOrder struct {
	Code  StopCode
	Why   trade.Sentence
	Reach reach
}

// reach is which jobs a stop concerns.
type reach int

// How far a stop reaches.
const (
	ThisJob   reach = iota // only this job
	SameSends              // all jobs that send the same kind
	AllJobs                // the fault is in the key, the address or the network
)

// blockOf is a record that the platform lacks, by its kind; its id is in the payload.
type blockOf struct {
	Kind    string // a de-para kind, wallet_links or order_commitments
	Message string
}

// prerequisites are the message keys that a new record on the platform cures (chapters 4 and 7, and
// keys that follow the pattern of chapter 7), with the kind of that record.
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

// Message keys that concern more than their row (chapter 7).
const (
	KeyMalformed    = "message.malformed-request"
	KeyDuplicate    = "message.duplicate.key"
	KeyNotContract  = "message.module.not-contracted"
	KeyRefused      = "message.integration.connection.refused"
	unexpectedValue = "Unexpected value: "
)

// Decide returns what one answer of a POST means. strict (`doubt: strict`) trusts no 502 and no
// empty 401 or 415.
func Decide(a apiclient.Answer, fault apiclient.FaultCode, strict bool) Decision {
	switch a.Known {
	case apiclient.Created:
		return Decision{
			Outcome: trade.OutcomeCreated, State: trade.Accepted, Counts: true,
			Reason: trade.Say("attempt.created"),
		}
	case apiclient.NotSent:
		d := Decision{Outcome: trade.OutcomeNotSent, State: trade.Pending, Reason: trade.Say("attempt.not_sent")}
		if a.Evidence.Why != nil {
			d.Reason = trade.Say("attempt.not_sent.why", "why", a.Evidence.Why)
		}
		switch fault {
		case apiclient.FaultCertificate:
			d.Stop = &StopOrder{
				StopCertificate, trade.Say("stop.api_certificate.cause", "cause", d.Reason), AllJobs,
			}
		case apiclient.FaultRequest:
			d.Stop = &StopOrder{StopAddress, trade.Say("stop.api_address.request", "why", d.Reason), AllJobs}
		case apiclient.FaultWindow:
			d.Stalled = true
		case apiclient.FaultCanceled:
		default:
			d.Retry = RetrySoon
		}
		return d
	case apiclient.Throttled:
		return Decision{
			Outcome: trade.OutcomeNotCreated, State: trade.Pending,
			Reason: trade.Say("attempt.throttled", "wait", a.RetryAfter), Wait: a.RetryAfter,
		}
	case apiclient.CreatedIDUnknown:
		d := InDoubt(trade.Say("attempt.no_id", "status", a.Status))
		d.NoID = true
		return d
	case apiclient.NotCreated:
		if strict && (a.Status == http.StatusBadGateway || a.Format == apiclient.FormatEmpty && a.APIForm()) {
			d := InDoubt(trade.Say("attempt.strict", "status", a.Status))
			d.ProbeAgain = a.Format == apiclient.FormatEmpty
			return d
		}
		return decideRefused(a)
	}
	// bytes left, and no answer came whose meaning the API's document defines
	switch {
	case a.Status == 0 && fault == apiclient.FaultProtocol:
		d := InDoubt(trade.Say("attempt.no_http"))
		d.Stop = &StopOrder{StopAnswers, trade.Say("stop.answers.why", "why", d.Reason), ThisJob}
		return d
	case a.Status != 0 && (a.Status < 200 || a.Status > 599):
		d := InDoubt(trade.Say("attempt.no_end", "status", a.Status))
		d.Stop = &StopOrder{StopAnswers, trade.Say("stop.answers.why", "why", d.Reason), ThisJob}
		return d
	case a.Status == 0:
		return InDoubt(trade.Say("attempt.broke", "why", a.Evidence.Why))
	case a.Status >= 300 && a.Status < 400:
		d := InDoubt(trade.Say("attempt.redirect", "status", a.Status))
		d.Stop = &StopOrder{StopAddress, trade.Say("stop.api_address.redirect", "why", d.Reason), AllJobs}
		return d
	}
	if (a.Status < http.StatusInternalServerError || a.Status == http.StatusNotImplemented) && !a.APIForm() {
		d := InDoubt(trade.Say("attempt.foreign", "status", a.Status))
		d.ProbeAgain = true
		return d
	}
	if a.Status == http.StatusBadGateway && slices.Contains(a.Messages, KeyRefused) &&
		a.Evidence.Duration > 3*time.Second {
		return InDoubt(trade.Say("attempt.late_refusal", "after", a.Evidence.Duration.Round(100*time.Millisecond)))
	}
	d := InDoubt(trade.Say("attempt.unknown", "status", a.Status))
	d.Slow = a.Status == http.StatusServiceUnavailable || a.Status == http.StatusGatewayTimeout
	return d
}

// InDoubt returns the decision on an attempt whose outcome is unknown.
func InDoubt(reason trade.Sentence) Decision {
	return Decision{
		Outcome: trade.OutcomeUnknown, State: trade.InDoubt, Cause: trade.CauseUnknown,
		Kind: trade.TransportError, Counts: true, Reason: reason,
	}
}

// AnotherRequest decides about an answer that repeats a field with another value than was sent: it is
// the answer to another request, and its id that of another record.
func AnotherRequest(field, id string) Decision {
	d := InDoubt(trade.Say("attempt.another", "field", field, "id", id))
	d.EchoDiffers = true
	return d
}

// decideRefused decides when the API's document states that nothing was created.
func decideRefused(a apiclient.Answer) Decision {
	switch a.Status {
	case http.StatusUnauthorized:
		return DecideUnauthorized(a)
	case http.StatusForbidden:
		switch {
		case slices.Contains(a.Messages, KeyNotContract):
			return ours(trade.Say("attempt.module"),
				&StopOrder{StopModule, trade.Say("stop.api_module"), SameSends})
		case a.APIForm() && a.Format == apiclient.FormatC:
			return rejected(a, trade.Say("attempt.value", "value", strings.TrimPrefix(a.Text, unexpectedValue)))
		}
		return ours(trade.Say("attempt.permission"),
			&StopOrder{StopPermission, trade.Say("stop.api_permission"), SameSends})
	case http.StatusConflict:
		return exists(trade.Say("attempt.collides", "answer", answerText(a)))
	case http.StatusBadGateway:
		return Decision{
			Outcome: trade.OutcomeNotCreated, State: trade.Pending, Retry: RetrySoon, Counts: true,
			Reason: trade.Say("attempt.refused_at_once"),
		}
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return decideMessages(a)
	case http.StatusRequestEntityTooLarge:
		return rejected(a, trade.Say("attempt.too_large", "answer", answerText(a)))
	case http.StatusNotFound:
		d := decideMessages(a)
		d.RequestRefused = d.State == trade.Rejected && d.Retry != RetryLater
		return d
	}
	d := rejected(a, trade.Say("attempt.form", "status", a.Status, "answer", answerText(a)))
	d.RequestRefused = true
	return d
}

// answerText returns the API's answer as the end of a sentence; only its message keys if it has no more.
func answerText(a apiclient.Answer) trade.Sentence {
	if a.Text == "" || a.Format == apiclient.FormatA && len(StableKeys(a.Messages)) == len(a.Messages) {
		return keysOf(a.Messages)
	}
	if a.Format == apiclient.FormatHTML {
		return trade.Say("answer.html")
	}
	return trade.Say("answer.text", "text", a.Text)
}

// DecideUnauthorized decides on a 401 of the gateway, or of a service behind it.
func DecideUnauthorized(a apiclient.Answer) Decision {
	if a.Format == apiclient.FormatEmpty {
		return ours(trade.Say("attempt.key_inside"),
			&StopOrder{StopKeyInside, trade.Say("stop.api_key_inside"), AllJobs})
	}
	return ours(trade.Say("attempt.key"),
		&StopOrder{StopKey, trade.Say("stop.api_key"), AllJobs})
}

// decideMessages decides by the message keys of a refused record. Duplicate has priority over
// malformed, malformed over wrong data, wrong data over a missing prerequisite.
func decideMessages(a apiclient.Answer) Decision {
	switch {
	case len(a.Messages) == 0:
		return rejected(a, trade.Say("attempt.refused_as", "status", a.Status, "answer", answerText(a)))
	case slices.Contains(a.Messages, KeyDuplicate):
		return exists(trade.Say("attempt.exists", "answer", answerText(a)))
	case slices.Contains(a.Messages, KeyMalformed):
		d := rejected(a, trade.Say("attempt.malformed"))
		d.Cause, d.BadForm = KeyMalformed, true
		return d
	}
	for _, m := range a.Messages {
		// it is about a record that may appear on the platform later
		curable := prerequisites[m] != "" || strings.HasPrefix(m, "message.") &&
			(strings.HasSuffix(m, ".not-found") || strings.HasSuffix(m, "not-linked"))
		if !curable {
			d := rejected(a, trade.Say("attempt.refused", "answer", answerText(a)))
			d.Cause = causeOf(m)
			return d
		}
	}
	d := rejected(a, trade.Say("attempt.lacks", "answer", keysOf(a.Messages)))
	d.Retry = RetryLater
	for _, m := range a.Messages {
		if kind := prerequisites[m]; kind != "" {
			d.Missing = append(d.Missing, blockOf{kind, m})
		}
	}
	return d
}

// rejected returns the decision that nothing was created. If the answer is in no form of the API,
// only a person can make the row go again.
func rejected(a apiclient.Answer, reason trade.Sentence) Decision {
	d := Decision{
		Outcome: trade.OutcomeNotCreated, State: trade.Rejected, Kind: trade.APIError, Counts: true,
		Reason: reason,
	}
	d.Weak = !a.APIForm()
	if d.Weak {
		d.Reason = trade.Say("attempt.weak", "why", reason)
	}
	if len(a.Messages) > 0 {
		d.Cause = causeOf(a.Messages[0])
	}
	return d
}

// causeOf returns a message as a cause if it is a message key, else "". Other texts are stored only
// with the answer, since they may be long or contain personal data (I10).
func causeOf(message string) string {
	if !isMessageKey(message) {
		return ""
	}
	return message
}

// keysOf returns the message keys among messages as the end of a sentence.
func keysOf(messages []string) trade.Sentence {
	keys := StableKeys(messages)
	if len(keys) == 0 {
		return trade.Sentence{}
	}
	return trade.Say("answer.keys", "keys", keys)
}

func exists(reason trade.Sentence) Decision {
	return Decision{
		Outcome: trade.OutcomeNotCreated, State: trade.Held, Cause: trade.CauseExists, Kind: trade.ConflictError,
		Counts: true, Reason: reason,
	}
}

// ours is the decision on a refusal caused by our key, address or program. The row becomes pending
// again, and the attempt does not count.
func ours(reason trade.Sentence, stop *StopOrder) Decision {
	return Decision{Outcome: trade.OutcomeNotCreated, State: trade.Pending, Reason: reason, Stop: stop}
}

// messageKey is the form of a stable message key (chapter 7), apart from its length.
var messageKey = regexp.MustCompile(`^message\.[a-z0-9._-]+$`)

const messageKeyMost = len("message.") + 100

func isMessageKey(text string) bool {
	return len(text) <= messageKeyMost && messageKey.MatchString(text)
}

// StableKeys returns only those messages that are message keys. A technical text may contain
// personal data and must not be logged (I10).
func StableKeys(messages []string) []string {
	var out []string
	for _, m := range messages {
		if isMessageKey(m) {
			out = append(out, m)
		}
	}
	return out
}

// OrderCommitments is the kind of the records that our own rows created: they are taken to exist
// until the platform says otherwise.
const OrderCommitments = "order_commitments"

// WalletLinks is the kind of the links between wallets and producers, which the platform may lack.
const WalletLinks = "wallet_links"
