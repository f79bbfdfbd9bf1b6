package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/mariatest"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/trade"
)

// recipe is a section of docs/recipes.pt-BR.md: its blocks of code, in their order.
type recipe struct {
	title  string
	blocks []struct{ language, text string }
}

var fence = regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$")

// recipes reads the page. The first of them is what all have in common.
func recipes(t *testing.T) []recipe {
	t.Helper()
	page := must.Get(os.ReadFile("../../docs/recipes.pt-BR.md"))(t)
	var out []recipe
	for _, section := range strings.Split(string(page), "\n## ") {
		title, _, _ := strings.Cut(section, "\n")
		r := recipe{title: title}
		for _, m := range fence.FindAllStringSubmatch(section, -1) {
			r.blocks = append(r.blocks, struct{ language, text string }{m[1], m[2]})
		}
		out = append(out, r)
	}
	return out
}

// recipeERP is an engine that every recipe is tried on: its name in the page's comments, its driver,
// an empty database, and how it writes the types of the page.
type recipeERP struct {
	name, driver string
	open         func(t *testing.T) (admin *sql.DB, dsn string)
	types        *strings.Replacer
}

var recipeERPs = []recipeERP{
	{"SQLite", "sqlite", func(t *testing.T) (*sql.DB, string) {
		file := filepath.Join(t.TempDir(), "erp.db")
		return openAdmin(t, "sqlite", file), file
	}, strings.NewReplacer()},
	{"PostgreSQL", "postgres", func(t *testing.T) (*sql.DB, string) {
		dsn := pgtest.Database(t)
		return openAdmin(t, "postgres", dsn), dsn
	}, strings.NewReplacer()},
	{"MariaDB", "mysql", func(t *testing.T) (*sql.DB, string) {
		server, name := mariatest.Database(t)
		who := url.UserPassword(mariatest.User, mariatest.Password)
		dsn := fmt.Sprintf("mysql://%s@%s/%s", who, server.Address(), name)
		return openAdmin(t, "mysql", server.AdminDSN(name)+"&multiStatements=true"), dsn
	}, strings.NewReplacer(" TEXT", " VARCHAR(40)", " NUMERIC", " NUMERIC(18,4)", " TIMESTAMP", " DATETIME")},
}

// otherLine is a line of a query, and below it as a comment what stands there on other engines.
var otherLine = regexp.MustCompile(`(?m)^( *)(\S.*)\n((?: *-- [A-Z].*: .*\n)+)`)

// config is a recipe's configuration for the engine, changed as the comments say.
func (e recipeERP) config(text string) string {
	text = strings.Replace(text, "driver: sqlite", "driver: "+e.driver, 1)
	return otherLine.ReplaceAllStringFunc(text, func(lines string) string {
		m := otherLine.FindStringSubmatch(lines)
		for comment := range strings.Lines(m[3]) {
			engines, line, _ := strings.Cut(strings.TrimLeft(comment, " -"), ": ")
			if slices.Contains(strings.Split(engines, ", "), e.name) {
				return m[1] + line
			}
		}
		return lines
	})
}

// What the recipes say goes to the platform, and what does not, is what happens: each ERP of the page
// is made in each of those engines, and its configuration is run as it stands there.
func TestTheRecipesDoWhatTheyPromise(t *testing.T) {
	t.Parallel()
	all := recipes(t)
	if len(all) < 9 || len(all[0].blocks) != 1 {
		t.Fatalf("%d recipes", len(all)-1)
	}
	for _, r := range all[1:] {
		for _, e := range recipeERPs {
			t.Run(r.title+"/"+e.name, func(t *testing.T) {
				t.Parallel()
				r.try(t, all[0].blocks[0].text, e)
			})
		}
	}
}

// try runs a recipe on an engine.
func (r recipe) try(t *testing.T, common string, e recipeERP) {
	db, dsn := e.open(t)
	m := newSample(t, sandbox.OpenWorld(), db, dsn, "")
	m.file = m.path("config.yaml")
	seen := map[string]bool{} // rows whose requests were looked at, and what is told of others
	told := map[string]string{}
	for i, b := range r.blocks {
		switch b.language {
		case "sql":
			m.exec(e.types.Replace(b.text))
		case "yaml":
			m.write("config.yaml", e.config(common+b.text))
			m.run(0, "state", "new")
			m.run(0, "check")
		case "json", "text":
			if r.blocks[i-1].language != "json" {
				m.sync("--sweep")
			}
			if b.language == "json" {
				m.wantRequests(b.text, seen)
			} else {
				maps.Copy(told, toldOf(b.text))
			}
		default:
			t.Errorf("a block in %s", b.language)
		}
		if last := i == len(r.blocks)-1 || r.blocks[i+1].language == "sql"; last && b.language != "sql" {
			m.wantRequests("{}", seen)
			if diff := cmp.Diff(told, m.remarkable()); diff != "" {
				t.Errorf("block %d: rows that are not simply sent (-page +ledger):\n%s", i+1, diff)
			}
			told = map[string]string{}
		}
	}
	if len(seen) == 0 {
		t.Error("nothing was sent")
	}
}

// toldOf are the lines of a page about rows: `contracts 104: invalid, rule:price`.
func toldOf(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		row, what, _ := strings.Cut(strings.TrimSpace(line), ": ")
		out[row] = what
	}
	return out
}

// remarkable are the rows that were not sent, and those with a flag.
func (m *modern) remarkable() map[string]string {
	m.t.Helper()
	out := map[string]string{}
	for _, r := range jsonLines[struct {
		row
		Job string `json:"job"`
	}](m.t, m.run(0, "rows", "--json")) {
		what := string(r.State)
		if r.Cause != nil {
			what += ", " + *r.Cause
		}
		for _, f := range r.Flags {
			what += ", " + string(f)
		}
		if what != string(trade.Accepted) {
			out[r.Job+" "+r.Key] = what
		}
	}
	return out
}

// wantRequests wants those requests to have gone that the page has and the test has not yet seen, no
// others; the page names those fields that matter.
func (m *modern) wantRequests(text string, seen map[string]bool) {
	m.t.Helper()
	var want map[string]map[string]any
	decode(m.t, []byte(text), &want)
	ids, known := map[string]string{}, []string{}
	for _, r := range jsonLines[struct {
		row
		Job string `json:"job"`
	}](m.t, m.run(0, "rows", "--json")) {
		if r.RemoteID != nil {
			ids[*r.RemoteID] = r.Job + " " + r.Key
			known = append(known, *r.RemoteID, "<"+r.Key+">")
		}
	}
	names := strings.NewReplacer(known...)
	got := map[string]map[string]any{}
	for _, r := range m.api.CreatedOf() {
		name := ids[r.ID]
		if seen[name] {
			continue
		}
		var body map[string]any
		decode(m.t, r.Body, &body)
		if c, ok := body["contract_id"].(string); ok {
			body["contract_id"] = names.Replace(c)
		}
		got[name] = map[string]any{}
		for field := range want[name] {
			got[name][field] = body[field]
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		m.t.Errorf("requests (-page +platform):\n%s", diff)
	}
	for _, name := range slices.Collect(maps.Keys(got)) {
		seen[name] = true
	}
}

// decode keeps numbers as they are written.
func decode(t *testing.T, raw []byte, to any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	if err := d.Decode(to); err != nil {
		t.Fatal(fmt.Errorf("%w in %s", err, raw))
	}
}
