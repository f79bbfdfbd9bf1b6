package outcome

import (
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/trade"
)

// formA is an answer in format (a).
func formA(status int, keys ...string) apiclient.Answer {
	return apiclient.Answer{Known: apiclient.NotCreated, Status: status, Format: apiclient.FormatA, Messages: keys}
}

func refused(status int, format apiclient.Format) apiclient.Answer {
	return apiclient.Answer{Known: apiclient.NotCreated, Status: status, Format: format}
}

// foreign is a refusal that something on the road may have given.
func foreign(status int, format apiclient.Format) apiclient.Answer {
	return apiclient.Answer{Known: apiclient.Unknown, Status: status, Format: format}
}

func TestI2EveryAnswerHasItsOnlyRightOutcome(t *testing.T) {
	t.Parallel()
	unknown := func(status int) apiclient.Answer { return apiclient.Answer{Known: apiclient.Unknown, Status: status} }
	unsent := apiclient.Answer{Known: apiclient.NotSent}
	tests := []struct {
		name    string
		answer  apiclient.Answer
		fault   apiclient.FaultCode
		strict  bool
		outcome trade.Outcome
		state   trade.State
		cause   string
		counts  bool
		stop    StopCode
		reach   reach
		retry   retry
		weak    bool
		strange bool
		ask     bool
	}{
		{
			name: "created", answer: apiclient.Answer{Known: apiclient.Created, Status: 201, ID: "x"},
			outcome: trade.OutcomeCreated, state: trade.Accepted, counts: true,
		},
		{
			name: "2xx without an id", answer: apiclient.Answer{Known: apiclient.CreatedIDUnknown, Status: 201},
			outcome: trade.OutcomeUnknown, state: trade.InDoubt, cause: "unknown", counts: true,
		},
		{
			name: "dial failed", answer: unsent, fault: apiclient.FaultNetwork, outcome: trade.OutcomeNotSent,
			state: trade.Pending, retry: RetrySoon,
		},
		{
			name: "certificate", answer: unsent, fault: apiclient.FaultCertificate, outcome: trade.OutcomeNotSent,
			state: trade.Pending, stop: StopCertificate, reach: AllJobs,
		},
		{
			name: "window over", answer: unsent, fault: apiclient.FaultWindow, outcome: trade.OutcomeNotSent,
			state: trade.Pending,
		},
		{
			name: "reset in flight", answer: unknown(0), fault: apiclient.FaultNetwork, outcome: trade.OutcomeUnknown,
			state: trade.InDoubt, cause: "unknown", counts: true,
		},
		{
			name: "time-out", answer: unknown(0), fault: apiclient.FaultTimeout, outcome: trade.OutcomeUnknown,
			state: trade.InDoubt, cause: "unknown", counts: true,
		},
		{
			name: "garbage", answer: unknown(0), fault: apiclient.FaultProtocol, outcome: trade.OutcomeUnknown,
			state: trade.InDoubt, cause: "unknown", counts: true, stop: StopAnswers,
		},
		{
			name: "redirect", answer: unknown(307), fault: apiclient.FaultRedirect, outcome: trade.OutcomeUnknown,
			state: trade.InDoubt, cause: "unknown", counts: true, stop: StopAddress, reach: AllJobs,
		},
		{
			name: "500", answer: unknown(500), outcome: trade.OutcomeUnknown, state: trade.InDoubt, cause: "unknown",
			counts: true,
		},
		{
			name: "408", answer: unknown(408), outcome: trade.OutcomeUnknown, state: trade.InDoubt, cause: "unknown",
			counts: true, ask: true,
		},
		{
			name: "503", answer: unknown(503), outcome: trade.OutcomeUnknown, state: trade.InDoubt, cause: "unknown",
			counts: true,
		},
		{
			name: "429", answer: apiclient.Answer{Known: apiclient.Throttled, Status: 429, RetryAfter: time.Minute},
			outcome: trade.OutcomeNotCreated, state: trade.Pending,
		},
		{
			name: "401 of the gateway", answer: refused(401, apiclient.FormatGateway401),
			outcome: trade.OutcomeNotCreated,
			state:   trade.Pending, stop: StopKey, reach: AllJobs,
		},
		{
			name: "401 empty", answer: refused(401, apiclient.FormatEmpty), outcome: trade.OutcomeNotCreated,
			state: trade.Pending, stop: StopKeyInside, reach: AllJobs,
		},
		{
			name: "401 empty, strict", answer: refused(401, apiclient.FormatEmpty), strict: true,
			outcome: trade.OutcomeUnknown, state: trade.InDoubt, cause: "unknown", counts: true, ask: true,
		},
		{
			name: "401 of the gateway, strict", answer: refused(401, apiclient.FormatGateway401), strict: true,
			outcome: trade.OutcomeNotCreated, state: trade.Pending, stop: StopKey, reach: AllJobs,
		},
		{
			name: "403 module", answer: formA(403, KeyNotContract), outcome: trade.OutcomeNotCreated,
			state: trade.Pending,
			stop:  StopModule, reach: SameSends,
		},
		{
			name: "403 enumeration", answer: apiclient.Answer{
				Known: apiclient.NotCreated, Status: 403,
				Format: apiclient.FormatC, Text: "Unexpected value: X",
			}, outcome: trade.OutcomeNotCreated,
			state: trade.Rejected, counts: true,
		},
		{
			name: "403 of the gateway", answer: refused(403, apiclient.FormatD), outcome: trade.OutcomeNotCreated,
			state: trade.Pending, stop: StopPermission, reach: SameSends,
		},
		{
			name: "404 of the API", answer: formA(404, "message.producer.not-found"), outcome: trade.OutcomeNotCreated,
			state: trade.Rejected, cause: "message.producer.not-found", counts: true, retry: RetryLater,
		},
		{
			name: "404 of the API with a key outside the pattern", answer: formA(404, "message.odd"),
			outcome: trade.OutcomeNotCreated, state: trade.Rejected, cause: "message.odd", counts: true, strange: true,
		},
		{
			name: "404 of a downstream service", answer: refused(404, apiclient.FormatD),
			outcome: trade.OutcomeNotCreated,
			state:   trade.Rejected, counts: true, strange: true,
		},
		{
			name: "404 of something else", answer: foreign(404, apiclient.FormatHTML), outcome: trade.OutcomeUnknown,
			state: trade.InDoubt, cause: "unknown", counts: true, ask: true,
		},
		{
			name: "401 of something else", answer: foreign(401, apiclient.FormatHTML), outcome: trade.OutcomeUnknown,
			state: trade.InDoubt, cause: "unknown", counts: true, ask: true,
		},
		{
			name: "403 of something else", answer: foreign(403, apiclient.FormatEmpty), outcome: trade.OutcomeUnknown,
			state: trade.InDoubt, cause: "unknown", counts: true, ask: true,
		},
		{
			name: "501 of something else", answer: foreign(501, apiclient.FormatC), outcome: trade.OutcomeUnknown,
			state: trade.InDoubt, cause: "unknown", counts: true, ask: true,
		},
		{
			name: "405", answer: refused(405, apiclient.FormatC), outcome: trade.OutcomeNotCreated,
			state:  trade.Rejected,
			counts: true, strange: true,
		},
		{
			name: "406 in form b", answer: refused(406, apiclient.FormatB), outcome: trade.OutcomeNotCreated,
			state: trade.Rejected, counts: true, strange: true,
		},
		{
			name: "415", answer: refused(415, apiclient.FormatEmpty), outcome: trade.OutcomeNotCreated,
			state: trade.Rejected, counts: true, strange: true,
		},
		{
			name: "415, strict", answer: refused(415, apiclient.FormatEmpty), strict: true,
			outcome: trade.OutcomeUnknown,
			state:   trade.InDoubt, cause: "unknown", counts: true, ask: true,
		},
		{
			name: "409", answer: formA(409, "collides"), outcome: trade.OutcomeNotCreated, state: trade.Held,
			cause: trade.CauseExists, counts: true,
		},
		{
			name: "400 duplicate, among others", answer: formA(400, "message.amount.invalid", KeyDuplicate),
			outcome: trade.OutcomeNotCreated, state: trade.Held, cause: trade.CauseExists, counts: true,
		},
		{
			name: "400 malformed", answer: formA(400, KeyMalformed), outcome: trade.OutcomeNotCreated,
			state: trade.Rejected, cause: KeyMalformed, counts: true,
		},
		{
			name:   "400 data before prerequisite",
			answer: formA(400, "message.wallet.not-found", "message.price.mandatory"), outcome: trade.OutcomeNotCreated,
			state: trade.Rejected, cause: "message.price.mandatory", counts: true,
		},
		{
			name: "400 wallet not linked", answer: formA(400, "message.wallet.producer-not-linked"),
			outcome: trade.OutcomeNotCreated, state: trade.Rejected, cause: "message.wallet.producer-not-linked",
			counts: true, retry: RetryLater,
		},
		{
			name: "400 unknown entity", answer: formA(400, "message.entidade.not-found"),
			outcome: trade.OutcomeNotCreated,
			state:   trade.Rejected, cause: "message.entidade.not-found", counts: true, retry: RetryLater,
		},
		{
			name: "400 form b", answer: apiclient.Answer{
				Known: apiclient.NotCreated, Status: 400,
				Format: apiclient.FormatB, Messages: []string{"message.id.invalid"},
			}, outcome: trade.OutcomeNotCreated,
			state: trade.Rejected, cause: "message.id.invalid", counts: true,
		},
		{
			name: "400 in no form", answer: refused(400, apiclient.FormatOther), outcome: trade.OutcomeNotCreated,
			state: trade.Rejected, counts: true, weak: true,
		},
		{
			name: "422 of a downstream service", answer: refused(422, apiclient.FormatD),
			outcome: trade.OutcomeNotCreated,
			state:   trade.Rejected, counts: true,
		},
		{
			name: "413", answer: refused(413, apiclient.FormatD), outcome: trade.OutcomeNotCreated,
			state:  trade.Rejected,
			counts: true,
		},
		{
			name: "413 of something else", answer: refused(413, apiclient.FormatHTML), outcome: trade.OutcomeNotCreated,
			state: trade.Rejected, counts: true, weak: true,
		},
		{
			name: "502 refused", answer: formA(502, KeyRefused), outcome: trade.OutcomeNotCreated, state: trade.Pending,
			counts: true, retry: RetrySoon,
		},
		{
			name: "502 refused, strict", answer: formA(502, KeyRefused), strict: true, outcome: trade.OutcomeUnknown,
			state: trade.InDoubt, cause: "unknown", counts: true,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := Decide(tt.answer, tt.fault, tt.strict)
			if d.Outcome != tt.outcome || d.State != tt.state || d.Cause != tt.cause || d.Counts != tt.counts ||
				d.Retry != tt.retry || d.Weak != tt.weak {
				t.Errorf(
					"decide = outcome %q, state %q, cause %q, counts %t, retry %d, weak %t; want %q, %q, %q, %t, %d, %t",
					d.Outcome, d.State, d.Cause, d.Counts, d.Retry, d.Weak, tt.outcome, tt.state, tt.cause, tt.counts,
					tt.retry, tt.weak)
			}
			if d.RequestRefused != tt.strange || d.ProbeAgain != tt.ask {
				t.Errorf("decide = strange %t, ask %t; want %t, %t", d.RequestRefused, d.ProbeAgain, tt.strange, tt.ask)
			}
			switch {
			case d.Stop == nil && tt.stop != "":
				t.Errorf("decide stops nothing, want %s", tt.stop)
			case d.Stop != nil && (d.Stop.Code != tt.stop || d.Stop.Reach != tt.reach):
				t.Errorf("decide stops %s with reach %d, want %q with %d", d.Stop.Code, d.Stop.Reach, tt.stop, tt.reach)
			}
			if d.Reason.Code == "" {
				t.Error("a decision must carry its reason")
			}
			if !trade.CanMove(trade.Sending, d.State) {
				t.Errorf("an entry cannot move from sending to %s", d.State)
			}
		})
	}
}

// What is told of an outcome is in the person's language; what the platform said stays as it is.
func TestOutcomesAreToldInThePersonsLanguage(t *testing.T) {
	t.Parallel()
	for want, a := range map[string]apiclient.Answer{
		"a API achou a requisição grande demais (413): uma página HTML: algo entre esta máquina e a API " +
			"respondeu; não tem nenhuma forma da API, e só uma pessoa move a linha": {
			Known: apiclient.NotCreated, Status: 413, Format: apiclient.FormatHTML, Text: "a page",
		},
		`a API recusou (422): “{"detail":"pre"}”`: {
			Known: apiclient.NotCreated, Status: 422, Format: apiclient.FormatD, Text: `{"detail":"pre"}`,
		},
		"a conexão caiu depois que parte do pedido saiu: nenhuma resposta completa em 2m0s (api.timeout)": {
			Evidence: apiclient.Evidence{
				Err: "late", Why: phrase.New("no complete answer within %s (api.timeout)", "2m0s"),
			},
		},
		"a API recusou: message.x.invalid": {
			Known: apiclient.NotCreated, Status: 400, Format: apiclient.FormatA,
			Messages: []string{"message.x.invalid"},
		},
	} {
		if got := Decide(a, apiclient.FaultNone, false).Reason.In(trade.Portuguese, time.UTC); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
