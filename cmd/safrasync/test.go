package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	engine "github.com/safrasync/safrasync/sync"
)

// testFlags are those of `safrasync test`.
type testFlags struct{ record, update, from bool }

func newTestCommand(a *App) *cobra.Command {
	var f testFlags
	cmd := a.command("test [DIR|FILE…] | --from JOB KEY [FILE]", "help.test", anyArgs,
		func(cmd *cobra.Command, args []string) error {
			switch {
			case f.update && !f.record, f.from && f.record:
				return a.usage("test.flags_clash")
			case f.from && (len(args) < 2 || len(args) > 3):
				return a.usage("says.arguments", "test --from JOB KEY [FILE]")
			case f.from:
				return a.caseFrom(cmd.Context(), append(args, "")[:3])
			}
			return a.testCases(args, f)
		})
	flags := cmd.Flags()
	flags.BoolVar(&f.record, "record", false, "fill in the expectation of cases that have none")
	flags.BoolVar(&f.update, "update", false, "with --record: rewrite the expectation of all cases")
	flags.BoolVar(&f.from, "from", false, "make a case from a row of the ERP")
	return cmd
}

// caseResult is one line of `test --json`.
type caseResult struct {
	File        string       `json:"file"`
	Job         string       `json:"job"`
	OK          bool         `json:"ok"`
	Recorded    bool         `json:"recorded"`    // the expectation was written now
	Differences []difference `json:"differences"` // what is not as the case expects
	Error       *string      `json:"error"`       // why the case could not be run
}

// testCases runs mapping cases. It needs neither ERP nor network nor ledger, and no secret.
func (a *App) testCases(args []string, f testFlags) error {
	config, err := a.loadConfigBy(loadConfigWithoutSecrets)
	if err != nil {
		return err
	}
	jobs, err := compileJobs(config)
	if err != nil {
		return err
	}
	files, err := a.findCases(config, args)
	if err != nil {
		return err
	}
	failed, recorded := 0, 0
	for _, file := range files {
		result := a.runCase(jobs, file, f)
		if !result.OK {
			failed++
		}
		if result.Recorded {
			recorded++
		}
		if a.asJSON {
			if err := a.printJSON(result); err != nil {
				return err
			}
			continue
		}
		a.printCase(result)
	}
	if !a.asJSON {
		a.show("test.summary", len(files), len(files)-failed, failed, recorded)
	}
	if failed > 0 {
		return &exitError{exitFailed}
	}
	return nil
}

// findCases gives the files of cases in the order of their names: those given, those below the
// folders given, else those of cases/ beside the configuration.
func (a *App) findCases(config *Config, args []string) ([]string, error) {
	if len(args) == 0 {
		args = []string{casesBeside(config)}
	}
	var files []string
	for _, arg := range args {
		info, err := os.Stat(arg)
		if err != nil {
			return nil, errors.New(a.text("test.no_cases", arg, plainReason(err)))
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
			return nil, errors.New(a.text("test.no_cases", arg, plainReason(err)))
		}
		if len(files) == before {
			return nil, errors.New(a.text("test.empty_folder", arg))
		}
	}
	return files, nil
}

func casesBeside(config *Config) string {
	return filepath.Join(filepath.Dir(config.File()), "cases")
}

// runCase runs one case; what is wrong with it is a part of the result, and the others go on.
func (a *App) runCase(jobs []*engine.Job, file string, f testFlags) caseResult {
	out := caseResult{File: file, Differences: []difference{}}
	fail := func(err error) caseResult {
		text := err.Error()
		out.Error = &text
		return out
	}
	c, err := loadCase(file)
	if err != nil {
		return fail(err)
	}
	out.Job = c.Job
	var names []string
	for _, j := range jobs {
		names = append(names, j.Name())
	}
	i := slices.Index(names, c.Job)
	if i < 0 {
		return fail(&ConfigError{Faults: []ConfigFault{faultAt(c.source, c.index, "job",
			unknownName("job", c.Job, names))}})
	}
	verdict, err := engine.Try(jobs[i], c.input())
	if err != nil {
		return fail(c.annotate(err))
	}
	got, kind := verdictOutcome(verdict), jobs[i].Spec.Sends
	if f.record && (f.update || !c.hasExpectation()) {
		text := withOutcome(c.source.text, kind, got)
		if text != c.source.text {
			if err := replaceFile(file, text); err != nil {
				return fail(err)
			}
			out.Recorded = true
		}
		out.OK = true
		return out
	}
	if !c.hasExpectation() {
		return fail(errors.New(a.text("test.no_expectation", file)))
	}
	out.Differences = differences(kind, c.expected(), got)
	out.OK = len(out.Differences) == 0
	return out
}

// printCase writes a case for people: one line when all is well, else every line that differs.
func (a *App) printCase(r caseResult) {
	sign := "✓"
	if !r.OK {
		sign = "✗"
	}
	text := sign + " " + r.File
	if r.Recorded {
		text += a.text("test.recorded")
	}
	a.line(text)
	if r.Error != nil {
		a.block("    " + strings.ReplaceAll(*r.Error, "\n", "\n    "))
	}
	for _, d := range r.Differences {
		a.line("    " + d.Line)
		if d.Expected != nil {
			a.line("      - " + *d.Expected + a.text("test.expected"))
		}
		if d.Got != nil {
			a.line("      + " + *d.Got + a.text("test.got"))
		}
	}
}

var notFileName = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// caseFrom makes a case of a row as the ERP has it now, with what the mapping makes of it as its
// expectation. args are job, key and file; "" = a name in cases/.
func (a *App) caseFrom(ctx context.Context, args []string) error {
	config, err := a.loadConfig()
	if err != nil {
		return err
	}
	key, err := a.checkKey(config, args[0], args[1])
	if err != nil {
		return err
	}
	store, err := a.openLedger(ctx, toRead)
	if err != nil {
		return err
	}
	source, err := a.openERP(ctx)
	if err != nil {
		return err
	}
	e, err := a.openEngine(store, source, nil)
	if err != nil {
		return err
	}
	c, err := e.CaseOf(ctx, args[0], key)
	if errors.Is(err, engine.ErrNotInQuery) {
		return errors.New(a.text("preview.not_in_query", key, args[0], key))
	}
	if err != nil {
		return config.Annotate(err)
	}
	job, err := e.Job(args[0])
	if err != nil {
		return err
	}
	verdict, err := engine.Try(job, c)
	if err != nil {
		return err
	}
	file := args[2]
	if file == "" {
		file = filepath.Join(casesBeside(config),
			args[0]+"-"+strings.Trim(notFileName.ReplaceAllString(key, "-"), "-")+".yaml")
		err := os.MkdirAll(filepath.Dir(file), 0o755)
		if errors.Is(err, fs.ErrPermission) {
			return errors.New(a.text("test.not_writable", file, args[0], printable(key)))
		} else if err != nil {
			return fmt.Errorf("%s: %s", filepath.Dir(file), plainReason(err))
		}
	}
	text := renderCase(job, c, a.text("test.from_comment", printable(strings.ReplaceAll(key, "\n", " ")))) +
		verdictOutcome(verdict).render(job.Spec.Sends)
	if err := createFile(file, text, 0o640); errors.Is(err, fs.ErrExist) {
		return errors.New(a.text("test.file_exists", file))
	} else if errors.Is(err, fs.ErrPermission) {
		return errors.New(a.text("test.not_writable", file, args[0], printable(key)))
	} else if err != nil {
		return err
	}
	if a.asJSON {
		return a.printJSON(caseResult{File: file, Job: args[0], OK: true, Recorded: true, Differences: []difference{}})
	}
	a.show("test.written", file)
	return nil
}
