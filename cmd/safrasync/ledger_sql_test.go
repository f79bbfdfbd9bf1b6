package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jmoiron/sqlx"
	_ "github.com/lib/pq"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// The questions of docs/ledger-sql.pt-BR.md are answered alike by both databases, and by Debian's
// sqlite3.
func TestTheQuestionsOfTheManualAreAnswered(t *testing.T) {
	page := must.Get(os.ReadFile("../../docs/ledger-sql.pt-BR.md"))(t)
	var questions []string
	for _, m := range regexp.MustCompile("(?s)```sql\n(.*?)\n```").FindAllStringSubmatch(string(page), -1) {
		questions = append(questions, m[1])
	}
	if len(questions) != 10 {
		t.Fatalf("the page has %d questions", len(questions))
	}
	for _, on := range []string{state.SQLite, state.Postgres} {
		t.Run(on, func(t *testing.T) {
			s := newService(t, on, false)
			s.must(0, "sync")
			// the lines of a statement's result, by the sqlite3 of the system; of PostgreSQL their first cells
			ask := func(query string) (lines []string) {
				t.Helper()
				if on == state.SQLite {
					out, err := exec.Command("sqlite3", "-readonly", s.ledger.DSN, query).CombinedOutput()
					if err != nil {
						t.Fatalf("%s: %v: %s", query, err, out)
					}
					return strings.FieldsFunc(string(out), func(r rune) bool { return r == '\n' })
				}
				rows, err := sqlx.NewDb(openAdmin(t, "postgres", s.ledger.DSN), "postgres").Queryx(query)
				if err != nil {
					t.Fatalf("%s: %v", query, err)
				}
				for rows.Next() {
					cells := must.Get(rows.SliceScan())(t)
					lines = append(lines, fmt.Sprintf("%s", cells[0]))
				}
				if err := rows.Err(); err != nil {
					t.Fatalf("%s: %v", query, err)
				}
				return lines
			}
			for i, q := range questions {
				answer := ask(q)
				if len(answer) == 0 && !slices.Contains([]int{3, 7}, i) { // nothing is in doubt, or has changed
					t.Errorf("no answer to %s", q)
				}
			}
			counts := ask(`SELECT situacao || ' ' || COUNT(*) FROM linhas GROUP BY situacao ORDER BY situacao`)
			again := ask(`SELECT state || ' ' || COUNT(*) FROM rows GROUP BY state ORDER BY state`)
			var want, wantAgain []string
			for _, line := range strings.Split(strings.TrimSpace(s.must(0, "rows", "--json")), "\n") {
				for _, st := range trade.States {
					if strings.Contains(line, fmt.Sprintf(`"state":%q`, st)) {
						want, wantAgain = append(want, st.Label(trade.Portuguese)),
							append(wantAgain, st.Label(trade.English))
					}
				}
			}
			if diff := cmp.Diff(countOf(want), counts); diff != "" {
				t.Errorf("linhas (-rows --json +view):\n%s", diff)
			}
			if diff := cmp.Diff(countOf(wantAgain), again); diff != "" {
				t.Errorf("rows (-rows --json +view):\n%s", diff)
			}
			at := ask(
				`SELECT first_seen_at || ' ' || vista_em FROM linhas JOIN entry ON id = linha ORDER BY id LIMIT 1`)[0]
			millis, seen, _ := strings.Cut(at, " ")
			var n int64
			must.Get(fmt.Sscan(millis, &n))(t)
			zone := must.Get(time.LoadLocation("America/Sao_Paulo"))(t)
			if want := time.UnixMilli(n).In(zone).Format("2006-01-02 15:04:05"); seen != want {
				t.Errorf("a row was seen at %s, the view says %s", want, seen)
			}
		})
	}
}

func countOf(texts []string) (out []string) {
	n := map[string]int{}
	for _, text := range texts {
		n[text]++
	}
	for text, count := range n {
		out = append(out, fmt.Sprintf("%s %d", text, count))
	}
	slices.Sort(out)
	return out
}
