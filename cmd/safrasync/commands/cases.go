package commands

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/sync/dryrun"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// testFlags are the flags of `safrasync test`.
type testFlags struct{ record, update, from bool }

// NewTestCommand makes the command test.
func NewTestCommand(a *cli.App) *cobra.Command {
	var f testFlags
	cmd := a.Command("test [DIR|FILE…] | --from JOB KEY [FILE]", "run the mapping cases: row in, payload or problems out; needs no ERP or network", cli.AnyArgs,
		func(ctx context.Context, args []string) error {
			switch {
			case f.update && !f.record, f.from && f.record:
				return a.Usage("--update requires --record, and --from cannot be combined with --record")
			case f.from && (len(args) < 2 || len(args) > 3):
				return a.Usage("the arguments are: %s", "test --from JOB KEY [FILE]")
			case f.from:
				args := append(args, "")[:3]
				key, err := a.CheckKey(args[0], args[1])
				if err != nil {
					return err
				}
				o, err := a.Office(ctx, cli.ToRead, cli.ERPNeeded)
				if err != nil {
					return err
				}
				tried, err := o.CaseOf(ctx, args[0], key)
				if errors.Is(err, dryrun.ErrNotInQuery) {
					return a.Error("the job's query does not return the key %s; `safrasync why %s '%s'` shows why", key, args[0], key)
				}
				if err != nil {
					return a.Config.Annotate(err)
				}
				file := args[2]
				if file == "" {
					file = filepath.Join(casesBeside(a.Config),
						args[0]+"-"+strings.Trim(notFileName.ReplaceAllString(key, "-"), "-")+".yaml")
					err := os.MkdirAll(filepath.Dir(file), 0o755)
					if errors.Is(err, fs.ErrPermission) {
						return a.Error("this user cannot write %s; give a file in a writable folder: safrasync test --from %s '%s' /tmp/case.yaml", file, args[0], words.Printable(key))
					} else if err != nil {
						return phrase.Errorf("%s: %s", filepath.Dir(file), config.PlainReason(err))
					}
				}
				text := renderCase(tried.Job, tried.Case, a.Text("From row %s of the ERP. Check that the result below is right; replace personal data.", words.Printable(strings.ReplaceAll(key, "\n", " ")))) +
					resultOf(tried.Verdict).render(tried.Job.Spec.Sends)
				if err := cli.CreateFile(file, text, 0o640); errors.Is(err, fs.ErrExist) {
					return a.Error("%s already exists and is not overwritten; give another file name", file)
				} else if errors.Is(err, fs.ErrPermission) {
					return a.Error("this user cannot write %s; give a file in a writable folder: safrasync test --from %s '%s' /tmp/case.yaml", file, args[0], words.Printable(key))
				} else if err != nil {
					return err
				}
				return a.Answer(caseResult{
					File: file, Job: args[0], OK: true, Recorded: true, Differences: []difference{},
				}, "%s written; check the expected result in it", file)
			}
			return testCases(a, args, f)
		})
	flags := cmd.Flags()
	flags.BoolVar(&f.record, "record", false, "fill in the expectation of cases that have none")
	flags.BoolVar(&f.update, "update", false, "with --record: rewrite the expectation of all cases")
	flags.BoolVar(&f.from, "from", false, "make a case from a row of the ERP")
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if !f.from || len(args) > 1 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return a.CompleteRows()(cmd, args, typed)
	}
	return cmd
}

// caseResult is one line of `test --json`.
type caseResult struct {
	File        string       `json:"file"`
	Job         string       `json:"job"`
	OK          bool         `json:"ok"`
	Recorded    bool         `json:"recorded"`    // the expectation was written by this command
	Differences []difference `json:"differences"` // how the result differs from the expectation
	Error       *string      `json:"error"`       // why the case could not be run
	err         error        // the same, for people
}

// testCases runs mapping cases in the order of the names of their files: the given files, those in the
// given folders, or else those in cases/ beside the configuration. It needs no ERP, network, ledger or secret.
func testCases(a *cli.App, args []string, f testFlags) error {
	conf, err := cli.LoadConfigBy(a, config.LoadWithoutSecrets)
	if err != nil {
		return err
	}
	jobs, err := office.CompileJobs(conf)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		args = []string{casesBeside(conf)}
	}
	var files []string
	for _, arg := range args {
		info, err := os.Stat(arg)
		if err != nil {
			return a.Error("the cases in %s cannot be read: %s; `safrasync test --from JOB KEY` creates a case from an ERP row", arg, a.Voice().Fault(config.PlainReason(err)))
		}
		if !info.IsDir() {
			files = append(files, arg)
			continue
		}
		before := len(files)
		err = filepath.WalkDir(arg, func(path string, d fs.DirEntry, err error) error {
			if ext := filepath.Ext(path); err == nil && !d.IsDir() && (ext == ".yaml" || ext == ".yml") {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			return a.Error("the cases in %s cannot be read: %s; `safrasync test --from JOB KEY` creates a case from an ERP row", arg, a.Voice().Fault(config.PlainReason(err)))
		}
		if len(files) == before {
			return a.Error("there is no case (*.yaml) in %s; `safrasync test --from JOB KEY` creates a case from an ERP row", arg)
		}
	}
	failed, recorded := 0, 0
	for _, file := range files {
		result := runCase(a, jobs, file, f)
		if !result.OK {
			failed++
		}
		if result.Recorded {
			recorded++
		}
		if !a.AsJSON {
			sign := "✓"
			if !result.OK {
				sign = "✗"
			}
			text := sign + " " + result.File
			if result.Recorded {
				text += a.Text(" (expectation recorded: check it)")
			}
			a.Line(text)
			if result.err != nil {
				a.Block("    " + strings.ReplaceAll(a.Voice().Fault(result.err), "\n", "\n    "))
			}
			for _, d := range result.Differences {
				a.Line("    " + d.Line)
				if d.Expected != nil {
					a.Line("      - " + *d.Expected + a.Text("   (expected)"))
				}
				if d.Got != nil {
					a.Line("      + " + *d.Got + a.Text("   (got)"))
				}
			}
		} else if err := a.PrintJSON(result); err != nil {
			return err
		}
	}
	if !a.AsJSON {
		a.Show("%d {case|cases}: %d passed, %d failed; expectations recorded: %d", len(files), len(files)-failed, failed, recorded)
	}
	return cli.FailedIf(failed > 0)
}

func casesBeside(config *config.Config) string {
	return filepath.Join(filepath.Dir(config.File()), "cases")
}

// runCase runs one case. Its errors are part of the result, so that the other cases run all the
// same.
func runCase(a *cli.App, jobs office.Mapping, file string, f testFlags) caseResult {
	out := caseResult{File: file, Differences: []difference{}}
	fail := func(err error) caseResult {
		text := err.Error()
		out.Error, out.err = &text, err
		return out
	}
	c, err := LoadCase(file)
	if err != nil {
		return fail(err)
	}
	out.Job = c.Job
	tried, err := jobs.Try(c.Job, c.input())
	if errors.Is(err, trade.ErrNotFound) {
		names := trade.Map(jobs, (*mapping.Job).Name)
		return fail(&config.Error{Faults: []config.Fault{config.FaultAt(c.source, c.index, "job",
			config.UnknownName("unknown job %s", c.Job, names))}})
	}
	if err != nil {
		return fail(config.AnnotateAt(c.source, c.index, err))
	}
	got, kind := resultOf(tried.Verdict), tried.Job.Spec.Sends
	if f.record && (f.update || !c.hasExpectation()) {
		// Of the file only the expectation changes.
		var kept []string
		dropping := false
		for _, line := range strings.Split(strings.TrimRight(c.source.Text, "\n"), "\n") {
			m := topLevelKey.FindStringSubmatch(line)
			switch {
			case m != nil:
				dropping = slices.Contains(expectationKeys, m[1])
			case strings.HasPrefix(line, "#"): // a comment at the margin belongs to what follows it
				dropping = false
			}
			if !dropping {
				kept = append(kept, line)
			}
		}
		text := strings.TrimRight(strings.Join(kept, "\n"), "\n") + "\n" + got.render(kind)
		if text != c.source.Text {
			if err := cli.ReplaceFile(file, text); err != nil {
				return fail(err)
			}
			out.Recorded = true
		}
		out.OK = true
		return out
	}
	if !c.hasExpectation() {
		return fail(a.Error("the case does not say what is expected (payload, problems, waits_for or cancelled); `safrasync test --record %s` fills it in", file))
	}
	got.Problems, got.Remarks = got.Problems.like(c.Problems), got.Remarks.like(c.Remarks)
	values := map[string]string{}
	for _, l := range got.lines(kind) {
		values[l.name] = l.value
	}
	seen := map[string]bool{}
	for _, l := range c.lines(kind) {
		seen[l.name] = true
		value, there := values[l.name]
		switch {
		case !there:
			out.Differences = append(out.Differences, difference{Line: l.name, Expected: &l.value})
		case value != l.value:
			out.Differences = append(out.Differences, difference{l.name, &l.value, &value})
		}
	}
	for _, l := range got.lines(kind) {
		if !seen[l.name] {
			out.Differences = append(out.Differences, difference{Line: l.name, Got: &l.value})
		}
	}
	out.OK = len(out.Differences) == 0
	return out
}

var notFileName = regexp.MustCompile(`[^A-Za-z0-9._-]+`)
