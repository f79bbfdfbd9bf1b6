package main

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/apiclient"
)

// failureWords say for people why a call did not succeed, and what to do next. The client's own error is the technical detail beside it.
type failureWords struct{ what, next phrase }

// failure is a call that did not succeed, in somebody's language.
type failure struct{ what, next string }

// failureOf explains an error of the client. Status and fault decide, as they do there; the body only tells apart what has one status.
func (v voice) failureOf(e *apiclient.Error) failure {
	value, unknownValue := e.UnexpectedValue()
	if unknownValue && isPlainName(value) { // anything else may be somebody's data
		return failure{v.text(failedValue.what, value), v.text(failedValue.next)}
	}
	if e.Known == apiclient.Throttled {
		return failure{v.text(failedThrottled.what), v.text(failedThrottled.next, v.moment(e.ThrottledUntil))}
	}
	w, ok := faultWords[e.Fault]
	switch {
	case e.Fault == apiclient.FaultNetwork && e.Known != apiclient.NotSent:
		w = failedLost
	case ok:
	case e.Known == apiclient.CreatedIDUnknown:
		w = failedNoID
	default:
		w = statusWords(e)
	}
	return failure{v.text(w.what), v.text(w.next)}
}

var faultWords = map[apiclient.Fault]failureWords{
	apiclient.FaultNetwork: failedNetwork, apiclient.FaultCertificate: failedCertificate, apiclient.FaultWindow: failedCanceled,
	apiclient.FaultCanceled: failedCanceled, apiclient.FaultTimeout: failedTimeout, apiclient.FaultRedirect: failedRedirect,
	apiclient.FaultProtocol: failedAnswer, apiclient.FaultRequest: failedRequest,
}

// statusWords explain an answer by its status (chapter 7).
func statusWords(e *apiclient.Error) failureWords {
	switch e.Status {
	case http.StatusUnauthorized:
		if e.Format == apiclient.FormatEmpty {
			return failedKeyInside
		}
		return failedKey
	case http.StatusForbidden:
		switch _, unknownValue := e.UnexpectedValue(); {
		case e.HasMessage("message.module.not-contracted"):
			return failedModule
		case unknownValue:
			return failedData
		}
		return failedPermission
	case http.StatusNotFound:
		switch {
		case e.HasMessage("message.producer.not-found"):
			return failedProducer
		case e.APIForm():
			return failedNotFound
		}
		return failedAddress
	case http.StatusBadRequest, http.StatusConflict, http.StatusUnprocessableEntity, http.StatusRequestEntityTooLarge:
		switch {
		case e.Status == http.StatusConflict, e.HasMessage("message.duplicate.key"), e.HasMessage("message.producer.already-exists"):
			return failedExists
		case e.HasMessage("message.malformed-request"):
			return failedMalformed
		}
		return failedData
	case http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return failedDown
	case http.StatusBadGateway:
		return failedRefused
	}
	switch {
	case slices.Contains([]int{405, 406, 411, 414, 415, 426, 431, 501}, e.Status):
		return failedAddress
	case e.Status >= 500:
		return failedInside
	}
	return failedOther
}

// isPlainName tells whether a text is a name such as PF: letters, digits, _ and -, a few of them, and not only digits.
func isPlainName(text string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-"
	return text != "" && len(text) <= 40 && strings.Trim(text, letters+"0123456789") == "" && strings.ContainsAny(text, letters)
}

// tellFailure says why a call did not succeed: in so many words, what to do next, what the platform said of a conflict, or in a form that its
// document does not show, and the
// technical detail for whoever is asked. Other bodies are not shown to people: they may hold names and numbers of others. With --json they are in the object.
func (a *App) tellFailure(sentence phrase, next string, err error) {
	var e *apiclient.Error
	if !errors.As(err, &e) {
		a.tell(sentence, err)
		return
	}
	f := a.voice().failureOf(e)
	a.tell(sentence, f.what)
	if next == "" {
		next = f.next
	}
	a.tell(apiNext, next)
	if said := e.Text; said != "" && (e.Status == http.StatusConflict || e.Status/100 == 4 && e.Format == apiclient.FormatD) && !slices.ContainsFunc(e.Messages, apiclient.IsMessageKey) {
		a.tell(apiSaid, printable(said))
	}
	a.tell(apiDetail, err)
}

// fieldPhrases are the words for what the client finds wrong with a request before it is sent.
var fieldPhrases = map[apiclient.Problem]phrase{
	apiclient.ProblemMissing: fieldMissing, apiclient.ProblemEntry: fieldEntry, apiclient.ProblemEncoding: fieldEncoding,
	apiclient.ProblemNumber: fieldNumber, apiclient.ProblemDocument: apiNoDocument, apiclient.ProblemCredentials: fieldCredentials,
	apiclient.ProblemMonths: fieldMonths,
}

// usageOf turns what the client finds wrong with a request into a wrong call, each fault in the person's language; nil stays nil.
func (a *App) usageOf(err error) error {
	var e *apiclient.RequestError
	if !errors.As(err, &e) {
		return err
	}
	faults := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		name := flagOf(f.Field)
		p, ok := fieldPhrases[f.Problem]
		switch {
		case f.Problem == apiclient.ProblemTooLong:
			faults[i] = a.text(fieldTooLong, name, f.Limit)
		case ok:
			faults[i] = a.text(p, name)
		default:
			faults[i] = f.String()
		}
	}
	return &usageError{strings.Join(faults, "; ")}
}

// flagOf is the flag of a field of the document.
func flagOf(field string) string { return "--" + strings.ReplaceAll(field, "_", "-") }
