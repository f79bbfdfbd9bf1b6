package state

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// explainAll makes a server log the plan of every statement, also of those in triggers, and keep
// the statistics that it has: of a ledger that begins it has none.
const explainAll = `autovacuum = off
session_preload_libraries = 'auto_explain'
auto_explain.log_min_duration = 0
auto_explain.log_nested_statements = on
auto_explain.log_analyze = on
auto_explain.log_timing = off
`

// What finds, claims and settles rows goes through no table of a ledger that has grown: neither while
// the server knows nothing of the tables, with plans from the time when they were empty, nor when it
// knows them.
func TestSendingGoesThroughNoTableInPostgres(t *testing.T) {
	c := must.Get(pgtest.Start(explainAll))(t)
	t.Cleanup(func() { must.Do(t, c.Remove()) })
	s := keep(t, sqldb.OpenOptions{Driver: sqldb.Postgres, Begin: true, DSN: c.Database(t)}).s
	lease := mustLease(t, s, "contracts")
	const width = 8
	n := 0
	var settle []trade.Settlement
	find := func(rows int) {
		var page trade.Page
		for range rows {
			n++
			page.New = append(page.New, newEntry(fmt.Sprintf("01|%07d", n)))
		}
		must.Get(s.Record(t.Context(), lease, page))(t)
	}
	send := func(width int) {
		g := trade.Group{At: at, Settle: settle}
		settle = nil
		for _, e := range must.Get(s.Due(t.Context(), "contracts", at, 0, width))(t) {
			g.Intents = append(g.Intents, intentOf(e))
		}
		mustCommit(t, s, lease, g)
		for i, in := range g.Intents {
			in.Attempt.EntryID = in.Entry.ID
			settle = append(settle, created(in.Attempt, fmt.Sprintf("remote-%d-%d", n, i)))
		}
	}
	rows := regexp.MustCompile(`\(actual rows=(\d+)(?:\.\d+)? loops=(\d+)\)|Rows Removed by [\w ]+: (\d+)`)
	watch := func(name, when string, least int, step func()) {
		must.Get(s.db.Write.Exec(`SELECT '` + name + when + `'`))(t)
		step()
		_, log, whole := strings.Cut(c.Log.String(), name+when)
		if !whole || strings.Count(log, "Query Text") < least {
			t.Fatalf("%s: the log keeps %d bytes", when, len(log))
		}
		for _, m := range rows.FindAllStringSubmatch(log, -1) {
			for _, figure := range m[1:] {
				if rows, _ := strconv.Atoi(figure); rows > 40*width {
					t.Errorf("%s, %s: %d rows are read for %d: %s", name, when, rows, width, m[0])
				}
			}
		}
	}
	look := func(when string) {
		watch("find", when, 3, func() { find(width) })
		watch("send", when, 3, func() { send(width) })
	}
	many := func() {
		for range 20 {
			find(200)
			send(200)
		}
		find(width)
		send(width)
	}
	for range 20 { // the plans of prepared statements are made
		find(width)
		send(width)
	}
	look("in a ledger that begins")
	many()
	look("in a ledger that has grown, of which the server knows nothing")
	must.Get(s.db.Write.Exec(`ANALYZE`))(t)
	look("in a ledger that has grown")
	many()
	look("in a ledger that has doubled since its tables were analysed")
	for range 30 {
		find(1000)
	}
	must.Get(s.db.Write.Exec(`ANALYZE`))(t)
	watch("due", "behind thousands that wait", 1, func() {
		for range 2 { // the log has a statement when its connection takes the next one
			if last := must.Get(s.Due(t.Context(), "contracts", at, int64(n-1000), 8*width))(t); len(last) != 8*width {
				t.Errorf("%d rows are due", len(last))
			}
		}
	})
}
