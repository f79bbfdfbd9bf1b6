package office

import (
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/internal/config/configtest"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// When a job runs next is one answer wherever it is asked: on the first page, in the list of schedules
// and in the status. A distance counts from the last run.
func TestEverybodyIsToldTheSameNextRun(t *testing.T) {
	t.Parallel()
	open, _ := openStuck(t)
	text := strings.Replace(configtest.Sample(t), "    key:", "    schedule: \"@every 6h\"\n    key:", 1)
	conf := configtest.Load(t, t.TempDir()+"/config.yaml", text, "x")
	store, now := open().store, Now().Truncate(time.Second)
	o := New(Deps{
		Config: conf, Store: store, Jobs: must.Get(CompileJobs(conf))(t), Board: NewRunProgress(), Log: zap.NewNop(),
		Now: func() time.Time { return now },
	})
	t.Cleanup(o.Close)
	began := now.Add(-2 * time.Hour)
	must.Do(t, store.StartRun(t.Context(), trade.RunReport{ID: "r1", Job: "contracts", StartedAt: began}))
	want := began.Add(6 * time.Hour)
	home := must.Get(o.NextRuns(t.Context(), "contracts"))(t)
	status := must.Get(o.Status(t.Context()))(t)[0]
	schedule := must.Get(o.Schedules(t.Context(), trade.Portuguese))(t)[0]
	for name, got := range map[string]time.Time{
		"the first page": home[0], "the status": status.NextRuns[0], "the list of schedules": schedule.Times[0].Next[0],
	} {
		if !got.Equal(want) {
			t.Errorf("%s says %s, want %s, six hours after the last run", name, got, want)
		}
	}
}
