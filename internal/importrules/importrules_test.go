package importrules

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
)

func TestTheRepositoryKeepsItsImportRules(t *testing.T) {
	t.Parallel()
	sources := readRepository(t)
	if len(sources) == 0 {
		t.Fatal("no Go files were found: the test looks at the wrong folder")
	}
	for _, violation := range check(sources) {
		t.Error(violation)
	}
}

func TestEveryRuleHasAReasonAndNamesFoldersThatHaveRules(t *testing.T) {
	t.Parallel()
	for folder, r := range rules {
		if r.reason == "" {
			t.Errorf("the rule of %s gives no reason", folder)
		}
		for _, target := range slices.Concat(r.may, r.testsMay, r.outerTestsMay) {
			if _, ok := rules[target]; !ok && target != "*" {
				t.Errorf("the rule of %s names %s, which has no rule: a slip of the pen?", folder, target)
			}
		}
	}
}

// TestAViolationIsFound proves on an imagined repository that each rule can fail, and that what the
// design allows passes.
func TestAViolationIsFound(t *testing.T) {
	t.Parallel()
	ours := func(folder string) imp { return imp{path: module + "/" + folder} }
	engine := imp{name: "engine", path: module + "/sync"}
	tests := map[string]struct {
		source source
		want   string // a part of the only violation; empty = none
	}{
		"trade imports nothing of ours": {source{
			file: "trade/a.go", pkg: "trade",
			imports: []imp{ours("erp")},
		}, "trade must not import erp"},
		"trade may import modules of others": {source{
			file: "trade/a.go", pkg: "trade",
			imports: []imp{{path: "github.com/shopspring/decimal"}},
		}, ""},
		"trade's tests neither": {source{
			file: "trade/a_test.go", pkg: "trade_test",
			imports: []imp{ours("state")},
		}, "trade must not import state"},
		"an outer test may import its own package": {source{
			file: "trade/a_test.go", pkg: "trade_test",
			imports: []imp{ours("trade")},
		}, ""},
		"erp does not import trade": {source{
			file: "erp/a.go", pkg: "erp",
			imports: []imp{ours("trade")},
		}, "erp must not import trade"},
		"erp's tests may use pgtest": {source{
			file: "erp/a_test.go", pkg: "erp",
			imports: []imp{ours("internal/pgtest")},
		}, ""},
		"a subfolder obeys the rule above it": {source{
			file: "erp/other/a.go", pkg: "other",
			imports: []imp{ours("state")},
		}, "erp/other must not import state"},
		"a subfolder may import its own tree": {source{
			file: "erp/other/a.go", pkg: "other",
			imports: []imp{ours("erp")},
		}, ""},
		"the reader knows any engine": {source{
			file: "erp/a.go", pkg: "erp",
			imports: []imp{ours("erp/dialect/db2")},
		}, ""},
		"an engine does not know its neighbour": {source{
			file: "erp/dialect/db2/a.go", pkg: "db2",
			imports: []imp{ours("erp/dialect/mysql")},
		}, "erp/dialect/db2 must not import erp/dialect/mysql"},
		"an engine does not know the reader": {source{
			file: "erp/dialect/db2/a.go", pkg: "db2",
			imports: []imp{ours("erp")},
		}, "erp/dialect/db2 must not import erp: "},
		"an engine's outer tests do": {source{
			file: "erp/dialect/db2/a_test.go", pkg: "db2_test",
			imports: []imp{ours("erp"), ours("erp/erptest")},
		}, ""},
		"a driver is imported by its engine": {source{
			file: "erp/dialect/db2/a.go", pkg: "db2",
			imports: []imp{{path: "github.com/lib/pq"}},
		}, ""},
		"and by nobody else in the reader": {source{
			file: "erp/dialect/a.go", pkg: "dialect",
			imports: []imp{{path: "github.com/lib/pq"}},
		}, "erp/dialect must not import github.com/lib/pq"},
		"callers reach the reader through erp": {source{
			file: "cmd/safrasync/a.go", pkg: "main",
			imports: []imp{ours("erp/dialect/mysql")},
		}, "cmd/safrasync must not import erp/dialect/mysql"},
		"the client does not import the sandbox": {source{
			file: "apiclient/a.go", pkg: "apiclient",
			imports: []imp{ours("apiclient/sandbox")},
		}, "must not import apiclient/sandbox"},
		"nor do its inner tests": {source{
			file: "apiclient/a_test.go", pkg: "apiclient",
			imports: []imp{ours("apiclient/sandbox")},
		}, "must not import apiclient/sandbox"},
		"its outer tests may": {source{
			file: "apiclient/a_test.go", pkg: "apiclient_test",
			imports: []imp{ours("apiclient/sandbox")},
		}, ""},
		"the sandbox does not import the client": {source{
			file: "apiclient/sandbox/a.go", pkg: "sandbox",
			imports: []imp{ours("apiclient")},
		}, "apiclient/sandbox must not import apiclient: "},
		"nor do the sandbox's tests": {source{
			file: "apiclient/sandbox/a_test.go", pkg: "sandbox_test",
			imports: []imp{ours("apiclient")},
		}, "apiclient/sandbox must not import apiclient: "},
		"the sandbox's tests may use the rows": {source{
			file: "apiclient/sandbox/a_test.go", pkg: "sandbox_test",
			imports: []imp{ours("internal/apidoc")},
		}, ""},
		"the rows stay out of the binary": {source{
			file: "cmd/safrasync/a.go", pkg: "main",
			imports: []imp{ours("internal/apidoc")},
		}, "cmd/safrasync must not import internal/apidoc"},
		"state may import trade": {source{
			file: "state/a.go", pkg: "state",
			imports: []imp{ours("trade")},
		}, ""},
		"state does not import sync": {
			source{file: "state/a.go", pkg: "state", imports: []imp{engine}},
			"state must not import sync",
		},
		"sqldb knows no entries": {source{
			file: "state/sqldb/a.go", pkg: "sqldb",
			imports: []imp{ours("state")},
		}, "state/sqldb must not import state:"},
		"cmd does not look behind state": {source{
			file: "cmd/safrasync/a.go", pkg: "main",
			imports: []imp{ours("state/sqldb")},
		}, "cmd/safrasync must not import state/sqldb"},
		"console does not import state": {source{
			file: "console/a.go", pkg: "console",
			imports: []imp{ours("state")},
		}, "console must not import state"},
		"sync may import trade, erp and apiclient": {source{
			file: "sync/a.go", pkg: "sync",
			imports: []imp{ours("trade"), ours("erp"), ours("apiclient")},
		}, ""},
		"sync does not import state": {source{
			file: "sync/a.go", pkg: "sync",
			imports: []imp{ours("state")},
		}, "sync must not import state"},
		"sync's tests may import state and sandbox": {source{
			file: "sync/a_test.go", pkg: "sync_test",
			imports: []imp{ours("state"), ours("apiclient/sandbox")},
		}, ""},
		"cmd does not know the ledger": {source{
			file: "cmd/safrasync/a.go", pkg: "main",
			imports: []imp{ours("state")},
		}, "cmd/safrasync must not import state"},
		"its tests may look into it": {source{
			file: "cmd/safrasync/a_test.go", pkg: "main",
			imports: []imp{ours("state"), ours("apiclient/sandbox"), engine},
		}, ""},
		"a command does not open the ledger": {source{
			file: "cmd/safrasync/commands/a.go", pkg: "commands", text: "store, err := a.OpenLedger(ctx, cli.ToRead)",
		}, "opens the ledger"},
		"a command does not ask the engine": {source{
			file: "cmd/safrasync/commands/a.go", pkg: "commands", text: "v, err := dryrun.Try(job, c)",
			imports: []imp{ours("sync/dryrun")},
		}, "calls dryrun.Try"},
		"nor does a page": {source{
			file: "console/pages/a.go", pkg: "pages", text: "plan, err := acts.Plan(order)",
			imports: []imp{ours("sync/acts")},
		}, "calls acts.Plan"},
		"it may look up the table of acts": {source{
			file: "console/pages/a.go", pkg: "pages", text: "if acts.RoleOf(name) == acts.RoleOf(other) {",
			imports: []imp{ours("sync/acts")},
		}, ""},
		"the doctor does": {source{
			file: "cmd/safrasync/maintenance/a.go", pkg: "maintenance", text: "store, err := a.OpenLedger(ctx, cli.ToRead)",
		}, ""},
		"pgtest stays out of the binary": {source{
			file: "cmd/safrasync/a.go", pkg: "main",
			imports: []imp{ours("internal/pgtest")},
		}, "cmd/safrasync must not import internal/pgtest"},
		"sync is called engine": {source{
			file: "cmd/safrasync/a.go", pkg: "main",
			imports: []imp{ours("sync")},
		}, "write engine"},
		"sync is called engine in its outer tests": {source{
			file: "sync/a_test.go", pkg: "sync_test",
			imports: []imp{ours("sync")},
		}, "write engine"},
		"a folder without a rule may import nothing": {source{
			file: "newcomer/a.go", pkg: "newcomer",
			imports: []imp{ours("trade")},
		}, "the folder has no rule"},
		"no cgo": {
			source{file: "trade/a.go", pkg: "trade", imports: []imp{{path: "C"}}},
			"uses cgo",
		},
		"no idempotency key": {source{
			file: "apiclient/a.go", pkg: "apiclient",
			text: "X-IDEMPOTENCY-key",
		}, "names the header"},
		"the sandbox may refuse one": {source{
			file: "apiclient/sandbox/a.go", pkg: "sandbox",
			text: "Idempotency-Key",
		}, ""},
		"a test may look for one": {source{
			file: "apiclient/a_test.go", pkg: "apiclient",
			text: "Idempotency-Key",
		}, ""},
		"a similar name of others is not us": {source{
			file: "trade/a.go", pkg: "trade",
			imports: []imp{{path: module + "x/erp"}},
		}, ""},
		"the standard library's sync is fine": {source{
			file: "trade/a.go", pkg: "trade",
			imports: []imp{{path: "sync"}},
		}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := check([]source{test.source})
			switch {
			case test.want == "" && len(got) > 0:
				t.Errorf("check found %q, want nothing", got)
			case test.want != "" && (len(got) != 1 || !strings.Contains(got[0], test.want)):
				t.Errorf("check found %q, want one violation with %q", got, test.want)
			}
		})
	}
}

func TestAFileIsReadWithItsImports(t *testing.T) {
	t.Parallel()
	text := "package a_test\n\nimport (\n\tengine \"x/sync\"\n\t\"y\"\n)\n"
	got := readSource(t, "a/a_test.go", []byte(text))
	want := source{
		file: "a/a_test.go", pkg: "a_test", imports: []imp{{"engine", "x/sync"}, {"", "y"}}, text: text,
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(source{}, imp{})); diff != "" {
		t.Errorf("source (-want +got):\n%s", diff)
	}
	if !got.outerTest() {
		t.Error("package a_test in a_test.go is not taken for an outer test")
	}
}

// ignored is what the go command ignores too, and bin, which is rewritten by every build.
var ignored = regexp.MustCompile(`^(?:.*/)?(?:[._][^/]*|testdata|vendor|bin)/`)

// readRepository reads every Go file of the module, whatever its build tags.
func readRepository(t *testing.T) (sources []source) {
	t.Helper()
	root := os.DirFS("../..")
	must.Get(fs.Stat(root, "go.mod"))(t)
	must.Do(t, fs.WalkDir(root, ".", func(name string, _ fs.DirEntry, err error) error {
		if err == nil && path.Ext(name) == ".go" && !ignored.MatchString(name) {
			sources = append(sources, readSource(t, name, must.Get(fs.ReadFile(root, name))(t)))
		}
		return err
	}))
	return sources
}

func readSource(t *testing.T, name string, text []byte) source {
	t.Helper()
	parsed := must.Get(parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly))(t)
	s := source{file: name, pkg: parsed.Name.Name, text: string(text)}
	for _, spec := range parsed.Imports {
		i := imp{path: must.Get(strconv.Unquote(spec.Path.Value))(t)}
		if spec.Name != nil {
			i.name = spec.Name.Name
		}
		s.imports = append(s.imports, i)
	}
	return s
}
