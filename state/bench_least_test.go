package state

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/must"
)

// BenchmarkLeast is a yardstick for BenchmarkGroup: two narrow tables, the key and the platform's
// id unique, one statement for all rows of a group, and nothing else: no rules, no journal, no
// sums, nothing that a person could read. No ledger in SQLite takes less.
func BenchmarkLeast(b *testing.B) {
	for _, width := range []int{32, 128, 512} {
		b.Run(fmt.Sprint(width), func(b *testing.B) {
			db := must.Get(sql.Open("sqlite", "file:"+filepath.Join(b.TempDir(), "l.db")+
				"?_pragma=journal_mode%28WAL%29&_pragma=synchronous%28FULL%29&_txlock=immediate"))(b)
			db.SetMaxOpenConns(1)
			b.Cleanup(func() { _ = db.Close() })
			for _, text := range leastTables {
				must.Get(db.ExecContext(b.Context(), text))(b)
			}
			compiled := map[string]*sql.Stmt{}
			for _, text := range []string{leastRecord, leastEnd, leastAccept, leastAttempt, leastBegin} {
				compiled[text] = must.Get(db.PrepareContext(b.Context(), text))(b)
			}
			run := func(t *sql.Tx, text string, rows [][]any) {
				list, err := json.Marshal(rows)
				if err == nil {
					_, err = t.StmtContext(b.Context(), compiled[text]).ExecContext(b.Context(), string(list))
				}
				must.Do(b, err)
			}
			commit := func(fn func(*sql.Tx)) {
				t, err := db.BeginTx(b.Context(), nil)
				if err == nil {
					fn(t)
					err = t.Commit()
				}
				must.Do(b, err)
			}
			payload, answer := `{"x":"`+strings.Repeat("p", 500)+`"}`, `{"id":"`+strings.Repeat("a", 250)+`"}`
			n := 0
			var before [][]any
			var spent time.Duration
			for b.Loop() {
				page, group := make([][]any, width), make([][]any, width)
				for i := range width {
					n++
					page[i], group[i] = []any{n, fmt.Sprintf("01|%07d", n), payload},
						[]any{n, fmt.Sprintf("%032x", n*7919), answer}
				}
				from := cpuTime()
				commit(func(t *sql.Tx) { run(t, leastRecord, page) })
				commit(func(t *sql.Tx) {
					run(t, leastEnd, before)
					run(t, leastAccept, before)
					run(t, leastAttempt, group)
					run(t, leastBegin, group)
				})
				spent += cpuTime() - from
				before = group
			}
			b.ReportMetric(float64(spent.Microseconds())/float64(n), "cpu-µs/row")
		})
	}
}

var leastTables = []string{
	`CREATE TABLE entry (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, state TEXT NOT NULL, remote_id TEXT UNIQUE, payload TEXT NOT NULL) STRICT`,
	`CREATE TABLE attempt (id INTEGER PRIMARY KEY, entry_id INTEGER NOT NULL UNIQUE, outcome TEXT, answer TEXT) STRICT`,
}

// The statements of leastTables: a page is recorded; a group is settled, and the next one claimed.
// Each has a list of lists: number, key or id, payload or answer.
const (
	leastRecord  = `INSERT INTO entry (id, key, state, payload) SELECT value ->> 0, value ->> 1, 'pending', value ->> 2 FROM json_each(?)`
	leastEnd     = `UPDATE attempt SET outcome = 'created', answer = v.value ->> 2 FROM json_each(?) v WHERE attempt.id = v.value ->> 0`
	leastAccept  = `UPDATE entry SET state = 'accepted', remote_id = v.value ->> 1 FROM json_each(?) v WHERE entry.id = v.value ->> 0`
	leastAttempt = `INSERT INTO attempt (id, entry_id) SELECT value ->> 0, value ->> 0 FROM json_each(?)`
	leastBegin   = `UPDATE entry SET state = 'sending' FROM json_each(?) v WHERE entry.id = v.value ->> 0`
)
