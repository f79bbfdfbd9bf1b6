package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/cmd/safrasync/rows"
	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/trade"
)

// What explains must say what a run does: on each sample ERP, before a run and after it, row by
// row.
func TestB1WhatExplainsAgreesWithWhatSendsOnTheThreeSampleERPs(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testing.T) *modern{
		"modern":   func(t *testing.T) *modern { return newModern(t, "") },
		"protheus": func(t *testing.T) *modern { return newProtheus(t, pgtest.Database(t)) },
		"firebird": newFirebird,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := open(t)
			m.countsAgree("before the first run")
			m.sync()
			m.rowsAgree()
			// With a ledger of its own each row is new again, but what it hangs on was sent by
			// nobody.
			m.env["SAFRASYNC_STATE"] = filepath.Join(t.TempDir(), "other.db")
			m.run(0, "state", "new")
			m.countsAgree("with another ledger")
		})
	}
}

// explained is what `explain --json --rows` prints.
type explained struct {
	rows  map[string]trade.State // that do not go as they are
	total struct {
		Read, Cancelled, Unreadable, Double, Ready, Waiting, Invalid int
		DoubleKeys                                                   int `json:"double_keys"`
	}
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
			m.unmarshal(string(row.ERP), &out.total)
		}
	}
	return out
}

func (m *modern) unmarshal(text string, into any) {
	m.t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		m.t.Fatalf("%v in %s", err, text)
	}
}

// countsAgree compares explain with a dry run on a ledger without rows.
func (m *modern) countsAgree(when string) {
	m.t.Helper()
	var dry summary
	m.unmarshal(m.run(0, "sync", "--dry-run", "--json"), &dry)
	for _, run := range dry.Runs {
		e := m.explain(run.Job).total
		if run.WouldSend == nil || run.WouldSend.Rows != run.States[trade.Pending] || run.WouldSend.Rows > 0 &&
			len(run.WouldSend.Quantities) == 0 {
			m.t.Errorf("%s, %s: %d pending, would send %+v", when, run.Job, run.States[trade.Pending], run.WouldSend)
		}
		got := []int{
			run.States[trade.Pending], run.States[trade.Waiting], run.States[trade.Invalid],
			run.States[trade.Held], run.Unreadable,
		}
		if want := []int{e.Ready, e.Waiting, e.Invalid, e.DoubleKeys, e.Unreadable}; !slices.Equal(got, want) {
			m.t.Errorf("%s, %s: pending, waiting, invalid, held and unreadable are %d in the dry run, %d in explain",
				when, run.Job, got, want)
		}
		if sum := e.Ready + e.Waiting + e.Invalid + e.Double + e.Cancelled + e.Unreadable; sum != e.Read {
			m.t.Errorf("%s, %s: explain counts %d of %d rows", when, run.Job, sum, e.Read)
		}
	}
}

// rowsAgree compares, after a run, each row of the ledger with what preview, why, test and explain
// say of it.
func (m *modern) rowsAgree() {
	m.t.Helper()
	for _, job := range modernJobs {
		explained := m.explain(job).rows
		for key, row := range m.rows(job) {
			var detail struct {
				State   trade.State
				Cause   *string
				Payload json.RawMessage
			}
			m.unmarshal(m.run(0, "rows", "show", job, key, "--json"), &detail)
			var preview struct {
				State     trade.State
				Cause     string
				Cancelled bool
				Request   json.RawMessage
			}
			text := m.run(0, "preview", job, key, "--json")
			m.unmarshal(text, &preview)
			var why struct{ Preview json.RawMessage }
			m.unmarshal(m.run(0, "why", job, key, "--json"), &why)
			if strings.TrimSpace(text) != string(why.Preview) {
				m.t.Errorf("%s %s: preview says\n%s, why\n%s", job, key, text, why.Preview)
			}
			want := row.State
			switch row.State {
			case trade.Accepted, trade.Rejected, trade.InDoubt: // it went like this
				want = trade.Pending
				if !bytes.Equal(preview.Request, detail.Payload) {
					m.t.Errorf("%s %s: it went as\n%s, and preview says\n%s", job, key, detail.Payload, preview.Request)
				}
			}
			if preview.State != want || preview.Cancelled || want != trade.Pending && preview.Cause != *row.Cause {
				m.t.Errorf("%s %s is %s (%v), and preview says %s (%s), cancelled %t", job, key, row.State, row.Cause,
					preview.State, preview.Cause, preview.Cancelled)
			}
			if said, ok := explained[key]; want == trade.Held && row.Cause != nil &&
				*row.Cause == trade.CauseDuplicateKey {
				m.run(1, "test", "--from", job, key, filepath.Join(m.t.TempDir(), "case.yaml"))
				continue
			} else if ok && said != want || !ok && want != trade.Pending {
				m.t.Errorf("%s %s is %s, and explain says %q", job, key, row.State, said)
			}
			file := filepath.Join(m.t.TempDir(), "case.yaml")
			m.run(0, "test", "--from", job, key, file)
			m.run(0, "test", file)
			c, err := rows.LoadCase(file)
			if err != nil {
				m.t.Fatal(err)
			}
			expects := c.Expected()
			left := map[string]json.RawMessage{}
			if want == trade.Pending {
				m.unmarshal(string(detail.Payload), &left)
			}
			for field, raw := range left {
				if expects.Payload[field] != rows.PlainJSON(raw) {
					m.t.Errorf("%s %s: %s went as %s, and a case of it has %s", job, key, field, raw,
						expects.Payload[field])
				}
			}
			if expects.Cancelled || (expects.Payload != nil) != (want == trade.Pending) || want == trade.Invalid &&
				len(expects.Problems) == 0 {
				m.t.Errorf("%s %s is %s, and a case of it expects %+v", job, key, want, expects)
			}
		}
	}
}
