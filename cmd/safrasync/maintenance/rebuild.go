package maintenance

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// NewRebuildCommand makes the command rebuild.
func NewRebuildCommand(a *cli.App) *cobra.Command {
	var f cli.ActFlags
	var fresh bool
	cmd := a.Command("rebuild --reason TEXT", "restore from the journal what the ledger lacks", cli.Exactly(0),
		func(ctx context.Context, _ []string) error {
			conf, options, err := a.LoadToWrite()
			if err != nil {
				return err
			}
			names := trade.Map(conf.JobSpecs(), func(j mapping.JobSpec) string { return j.Name })
			if fresh {
				do := func(do bool, record trade.AuditRecord) (state.NewJournalPlan, error) {
					return state.NewJournal(ctx, options, names, do, record)
				}
				return onLedger(a, f, "new journal", do, func(plan state.NewJournalPlan) bool {
					a.Tell("A new journal will be created in %s with what the ledger knows: %d {row|rows} sent; %d that {was in flight becomes|were in flight become} in doubt.", plan.Journal, plan.Sent, plan.Doubts)
					if plan.Aside != "" {
						a.Tell("The existing journal will be kept under another name.")
					}
					a.Tell("ATTENTION: the ledger knows only what happened until %s. What was sent later IS SENT AGAIN, and the platform cannot delete. Confirm only if there is no newer copy and no other is in use.", a.Voice().Moment(plan.Until))
					if w := plan.Witness; w != nil {
						a.Tell("  The witness saw the journal of %s reach record %d at %s: %d {record is|records are} missing here.", w.Host, w.Record, a.Voice().Moment(w.At), w.Missing)
					}
					if plan.WitnessFault != nil {
						a.Tell("  The witness could not be read (%s): what it saw is not known.", a.Voice().Fault(plan.WitnessFault))
					}
					// how many rows would be sent because the ledger does not know them
					o, err := a.Office(ctx, cli.ToRead, cli.ERPNeeded)
					var reports []trade.RunReport
					if err == nil {
						reports, err = o.Sync(ctx, nil, engine.Options{DryRun: true, Sweep: true})
					}
					if err != nil {
						a.Tell("  What would go again could not be counted: the ERP, or the ledger, could not be read (%s).", a.Voice().Fault(err))
					}
					for _, r := range reports {
						switch {
						case r.Stopped != nil:
							a.Tell("  What would go again could not be counted: the ERP, or the ledger, could not be read (%s).", r.Job+": "+a.Voice().Stop(*r.Stopped))
						case r.WouldSend != nil:
							a.Tell("  Job %s: the ERP has %d {row|rows} that the ledger does not know; without comparing, %d would go.", r.Job, r.New, r.WouldSend.Rows+r.WouldSend.Follow)
						}
					}
					a.Tell("After it nothing is sent until somebody releases each job. Before you release, compare one job after the other, contracts before deliveries: `safrasync sync --record-only` records the rows without sending; look on the platform for each row that is pending, waiting or invalid, among what was created after that time; one that is there: `safrasync adopt`. Then: `safrasync release JOB`.")
					return true
				}, func(plan state.NewJournalPlan) { a.Show("New journal in %s.", plan.Journal) })
			}
			return onLedger(a, f, "rebuild", func(do bool, record trade.AuditRecord) (state.RebuildPlan, error) {
				return state.Rebuild(ctx, options, names, do, record)
			}, func(plan state.RebuildPlan) bool {
				a.Tell("Journal: %s, %d {record|records} until %s.", plan.Journal, plan.Records, a.Voice().Moment(plan.Until))
				if plan.Damaged != "" {
					a.Tell("The file %s is damaged: it is kept under another name.", plan.Damaged)
				}
				if plan.Absent {
					a.Tell("A new ledger is made from the journal. References and audit are not in the journal: import the references again, or new rows will wait for them.")
				}
				for _, job := range plan.Paused {
					a.Tell("  job %s: paused again, as a person had left it", job)
				}
				if len(plan.Changes)+len(plan.Paused) == 0 {
					a.Tell("The ledger already has everything that the journal knows.")
				}
				for _, c := range plan.Changes {
					from := a.Text("absent")
					if c.From != "" {
						from = c.From.Label(a.Lang())
					}
					if c.From == c.To {
						a.Tell("  %7d  %s: %s (attempts added)", c.Rows, c.Job, from)
						continue
					}
					a.Tell("  %7d  %s: %s → %s", c.Rows, c.Job, from, c.To.Label(a.Lang()))
				}
				if plan.Doubles > 0 {
					a.Tell("%d {row|rows} of these {was|were} sent twice, each time from a ledger that lacked the other sending. {It keeps|They keep} both attempts and the flag double_after_decision: have the extra record deleted on the platform.", plan.Doubles)
				}
				if plan.Same > 0 {
					a.Tell("  %7d  already as in the journal", plan.Same)
				}
				if plan.Lost > 0 {
					a.Tell("WARNING: after the last record, %d bytes of the journal cannot be read. What was sent after %s is not known, and WOULD BE SENT AGAIN: look on the platform for what was created after that time.", plan.Lost, a.Voice().Moment(plan.Until))
					a.Tell("After it nothing is sent until somebody releases each job. Before you release, compare one job after the other, contracts before deliveries: `safrasync sync --record-only` records the rows without sending; look on the platform for each row that is pending, waiting or invalid, among what was created after that time; one that is there: `safrasync adopt`. Then: `safrasync release JOB`.")
				}
				return true
			}, func(plan state.RebuildPlan) {
				if plan.Lost > 0 {
					a.Show("Done: %d {row|rows}. The jobs are paused until somebody has compared with the platform and released each.", plan.Rows())
					return
				}
				a.Show("Done: %d {row|rows}. Nothing will be sent again; the next sweep fills in the rest.", plan.Rows())
			})
		})
	f.Add(cmd)
	cmd.Flags().BoolVar(&fresh, "new-journal", false,
		"start a new journal for this ledger: its own is lost, or it moved to another host")
	return cmd
}

// onLedger does an act on the whole ledger in two steps. It plans it and prints the plan; tell
// reports whether there is anything to do. Then a person confirms it.
func onLedger[P any](a *cli.App, f cli.ActFlags, act string, do func(do bool, record trade.AuditRecord) (P, error),
	tell func(P) bool, done func(P),
) error {
	plan, err := do(false, trade.AuditRecord{})
	if err != nil {
		return err
	}
	if tell(plan) {
		if err := a.Confirmed(f); err != nil {
			return err
		}
		record, err := a.Audit(f, act, "ledger", nil)
		if err != nil {
			return err
		}
		plan, err = do(true, record)
		if err != nil {
			return err
		}
	} else {
		done = func(P) {}
	}
	if a.AsJSON {
		return a.PrintJSON(plan)
	}
	done(plan)
	return nil
}
