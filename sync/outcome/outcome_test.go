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

// What no status says: requests without an answer, `doubt: strict`, and a key that only follows the pattern.
// testdata/outcomes.txt has the rest.
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
		ask     bool
	}{
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
			name: "401 empty, strict", answer: refused(401, apiclient.FormatEmpty), strict: true,
			outcome: trade.OutcomeUnknown, state: trade.InDoubt, cause: "unknown", counts: true, ask: true,
		},
		{
			name: "401 of the gateway, strict", answer: refused(401, apiclient.FormatGateway401), strict: true,
			outcome: trade.OutcomeNotCreated, state: trade.Pending, stop: StopKey, reach: AllJobs,
		},
		{
			name: "415, strict", answer: refused(415, apiclient.FormatEmpty), strict: true,
			outcome: trade.OutcomeUnknown,
			state:   trade.InDoubt, cause: "unknown", counts: true, ask: true,
		},
		{
			name: "400 unknown entity", answer: formA(400, "message.entidade.not-found"),
			outcome: trade.OutcomeNotCreated,
			state:   trade.Rejected, cause: "message.entidade.not-found", counts: true, retry: RetryLater,
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
				d.Retry != tt.retry || d.ProbeAgain != tt.ask || d.Weak || d.RequestRefused {
				t.Errorf("%+v, want %+v", d, tt)
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
