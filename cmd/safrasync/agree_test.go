package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/cmd/safrasync/commands"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/trade"
)

// What explains must say what a run does: on each sample ERP, before a run and after it, row by
// row.
func TestWhatExplainsAgreesWithWhatSendsOnTheThreeSampleERPs(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testing.T) *modern{
		"modern":   newModern,
		"protheus": func(t *testing.T) *modern { return newProtheus(t, pgtest.Database(t), "") },
		"firebird": newFirebird,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := open(t)
			// On a ledger without rows explain counts what a dry run counts.
			countsAgree := func(when string) {
				t.Helper()
				for _, run := range m.sync("--dry-run").Runs {
					e := m.explain(run.Job).total
					n, would := run.States[trade.Pending], run.WouldSend
					if would == nil || would.Rows != n || n > 0 && len(would.Quantities) == 0 {
						t.Errorf("%s, %s: %d pending, would send %+v", when, run.Job, n, would)
					}
					got := []int{
						run.States[trade.Pending], run.States[trade.Waiting], run.States[trade.Invalid],
						run.States[trade.Held], run.Unreadable,
					}
					want := []int{e.Ready, e.Waiting, e.Invalid, e.DoubleKeys, e.Unreadable}
					if !slices.Equal(got, want) {
						t.Errorf("%s, %s: pending, waiting, invalid, held and unreadable are %d in the dry run, %d in explain",
							when, run.Job, got, want)
					}
					if sum := e.Ready + e.Waiting + e.Invalid + e.Double + e.Cancelled + e.Unreadable; sum != e.Read {
						t.Errorf("%s, %s: explain counts %d of %d rows", when, run.Job, sum, e.Read)
					}
				}
			}
			countsAgree("before the first run")
			m.sync()
			for _, job := range modernJobs {
				explained := m.explain(job).rows
				outcomes := map[string]bool{}
				for key, row := range m.rows(job) {
					why := fromJSON[struct {
						Preview json.RawMessage
						Row     struct{ Payload json.RawMessage }
					}](t, m.run(0, "why", job, key, "--json"))
					preview := fromJSON[struct {
						State     trade.State
						Cause     string
						Cancelled bool
						Request   json.RawMessage
					}](t, string(why.Preview))
					want := row.State
					switch row.State {
					case trade.Accepted, trade.Rejected, trade.InDoubt: // it went like this
						want = trade.Pending
						if !bytes.Equal(preview.Request, why.Row.Payload) {
							t.Errorf("%s %s: it went as\n%s, and why says\n%s", job, key, why.Row.Payload,
								preview.Request)
						}
					}
					if preview.State != want || preview.Cancelled ||
						want != trade.Pending && preview.Cause != *row.Cause {
						t.Errorf("%s %s is %s (%v), and why says %s (%s), cancelled %t", job, key, row.State, row.Cause,
							preview.State, preview.Cause, preview.Cancelled)
					}
					twin := want == trade.Held && row.Cause != nil && *row.Cause == trade.CauseDuplicateKey
					if said, ok := explained[key]; !twin && (ok && said != want || !ok && want != trade.Pending) {
						t.Errorf("%s %s is %s, and explain says %q", job, key, row.State, said)
					}
					// The short form asks the rest about one row of each outcome.
					outcome := fmt.Sprint(row.State, preview.Cause, row.Flags, problemsOf(row))
					if outcomes[outcome] && !long {
						continue
					}
					outcomes[outcome] = true
					text := m.run(0, "why", job, key, "--request", "--json")
					if strings.TrimSpace(text) != string(why.Preview) {
						t.Errorf("%s %s: --request says\n%s, why\n%s", job, key, text, why.Preview)
					}
					file := filepath.Join(t.TempDir(), "case.yaml")
					if twin {
						m.run(1, "test", "--from", job, key, file)
						continue
					}
					m.run(0, "test", "--from", job, key, file)
					m.run(0, "test", file)
					expects := must.Get(commands.LoadCase(file))(t)
					var left map[string]json.RawMessage
					if want == trade.Pending {
						left = fromJSON[map[string]json.RawMessage](t, string(why.Row.Payload))
					}
					for field, raw := range left {
						if expects.Payload[field] != commands.PlainJSON(raw) {
							t.Errorf("%s %s: %s went as %s, and a case of it has %s", job, key, field, raw,
								expects.Payload[field])
						}
					}
					if expects.Cancelled == "true" || (expects.Payload != nil) != (want == trade.Pending) ||
						want == trade.Invalid && len(expects.Problems) == 0 {
						t.Errorf("%s %s is %s, and a case of it expects %+v", job, key, want, expects)
					}
				}
			}
			// With a ledger of its own each row is new again, but what it hangs on was sent by
			// nobody.
			m.env["SAFRASYNC_STATE"] = filepath.Join(t.TempDir(), "other.db")
			m.run(0, "state", "new")
			countsAgree("with another ledger")
		})
	}
}

// explained is what `explain --json --rows` prints.
type explained struct {
	rows  map[string]trade.State // that do not go as they are
	total explainedTotal
}

type explainedTotal struct {
	Read, Cancelled, Unreadable, Double, Ready, Waiting, Invalid int
	DoubleKeys                                                   int `json:"double_keys"`
}

func (m *modern) explain(job string) explained {
	m.t.Helper()
	out := explained{rows: map[string]trade.State{}}
	for _, row := range jsonLines[struct {
		Key   any
		State trade.State
		ERP   json.RawMessage
	}](m.t, m.run(0, "explain", job, "--rows", "--json")) {
		if key, ok := row.Key.(string); ok && row.State != trade.Pending {
			out.rows[key] = row.State
		}
		if row.ERP != nil {
			out.total = fromJSON[explainedTotal](m.t, string(row.ERP))
		}
	}
	return out
}
