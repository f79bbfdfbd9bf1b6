package sync

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/trade"
)

// decision is what an answer, or the lack of one, means: for the attempt, for its entry, and for the job. It is made by one function without a
// clock, a database or a network, and carries its reason.
type decision struct {
	outcome trade.Outcome
	state   trade.State
	cause   string
	kind    trade.ErrorKind
	reason  string // one English sentence
	weak    bool   // refused in no form of the API
	counts  bool   // the attempt is one of the entry's
	retry   retry
	stop    *stopOrder
	wait    time.Duration // how long the job waits before the next request (429)
	slow    bool          // 503, 504: back off before the next request
	stalled bool          // the send window passed: several times in a row mean that the API is not reached in time
	missing []blockOf     // records of the platform that it does not know
	badForm bool          // malformed-request: three in a row stop the job
	strange bool          // a refusal of the request, not of its record: three with nothing accepted between stop the job
	ask     bool          // something on the road may have answered: the harmless question is asked again
	noID    bool          // 2xx without an id: two in a row stop the job
}

// retry says when a row is due again.
type retry int

const (
	retryNone  retry = iota // now, or never: the state says which
	retrySoon               // backoff of seconds to minutes: the API was not reached
	retryLater              // 15 min, 1 h, 6 h, daily: the platform lacks a record
)

// stopOrder is a stop and how far it reaches.
type stopOrder struct {
	code  stopCode
	text  string
	reach reach
}

type reach int

const (
	thisJob   reach = iota // only this job
	sameSends              // all jobs that send the same kind
	allJobs                // the fault is in the key, the address or the network: every job would meet it
)

// blockOf names a record of the platform by its de-para kind; the id comes from the payload.
type blockOf struct {
	kind    string // a de-para kind, wallet_links or order_commitments
	message string
}

// prerequisites are the message keys that a record on the platform cures (chapters 4 and 7, and those that follow the pattern of chapter 7), with the record
// that they speak of.
var prerequisites = map[string]string{
	"message.producer.not-found":         "producers",
	"message.user.not-found":             "users",
	"message.issuer.not-found":           "users",
	"message.wallet.not-found":           "wallets",
	"message.wallet.producer-not-linked": "wallet_links",
	"message.delivery-place.not-found":   "delivery_places",
	"message.farm.not-found":             "farms",
	"message.order-commitment.not-found": orderCommitments,
	"message.contract.not-found":         orderCommitments,
}

const (
	keyMalformed    = "message.malformed-request"
	keyDuplicate    = "message.duplicate.key"
	keyNotContract  = "message.module.not-contracted"
	keyRefused      = "message.integration.connection.refused"
	unexpectedValue = "Unexpected value: "
)

// curable tells whether a message key speaks of a record that may appear on the platform.
func curable(key string) bool {
	return prerequisites[key] != "" || strings.HasPrefix(key, "message.") && (strings.HasSuffix(key, ".not-found") || strings.HasSuffix(key, "not-linked"))
}

// decide reads one answer of a POST (design §5). strict trusts no 502 and no empty 401 or 415.
func decide(a apiclient.Answer, fault apiclient.Fault, strict bool) decision {
	switch a.Known {
	case apiclient.Created:
		return decision{outcome: trade.OutcomeCreated, state: trade.Accepted, counts: true, reason: "the API confirmed it"}
	case apiclient.NotSent:
		return decideNotSent(a, fault)
	case apiclient.Throttled:
		return decision{
			outcome: trade.OutcomeNotCreated, state: trade.Pending, reason: fmt.Sprintf("the API asks to wait %s (429)", a.RetryAfter), wait: a.RetryAfter,
		}
	case apiclient.CreatedIDUnknown:
		d := inDoubt(fmt.Sprintf("the API answered %d without one readable id; it was probably created", a.Status))
		d.noID = true
		return d
	case apiclient.NotCreated:
		if strict && (a.Status == http.StatusBadGateway || a.Format == apiclient.FormatEmpty && a.APIForm()) {
			d := inDoubt(fmt.Sprintf("the API answered %d, which `doubt: strict` does not trust", a.Status))
			d.ask = a.Format == apiclient.FormatEmpty
			return d
		}
		return decideRefused(a)
	}
	return decideUnknown(a, fault)
}

// decideNotSent: proof that no byte of the request left.
func decideNotSent(a apiclient.Answer, fault apiclient.Fault) decision {
	d := decision{outcome: trade.OutcomeNotSent, state: trade.Pending, reason: notSentReason(a)}
	switch fault {
	case apiclient.FaultCertificate:
		d.stop = &stopOrder{stopCertificate, d.reason, allJobs}
	case apiclient.FaultRequest:
		d.stop = &stopOrder{stopAddress, "the request could not be built: " + d.reason, allJobs}
	case apiclient.FaultWindow:
		d.stalled = true
	case apiclient.FaultCanceled:
	default:
		d.retry = retrySoon
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
func decideUnknown(a apiclient.Answer, fault apiclient.Fault) decision {
	switch {
	case a.Status == 0 && fault == apiclient.FaultProtocol:
		d := inDoubt("the answer was no proper HTTP")
		d.stop = &stopOrder{stopAnswers, d.reason + ": something between us and the API answers instead of it", thisJob}
		return d
	case a.Status != 0 && (a.Status < 200 || a.Status > 599):
		d := inDoubt(fmt.Sprintf("the API answered %d, which ends no request", a.Status))
		d.stop = &stopOrder{stopAnswers, d.reason + ": something between us and the API answers instead of it", thisJob}
		return d
	case a.Status == 0:
		return inDoubt("the connection broke after bytes had left: " + a.Evidence.Err)
	case a.Status >= 300 && a.Status < 400:
		d := inDoubt(fmt.Sprintf("the API answered with a redirect (%d), which is never followed", a.Status))
		d.stop = &stopOrder{stopAddress, d.reason + "; api.base_url is wrong, or a proxy is in the way", allJobs}
		return d
	}
	if (a.Status < http.StatusInternalServerError || a.Status == http.StatusNotImplemented) && !a.APIForm() {
		d := inDoubt(fmt.Sprintf("%d came in no form of the API: something on the road answered, and a record may exist or not", a.Status))
		d.ask = true
		return d
	}
	if a.Status == http.StatusBadGateway && slices.Contains(a.Messages, keyRefused) && a.Evidence.Duration > 3*time.Second {
		return inDoubt(fmt.Sprintf("the API said after %s that its own service refused the connection (502): only within 3 s does that prove that nothing was made",
			a.Evidence.Duration.Round(100*time.Millisecond)))
	}
	d := inDoubt(fmt.Sprintf("the API answered %d, after which a record may exist or not", a.Status))
	d.slow = a.Status == http.StatusServiceUnavailable || a.Status == http.StatusGatewayTimeout
	return d
}

func inDoubt(reason string) decision {
	return decision{outcome: trade.OutcomeUnknown, state: trade.InDoubt, cause: trade.CauseUnknown, kind: trade.TransportError, counts: true, reason: reason}
}

// decideRefused: the document says that nothing was created.
func decideRefused(a apiclient.Answer) decision {
	switch a.Status {
	case http.StatusUnauthorized:
		return decideUnauthorized(a)
	case http.StatusForbidden:
		return decideForbidden(a)
	case http.StatusConflict:
		return exists(a, "the platform says that it collides with a record that exists")
	case http.StatusBadGateway:
		return decision{
			outcome: trade.OutcomeNotCreated, state: trade.Pending, retry: retrySoon, counts: true,
			reason: "the API could not reach its own service and refused at once (502)",
		}
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return decideMessages(a)
	case http.StatusRequestEntityTooLarge:
		return rejected(a, "the API found the request too large (413)"+said(a))
	case http.StatusNotFound:
		d := decideMessages(a)
		d.strange = d.state == trade.Rejected && d.retry != retryLater
		return d
	}
	d := rejected(a, fmt.Sprintf("the API refused the form of the request (%d)%s", a.Status, said(a)))
	d.strange = true
	return d
}

// said is what came back, for a sentence; "" where the keys say all.
func said(a apiclient.Answer) string {
	if a.Text == "" || a.Format == apiclient.FormatA && len(stableKeys(a.Messages)) == len(a.Messages) {
		return keysOf(a.Messages)
	}
	return ": " + a.Text
}

func decideUnauthorized(a apiclient.Answer) decision {
	if a.Format == apiclient.FormatEmpty {
		return ours("the gateway accepted the key and a service inside refused it (401 without a body)", &stopOrder{
			stopKeyInside, "the API's gateway accepted the key, but a service inside refused it: ask the operator of the API", allJobs,
		})
	}
	return ours("the API refused the key (401)", &stopOrder{stopKey, "the API refused the key: renew api.api_key, then run `safrasync check`", allJobs})
}

func decideForbidden(a apiclient.Answer) decision {
	switch {
	case slices.Contains(a.Messages, keyNotContract):
		return ours("the module is not contracted (403)", &stopOrder{stopModule, "the cooperative has not contracted the module that this job needs: ask the platform", sameSends})
	case a.APIForm() && a.Format == apiclient.FormatC:
		return rejected(a, "the API does not know a value: "+strings.TrimPrefix(a.Text, unexpectedValue))
	}
	return ours("the key has no permission for this route (403)", &stopOrder{stopPermission, "the API key has no permission for this kind of record: ask the platform", sameSends})
}

// decideMessages reads the keys of a refused record: duplicate before malformed before data before prerequisite.
func decideMessages(a apiclient.Answer) decision {
	switch {
	case len(a.Messages) == 0:
		return rejected(a, fmt.Sprintf("the API refused it (%d)%s", a.Status, said(a)))
	case slices.Contains(a.Messages, keyDuplicate):
		return exists(a, "the platform says that it exists already")
	case slices.Contains(a.Messages, keyMalformed):
		d := rejected(a, "the API could not read the request")
		d.cause, d.badForm = keyMalformed, true
		return d
	}
	for _, m := range a.Messages {
		if !curable(m) {
			d := rejected(a, "the API refused it"+said(a))
			d.cause = causeOf(m)
			return d
		}
	}
	d := rejected(a, "the platform lacks a record"+keysOf(a.Messages))
	d.retry = retryLater
	for _, m := range a.Messages {
		if kind := prerequisites[m]; kind != "" {
			d.missing = append(d.missing, blockOf{kind, m})
		}
	}
	return d
}

// rejected: nothing was created. Where no form of the API is recognised only a person moves the row.
func rejected(a apiclient.Answer, reason string) decision {
	d := decision{outcome: trade.OutcomeNotCreated, state: trade.Rejected, kind: trade.APIError, counts: true, reason: reason}
	if d.weak = !a.APIForm(); d.weak {
		d.reason += "; it came in no form of the API, so only a person moves the row"
	}
	if len(a.Messages) > 0 {
		d.cause = causeOf(a.Messages[0])
	}
	return d
}

// causeOf is a message as a cause: only a key is one. Another text is kept with the answer, and may be long or speak of a person (I10).
func causeOf(message string) string {
	if !isMessageKey(message) {
		return ""
	}
	return message
}

// keysOf tells the keys among messages, for a sentence.
func keysOf(messages []string) string {
	keys := stableKeys(messages)
	if len(keys) == 0 {
		return ""
	}
	return ": " + strings.Join(keys, ", ")
}

func exists(a apiclient.Answer, reason string) decision {
	return decision{
		outcome: trade.OutcomeNotCreated, state: trade.Held, cause: trade.CauseExists, kind: trade.ConflictError, counts: true,
		reason: reason + " (link its id, or declare that it is another one)" + said(a),
	}
}

// ours: refused because of our key, address or program. The row goes back, and the attempt does not count.
func ours(reason string, stop *stopOrder) decision {
	return decision{outcome: trade.OutcomeNotCreated, state: trade.Pending, reason: reason, stop: stop}
}
