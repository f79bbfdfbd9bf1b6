package rows

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/sync/dryrun"
	"github.com/safrasync/safrasync/sync/mapping"
)

// writeBundle writes a row, masked, to a file for somebody who looks for a fault.
func writeBundle(ctx context.Context, a *cli.App, job, typed, path string) error {
	conf, err := a.LoadConfig()
	if err != nil {
		return err
	}
	key, err := a.CheckKey(conf, job, typed)
	if err != nil {
		return err
	}
	if err := cli.MayMake(path); errors.Is(err, fs.ErrExist) {
		return errors.New(a.Text("test.file_exists", path))
	} else if err != nil {
		return phrase.Errorf("%s: %w", path, err)
	}
	o, err := a.Office(ctx, cli.ToRead, cli.ERPIfThere)
	if err != nil {
		return err
	}
	err = cli.WriteOwn(path, func(w io.Writer) error { return o.WriteSpecimen(ctx, job, key, w) })
	if errors.Is(err, dryrun.ErrNotInQuery) {
		return errors.New(a.Text("preview.not_in_query", key, job, key))
	} else if err != nil {
		return conf.Annotate(err)
	}
	if a.AsJSON {
		return a.PrintJSON(struct {
			File string `json:"file"`
		}{path})
	}
	a.Show("row_bundle.done", path, path)
	return nil
}

// readBundle returns the content of a file that is a bundle of a row; ok is false for any other.
func readBundle(path string) (data []byte, ok bool) {
	file, err := os.Open(path)
	if err != nil {
		return nil, false
	}
	defer func() { _ = file.Close() }() // it was only read
	head := make([]byte, 64)
	n, err := file.Read(head)
	if err != nil || !office.IsSpecimen(head[:n]) {
		return nil, false
	}
	rest, err := io.ReadAll(io.LimitReader(file, office.SpecimenMost))
	return append(head[:n], rest...), err == nil
}

// testBundles runs the bundles among the arguments, and returns the arguments that are none.
func testBundles(a *cli.App, args []string, tell func(caseResult) error) (others []string, err error) {
	for _, arg := range args {
		data, ok := readBundle(arg)
		if !ok {
			others = append(others, arg)
			continue
		}
		if err := tell(runBundle(a, arg, data)); err != nil {
			return nil, err
		}
	}
	return others, nil
}

// runBundle judges the row of a bundle with this version of the program. It needs no configuration.
func runBundle(a *cli.App, file string, data []byte) caseResult {
	out := caseResult{File: file, Differences: []difference{}}
	fail := func(err error) caseResult {
		text := err.Error()
		out.Error, out.err = &text, err
		return out
	}
	s, err := office.TrySpecimen(data)
	if err != nil {
		return fail(err)
	}
	out.Job = s.Job.Name()
	out.Differences = differences(s.Job.Spec.Sends, verdictOutcome(s.Verdict), verdictOutcome(s.Got))
	out.OK = len(out.Differences) == 0 && s.Verdict.State == s.Got.State
	if !a.AsJSON {
		printBundle(a, s)
	}
	return out
}

// printBundle prints the row of a bundle as `why` prints one.
func printBundle(a *cli.App, s office.Specimen) {
	now := s.Preview
	v := a.Voice()
	from := a.Text("row_bundle.of_ledger")
	if s.FromERP {
		from = a.Text("row_bundle.of_erp")
	}
	a.Show("row_bundle.title", s.Job.Name(), now.Key, s.Program, v.Moment(s.MadeAt), from)
	if e := s.Entry; e == nil {
		a.Show("why.no_entry")
	} else {
		a.Show("why.state", e.State.Label(v.Lang), v.Moment(e.UpdatedAt))
		if reason := v.Reason(*e); reason != "" {
			a.Show("why.reason", reason)
		}
		if len(e.Flags) > 0 {
			a.Show("row_bundle.flags", cli.Listed(e.Flags))
		}
		printEntry(a, []mapping.JobSpec{s.Job.Spec}, *e, now.Request)
		for _, t := range s.Attempts {
			printAttempt(a, t)
		}
	}
	for _, act := range s.Acts {
		a.Show("row_bundle.act", v.Moment(act.At), act.Act)
	}
	a.Line("")
	printPreview(a, now, "")
}
