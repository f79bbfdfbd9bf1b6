package alert

import (
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// A program that takes no events for an hour is told of, and so are events that were given up.
func TestAProgramThatTakesNoEventsIsTold(t *testing.T) {
	t.Parallel()
	now := monday
	for name, v := range map[string]struct {
		state trade.OutboxState
		told  bool
	}{
		"nothing to deliver": {trade.OutboxState{Target: "erp"}, false},
		"late for a moment":  {trade.OutboxState{Target: "erp", Open: 3, Oldest: now.Add(-59 * time.Minute)}, false},
		"late for an hour":   {trade.OutboxState{Target: "erp", Open: 3, Oldest: now.Add(-time.Hour)}, true},
		"given up":           {trade.OutboxState{Target: "erp", GivenUp: 1}, true},
	} {
		got := judgeOutbox(facts{at: now, outbox: []trade.OutboxState{v.state}})
		if (len(got) == 1) != v.told {
			t.Errorf("%s: %+v", name, got)
		}
		for _, c := range got {
			for _, lang := range []trade.Lang{trade.Portuguese, trade.English} {
				v := voice{lang: lang, zone: time.UTC, name: "coop"}
				m := v.message(notice{Topic: c.topic, Detail: c.detail})
				if !strings.Contains(m.text(), "erp") || len(m.Parts) < 3 {
					t.Errorf("%s: %s", name, m.text())
				}
			}
		}
	}
}
