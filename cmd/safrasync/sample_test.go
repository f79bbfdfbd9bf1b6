package main

import (
	"bytes"
	"encoding/csv"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/trade"
)

// outOfScope marks a row that has no entry in the ledger.
const outOfScope trade.State = ""

// expectedRow says of one row of a sample ERP what it must become in the first run and which rule
// decides that, and what it is after the second. A state that is not accepted twice is final: over
// both runs nothing is sent twice.
type expectedRow struct {
	key   string
	state trade.State // after the first run
	cause string
	rule  string      // what decides; for an invalid row exactly its problems
	after trade.State // after what happened in the ERP overnight, and the second run with a sweep
	why   string      // cause after it
	flags string      // flags after it
}

// readExpected reads the rows that are expected of a sample ERP, by job, from the table beside it.
func readExpected(t *testing.T, sample string) map[string][]expectedRow {
	t.Helper()
	file := must.Get(os.ReadFile(modernDir + sample + "-expected.csv"))(t)
	lines := must.Get(csv.NewReader(bytes.NewReader(file)).ReadAll())(t)
	out := map[string][]expectedRow{}
	for _, c := range lines[1:] {
		out[c[0]] = append(out[c[0]], expectedRow{c[1], trade.State(c[2]), c[3], c[4], trade.State(c[5]), c[6], c[7]})
	}
	return out
}

// Every row of each sample ERP has its right outcome in the first run, and after what happened in
// the ERP overnight; what the platform got is what the rows say.
func TestEveryRowOfTheSampleERPsHasItsRightOutcomeInBothRuns(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		open    func(t *testing.T) *modern
		product string
		rows    string        // FILE-expected.csv of the sample
		bodies  []string      // of the first run; nil: all are computed from the tables of the ERP
		sample  string        // whose night it is
		early   []expectedRow // what a run that is no sweep has found of the night
		late    int           // contracts of the night that only the sweep sends; 0: they are not counted
	}{
		"modern": {
			open: newModern, rows: "modern",
			sample: "modern",
		},
		"like Protheus, the ledger in PostgreSQL": {
			open: func(t *testing.T) *modern { return newProtheus(t, pgtest.Database(t), pgtest.Database(t)) },
			rows: "protheus", bodies: protheusBodies,
			sample: "protheus",
			early: []expectedRow{
				{key: "0101|000130|", after: outOfScope}, // stamped in January
				{key: "0101|000128|", after: trade.Accepted, flags: "changed"},
				{key: "0101|000120|", after: trade.Accepted, flags: "changed"},
				{key: "0101|000103|", after: trade.Accepted, flags: "cancelled"},
			},
			late: 1,
		},
		"like Delphi": {
			open: newFirebird, product: "Firebird 3.", rows: "agro-firebird", bodies: firebirdBodies,
			sample: "firebird",
			early: []expectedRow{
				{key: "1|1026", after: outOfScope},                          // stamped in January
				{key: "1|1024", after: trade.Invalid, why: "rule:modality"}, // a code table stamps nothing
				{key: "1|1025", after: trade.Accepted, flags: "changed"},    // has no stamp at all
				{key: "1|1008", after: trade.Accepted, flags: "cancelled"},
			},
		},
		"of the web age": {
			open: newMaria, product: "MariaDB 10.", rows: "cereal-mariadb", bodies: mariaBodies,
			sample: "mariadb",
			early: []expectedRow{
				{key: "1|115|1|0", after: outOfScope}, // stamped in January
				{key: "1|100|1|0", after: trade.Accepted, flags: "changed"},
				{key: "1|105|1|0", after: trade.Accepted, flags: "cancelled"},
			},
			late: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expected := readExpected(t, c.rows)
			m := c.open(t)
			if got := m.run(0, "check"); !strings.Contains(got, c.product) {
				t.Errorf("check does not name the database:\n%s", got)
			}
			// quiet wants a run to find nothing that is new.
			quiet := func(args ...string) {
				t.Helper()
				for _, run := range m.sync(args...).Runs {
					if run.Sent != 0 || run.New != 0 || run.Stopped != nil {
						t.Errorf("a run without news: %+v", run)
					}
				}
			}
			first := m.sync()
			for i, job := range modernJobs {
				rows, sent := m.rows(job), 0
				listed := map[string]bool{}
				for _, row := range expected[job] {
					m.expect(rows, row.key, row.state, row.cause, "")
					if listed[row.key] {
						t.Errorf("%s stands twice in the table", row.key)
					}
					listed[row.key] = true
					switch row.state {
					case trade.Accepted, trade.Rejected:
						sent++
					case trade.Invalid:
						if got := problemsOf(rows[row.key]); got != row.rule {
							t.Errorf("%s: problems %q, want %q", row.key, got, row.rule)
						}
					}
				}
				if run := first.Runs[i]; run.Job != job || run.Sent != sent || !run.Sweep ||
					*run.InScope != len(rows) || *run.Gone != 0 || run.Unreadable != 0 || run.Stopped != nil {
					t.Errorf("first run %+v, want %d sent and %d in scope", run, sent, len(rows))
				}
			}
			if c.bodies == nil {
				want := m.requests(expected, func(r expectedRow) bool { return r.state == trade.Accepted })
				if diff := cmp.Diff(want, m.got(0)); diff != "" {
					t.Errorf("in the first run the platform got (-want +got):\n%s", diff)
				}
			}
			got := m.namedBodies()
			for _, body := range c.bodies {
				if !slices.Contains(got, body) {
					t.Fatalf("nobody sent %s\nbut\n%s", body, strings.Join(got, "\n"))
				}
			}
			quiet()

			m.overnight(c.sample)
			before := len(m.api.CreatedOf())
			window := m.sync()
			if rows := m.rows("contracts"); !window.Runs[0].Sweep { // a night may have begun meanwhile
				for _, row := range c.early {
					m.expect(rows, row.key, row.after, row.why, row.flags)
				}
			}
			second, newly := m.sync("--sweep"), 0
			if n := second.Runs[0].Sent; c.late > 0 && n != c.late && !window.Runs[0].Sweep {
				t.Errorf("the sweep sent %d contracts, want %d: a run finds the others", n, c.late)
			}
			for i, job := range modernJobs {
				rows, listed := m.rows(job), map[string]bool{}
				for _, row := range expected[job] {
					m.expect(rows, row.key, row.after, row.why, row.flags)
					listed[row.key] = true
					if row.after == trade.Accepted && row.state != trade.Accepted {
						newly++
					}
				}
				for key := range rows {
					if !listed[key] {
						t.Errorf("%s is in the ledger, and nobody expects it", key)
					}
				}
				run, total := second.Runs[i], 0
				for _, n := range run.States {
					total += n
				}
				if run.InScope == nil || *run.InScope != total-*run.Gone || total != len(rows) || run.Stopped != nil {
					t.Errorf("second run does not add up: %+v", run)
				}
			}
			if n := len(m.api.CreatedOf()) - before; n != newly {
				t.Errorf("%d records were created overnight, want %d", n, newly)
			}
			if c.bodies == nil {
				want := m.requests(expected, func(r expectedRow) bool {
					return r.after == trade.Accepted && r.state != trade.Accepted
				})
				if diff := cmp.Diff(want, m.got(before)); diff != "" {
					t.Errorf("in the second run the platform got (-want +got):\n%s", diff)
				}
			}
			quiet("--sweep")
		})
	}
}

func (m *modern) expect(rows map[string]row, key string, state trade.State, cause, flags string) {
	m.t.Helper()
	r, ok := rows[key]
	got := ""
	if r.Cause != nil {
		got = *r.Cause
	}
	var names []string
	for _, f := range r.Flags {
		names = append(names, string(f))
	}
	if ok != (state != outOfScope) || r.State != state || got != cause || strings.Join(names, ",") != flags {
		m.t.Errorf("%s is %q (%s) with flags %v, want %q (%s) with %q", key, r.State, got, names, state, cause, flags)
	}
	if (r.State == trade.Accepted) != (r.RemoteID != nil) {
		m.t.Errorf("%s: state %s, remote id %v", key, r.State, r.RemoteID)
	}
}

func problemsOf(r row) string {
	var out []string
	if r.Error != nil {
		for _, f := range r.Error.Fields {
			out = append(out, f.Field+" "+f.Rule)
		}
	}
	return strings.Join(out, ", ")
}
