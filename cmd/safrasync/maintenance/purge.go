package maintenance

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// purgeFlags are the flags of purge.
type purgeFlags struct {
	cli.ActFlags
	kinds    []string
	before   string
	producer string
	export   string
}

// NewPurgeCommand makes the command purge.
func NewPurgeCommand(a *cli.App) *cobra.Command {
	var f purgeFlags
	cmd := a.Command("purge --reason TEXT", "remove data that is no longer needed, or data about one producer", cli.Exactly(0), func(ctx context.Context, _ []string) error {
		config, err := a.LoadConfig()
		if err != nil {
			return err
		}
		if f.producer != "" {
			if len(f.kinds) > 0 || f.before != "" {
				return a.Usage("--producer cannot be combined with --kind or --before")
			}
			return purgeProducer(ctx, a, f)
		}
		if f.export != "" {
			return a.Usage("--export requires --producer")
		}
		at := office.Now()
		keep := config.Retention.Ledger()
		for _, kind := range f.kinds {
			if !slices.Contains(state.RetentionKinds, kind) {
				return a.Usage("there is no kind %s; the kinds are %s", kind, cli.Listed(state.RetentionKinds))
			}
		}
		if f.before != "" {
			before, ok := cli.ParseSince(f.before, at, config.Zone())
			if !ok || !before.Before(at) {
				return a.Usage("--%s %q is neither an age (2h, 7d) nor a date (2026-11-21)", "before", f.before)
			}
			age := at.Sub(before)
			keep.Bodies, keep.Runs, keep.IdleRuns, keep.Lookups, keep.Inbox = age, age, age, age, age
			keep.Kinds = purgeableByAge
		}
		if len(f.kinds) > 0 {
			keep.Kinds = f.kinds
		}
		o, err := a.Office(ctx, cli.ToWrite, cli.NoERP) // the journal's size is known only if opened for writing
		if err != nil {
			return err
		}
		plan, err := o.PlanRetention(ctx, keep, at)
		if err != nil {
			return err
		}
		a.Tell("To be removed from the ledger:")
		t, v := table.NewWriter(), a.Voice()
		t.SetOutputMirror(a.Stderr)
		t.SetStyle(table.StyleLight)
		t.AppendHeader(table.Row{
			a.Text("what"), a.Text("from before"), a.Text("records"),
			a.Text("approx. bytes"), a.Text("kept, still needed"),
		})
		for _, k := range plan {
			if len(f.kinds) > 0 && !slices.Contains(f.kinds, k.Kind) {
				continue
			}
			before := "-"
			if k.Before != nil {
				before = v.Moment(*k.Before)
			}
			t.AppendRow(table.Row{a.Text("purge.kind." + k.Kind), before, k.Rows, k.Bytes, k.Kept})
		}
		t.Render()
		a.Tell("Keys, platform ids, states, times and hashes are always kept: they prevent a second sending.")
		if plan.Empty() {
			a.Tell("There is nothing to do.")
			return printPurged(a, plan, false)
		}
		if err := a.Confirmed(f.ActFlags); err != nil {
			return err
		}
		plan, err = o.Purge(ctx, keep, at, a.Person(f.ActFlags))
		if err != nil {
			return err
		}
		return printPurged(a, plan, true)
	})
	f.Add(cmd)
	cmd.Flags().StringSliceVar(&f.kinds, "kind", nil,
		a.Phrase("only these `KINDS`: %s", cli.Listed(state.RetentionKinds)))
	cmd.Flags().StringVar(&f.before, "before", "",
		"instead of what retention: says, what is older than `D`: 90d, 2026-01-31; for bodies, runs, lookups and inbox")
	cmd.Flags().StringVar(&f.producer, "producer", "",
		"what is held about one producer: the platform's `ID`, or the ERP's code")
	cmd.Flags().StringVar(&f.export, "export", "",
		"with --producer: write it to `FILE`, as JSON, and to FILE.txt for people; nothing is removed")
	cli.Completes(a, cmd, "kind", state.RetentionKinds)
	return cmd
}

// purgeableByAge lists the kinds to which --before applies.
var purgeableByAge = []string{state.KeptBodies, state.KeptRuns, state.KeptLookups, state.KeptInbox}

// purgeJSON is the --json output of purge: one object for each kind.
type purgeJSON struct {
	state.Retained
	Done bool `json:"done"`
}

func printPurged(a *cli.App, plan state.RetentionPlan, done bool) error {
	if !a.AsJSON {
		if done {
			a.Show("Done.")
		}
		return nil
	}
	of := func(k state.Retained) purgeJSON { return purgeJSON{k, done && k.Rows > 0} }
	return cli.PrintEach(a, trade.Map(plan, of))
}

// purgeProducer exports or removes what is stored about one producer.
func purgeProducer(ctx context.Context, a *cli.App, f purgeFlags) error {
	o, err := a.Office(ctx, cli.ToWrite, cli.NoERP) // an export is audited too
	if err != nil {
		return err
	}
	s, err := o.Dossier(ctx, f.producer)
	if err != nil {
		return err
	}
	a.Tell("About this producer: %d {row|rows}, %d {code|codes} in the references, %d {lookup|lookups} by document, %d {action|actions} in the audit.", len(s.Rows), len(s.References), len(s.Lookups), len(s.Acts))
	sums := &s.Sums
	if f.export != "" {
		// everything that the ledger stores about the producer, in two new files
		for _, path := range []string{f.export, f.export + ".txt"} {
			if err := cli.MayMake(path); err != nil {
				return a.Usage("%s: %s; nothing was written there", path, a.Voice().FileReason(err))
			}
		}
		a.Tell("It will be written to %s, outside the protection of the system: store it safely and delete it when it is no longer needed.", f.export)
		if err := a.Confirmed(f.ActFlags); err != nil {
			return err
		}
		// before any data leaves the ledger
		if err := o.Note(ctx, "export", s.Target(), s.Sums, a.Person(f.ActFlags)); err != nil {
			return err
		}
		s.Notes = trade.Map(notInDossier, func(note i18n.Key) string { return words.Machine.Text(note) })
		if err := cli.WriteOwn(f.export, func(w io.Writer) error {
			e := json.NewEncoder(w)
			e.SetEscapeHTML(false)
			e.SetIndent("", "  ")
			return e.Encode(s)
		}); err != nil {
			return err
		}
		err := cli.WriteOwn(f.export+".txt", func(w io.Writer) error { return readableSubject(a, w, s) })
		if err != nil {
			return err
		}
		s.Sums.File = f.export
		return a.Answer(s.Sums, "Written: %s (JSON) and %s.txt (for reading); only the owner of the files can read them.", f.export, f.export)
	}
	a.Tell("Values, requests and answers are removed from %d {row|rows}; from %d they are already removed; %d {is kept unchanged, because it is|are kept unchanged, because they are} still needed:", sums.Erasable, sums.Reduced, sums.Needed)
	for _, r := range s.Rows {
		if !r.Erasable && !r.Reduced() {
			a.Tell("  %s %s: %s", r.Entry.Job, r.Entry.Key, r.Entry.State.Label(a.Lang()))
		}
	}
	if len(s.References) > 0 {
		a.Tell("The references stay, because the next rows would otherwise wait for them; `safrasync refs remove producers CODE` removes them.")
	}
	if len(s.Closed) > 0 {
		a.Tell("%d closed {report has|reports have} rows of this producer: contract, code, volumes and prices, without name and document. {It stays as closed, because it proves|They stay as closed, because they prove} the month (LGPD art. 16 I); `safrasync report --closing ID --producer CODE` shows them.", len(s.Closed))
	}
	named := slices.ContainsFunc(s.References, func(r trade.Reference) bool { return r.Label != "" })
	if sums.Erasable+len(s.Lookups) == 0 && !named {
		a.Tell("There is nothing to do.")
		if a.AsJSON {
			return a.PrintJSON(sums)
		}
		return nil
	}
	if err := a.Confirmed(f.ActFlags); err != nil {
		return err
	}
	sums.Erased, err = o.Erase(ctx, s, a.Person(f.ActFlags))
	if err != nil {
		return err
	}
	return a.Answer(sums, "Done: %d {row|rows}. What prevents a second sending is kept (LGPD, art. 16 I).", sums.Erased)
}

// notInDossier says what an export does not have.
var notInDossier = []i18n.Key{
	"Data that the ERP holds is not included: safrasync only reads it.",
	"Logs have no names, documents, prices or bodies; backups have what the ledger had on their day.",
	"Closed reports (`safrasync report --closings`) keep the rows as they were: `safrasync report --closing ID --producer CODE -o FILE` shows them.",
	"Data that the platform holds must be requested from the platform.",
}

// readableSubject writes the export as text for people.
func readableSubject(a *cli.App, w io.Writer, s *office.Dossier) error {
	v := a.Voice()
	var b strings.Builder
	say := func(p i18n.Key, args ...any) { b.WriteString(v.Text(p, args...) + "\n") }
	say("What safrasync holds about a producer, on %s\nOn the platform: %s\nIn the ERP: %s\n", v.Moment(s.Made), strings.Join(s.IDs, ", "), strings.Join(s.Codes, ", "))
	say("Rows: %d", len(s.Rows))
	for _, r := range s.Rows {
		e := r.Entry
		say("  %s %s (%s): %s; since %s, last change %s", e.Job, e.Key, e.Sends.Label(v.Lang), e.State.Label(v.Lang), v.Moment(e.FirstSeenAt),
			v.Moment(e.UpdatedAt))
		if e.RemoteID != "" {
			say("      on the platform: %s", e.RemoteID)
		}
		if r.ByMark {
			say("      recognised by what is left of its values; there is a very small chance that it belongs to another producer")
		}
		if !e.ReducedAt.IsZero() {
			say("      values, requests and answers are no longer kept since %s", v.Moment(e.ReducedAt))
			continue
		}
		if line := e.Shown.Line(); line != "" {
			say("    shown: %s", line)
		}
		for _, name := range office.ColumnsInOrder(a.Config.JobSpecs(), e) {
			if c := e.Values[name]; c.Kind != 0 && c.Kind != trade.Marked {
				fmt.Fprintf(&b, "      %s: %s\n", name, strings.TrimSpace(c.Text))
			}
		}
		for _, t := range r.Attempts {
			say("      attempt on %s: %s", v.Moment(t.StartedAt), v.Text("outcome."+words.OutcomeName(t.Outcome)))
		}
	}
	say("\nActions of people: %d", len(s.Acts))
	for _, r := range s.Records {
		say("  %s %s: %s %s: %s", v.Moment(r.At), r.Who, r.Act, r.Target, r.Because(v.Lang, v.Zone))
	}
	if len(s.Closed) > 0 {
		say("\nClosed reports with rows of this producer: %d", len(s.Closed))
	}
	for _, c := range s.Closed {
		say("  %s, closed on %s: %s", c.Day.String(), v.Moment(c.At), c.ID)
	}
	for _, note := range notInDossier {
		say(note)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
