package trade_test

import (
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// A job gets its name by `job move` only if the ledger has nothing under it: only then the brake says so.
func TestABrakeAdvisesANameThatTheJobCanGet(t *testing.T) {
	t.Parallel()
	a, b := trade.KnownJob{Job: "a", Accepted: 3}, trade.KnownJob{Job: "b", Accepted: 4}
	for name, c := range map[string]struct {
		brake trade.Brake
		want  bool
	}{
		"one former job":             {trade.Brake{Former: []trade.KnownJob{a}}, true},
		"two former jobs":            {trade.Brake{Former: []trade.KnownJob{a, b}}, false},
		"the other one has the name": {trade.Brake{Former: []trade.KnownJob{b}, Known: 3}, false},
		"one former job beside one that is there": {
			trade.Brake{Former: []trade.KnownJob{a, {Job: "b", Gone: 2}}}, true,
		},
		"rows that go to it from a job":     {trade.Brake{Former: []trade.KnownJob{{Job: "a", Gone: 2}}}, false},
		"keys that are not compared at all": {trade.Brake{Former: []trade.KnownJob{{Job: "a", Apart: true}}}, true},
	} {
		c.brake.Job = "c"
		for _, lang := range []trade.Lang{trade.Portuguese, trade.English} {
			text := trade.Stop{Code: "brake_new_job", Brake: &c.brake}.Sentence().In(lang, time.UTC)
			if got := strings.Contains(text, "`safrasync job move a c --reason"); got != c.want ||
				!strings.Contains(text, "`safrasync release c") {
				t.Errorf("%s: %s", name, text)
			}
		}
	}
}
