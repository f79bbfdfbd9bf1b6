package alert

import (
	"testing"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// Without an event for so long, although records were confirmed, people are told; without a
// registration or a record there is nothing to hear.
func TestSilenceIsToldWhenThereWasSomethingToHear(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, time.November, 20, 15, 0, 0, 0, time.UTC) // a Friday
	long := now.AddDate(0, 0, -20)
	for name, v := range map[string]struct {
		silence trade.EventSilence
		limit   time.Duration
		want    Topic
	}{
		"silent": {trade.EventSilence{Since: long, Made: 3}, 7 * 24 * time.Hour, Silent},
		"heard lately": {
			trade.EventSilence{Since: long, LastAt: now.Add(-time.Hour), Made: 3},
			7 * 24 * time.Hour, "",
		},
		"heard long ago": {
			trade.EventSilence{Since: long.AddDate(-1, 0, 0), LastAt: long, Made: 1},
			7 * 24 * time.Hour, Silent,
		},
		"nothing made":   {trade.EventSilence{Since: long}, 7 * 24 * time.Hour, ""},
		"not registered": {trade.EventSilence{LastAt: long, Made: 3}, 7 * 24 * time.Hour, ""},
		"never wanted":   {trade.EventSilence{Since: long, Made: 3}, 0, ""},
		"a few events": {
			trade.EventSilence{Since: long, LastAt: now, Waiting: unheardMost},
			7 * 24 * time.Hour, "",
		},
		"nobody looks": {
			trade.EventSilence{Since: long, LastAt: now, Waiting: unheardMost + 1},
			7 * 24 * time.Hour, Unheard,
		},
		// six working days
		"within the limit": {trade.EventSilence{Since: now.AddDate(0, 0, -8), Made: 3}, 7 * 24 * time.Hour, ""},
	} {
		got := judge(facts{at: now, silence: v.silence}, Limits{Silence: v.limit}, time.UTC)
		topic := Topic("")
		if len(got) == 1 {
			topic = got[0].topic
		}
		if len(got) > 1 || topic != v.want {
			t.Errorf("%s: %+v, want %q", name, got, v.want)
		}
		for _, c := range got {
			for _, lang := range []trade.Lang{trade.Portuguese, trade.English} {
				v := voice{lang: lang, zone: time.UTC, name: "coop"}
				if m := v.message(notice{Topic: c.topic, Detail: c.detail}); m.Subject == "" || len(m.Parts) < 3 {
					t.Errorf("%s: %+v", name, m)
				}
			}
		}
	}
}
