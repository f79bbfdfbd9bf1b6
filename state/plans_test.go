package state

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// listener writes down what statements a ledger asks of its database.
type listener struct {
	mu    sync.Mutex
	asked map[string]string // by the statement, with its arguments counted only: the call that asked for it
	call  string

	before func(query string) // is called before each that reads; nil: nothing is
}

func (l *listener) through(c driver.Connector) driver.Connector { return heard{c, l} }

func (l *listener) hear(query string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.asked[query]; !known && l.call != "" {
		l.asked[query] = l.call
	}
}

type heard struct {
	driver.Connector
	l *listener
}

func (h heard) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := h.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return heardConn{conn, h.l}, nil
}

// heardConn is a connection that is listened to; both drivers have all of these methods.
type heardConn struct {
	driver.Conn
	l *listener
}

func (c heardConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	return c.Conn.(driver.ConnBeginTx).BeginTx(ctx, opts)
}

func (c heardConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if c.l.before != nil {
		c.l.before(query)
	}
	c.l.hear(query)
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
}

func (c heardConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	c.l.hear(query)
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
}

// wholeJob matches a step that goes through all entries of a job, or the whole table, in SQLite's
// plans.
var wholeJob = regexp.MustCompile(
	`^SCAN (e|entry|b|body|a|attempt|s|sent|former|x|exchange)\b|USING (COVERING )?INDEX entry_(swept|due|one_key|cause|flags) \(job=\?\)$`)

// inOrder are the calls that are to go through a job in the order of its numbers: in the index that
// has what they select by, and nowhere else.
var inOrder = []string{"EachSwept", "Rows", "Rows since", "Rows by flag", "Arrivals"}

// What runs do although nothing has changed, and what people ask for, finds what it looks for by an
// index: no statement goes through the entries of a job, whatever statistics the database has.
func TestNoStatementOfAPassGoesThroughTheLedger(t *testing.T) {
	t.Parallel()
	l := &listener{asked: map[string]string{}}
	tune := sqldb.DefaultTuning
	tune.Through = l.through
	s := mustOpenTuned(t, backends[0].open(t), tune)
	rolled(t, s, 300)
	lease := mustLease(t, s, "more")
	entry := mustRecord(t, s, lease, newEntry("1"))[0]
	none := func(trade.Entry) error { return nil }
	now := time.Now()
	job := "contracts"
	for call, fn := range map[string]func(context.Context) error{
		"Stale": func(ctx context.Context) error {
			return s.Stale(ctx, job, "m", []trade.State{trade.Waiting, trade.Invalid, trade.Rejected, trade.Pending},
				none)
		},
		"Orphans": func(ctx context.Context) error {
			return s.Orphans(ctx, job, func([]trade.Entry) error { return nil })
		},
		"Arrivals": func(ctx context.Context) error { _, err := s.Arrivals(ctx, job, 1<<40, 5); return err },
		"Due":      func(ctx context.Context) error { _, err := s.Due(ctx, job, now, 0, 64); return err },
		"DueKeys":  func(ctx context.Context) error { _, err := s.DueKeys(ctx, job, nil, now); return err },
		"DueKeys of some": func(ctx context.Context) error {
			_, err := s.DueKeys(ctx, job, []string{"a"}, now)
			return err
		},
		"NewContents": func(ctx context.Context) error {
			_, err := s.NewContents(ctx, job, trade.Pending, 0, 64)
			return err
		},
		"Unread": func(ctx context.Context) error { _, err := s.Unread(ctx, job); return err },
		"Counts": func(ctx context.Context) error { _, err := s.Counts(ctx, job); return err },
		"Known":  func(ctx context.Context) error { _, err := s.Known(ctx, job, []string{"a", "b"}); return err },
		"Parents": func(ctx context.Context) error {
			_, err := s.Parents(ctx, []trade.ParentKey{{Job: job, Key: "a"}})
			return err
		},
		"Records": func(ctx context.Context) error {
			_, _, err := s.Records(ctx, trade.RecordQuery{
				Job: job, Kind: "x", Keys: []string{"a"}, IDs: []int64{1}, Rows: []int64{1}, Seen: []int64{1},
				Prints: []trade.Prints{{Cells: trade.HashOf("b")}}, Pairs: [3][]int64{{1}, {1}, {1}},
			})
			return err
		},
		"Unsent": func(ctx context.Context) error {
			_, err := s.Unsent(ctx, "x", []trade.Hash{trade.HashOf("b")})
			return err
		},
		"EachSwept": func(ctx context.Context) error { return s.EachSwept(ctx, job, func(*trade.Known) {}) },
		"Recover":   func(ctx context.Context) error { _, err := s.Recover(ctx, lease, now); return err },
		"Wake":      func(ctx context.Context) error { _, err := s.Wake(ctx, lease, now); return err },
		"Stuck":     func(ctx context.Context) error { _, err := s.Stuck(ctx, job); return err },
		"Jobs":      func(ctx context.Context) error { _, err := s.Jobs(ctx); return err },
		"Ages":      func(ctx context.Context) error { _, err := s.Ages(ctx, job); return err },
		"Entry":     func(ctx context.Context) error { _, err := s.Entry(ctx, "more", entry.Key); return err },
		"Attempts":  func(ctx context.Context) error { _, err := s.Attempts(ctx, entry.ID); return err },
		"Rows":      func(ctx context.Context) error { return s.Rows(ctx, trade.RowQuery{}, none) },
		"Rows by state": func(ctx context.Context) error {
			return s.Rows(ctx, trade.RowQuery{States: []trade.State{trade.Held}}, none)
		},
		"Rows by states": func(ctx context.Context) error {
			return s.Rows(ctx, trade.RowQuery{States: []trade.State{trade.Held, trade.Invalid}}, none)
		},
		"Rows by flag": func(ctx context.Context) error {
			return s.Rows(ctx, trade.RowQuery{
				Flags:  []trade.Flag{trade.Changed},
				States: []trade.State{trade.Accepted, trade.Held},
			}, none)
		},
		"Rows by cause": func(ctx context.Context) error {
			return s.Rows(ctx, trade.RowQuery{Causes: []string{"exists"}}, none)
		},
		"Rows by key": func(ctx context.Context) error { return s.Rows(ctx, trade.RowQuery{Key: "a"}, none) },
		"Rows since": func(ctx context.Context) error {
			return s.Rows(ctx, trade.RowQuery{Jobs: []string{job}, From: now}, none)
		},
		"PlanRetention": func(ctx context.Context) error {
			_, err := s.PlanRetention(ctx, Retention{Bodies: time.Hour}, now)
			return err
		},
		"ReleaseLease": func(ctx context.Context) error { return s.ReleaseLease(ctx, lease) },
		"Awaiting":     func(ctx context.Context) error { return s.Awaiting(ctx, job, "x", none) },
		"Watch": func(ctx context.Context) error {
			_, err := s.Watch(ctx, job, "boot", time.Hour)
			return err
		},
		"Record nothing": func(ctx context.Context) error { _, err := s.Cursor(ctx, job); return err },
	} {
		l.call = call
		// the one that gives the lease back may come first
		if err := fn(t.Context()); err != nil && !errors.Is(err, trade.ErrLeaseLost) {
			t.Errorf("%s: %v", call, err)
		}
	}
	l.call = ""
	if len(l.asked) < 25 {
		t.Fatalf("%d statements were heard: %v", len(l.asked), l.asked)
	}
	for query, call := range l.asked {
		var steps []struct {
			ID, Parent, NotUsed int
			Detail              string
		}
		args := make([]any, strings.Count(query, "?"))
		rows, err := s.db.Read.Queryx("EXPLAIN QUERY PLAN "+query, args...)
		if err != nil {
			t.Errorf("%s: %v: %s", call, err, query)
			continue
		}
		for rows.Next() {
			var step struct {
				ID, Parent, NotUsed int
				Detail              string
			}
			must.Do(t, rows.Scan(&step.ID, &step.Parent, &step.NotUsed, &step.Detail))
			steps = append(steps, step)
		}
		must.Do(t, rows.Close())
		for _, step := range steps {
			if strings.Contains(step.Detail, "INDEX entry_swept (job=? AND id>?") &&
				(!slices.Contains(inOrder, call) || !strings.Contains(step.Detail, "COVERING")) {
				t.Errorf("%s goes through the job: %s\n%s", call, step.Detail, strings.Join(strings.Fields(query), " "))
			}
			if wholeJob.MatchString(step.Detail) && !strings.Contains(query, "MIN(id)") &&
				!strings.Contains(query, "MAX(id)") && !strings.Contains(query, "LIMIT 1") {
				t.Errorf("%s: %s\n%s", call, step.Detail, strings.Join(strings.Fields(query), " "))
			}
		}
	}
}

// A list is a scan of narrow tables: of an entry only what an index has is read, never the whole row.
func TestAListReadsNarrowTablesAlone(t *testing.T) {
	t.Parallel()
	l := &listener{asked: map[string]string{}}
	tune := sqldb.DefaultTuning
	tune.Through, tune.Few = l.through, 20
	s := mustOpenTuned(t, backends[0].open(t), tune)
	fillLarge(t, s, 1000)
	var queries []trade.RowQuery
	worth := trade.NewDecimal(1, 0)
	orders := append([]trade.RowSort{trade.NewestFirst, trade.OldestFirst, trade.ByKey}, trade.Columns...)
	for _, sort := range orders {
		for _, q := range []trade.RowQuery{
			{},
			{States: []trade.State{trade.Accepted}},
			{States: []trade.State{trade.Invalid, trade.Accepted}, From: at},
			{Causes: []string{"exists"}, Flags: []trade.Flag{trade.Changed}},
			{Text: "1"},
			{Text: "|0000"},
			{Facts: trade.FactQuery{Product: "SOJA", WorthFrom: &worth}, States: []trade.State{trade.Accepted}},
		} {
			q.Sort, q.Limit = sort, 50
			queries = append(queries, q)
		}
	}
	l.call = "page"
	for _, q := range queries {
		_, _, err := s.RowKeys(t.Context(), q)
		must.Do(t, err)
		must.Get(s.RowSums(t.Context(), q, true))(t)
	}
	must.Get(s.Stuck(t.Context(), "contracts"))(t)
	must.Get(s.StuckStates(t.Context(), "contracts"))(t)
	must.Get(s.Counts(t.Context(), "contracts"))(t)
	l.call = ""
	scans := 0
	for query := range l.asked {
		if strings.HasPrefix(query, "SELECT job, key") { // of the rows of one page
			continue
		}
		for _, step := range planOf(t, s, query) {
			if !strings.HasPrefix(step, "SEARCH e ") && !strings.HasPrefix(step, "SCAN e ") &&
				!strings.HasPrefix(step, "SEARCH entry ") && !strings.HasPrefix(step, "SCAN entry ") {
				continue
			}
			scans++
			if !strings.Contains(step, "USING COVERING INDEX") {
				t.Errorf("%s\n%s", step, query)
			}
		}
	}
	if scans < 20 {
		t.Errorf("%d scans", scans)
	}
}

// planOf returns the steps of a statement in SQLite's plan.
func planOf(t *testing.T, s *Store, query string) (details []string) {
	t.Helper()
	rows := must.Get(s.db.Read.Queryx("EXPLAIN QUERY PLAN "+query, make([]any, strings.Count(query, "?"))...))(t)
	for rows.Next() {
		details = append(details, fmt.Sprint(must.Get(rows.SliceScan())(t)[3]))
	}
	must.Do(t, rows.Close())
	return details
}

// A ledger that is too large to be read at each start is not: the check says so.
func TestACheckLooksForDamageOnlyForAMoment(t *testing.T) {
	t.Parallel()
	tune := sqldb.DefaultTuning
	tune.Check = 1
	s := mustOpenTuned(t, backends[0].open(t), tune)
	findings := must.Get(s.Health(t.Context()))(t)
	for _, f := range findings {
		if f.Name == "quick_check" {
			if !f.OK || !strings.Contains(f.Value.String(), "safrasync doctor") {
				t.Errorf("%+v", f)
			}
			return
		}
	}
	t.Error(fmt.Sprint("no quick check in ", findings))
}

// SQLite makes a table of a list of three and more for each row whose rule, or whose place in an
// index, it looks at.
func TestNoRuleOfARowIsAList(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, backends[0].open(t))
	var texts []string
	if err := s.db.Read.SelectContext(t.Context(), &texts,
		`SELECT sql FROM sqlite_master WHERE tbl_name IN ('entry', 'sent', 'former') AND type IN ('table', 'index') AND sql IS NOT NULL`); err != nil || len(texts) < 15 {
		t.Fatal(len(texts), err)
	}
	long := regexp.MustCompile(`\bIN\s*\([^(),]*,[^(),]*,`)
	for _, text := range texts {
		if list := long.FindString(text); list != "" {
			t.Errorf("%s\nhas a list: %s", text, list)
		}
	}
}
