package commands

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/trade"
)

// initJobs are the jobs that `init` proposes, parents first. Kinds that this version does not send
// are omitted.
var initJobs = []struct {
	name  string
	sends trade.Kind
	ask   i18n.Key
}{
	{"contracts", trade.OrderCommitments, "Table, view or SELECT of the contracts (empty: none):"},
	{"deliveries", "deliveries", "Table, view or SELECT of the deliveries (empty: none):"},
	{"traceability", "traceability", "Table, view or SELECT of the traceability (empty: none):"},
}

// initFlags are the flags of `safrasync init`.
type initFlags struct {
	driver, dsn string
	from        map[string]*string // table or query by job
	list, force bool
}

// NewInitCommand makes the command init.
func NewInitCommand(a *cli.App) *cobra.Command {
	f := initFlags{from: map[string]*string{}}
	cmd := a.Command("init", "write a first configuration from the ERP's catalogue; only reads the ERP", cli.Exactly(0),
		func(ctx context.Context, _ []string) error { // It only reads the ERP.
			ask := &asker{
				terminal: cli.IsTerminal(a.Stdin) && cli.IsTerminal(a.Stderr), in: bufio.NewReader(a.Stdin),
				out: a.Stderr,
			}
			path := cmp.Or(a.ConfigPath, config.Places[1])
			if _, err := os.Stat(path); err == nil && !f.force && !f.list {
				return a.Error("%s exists and is not overwritten; use --force, or --config OTHER", path)
			}
			f.driver = ask.unless(f.driver, a.Text("The ERP's database (%s):", strings.Join(erp.Drivers(), ", ")))
			if f.driver == "" {
				return a.Usage("%s is missing; without a terminal everything must be given as flags", "--driver")
			}
			if config.ContainsPassword(f.dsn) { // given on the command line
				a.Tell("note: the password in --dsn is visible in the process list and in the shell history; next time put the DSN into %s (chmod 600) and use --dsn '${file:credentials/erp-dsn}'. If other people use this host, change the password", filepath.Join(filepath.Dir(path), secretDSN))
			}
			f.dsn = ask.unless(f.dsn, a.Text("Connection to the database (file, address or ${env:NAME}):"))
			if f.dsn == "" {
				return a.Usage("%s is missing; without a terminal everything must be given as flags", "--dsn")
			}
			dsn, err := config.ResolveSecret(a.Env, path, f.dsn)
			if err != nil {
				return a.Usage("--dsn %v", err)
			}
			zone, err := time.LoadLocation(config.Default().ERP.TimeZone)
			if err != nil {
				return err
			}
			opts := erp.SourceOptions{
				Driver: f.driver, DSN: erp.Secret(dsn), TimeZone: zone, StatementTimeout: initTimeout,
			}
			source, err := erp.Open(ctx, opts)
			if err != nil {
				return err
			}
			a.Closers = append(a.Closers, source.Close)
			facts, err := source.Facts(ctx)
			if err != nil {
				return err
			}
			// A database that does not know how its texts are encoded is read with the most common encoding.
			charset := "" // what such a database claims
			if erp.UnknownCharset(facts.Charset) {
				charset, opts.Charset = facts.Charset, "WIN1252"
				source, err = erp.Open(ctx, opts)
				if err != nil {
					return err
				}
				a.Closers = append(a.Closers, source.Close)
			}
			relations, err := source.Catalogue(ctx)
			if err != nil {
				return err
			}
			if f.list {
				return listRelations(a, relations)
			}
			p := proposal{driver: f.driver, dsn: f.dsn, charset: charset}
			// what exists beside and in the file stays: the API key as a credential, and the console section
			p.apiKey = "${env:SAFRASYNC_API_KEY}"
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), "credentials", "api-key")); err == nil {
				p.apiKey = "${file:credentials/api-key}"
			}
			old, err := os.ReadFile(path)
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
			p.console = strings.TrimSpace(consoleSection.FindString(string(old) + "\n"))
			if config.ContainsPassword(f.dsn) {
				p.dsn, p.secret = "${file:"+secretDSN+"}", dsn // a password is never written to the configuration
			}
			if ask.terminal && !f.named() {
				if err := listRelations(a, relations); err != nil {
					return err
				}
			}
			if err := proposeJobs(ctx, a, &p, source, relations, f, ask); err != nil {
				return err
			}
			return writeProposal(a, p, path, f.force)
		})
	flags := cmd.Flags()
	flags.StringVar(&f.driver, "driver", "",
		a.Phrase("the ERP's `DATABASE`: %s", strings.Join(erp.Drivers(), ", ")))
	flags.StringVar(&f.dsn, "dsn", "", "`DSN`: how to connect, or a reference such as '${env:SAFRASYNC_ERP_DSN}'")
	flags.BoolVar(&f.list, "list", false, "only list tables and views with their columns")
	flags.BoolVar(&f.force, "force", false, "overwrite the file")
	for _, job := range initJobs {
		f.from[job.name] = flags.String(job.name, "", a.Phrase("the `TABLE` or SELECT with the %s", job.name))
	}
	return cmd
}

// initTimeout limits each query of the ERP.
const initTimeout = 2 * time.Minute

// named reports whether a flag names a table.
func (f initFlags) named() bool {
	given := slices.Collect(maps.Values(f.from))
	return slices.ContainsFunc(given, func(from *string) bool { return *from != "" })
}

// proposeJobs proposes a job for each table or query that was given.
func proposeJobs(ctx context.Context, a *cli.App, p *proposal, source *erp.Source, relations []erp.Relation,
	f initFlags, ask *asker,
) error {
	var contractKey []string // the key of the contracts; nil if it is still open
	for _, job := range initJobs {
		from := *f.from[job.name]
		if from == "" && !f.named() {
			from = ask.unless("", a.Text(job.ask))
		}
		if from == "" {
			continue
		}
		relation, query, err := pickRelation(a, relations, from)
		if err != nil {
			return err
		}
		a.Tell("%s: reading a sample of the ERP…", job.name)
		s, err := newSurvey(ctx, source, f.driver, relation, query)
		if err != nil {
			return err
		}
		v := a.Voice()
		proposed := proposedJob{
			name: job.name, sends: job.sends, columns: trade.Map(s.columns, (*surveyed).withSamples),
		}
		proposed.key, proposed.keyNote = []string{config.FillIn}, v.Text("the columns that identify a row permanently; numbers often repeat across branches")
		if s.relation != nil {
			for _, key := range append([][]string{s.relation.Primary}, s.relation.Unique...) {
				// Protheus adds these columns, so that deleted rows may keep their number; with the filter on
				// deleted rows the rest is unique. A record number does not identify a row permanently.
				key = slices.DeleteFunc(slices.Clone(key), func(column string) bool {
					added := []string{"r_e_c_d_e_l_", "d_e_l_e_t_", "r_e_c_n_o_"}
					return slices.Contains(added, strings.ToLower(column))
				})
				if len(key) > 0 {
					proposed.key, proposed.keyNote = key, v.Text("unique index; does it identify a row permanently?")
					break
				}
			}
		}
		proposed.fields = trade.Map(trade.Rules(job.sends), func(rule trade.FieldRule) proposedField {
			return openField(v, rule, contractKey)
		})
		proposed.query, proposed.queryNote = s.body, v.Text("The query exactly as given. Whatever it leaves out does not exist for safrasync.")
		if s.relation != nil {
			names := trade.Map(s.columns, func(c *surveyed) string { return c.name })
			proposed.queryNote = v.Text("The query of the table: delete the columns that you do not use. Cancelled rows stay in the query; filter the type (purchases only?) here, too.")
			// a long list of columns breaks into lines
			const width = 110
			var out []string
			line := ""
			for item := range strings.SplitSeq(s.list(names), ", ") {
				if line != "" && len(line)+len(item) > width {
					out, line = append(out, line), ""
				}
				if line != "" {
					line += ", "
				}
				line += item
			}
			proposed.query = "SELECT " + strings.Join(append(out, line), ",\n       ") + "\nFROM " +
				relationName(s.driver, *s.relation)
		}
		proposed.confirm = []string{v.Text("cut-over: add a condition on a date to the query, and delete this line; without one all of history would be sent, and nothing can be deleted")}
		for _, c := range s.columns {
			isFlag := func(word string) bool { return slices.Contains(flagNames, word) }
			switch {
			case isProtheusDeleted(c) && s.relation != nil:
				proposed.query += "\nWHERE " + c.quoted + " = ' '"
			case isProtheusDeleted(c), slices.ContainsFunc(nameWords(c.name), isFlag): // may mark which rows count
				proposed.confirm = append(proposed.confirm, v.Text("the column %s seems to mark which rows count, and nothing uses it: add the condition (or, if it marks the cancelled ones, fill in cancelled), and delete this line", c.withSamples()))
			}
		}
		for _, c := range proposed.confirm {
			proposed.query = "-- " + config.FillIn + ": " + oneLine(c) + "\n" + proposed.query
		}
		if job.sends == trade.OrderCommitments && !slices.Contains(proposed.key, config.FillIn) {
			contractKey = proposed.key
		}
		p.jobs = append(p.jobs, proposed)
	}
	if len(p.jobs) == 0 {
		return a.Usage("no table was named: use --contracts TABLE (or a SELECT); `safrasync init --list` shows the tables")
	}
	return nil
}

// unquoted removes the quotes that the databases put around names.
var unquoted = strings.NewReplacer("[", "", "]", "", `"`, "", "`", "")

// pickRelation finds a table by its name, or by schema and name, also as a query quotes them. Text
// that begins like a query is returned as a query.
func pickRelation(a *cli.App, relations []erp.Relation, from string) (*erp.Relation, string, error) {
	word, _, _ := strings.Cut(strings.ToUpper(strings.TrimSpace(from)), " ")
	if first := strings.Fields(word); len(first) > 0 && slices.Contains([]string{"SELECT", "WITH"}, first[0]) {
		return nil, from, nil
	}
	wanted := unquoted.Replace(from)
	var found []*erp.Relation
	var names []string
	for i := range relations {
		r := &relations[i]
		names = append(names, r.Name, r.Schema+"."+r.Name)
		if strings.EqualFold(r.Name, wanted) || strings.EqualFold(r.Schema+"."+r.Name, wanted) {
			found = append(found, r)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], "", nil
	case len(found) > 1:
		return nil, "", a.Usage("%q exists in more than one schema: write %s or %s", from, found[0].Schema+"."+found[0].Name,
			found[1].Schema+"."+found[1].Name)
	}
	if near := config.Closest(from, names); near != "" {
		return nil, "", a.Usage("there is no table or view %q that this user may read; did you mean %s? `safrasync init --list` shows all", from, near)
	}
	return nil, "", a.Usage("there is no table or view %q that this user may read; `safrasync init --list` shows all", from)
}

// relationJSON is one line of `init --list --json`.
type relationJSON struct {
	Schema  string     `json:"schema"`
	Name    string     `json:"name"`
	View    bool       `json:"view"`
	Rows    *int64     `json:"rows"` // estimate of the database
	Columns []string   `json:"columns"`
	Types   []string   `json:"types"`
	Primary []string   `json:"primary"`
	Unique  [][]string `json:"unique"`
}

func listRelations(a *cli.App, relations []erp.Relation) error {
	for _, r := range relations {
		var names, types []string
		for _, c := range r.Columns {
			names, types = append(names, c.Name), append(types, c.Type)
		}
		if a.AsJSON {
			line := relationJSON{
				r.Schema, r.Name, r.View, nil, office.OrEmpty(names), office.OrEmpty(types), office.OrEmpty(r.Primary),
				office.OrEmpty(r.Unique),
			}
			if r.Rows >= 0 {
				line.Rows = &r.Rows
			}
			if err := a.PrintJSON(line); err != nil {
				return err
			}
			continue
		}
		name, what := strings.TrimPrefix(r.Schema+"."+r.Name, "."), a.Text("table")
		if r.View {
			what = a.Text("view")
		}
		if r.Rows >= 0 {
			what += a.Text(", about %d {row|rows}", r.Rows)
		}
		a.Line(name + " (" + what + ")")
		a.Line("    " + strings.Join(names, ", "))
	}
	return a.Out.Flush()
}

// toFillIn is one place that a person must fill in.
type toFillIn struct {
	Line int    `json:"line"`
	Path string `json:"path"`
	Text string `json:"text"`
}

// secretDSN is the file for a data source name with a password, relative to the configuration's
// folder.
const secretDSN = "credentials/erp-dsn"

// writeProposal writes the file and prints what remains to be done, by reading it as `check` does.
func writeProposal(a *cli.App, p proposal, path string, force bool) error {
	write := func() error { return cli.CreateFile(path, p.render(a.Voice()), 0o640) }
	if force {
		write = func() error { return cli.ReplaceFile(path, p.render(a.Voice())) }
	}
	if p.secret != "" { // a file with another DSN stays, and an environment variable has this one
		secret := filepath.Join(filepath.Dir(path), secretDSN)
		if err := os.MkdirAll(filepath.Dir(secret), 0o700); err != nil {
			return err
		}
		err := cli.WriteOwn(secret, func(w io.Writer) error {
			_, err := io.WriteString(w, p.secret+"\n")
			return err
		})
		switch there, readErr := os.ReadFile(secret); {
		case err == nil:
			a.Tell("The DSN with its password is in %s (mode 0600); the configuration only refers to it. The service's user must be able to read it.", secret)
		case !errors.Is(err, os.ErrExist):
			return err
		case readErr != nil || strings.TrimRight(string(there), "\r\n") != p.secret:
			p.dsn = "${env:SAFRASYNC_ERP_DSN}"
			a.Tell("%s already exists with other content and is not changed: put the DSN into SAFRASYNC_ERP_DSN, which the configuration refers to.", secret)
		}
	}
	if err := write(); errors.Is(err, os.ErrExist) {
		return a.Error("%s exists and is not overwritten; use --force, or --config OTHER", path)
	} else if err != nil {
		return err
	}
	open := []toFillIn{}
	_, err := config.LoadWithoutSecrets(path, a.Env)
	var faults *config.Error
	if err != nil && !errors.As(err, &faults) {
		return err
	}
	if faults != nil {
		for _, fault := range faults.Faults {
			text := a.Text("to be filled in")
			if fault.Text.Error() != config.StillToFillIn {
				text = fault.Text.Error()
				if !a.AsJSON {
					text = a.Voice().Fault(fault.Text)
				}
			}
			open = append(open, toFillIn{fault.Line, fault.Path, text})
		}
	}
	if a.AsJSON {
		jobs := trade.Map(p.jobs, func(job proposedJob) string { return job.name })
		return a.PrintJSON(struct {
			File   string     `json:"file"`
			Jobs   []string   `json:"jobs"`
			FillIn []toFillIn `json:"fill_in"`
		}{path, jobs, open})
	}
	a.Show("%s written. Still to be filled in or decided:", path)
	for _, o := range open {
		a.Show("  %s:%d  %s: %s", filepath.Base(path), o.Line, o.Path, o.Text)
	}
	a.Show("init.next", path)
	return nil
}

// asker asks a person on a terminal; without a terminal it asks nobody.
type asker struct {
	terminal bool
	in       *bufio.Reader
	out      io.Writer
}

// unless returns value if it is not empty; otherwise it asks and returns the answer. It returns ""
// if nobody can be asked, or nothing is answered.
func (k *asker) unless(value, question string) string {
	if value != "" || !k.terminal {
		return value
	}
	fmt.Fprint(k.out, question+" ")
	answer, err := k.in.ReadString('\n')
	if err != nil && answer == "" {
		return ""
	}
	return strings.TrimSpace(answer)
}
