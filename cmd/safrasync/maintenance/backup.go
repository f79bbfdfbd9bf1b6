package maintenance

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/state"
)

// NewBackupCommand makes the command backup.
func NewBackupCommand(a *cli.App) *cobra.Command {
	var keep int
	var cmd *cobra.Command
	cmd = a.Command("backup FILE | --keep N DIR", "copy the ledger, even while it is in use, to a new file or, with --keep, into a folder of dated copies", cli.Exactly(1),
		func(ctx context.Context, args []string) error {
			if cmd.Flags().Changed("keep") && keep < 1 {
				return a.Usage("--keep must be 1 or more")
			}
			store, err := a.OpenLedger(ctx, cli.AsItIs)
			if err == nil {
				err = copyLedger(ctx, a, store, args[0], keep)
			}
			if a.Config == nil { // nobody knows of a monitor
				return err
			}
			heartbeat, wrong := office.NewHeartbeat(a.Config, store, a.Log, nil)
			if heartbeat != nil {
				wrong = heartbeat.Backup(ctx, err)
			}
			if wrong != nil {
				a.Tell("the backup has ended, but the heartbeat did not reach the monitor: %v", wrong)
			}
			return err
		})
	cmd.Flags().IntVar(&keep, "keep", 0,
		"make a copy with its date in a folder, and keep the newest `N` of this ledger there")
	return cmd
}

// copyLedger copies the ledger while other processes may use it: into a file or, with keep, into a
// folder of dated copies.
func copyLedger(ctx context.Context, a *cli.App, store *state.Store, to string, keep int) (err error) {
	file := to
	var removed, broken []string
	if keep > 0 {
		file, removed, broken, err = store.BackupInto(ctx, to, keep, office.Now())
	} else if err = store.Backup(ctx, to); err != nil {
		file = ""
	}
	if file == "" { // no copy was made; if one was, the error is about an older copy
		return err
	}
	// It is noted, so that status, metrics and alerts know how old the newest one is, and a start finds
	// copies that are newer than the ledger. A ledger that cannot be written is copied all the same.
	folder := ""
	if keep > 0 {
		folder = filepath.Dir(file)
	}
	writer, noted := a.OpenLedger(ctx, cli.ToWrite)
	if noted == nil {
		noted = writer.BackupMade(ctx, office.Now(), folder)
	}
	if noted != nil {
		a.Tell("the copy is made, but the ledger could not note it: %v", noted)
	}
	if a.AsJSON {
		out := struct {
			File     string   `json:"file"`
			Ledger   string   `json:"ledger"`
			Removed  []string `json:"removed,omitzero"`
			NotWhole []string `json:"not_whole,omitzero"`
		}{File: file, Ledger: store.LedgerID()}
		if keep > 0 {
			out.Removed, out.NotWhole = office.OrEmpty(removed), office.OrEmpty(broken)
		}
		return errors.Join(err, a.PrintJSON(out))
	}
	a.Show("Copied and checked: %s", file)
	for _, old := range removed {
		a.Show("Removed: %s", old)
	}
	for _, old := range broken {
		a.Tell("note: the copy %s is incomplete: it does not count and is not removed; check the disk and delete it", old)
	}
	return err
}

// NewRestoreCommand makes the command restore.
func NewRestoreCommand(a *cli.App) *cobra.Command {
	var f cli.ActFlags
	cmd := a.Command("restore FILE --reason TEXT", "replace the ledger with a copy; the replaced ledger is kept", cli.Exactly(1),
		func(ctx context.Context, args []string) error {
			config, options, err := a.LoadToWrite()
			if err != nil {
				return err
			}
			if err := a.NeedReason(f); err != nil {
				return err
			}
			file, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			a.Tell("%s will replace %s; the present ledger will be kept next to it.", file, config.State.DSN.Reveal())
			if err := a.Confirm(f.Yes); err != nil {
				return err
			}
			record, err := a.Audit(f, "restore", "ledger", map[string]string{"file": file})
			if err != nil {
				return err
			}
			kept, err := state.Restore(ctx, options, file, record)
			if err != nil {
				return err
			}
			store, err := a.OpenLedger(ctx, cli.AsItIs)
			if err != nil {
				return err
			}
			report, err := store.JournalReport(ctx, config.State.Journals())
			lacks := cli.LedgerFault(err) // not nil: the journal has records that the ledger lacks
			if err != nil && lacks == nil {
				return err
			}
			if a.AsJSON {
				out := struct {
					Ledger   string `json:"ledger"`
					Kept     string `json:"kept"`
					InStep   bool   `json:"in_step"`
					Missing  int    `json:"missing"`
					Problem  string `json:"problem"`
					Solution string `json:"hint"`
				}{Ledger: store.LedgerID(), Kept: kept, InStep: lacks == nil && !report.Unfinished}
				if lacks != nil {
					out.Missing = lacks.Records
					out.Problem, out.Solution = words.Machine.LedgerWhat(lacks), words.Machine.LedgerHint(lacks)
				}
				return a.PrintJSON(out)
			}
			a.Show("Ledger restored from %s.", file)
			if kept != "" {
				a.Show("The previous ledger is in %s.", kept)
			}
			switch {
			case lacks != nil:
				a.Show("Note: %s\n  → %s", a.Voice().LedgerWhat(lacks), a.Voice().LedgerHint(lacks))
			case report.Unfinished:
				a.Show("%s has one record that the ledger does not have yet", report.Folder)
			default:
				a.Show("It is in step with its journal: nothing is missing.")
			}
			return nil
		})
	f.Add(cmd)
	return cmd
}
