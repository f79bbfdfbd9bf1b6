package sent

import (
	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/trade"
)

// verdict is a class of answers: what the program makes of it.
type verdict struct {
	name    string
	outcome int8
	state   trade.State
}

// verdicts has an answer of each class; the first is that nothing was sent.
var verdicts = func() []verdict {
	refused := func(status int, format apiclient.Format, messages ...string) apiclient.Answer {
		return apiclient.Answer{
			Known: apiclient.NotCreated, Status: status, Format: format,
			Messages: messages,
		}
	}
	var out []verdict
	for _, of := range []struct {
		name   string
		answer apiclient.Answer
		fault  apiclient.FaultCode
	}{
		{"nothing was sent", apiclient.Answer{Known: apiclient.NotSent}, apiclient.FaultWindow},
		{"201 with an id", apiclient.Answer{Known: apiclient.Created, Status: 201, ID: "x"}, apiclient.FaultNone},
		{"no answer", apiclient.Answer{}, apiclient.FaultTimeout},
		{"429", apiclient.Answer{Known: apiclient.Throttled, Status: 429}, apiclient.FaultNone},
		{"400 of a field", refused(400, apiclient.FormatA, "message.price.invalid"), apiclient.FaultNone},
		{"400 in HTML", refused(400, apiclient.FormatHTML), apiclient.FaultNone},
		{"409", refused(409, apiclient.FormatA), apiclient.FaultNone},
	} {
		d := outcome.Decide(of.answer, of.fault, false)
		out = append(out, verdict{of.name, outcomeOf(d), d.State})
	}
	return out
}()

func outcomeOf(d outcome.Decision) int8 {
	switch {
	case d.Outcome == trade.OutcomeCreated:
		return created
	case d.Outcome == trade.OutcomeUnknown:
		return unknown
	case d.Outcome == trade.OutcomeNotSent:
		return notSent
	case d.Weak:
		return weak
	case d.Cause == trade.CauseExists:
		return exists
	}
	return notCreated
}
