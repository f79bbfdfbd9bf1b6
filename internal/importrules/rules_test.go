package importrules

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

const module = "github.com/safrasync/safrasync"

// rule says what a folder, and the folders under it without a rule of their own, may import of
// ours.
type rule struct {
	// may lists folders (exact, not what is under them) that all files may import; "*" stands for
	// every folder except those which only tests may import, and "folder/*" for each folder
	// directly under one.
	may []string
	// testsMay lists what test files may import besides.
	testsMay []string
	// outerTestsMay lists what test files in the package "<name>_test" may import besides.
	outerTestsMay []string
	// reason is shown with a violation.
	reason string
}

var rules = map[string]rule{
	"internal/i18n": {
		testsMay: []string{"internal/english"},
		reason:   "i18n has the sentences that people read, and knows nobody who says them",
	},
	"internal/phrase": {reason: "phrase has what errors are made of, and knows nobody who makes or reads them"},
	"trade": {
		may:    []string{"internal/i18n"},
		reason: "trade is the language that all others speak, and the rules of the business: it depends on nobody but the sentences for people",
	},
	"erp": {
		may:      []string{"erp/fault", "erp/sqltext", "erp/dialect", "erp/dialect/*"},
		testsMay: []string{"erp/erptest", "internal/pgtest", "internal/throwaway"},
		reason:   "erp knows databases and rows, not what a row means or where it goes; sync converts",
	},
	"erp/fault": {reason: "fault is what all of erp says, and knows nobody who says it"},
	"erp/sqltext": {
		may: []string{"erp/fault"}, outerTestsMay: []string{"erp/dialect/*"},
		reason: "sqltext reads a text and asks no database",
	},
	"erp/dialect": {
		may:    []string{"erp/fault", "erp/sqltext"},
		reason: "dialect is what the engines have in common, and knows none of them",
	},
	"erp/dialect/*": {
		may: []string{"erp/fault", "erp/sqltext", "erp/dialect"},
		outerTestsMay: []string{
			"erp", "erp/erptest", "internal/pgtest", "internal/mariatest", "internal/fbtest", "internal/throwaway",
		},
		reason: "an engine knows neither its neighbours nor the reader, so that the next one is a folder and a line",
	},
	"erp/erptest": {
		may:    []string{"erp", "erp/dialect", "erp/sqltext"},
		reason: "erptest tries the reader and its engines from outside; only tests import it",
	},
	"apiclient": {
		may:           []string{"trade"},
		testsMay:      []string{"internal/apidoc"},
		outerTestsMay: []string{"apiclient/sandbox"},
		reason:        "apiclient is the API's document in Go: of ours it knows the table of fields, and it is usable without the rest; in tests, only package apiclient_test may start the sandbox",
	},
	"apiclient/sandbox": {
		may:      []string{"internal/i18n"},
		testsMay: []string{"internal/apidoc"},
		reason:   "the sandbox is an independent reading of the API's document: with a line of the client in it, both would agree on the same mistake",
	},
	"state": {
		may: []string{
			"trade", "internal/failpoint", "state/books", "state/inbox", "state/journal", "state/sqldb",
		},
		testsMay: []string{"internal/pgtest", "internal/sickdb", "internal/sickdisk"},
		reason:   "state stores entries; what is sent, when and why is decided in sync",
	},
	"state/books": {
		may:    []string{"trade", "state/journal", "state/sqldb"},
		reason: "books are kept beside the rows, and cannot send one again or lose it",
	},
	"state/inbox": {
		may:    []string{"trade", "state/books", "state/sqldb"},
		reason: "what the platform reports is stored; what it proves is judged in sync",
	},
	"state/journal": {
		testsMay: []string{"internal/sickdisk"}, may: []string{"trade", "internal/failpoint"},
		reason: "journal is a file format, and knows no database",
	},
	"state/sqldb": {
		may:    []string{"trade", "internal/failpoint", "state/journal"},
		reason: "sqldb knows how to write durably, and nothing of what the rows mean",
	},
	"console": {
		may: []string{
			"trade", "internal/connlimit", "console/auth", "console/pages", "console/view", "console/web",
		},
		testsMay: []string{"state", "internal/pgtest", "internal/consoletest"},
		reason:   "console serves and guards; what it shows comes from its pages, which ask internal/office",
	},
	"internal/picture": {
		may:    []string{"trade"},
		reason: "picture computes where the shapes of a picture stand, and knows no page, ledger or language",
	},
	"console/view": {
		may: []string{"trade", "internal/i18n"}, testsMay: []string{"internal/english"},
		reason: "view writes pages, and knows no request, ledger or engine",
	},
	"console/web": {
		may:    []string{"trade", "internal/i18n", "console/view"},
		reason: "web is one request and its answer, and knows no ledger or engine",
	},
	"console/auth": {
		may:      []string{"trade", "console/web", "internal/connlimit"},
		testsMay: []string{"state", "internal/pgtest", "internal/consoletest", "internal/oidctest"},
		reason:   "auth knows who asks, and nothing of rows and jobs",
	},
	"console/pages": {
		may: []string{
			"trade", "sync/acts", "sync/events", "sync/mapping", "sync/pending", "sync/reconcile",
			"sync/reconcile/paper",
			"internal/i18n",
			"internal/office", "internal/picture", "console/view", "console/web",
		},
		testsMay: []string{"state", "internal/pgtest", "internal/consoletest"},
		reason:   "pages show what the office answers, and order there; who asks they learn through an interface of their own",
	},
	"sync": {
		may: []string{
			"trade", "erp", "apiclient", "internal/failpoint", "sync/clock", "sync/mapping", "sync/outcome",
			"sync/cluster", "sync/run", "sync/sending", "sync/brakes", "sync/discovery",
			"sync/dryrun", "sync/acts", "sync/events",
		},
		testsMay: []string{"state", "apiclient/sandbox", "internal/pgtest", "internal/ledgertest", "internal/sickdb"},
		reason:   "the engine reaches storage only through the interfaces in sync/run/ports.go, so that no ledger can bend its rules",
	},
	"sync/clock": {may: []string{"internal/failpoint"}, reason: "clock knows the time, and nothing of rows"},
	"sync/mapping": {
		may:    []string{"trade", "erp", "apiclient", "sync/clock"},
		reason: "mapping is pure: it reaches no storage and sends nothing",
	},
	"sync/outcome": {
		may:    []string{"trade", "apiclient"},
		reason: "outcome is pure: it judges an answer and knows nothing of storage",
	},
	"sync/identity": {
		may:    []string{"trade"},
		reason: "identity is pure: it compares rows and records, and knows nothing of storage",
	},
	"sync/cluster": {
		may:    []string{"trade", "sync/clock"},
		reason: "cluster knows leases and instances, and nothing of rows",
	},
	"sync/run": {
		may: []string{
			"trade", "erp", "apiclient", "internal/failpoint", "sync/clock", "sync/mapping",
			"sync/outcome", "sync/cluster",
		},
		reason: "run is what the stages share; it knows none of them",
	},
	"sync/brakes": {
		may:    []string{"trade", "erp", "sync/identity", "sync/mapping", "sync/outcome", "sync/run"},
		reason: stage,
	},
	"sync/discovery": {may: []string{
		"trade", "erp", "apiclient", "sync/identity", "sync/mapping", "sync/outcome", "sync/run",
		"sync/brakes", "sync/sending",
	}, reason: stage},
	"sync/sending": {
		may: []string{
			"trade", "erp", "apiclient", "internal/failpoint", "sync/clock", "sync/identity", "sync/mapping",
			"sync/outcome", "sync/cluster", "sync/run", "sync/brakes",
		},
		reason: stage,
	},
	"sync/dryrun": {
		may: []string{
			"trade", "erp", "apiclient", "sync/clock", "sync/mapping", "sync/run", "sync/sending",
			"sync/brakes", "sync/discovery",
		},
		reason: "dryrun reads and judges rows as a run does, on a ledger that stores no intent",
	},
	"sync/acts": {may: []string{
		"trade", "erp", "apiclient", "sync/clock", "sync/identity", "sync/mapping", "sync/outcome",
		"sync/run",
	}, reason: "acts moves entries and jobs, and sends nothing"},
	"sync/events": {
		may: []string{
			"trade", "apiclient", "sync/identity", "sync/mapping", "sync/outcome", "sync/run", "sync/acts",
		},
		reason: "events reads records back, and sends nothing",
	},
	"sync/pending": {
		may:      []string{"trade", "sync/mapping", "sync/run"},
		testsMay: []string{"state", "internal/pgtest", "internal/ledgertest"},
		reason:   "what keeps rows from going is read through an interface of its own",
	},
	"sync/reconcile/workbook": {
		may:    []string{"trade"},
		reason: "the form of a file: it knows nothing of a report",
	},
	"sync/reconcile/paper": {
		may:      []string{"trade", "sync/reconcile", "internal/i18n"},
		testsMay: []string{"state"},
		reason:   "the form in which people read a report: it knows no ledger",
	},
	"sync/reconcile/archive": {
		may:      []string{"trade", "sync/reconcile", "sync/reconcile/paper", "internal/i18n"},
		testsMay: []string{"state", "internal/ledgertest"},
		reason:   "one file of a report and all that belongs to it: what it has of the ledger it gets through an interface of its own",
	},
	"sync/reconcile": {
		may: []string{
			"trade", "apiclient", "sync/mapping", "sync/run", "sync/acts", "sync/reconcile/workbook", "internal/i18n",
		},
		testsMay: []string{
			"state", "sync/clock", "apiclient/sandbox", "internal/pgtest", "internal/ledgertest", "internal/english",
		},
		reason: "the report reads the ledger through an interface of its own, and orders nothing but through the engine's acts; it serves no HTTP",
	},
	"cmd/safrasync": {
		may: []string{
			"cmd/safrasync/commands", "cmd/safrasync/maintenance", "cmd/safrasync/cli",
			"cmd/safrasync/daemon", "cmd/safrasync/demo", "internal/config", "internal/i18n",
			"internal/office", "internal/systemd", "internal/words", "trade",
			"apiclient/sandbox",
			"console/auth", // the passwords of users
		},
		testsMay: []string{
			"*", "erp/erptest", "internal/pgtest", "internal/mariatest", "internal/fbtest", "internal/throwaway",
			"internal/oidctest", "internal/consoletest", "internal/english",
		},
		reason: "main puts the commands together; what they ask and order is of internal/office",
	},
	"cmd/safrasync/cli": {
		may: []string{
			"internal/config", "internal/office", "internal/words", "trade", "state", "sync", "sync/clock",
			"sync/mapping", "sync/run", "sync/discovery", "sync/acts", "sync/events", "erp", "apiclient",
			"internal/i18n", "internal/receiver", "internal/systemd",
		},
		reason: "cli is what all commands share, and knows no command",
	},
	// A command asks and orders through internal/office. Of the engine it names only the plans, answers
	// and forms that the office passes on, and what a key is; of the ledger nothing. The API's endpoints
	// are called by hand, and init asks the ERP when there is no configuration yet.
	"cmd/safrasync/commands": command("apiclient", "erp", "sync", "sync/acts", "sync/events", "sync/mapping",
		"sync/dryrun", "sync/reconcile", "sync/reconcile/archive", "sync/reconcile/paper",
		"sync/reconcile/workbook"),
	// These work on a ledger that is not open: it is to be made, copied, mended, judged or served.
	"cmd/safrasync/maintenance": command("state", "sync", "sync/clock", "sync/mapping",
		"sync/outcome", "sync/dryrun", "sync/run", "apiclient", "erp", "internal/alert"),
	"cmd/safrasync/demo": command("cmd/safrasync/commands", "state", "sync/reconcile", "apiclient/sandbox"),
	"cmd/safrasync/daemon": command("state", "sync", "sync/acts", "sync/clock", "sync/events", "sync/sending",
		"apiclient", "erp", "console", "console/auth", "console/pages", "console/web",
		"internal/connlimit", "internal/httpapi", "internal/metrics", "internal/receiver", "internal/systemd"),
	"internal/config": {
		may: []string{
			"trade", "state", "sync", "sync/clock", "sync/mapping", "sync/run", "sync/acts", "sync/reconcile", "erp",
			"apiclient", "console/auth", "internal/i18n",
			"internal/receiver",
		},
		reason: "config says what is wanted, in the types of those who do it; it opens nothing and knows no command",
	},
	"internal/config/configtest": {
		may:    []string{"internal/config"},
		reason: "configtest loads configurations for tests, and only tests import it",
	},
	"internal/office": {
		may: []string{
			"trade", "state", "sync", "sync/clock", "sync/mapping", "sync/run", "sync/discovery", "sync/acts",
			"sync/events", "sync/pending", "sync/dryrun", "sync/reconcile", "sync/reconcile/paper",
			"sync/reconcile/archive", "sync/reconcile/workbook", "apiclient", "internal/alert",
			"internal/config", "internal/i18n",
			"internal/receiver", "internal/words",
		},
		testsMay: []string{"internal/config/configtest", "internal/ledgertest", "internal/pgtest"},
		reason:   "office answers and orders for people, and knows neither who asks nor how it is shown",
	},
	"internal/words": {
		may: []string{
			"trade", "state", "sync/mapping", "sync/acts", "sync/dryrun", "apiclient", "internal/config",
			"internal/i18n",
		},
		testsMay: []string{"internal/english"},
		reason:   "words says what others have found, and finds nothing itself",
	},
	"internal/alert": {
		may:      []string{"trade", "internal/i18n"},
		testsMay: []string{"state", "internal/pgtest", "internal/ledgertest", "internal/english"},
		reason:   "alert looks and tells through interfaces of its own; cmd/safrasync gives it the ledger and the rest",
	},
	"internal/httpapi": {
		may:    []string{"trade", "internal/config", "internal/connlimit", "internal/office"},
		reason: "other programs get the answers of office, through four of its methods; nothing else is in their reach",
	},
	"internal/receiver": {
		may: []string{"trade", "internal/connlimit"},
		testsMay: []string{
			"state", "apiclient/sandbox", "internal/pgtest", "internal/ledgertest",
			"internal/throwaway",
		},
		reason: "the receiver takes events and knows nothing of what they mean: what reads strangers' bytes reaches nothing of the rest",
	},
	"internal/oidctest": {
		may:    []string{},
		reason: "the provider of the tests is an independent reading of the specification, and may depend on nothing of ours",
	},
	"internal/pgtest": {
		may:    []string{"internal/throwaway"},
		reason: "pgtest serves the tests of all packages, so it may depend on none of them",
	},
	"internal/ledgertest": {
		may:    []string{"state", "trade", "internal/pgtest"},
		reason: "ledgertest makes ledgers for the tests of others, with what makes them in the program",
	},
	"internal/consoletest": {
		may: []string{
			"trade", "state", "console", "console/auth", "console/pages", "console/web",
			"internal/config/configtest", "internal/ledgertest", "internal/office", "internal/english",
		},
		reason: "consoletest opens consoles for the tests of others, put together as the program does it",
	},
	"internal/mariatest": {
		may:    []string{"internal/throwaway"},
		reason: "mariatest serves the tests of all packages, so it may depend on none of them",
	},
	"internal/fbtest": {
		may:    []string{"internal/throwaway"},
		reason: "fbtest serves the tests of all packages, so it may depend on none of them",
	},
	"internal/english":   {reason: "english looks at texts, and knows nobody who writes them"},
	"internal/must":      {reason: "must serves the tests of all packages, so it may depend on none of them"},
	"internal/throwaway": {reason: "throwaway is what the test servers have in common, so it may depend on none"},
	"internal/apidoc":    {reason: "apidoc names the rows of the API's document for the tests of both readings, so it may know neither"},
	"tools/site":         {reason: "site reads documents, and knows nothing of what they are about"},
	"tools/machine":      {reason: "machine knows namespaces of this host, and nothing of what runs in them"},
	"tools/failover": {
		may: []string{
			"apiclient/sandbox", "internal/pgtest", "internal/throwaway", "tools/torture/rack", "tools/machine",
		},
		reason: "what lets the database fail over judges the program from outside, as tools/torture does",
	},
	"tools/torture": {
		may:    []string{"apiclient/sandbox", "internal/pgtest", "tools/torture/rack", "tools/machine"},
		reason: "what kills the program does so from outside: with a line of it inside, both would agree on the same mistake",
	},
	"tools/torture/rack": {
		may:    []string{"apiclient/sandbox"},
		reason: "rack judges the program from outside: with a line of it inside, both would agree on the same mistake",
	},
	"tools/packagetest": {
		may:    []string{"apiclient/sandbox", "internal/pgtest", "internal/throwaway"},
		reason: "packagetest tries what is installed, from outside: it may not know what is inside",
	},
	"tools/httpclient": {reason: "httpclient names what a generated client of the HTTP API needs, and knows nothing of ours"},
	"tools/protocol": {
		may:    []string{"trade", "apiclient", "sync/outcome", "sync/run", "sync/sending"},
		reason: "protocol is a model: it takes from the program what an answer proves, the moves and the time-outs, and nothing that acts",
	},
	"tools/protocol/sent": {
		may:    []string{"trade", "apiclient", "sync/outcome"},
		reason: "sent is a model: it takes from the program what an answer proves and the moves, and nothing that acts",
	},
	"tools/histories": {
		may: []string{
			"trade", "erp", "apiclient", "apiclient/sandbox", "state", "state/sqldb", "sync",
			"sync/clock", "sync/mapping",
			"sync/run",
			"sync/cluster", "sync/acts", "sync/reconcile", "internal/pgtest", "internal/ledgertest",
		},
		reason: "histories lets the engine live through what people do, and judges only by the ERP, the platform and what ledger and report show; nothing of it may get into the program",
	},
	"tools/bench": {
		may:    []string{"internal/pgtest", "internal/throwaway", "tools/bench/size"},
		reason: "bench measures the program from outside, beside others; only it runs test servers without being a test",
	},
	"tools/bench/size": {
		may:      []string{"trade"}, // the fingerprints of what was sent, which a filled ledger has
		testsMay: []string{"internal/pgtest"},
		reason:   "size makes large ledgers and measures the program from outside: a figure of what is inside would be another one",
	},
	"internal/metrics": {
		may:    []string{"trade", "internal/connlimit"},
		reason: "metrics looks at the ledger through an interface of its own; cmd/safrasync gives it the ledger",
	},
	"internal/connlimit":   {reason: "connlimit counts the connections of strangers, and knows nothing of what they ask"},
	"internal/systemd":     {reason: "systemd speaks to the service manager, and knows nothing of the service"},
	"internal/failpoint":   {reason: "failpoint is nothing at all in a release"},
	"internal/importrules": {reason: "importrules reads the others as text"},
	"internal/limits":      {reason: "limits reads the others as text"},
	"internal/faultlist":   {reason: "faultlist reads the tests of the others as text"},
	"internal/manual": {
		testsMay: []string{"trade", "internal/english"},
		reason:   "manual reads the documents as text, and holds what they say of states against trade",
	},

	"internal/sickdb":   {reason: "sickdb stands between a ledger and its database, whatever the test does"},
	"internal/sickdisk": {reason: "sickdisk stands between a process and its kernel, whatever the process does"},
}

// wiring are the folders of commands that work on the ledger itself; see their rules.
var wiring = []string{"cmd/safrasync/cli", "cmd/safrasync/maintenance", "cmd/safrasync/daemon"}

const stage = "a stage knows what comes before it, and reaches storage through the interfaces of package run"

// command is the rule of a folder of commands, which may import more than all of them may.
func command(more ...string) rule {
	return rule{
		may: append([]string{
			"cmd/safrasync/cli", "internal/config", "internal/office", "internal/words", "internal/i18n", "trade",
		}, more...),
		testsMay: []string{"internal/config/configtest", "internal/pgtest"},
		reason:   "a command knows what all commands share, and no other command: what it asks and orders is of internal/office",
	}
}

// inner reports whether a folder is a part of the ledger or of the reader, which callers reach
// through package state or erp alone.
func inner(folder string) bool {
	return strings.HasPrefix(folder, "state/") || strings.HasPrefix(folder, "erp/")
}

// readerModules are those of others that the reader itself may import; the driver of a database is
// imported by its engine alone.
var readerModules = []string{"github.com/jmoiron/sqlx", "golang.org/x/"}

// testOnly are the folders that never get into the binary.
var testOnly = []string{
	"internal/pgtest", "internal/mariatest", "internal/fbtest", "internal/ledgertest", "internal/consoletest",
	"internal/must", "internal/english", "internal/throwaway", "internal/oidctest", "internal/apidoc", "erp/erptest",
	"internal/importrules", "internal/faultlist", "internal/limits", "internal/manual",
	"internal/config/configtest",
	"tools/bench", "tools/bench/size", "tools/failover", "tools/histories", "tools/httpclient", "tools/machine",
	"tools/packagetest",
	"tools/protocol", "tools/protocol/sent", "tools/torture",
	"internal/sickdb", "internal/sickdisk",
}

// source is what the checks need to know of one Go file.
type source struct {
	file    string // path from the root of the repository, with slashes
	pkg     string // name in the package clause
	imports []imp  // all imports
	text    string // all of it
}

type imp struct{ name, path string }

func (s source) folder() string  { return path.Dir(s.file) }
func (s source) isTest() bool    { return strings.HasSuffix(s.file, "_test.go") }
func (s source) outerTest() bool { return s.isTest() && strings.HasSuffix(s.pkg, "_test") }

// ruleOf finds the rule of a folder or of the nearest folder above it that has one.
func ruleOf(folder string) (where string, r rule) {
	for at := folder; at != "." && at != "/"; at = path.Dir(at) {
		r, ok := rules[at]
		if !ok {
			r, ok = rules[path.Dir(at)+"/*"]
		}
		if ok {
			return at, r
		}
	}
	return folder,
		rule{reason: "the folder has no rule: add one, with its reason, to internal/importrules and .golangci.yml"}
}

// check returns one line for each violation.
func check(sources []source) []string {
	var violations []string
	for _, s := range sources {
		for _, i := range s.imports {
			if text := checkImport(s, i); text != "" {
				violations = append(violations, s.file+": "+text)
			}
		}
		if s.isTest() || s.folder() == "apiclient/sandbox" {
			continue // tests prove the header's absence, and the sandbox refuses it
		}
		if strings.HasPrefix(s.folder(), "cmd/safrasync") && !slices.Contains(wiring, s.folder()) &&
			(strings.Contains(s.text, ".OpenLedger(") || strings.Contains(s.text, ".OpenEngine(")) {
			violations = append(violations, s.file+": opens the ledger: a command asks and orders through internal/office")
		}
		// the demonstration makes a ledger of its own
		command := strings.HasPrefix(s.folder(), "cmd/safrasync") && s.folder() != "cmd/safrasync/demo"
		if command && !slices.Contains(wiring, s.folder()) || strings.HasPrefix(s.folder(), "console") {
			for _, call := range asks(s) {
				violations = append(violations, s.file+": calls "+call+": what people ask and order is of internal/office")
			}
		}
		if strings.Contains(strings.ToLower(s.text), "idempotency-key") {
			violations = append(violations,
				s.file+
					": names the header Idempotency-Key: with it, Go's transport repeats a POST by itself, and the API would store the contract twice")
		}
	}
	return violations
}

// forms are the functions of the engine that commands and pages call themselves: they look up a table
// of the acts, or turn what is typed or shown into another form. Everything else that people ask or
// order goes through internal/office.
var forms = map[string][]string{
	"sync/acts":    {"ActNamed", "BulkStates", "Named", "OnRow", "PlannedOf", "RoleOf", "SentFields"},
	"sync/mapping": {"CanonicalKey", "CodeParts", "NormalCode", "PathOf"},
	"sync/reconcile": {
		"AccountWord", "ActWord", "By", "Day", "MonthEnd", "PlainText", "ReadDecisions", "SectionID",
	},
	"sync/reconcile/paper": {"NewHTML"},
}

var aCall = regexp.MustCompile(`\b([a-z]+)\.([A-Z]\w*)\(`)

// asks returns the calls of functions of the engine and of the ledger in a file that are no forms.
func asks(s source) (calls []string) {
	for _, i := range s.imports {
		folder, ours := strings.CutPrefix(i.path, module+"/")
		if !ours || folder != "state" && folder != "sync" && !strings.HasPrefix(folder, "sync/") {
			continue
		}
		name := cmp.Or(i.name, path.Base(folder))
		for _, call := range aCall.FindAllStringSubmatch(s.text, -1) {
			if call[1] == name && !slices.Contains(forms[folder], call[2]) {
				calls = append(calls, call[0][:len(call[0])-1])
			}
		}
	}
	return calls
}

func checkImport(s source, i imp) string {
	if i.path == "C" {
		return "uses cgo: the product is one static binary, built with CGO_ENABLED=0"
	}
	target, ours := strings.CutPrefix(i.path, module+"/")
	if !ours {
		return checkDriver(s, i)
	}
	if target == "sync" && i.name != "engine" {
		return fmt.Sprintf("imports sync as %q: write engine %q, so that sync stays the standard library's",
			i.name, i.path)
	}
	where, r := ruleOf(s.folder())
	targetRule, _ := ruleOf(target)
	if target == "internal/phrase" || targetRule == where ||
		target == "internal/must" && (s.isTest() || slices.Contains(testOnly, s.folder())) {
		return "" // everybody may say a sentence; within one rule's folders everything may import everything
	}
	allowed := names(r.may, target)
	if s.isTest() {
		allowed = allowed || names(r.testsMay, target)
	}
	if s.outerTest() {
		allowed = allowed || names(r.outerTestsMay, target)
	}
	if allowed {
		return ""
	}
	return fmt.Sprintf("%s must not import %s: %s", s.folder(), target, r.reason)
}

// names reports whether a list has the folder, or all that are directly under the one above it, or all.
func names(list []string, folder string) bool {
	return slices.Contains(list, folder) || slices.Contains(list, path.Dir(folder)+"/*") ||
		slices.Contains(list, "*") && !slices.Contains(testOnly, folder) && !inner(folder)
}

// checkDriver keeps the drivers of databases in the folders of their engines.
func checkDriver(s source, i imp) string {
	host, _, _ := strings.Cut(i.path, "/")
	engine := strings.HasPrefix(s.folder(), "erp/dialect/")
	if s.isTest() || engine || s.folder() != "erp" && !strings.HasPrefix(s.folder(), "erp/") ||
		!strings.Contains(host, ".") || s.folder() == "erp/erptest" {
		return ""
	}
	if slices.ContainsFunc(readerModules, func(m string) bool { return strings.HasPrefix(i.path, m) }) {
		return ""
	}
	return fmt.Sprintf("%s must not import %s: the module of a database is imported by its engine alone", s.folder(),
		i.path)
}
