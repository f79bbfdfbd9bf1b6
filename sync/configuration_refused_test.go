package sync_test

import (
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/discovery"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// What a configuration says that cannot be meant is refused with the key that says it.
func TestAConfigurationThatCannotBeMeant(t *testing.T) {
	t.Parallel()
	column := func(name string) mapping.FieldSpec { return mapping.FieldSpec{Columns: []string{name}} }
	parent := []mapping.ParentSpec{{Job: "contracts", Columns: []string{"a"}}}
	for want, change := range map[string]func(s *mapping.JobSpec){
		"needs one column": func(s *mapping.JobSpec) {
			s.Fields["producer_id"] = mapping.FieldSpec{
				Columns: []string{"a", "b"}, Ref: "producers",
				Lookup: trade.ProducerByDocument,
			}
		},
		"a lookup needs": func(s *mapping.JobSpec) {
			s.Fields["producer_id"] = mapping.FieldSpec{Const: new("x"), Lookup: trade.ProducerByDocument}
		},
		"is not the id of a record that another job sends": func(s *mapping.JobSpec) {
			s.Fields["wallet_id"] = mapping.FieldSpec{Columns: []string{"a"}, SentBy: parent}
		},
		"is no date": func(s *mapping.JobSpec) {
			f := column(
				"a")
			f.Date = "YYYYMMDD"
			s.Fields["amount"] = f
		},
		"may have only /, -, . and blanks": func(s *mapping.JobSpec) {
			f := column(
				"a")
			f.Date = "YYYYxMMxDD"
			s.Fields["order_date"] = f
		},
		".hours": func(s *mapping.JobSpec) { s.Hours = []string{"from dusk till dawn"} },
		".sweep": func(s *mapping.JobSpec) { s.Sweep = "now and then" },
		"ref, values and default do not apply": func(s *mapping.JobSpec) {
			s.Sends = trade.Deliveries
			s.Fields = map[string]mapping.FieldSpec{"contract_id": {
				Columns: []string{"a"}, SentBy: parent,
				Default: new("x"),
			}}
		},
	} {
		spec := contractsSpec()
		change(&spec)
		if _, err := mapping.Compile(spec, time.UTC); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q in it", err, want)
		}
	}
	b := newBench(t, sandbox.Options{})
	b.spec.Schedule = "now and then"
	if _, err := engine.NewScheduler(engine.SchedulerConfig{Engine: b.engine()}); err == nil ||
		!strings.Contains(err.Error(), "jobs.contracts.schedule") {
		t.Errorf("%v", err)
	}
}

// A query without a column that the mapping needs stops the job before anything is recorded, and is
// told by whatever asks.
func TestAQueryThatLacksAColumn(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.contracts(1)
	b.spec.Fields["amount"] = mapping.FieldSpec{Columns: []string{"nowhere"}}
	e := b.engine()
	if r := b.sync(engine.Options{}); r.Stopped == nil || r.Stopped.Code != "columns" ||
		!strings.Contains(r.Stopped.Text(), "nowhere") || r.New != 0 {
		t.Errorf("%+v", r)
	}
	for name, err := range map[string]error{
		"audit": second(e.Audit(t.Context(), e.Jobs[0], nil)),
		"check": e.Check(t.Context(), e.Jobs[0]),
	} {
		if err == nil || !strings.Contains(err.Error(), "nowhere") {
			t.Errorf("%s: %v", name, err)
		}
	}
	b.spec = contractsSpec()
	b.spec.ChangedAt, b.spec.Lookback = "", 0
	asked := discovery.Resync{Since: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
	if err := failureOf(b.engine().Sync(t.Context(), nil, engine.Options{Resync: &asked})); err == nil {
		t.Error("a reading since a day, without a column that tells it, was made")
	}
	b.wants(b.sync(engine.Options{}), "accepted 1")
}
