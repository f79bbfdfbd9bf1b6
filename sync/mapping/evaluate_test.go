package mapping

import (
	"testing"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/trade"
)

// F035: a row on which the program itself fails is invalid, and the next one is judged as if
// nothing had happened.
func TestF035ARowThatMakesTheMappingFailIsInvalid(t *testing.T) {
	t.Parallel()
	// a field that comes from nowhere
	broken := &Job{Mapping: &Mapping{Sends: trade.OrderCommitments, Fields: []fieldMapping{{}}}}
	e := &Evaluator{Job: broken, Log: zap.NewNop()}
	entry := trade.Entry{Key: "1"}
	e.Evaluate(&entry, trade.Values{"quantidade": {Kind: 'n', Text: "2"}}, nil)
	if entry.State != trade.Invalid || len(entry.Error.Fields) != 1 ||
		entry.Error.Fields[0].Rule != trade.RuleInternal || entry.Payload != nil {
		t.Errorf("%+v, %+v", entry, entry.Error)
	}
}

// Where the query says why a row is wrong, that a value is missing says no more.
func TestARowThatTheQueryDeclaresWrongLacksNothingElse(t *testing.T) {
	t.Parallel()
	job := &Job{Spec: JobSpec{Invalid: "erro"}, Mapping: &Mapping{Sends: trade.OrderCommitments}}
	e := &Evaluator{Job: job, Log: zap.NewNop()}
	for text, want := range map[string]string{"falta produto": trade.RuleDeclared, "": trade.RuleRequired} {
		entry := trade.Entry{Key: "1", Sends: trade.OrderCommitments}
		e.Evaluate(&entry, trade.Values{"erro": {Kind: 't', Text: text}}, nil)
		if entry.State != trade.Invalid || entry.Error.Fields[0].Rule != want || text != "" &&
			len(entry.Error.Fields) != 1 {
			t.Errorf("%q: %+v", text, entry.Error)
		}
	}
}
