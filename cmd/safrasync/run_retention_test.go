package main

import (
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state"
)

// The service takes away by its schedule what is old, beside its runs, and nothing goes a second
// time.
func TestTheServiceKeepsNothingLongerThanNeeded(t *testing.T) {
	onBoth(t, func(t *testing.T, on string) {
		s := newService(t, on, false)
		s.edit("jobs:\n", "retention: {schedule: \"@every 1s\"}\njobs:\n")
		s.must(0, "sync")
		config := must.Get(config.LoadWithoutSecrets(s.path("config.yaml"), nil))(t)
		driver := map[string]string{state.SQLite: "sqlite", state.Postgres: "postgres"}[on]
		db := must.Get(sqlx.Open(driver, config.State.DSN.Reveal()))(t)
		defer func() { _ = db.Close() }()
		must.Get(db.Exec(`UPDATE entry SET updated_at = updated_at - 200 * CAST(86400000 AS BIGINT)`))(t)
		s.start()
		s.line("the retention", func(l logLine) bool {
			return l.Msg == "retention" &&
				strings.Contains(l.raw, `"bodies":2`)
		})
		s.ran()
		s.stop()
		var left int
		if err := db.Get(&left, `SELECT COUNT(*) FROM exchange`); err != nil || left != 0 {
			t.Errorf("%d requests are left, %v", left, err)
		}
		if out := s.must(0, "report", "--audit", "--json"); !strings.Contains(out, `"who":"safrasync"`) ||
			!strings.Contains(out, `"act":"retention"`) {
			t.Errorf("audit: %s", out)
		}
		if n := len(s.box.CreatedOf()); n != 2 {
			t.Errorf("%d records on the platform, want 2", n)
		}
	})
}
