package outbox

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/safrasync/safrasync/trade"
)

// Why says what the code of a fault means, and which part of `events:` to look at: the ledger has only
// the code.
func Why(code string) trade.Sentence {
	why := trade.Say("delivery.unknown")
	kind, number, _ := strings.Cut(code, "_")
	switch kind {
	case "timeout":
		why = trade.Say("delivery.timeout")
	case "dns":
		why = trade.Say("delivery.dns")
	case "certificate":
		why = trade.Say("delivery.certificate")
	case "refused":
		why = trade.Say("delivery.refused")
	case "broken":
		why = trade.Say("delivery.broken")
	case "form":
		why = trade.Say("delivery.form")
	case "address":
		why = trade.Say("delivery.program_address")
	case "no", "protocol": // no_tls
		why = trade.Say("delivery.program_protocol")
	case "proxy":
		why = trade.Say("delivery.program_proxy")
	case "http":
		status, _ := strconv.Atoi(number) // a number that is none is one of no status
		why = whyOfStatus(status)
	}
	return trade.Say("delivery.fault", "code", code, "why", why)
}

// whyOfStatus says what a status means that is no success.
func whyOfStatus(status int) trade.Sentence {
	switch {
	case status >= 300 && status <= 399:
		return trade.Say("delivery.program_elsewhere")
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return trade.Say("delivery.program_login")
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed, status == http.StatusGone:
		return trade.Say("delivery.program_unknown")
	case status == http.StatusRequestTimeout, status == http.StatusTooManyRequests:
		return trade.Say("delivery.http_wait")
	case status >= 500:
		return trade.Say("delivery.http_trouble")
	}
	return trade.Say("delivery.program_refuses")
}
