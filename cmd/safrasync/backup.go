package main

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/state"
)

func newBackupCommand(a *App) *cobra.Command {
	var keep int
	cmd := a.command("backup FILE | --keep N DIR", "help.backup", exactly(1),
		func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("keep") && keep < 1 {
				return a.usage("says.keep")
			}
			return a.backup(cmd.Context(), args[0], keep)
		})
	cmd.Flags().IntVar(&keep, "keep", 0,
		"make a copy with its date in a folder, and keep the newest `N` of this ledger there")
	return cmd
}

// backup copies the ledger while others may use it: into a file, or, with keep, into a folder of
// dated copies.
func (a *App) backup(ctx context.Context, to string, keep int) error {
	config, err := a.loadConfig()
	if err != nil {
		return err
	}
	store, err := state.Open(ctx, a.ledgerOptions(config, toRead))
	if err != nil {
		return err
	}
	a.closers = append(a.closers, store.Close)
	file := to
	var removed, broken []string
	if keep > 0 {
		file, removed, broken, err = store.BackupInto(ctx, to, keep, now())
	} else if err = store.Backup(ctx, to); err != nil {
		file = ""
	}
	if file == "" { // there is no copy; with one, an error is about an older copy
		return err
	}
	if a.asJSON {
		out := struct {
			File     string   `json:"file"`
			Ledger   string   `json:"ledger"`
			Removed  []string `json:"removed,omitzero"`
			NotWhole []string `json:"not_whole,omitzero"`
		}{File: file, Ledger: store.LedgerID()}
		if keep > 0 {
			out.Removed, out.NotWhole = orEmpty(removed), orEmpty(broken)
		}
		return errors.Join(err, a.printJSON(out))
	}
	a.show("backup.done", file)
	for _, old := range removed {
		a.show("backup.removed", old)
	}
	for _, old := range broken {
		a.tell("backup.broken", old)
	}
	return err
}

func newRestoreCommand(a *App) *cobra.Command {
	var f actFlags
	cmd := a.command("restore FILE --reason TEXT", "help.restore", exactly(1),
		func(cmd *cobra.Command, args []string) error {
			return a.restore(cmd.Context(), args[0], f)
		})
	f.add(cmd)
	return cmd
}

// restore puts a copy in the ledger's place and says what the journal has beyond it.
func (a *App) restore(ctx context.Context, file string, f actFlags) error {
	config, err := a.loadConfig()
	if err != nil {
		return err
	}
	if err := a.needReason(f); err != nil {
		return err
	}
	if file, err = filepath.Abs(file); err != nil {
		return err
	}
	a.tell("restore.plan", file, config.State.DSN.Reveal())
	if err := a.confirm(f.yes); err != nil {
		return err
	}
	record, err := a.audit(f, "restore", "ledger", map[string]string{"file": file})
	if err != nil {
		return err
	}
	options := a.ledgerOptions(config, toWrite)
	kept, err := state.Restore(ctx, options, file, record)
	if err != nil {
		return err
	}
	store, err := state.Open(ctx, a.ledgerOptions(config, toRead))
	if err != nil {
		return err
	}
	a.closers = append(a.closers, store.Close)
	report, err := store.JournalReport(ctx, config.State.journals())
	var lacks *state.Error
	if err != nil && !errors.As(err, &lacks) {
		return err
	}
	if a.asJSON {
		out := struct {
			Ledger   string `json:"ledger"`
			Kept     string `json:"kept"`
			InStep   bool   `json:"in_step"`
			Missing  int    `json:"missing"`
			Problem  string `json:"problem"`
			Solution string `json:"hint"`
		}{Ledger: store.LedgerID(), Kept: kept, InStep: lacks == nil && !report.Unfinished}
		if lacks != nil {
			out.Missing, out.Problem, out.Solution = lacks.Records, machine.ledgerWhat(lacks), machine.ledgerHint(lacks)
		}
		return a.printJSON(out)
	}
	a.show("restore.done", file)
	if kept != "" {
		a.show("restore.kept", kept)
	}
	switch {
	case lacks != nil:
		a.show("restore.lacks", a.voice().ledgerWhat(lacks), a.voice().ledgerHint(lacks))
	case report.Unfinished:
		a.show("check.journal_unfinished", report.Folder)
	default:
		a.show("restore.same")
	}
	return nil
}
