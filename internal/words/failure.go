package words

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// Failure explains a failed call to a person: what happened, and what to do next.
type Failure struct{ What, Next string }

// FailureOf explains an error of the client. Fault and status decide, as they do in the client; the
// body only distinguishes cases with the same status.
func FailureOf(v Voice, e *apiclient.CallError) Failure {
	value, unknownValue := e.UnexpectedValue()
	if unknownValue && isPlainName(value) { // any other value may be personal data
		return Failure{v.Text("the platform does not know the value %s", value), v.Text("Check the fields that take fixed values, such as person_type.")}
	}
	if e.Known == apiclient.Throttled {
		return Failure{v.Text("the platform asks for a pause"), v.Text("Wait until %s.", v.Moment(e.ThrottledUntil))}
	}
	w, ok := faultWords[e.Fault]
	switch {
	case e.Fault == apiclient.FaultNetwork && e.Known != apiclient.NotSent:
		w = "failed.lost"
	case ok:
	case e.Known == apiclient.CreatedIDUnknown:
		w = "failed.no_id"
	default:
		w = statusWords(e)
	}
	return Failure{v.Text(w + ".what"), v.Text(w + ".next")}
}

var faultWords = map[apiclient.FaultCode]i18n.Key{
	apiclient.FaultNetwork: "failed.network", apiclient.FaultCertificate: "failed.certificate",
	apiclient.FaultWindow:   "failed.canceled",
	apiclient.FaultCanceled: "failed.canceled", apiclient.FaultTimeout: "failed.timeout",
	apiclient.FaultRedirect: "failed.redirect",
	apiclient.FaultProtocol: "failed.answer", apiclient.FaultRequest: "failed.request",
}

// statusWords returns the text for an answer by its status (chapter 7).
func statusWords(e *apiclient.CallError) i18n.Key {
	switch e.Status {
	case http.StatusUnauthorized:
		if e.Format == apiclient.FormatEmpty {
			return "failed.key_inside"
		}
		return "failed.key"
	case http.StatusForbidden:
		switch _, unknownValue := e.UnexpectedValue(); {
		case e.HasMessage("message.module.not-contracted"):
			return "failed.module"
		case unknownValue:
			return "failed.data"
		}
		return "failed.permission"
	case http.StatusNotFound:
		switch {
		case e.HasMessage("message.producer.not-found"):
			return "failed.producer"
		case e.Answer.NotFound():
			return "failed.not_found"
		}
		return "failed.address"
	case http.StatusBadRequest, http.StatusConflict, http.StatusUnprocessableEntity, http.StatusRequestEntityTooLarge:
		switch {
		case e.Status == http.StatusConflict, e.HasMessage("message.duplicate.key"),
			e.HasMessage("message.producer.already-exists"):
			return "failed.exists"
		case e.HasMessage("message.malformed-request"):
			return "failed.malformed"
		}
		return "failed.data"
	case http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return "failed.down"
	case http.StatusBadGateway:
		return "failed.refused"
	}
	switch {
	case slices.Contains([]int{405, 406, 411, 414, 415, 426, 431, 501}, e.Status):
		return "failed.address"
	case e.Status >= 500:
		return "failed.inside"
	}
	return "failed.other"
}

// isPlainName reports whether a text is a name such as PF: at most 40 letters, digits, _ and -, and
// not only digits.
func isPlainName(text string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-"
	return text != "" && len(text) <= 40 && strings.Trim(text, letters+"0123456789") == "" &&
		strings.ContainsAny(text, letters)
}

// LedgerFault returns what is wrong with the ledger and what to do.
func (v Voice) LedgerFault(e *state.Error, err error) string {
	if v.Lang == trade.English {
		return err.Error()
	}
	return strings.TrimSuffix(v.LedgerWhat(e)+". "+v.LedgerHint(e), ". ")
}

// LedgerWhat returns what is wrong with the ledger.
func (v Voice) LedgerWhat(e *state.Error) string {
	key := "ledger." + e.Code
	switch {
	case v.Lang == trade.English:
		return e.Path + ": " + e.What()
	case !i18n.CLI.Has(key + ".what"):
		key = "ledger.other"
	case errors.Is(e, trade.ErrWentBack):
		key = "ledger.back"
	case e.Code == state.CodeRolledBack && e.Records == 0:
		key = "ledger.forgot"
	case e.Code == state.CodeRolledBack:
		return v.Text(key+".what", e.Path, e.Records, v.Moment(e.Since), e.Rows)
	case e.Code == state.CodeEmptied && e.Place != "":
		return v.Text("the ledger %s is new, but the journal in this folder, of the ledger that was at %s, records %d {row|rows} as sent", e.Path, e.Place, e.Rows)
	case e.Code == state.CodeEmptied:
		return v.Text(key+".what", e.Path, e.Rows)
	}
	return v.Text(key+".what", e.Path, i18n.Cause(v.Lang, e.Err))
}

// LedgerHint returns what to do about it.
func (v Voice) LedgerHint(e *state.Error) string { return i18n.ErrorText(v.Lang, e.Hint) }
