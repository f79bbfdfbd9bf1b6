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
