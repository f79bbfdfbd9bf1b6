package main

import (
	"strings"

	"github.com/safrasync/safrasync/trade"
)

// expectFirstRun checks every row of every job after the first run against its expectation, and
// that the run sent and counted what that means.
func (m *modern) expectFirstRun(first summary, tables map[string][]modernRow) {
	m.t.Helper()
	for i, job := range modernJobs {
		rows := m.rows(job)
		sent := 0
		for _, c := range tables[job] {
			m.expect(rows, c.key, c.state, c.cause, "")
			switch c.state {
			case trade.Accepted, trade.Rejected:
				sent++
			case trade.Invalid:
				if got := problemsOf(rows[c.key]); got != c.rule {
					m.t.Errorf("%s: problems %q, want %q", c.key, got, c.rule)
				}
			}
		}
		m.expectNoOthers(rows, tables[job])
		if run := first.Runs[i]; run.Job != job || run.Sent != sent || !run.Sweep || *run.InScope != len(rows) ||
			*run.Gone != 0 || run.Unreadable != 0 || run.Stopped != nil {
			m.t.Errorf("first run %+v, want %d sent and %d in scope", run, sent, len(rows))
		}
	}
}

// expectSecondRun checks every row after what happened in the ERP overnight, and that the sweep
// adds up.
func (m *modern) expectSecondRun(second summary, tables map[string][]modernRow) {
	m.t.Helper()
	for i, job := range modernJobs {
		rows := m.rows(job)
		run, total := second.Runs[i], 0
		for _, c := range tables[job] {
			m.expect(rows, c.key, c.after, c.why, c.flags)
		}
		m.expectNoOthers(rows, tables[job])
		for _, n := range run.States {
			total += n
		}
		if run.InScope == nil || *run.InScope != total-*run.Gone || total != len(rows) || run.Stopped != nil {
			m.t.Errorf("second run does not add up: %+v", run)
		}
	}
}

// expectNoOthers wants each row of the ledger to be in the table.
func (m *modern) expectNoOthers(rows map[string]row, table []modernRow) {
	m.t.Helper()
	named := map[string]bool{}
	for _, c := range table {
		if named[c.key] {
			m.t.Errorf("%s stands twice in the table", c.key)
		}
		named[c.key] = true
	}
	for key := range rows {
		if !named[key] {
			m.t.Errorf("%s is in the ledger, and nobody expects it", key)
		}
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
