package trade_test

import (
	"encoding/json"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// What a report says for others can be read as a report again.
func TestTheRemarksOfAReportAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	report := trade.RunReport{Notes: trade.Notes{trade.Say("note.sweep", "rows", 3)}}
	text := must.Get(json.Marshal(report))(t)
	var back trade.RunReport
	must.Do(t, json.Unmarshal(text, &back))
	if len(back.Notes) != 1 || back.Notes[0].String() != report.Notes[0].String() {
		t.Errorf("%s is read as %v", text, back.Notes)
	}
}
