// What check asks of the ledger and its journal.

package maintenance

import (
	"context"
	"strings"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/state"
)

// remarks are the findings about the ledger that do not prevent it from working.
var remarks = map[string]bool{"file_system": true, "free_space": true, "wal": true}

// ledger opens the ledger and checks it. If it cannot be opened, ledger reports why and returns an
// empty one in memory, so that the checks of the jobs can continue. A ledger of an older version
// passes, because the start migrates it; offline, ledger then returns nil.
func (c *checker) ledger(ctx context.Context, offline bool) *state.Store {
	const name = "ledger"
	store, err := c.app.OpenLedger(ctx, cli.AsItIs)
	switch fault := cli.LedgerFault(err); {
	case fault != nil && fault.Code == state.CodeOlder:
		c.pass(name, "check.ledger_older")
		if offline {
			return nil
		}
	case err != nil:
		c.ledgerFault(name, err)
	default:
		journal, lacks := store.JournalReport(ctx, c.app.Config.State.Journals())
		c.health(ctx, store, cli.LedgerFault(lacks))
		w, fault := store.WitnessReport(ctx)
		c.journal(journal, lacks, c.app.Config.State.Witness.IsZero() || w.Together)
		c.witness(w, fault)
		if last, err := store.LastBackup(ctx); err == nil { // else health has said so
			c.backupDisk(last)
		}
		c.platform(ctx, store)
		return store
	}
	store, err = state.OpenMemory(ctx)
	if err != nil {
		c.fail(name, "check.ledger_hint", "check.fault", err)
		return nil
	}
	c.app.Closers = append(c.app.Closers, store.Close)
	return store
}

// journal tells how the ledger compares with its journal, as the next run does before it sends
// anything. Alone means that no witness elsewhere would notice what the two do not.
func (c *checker) journal(report state.JournalReport, err error, alone bool) {
	const name = "journal"
	switch {
	case err != nil:
		c.ledgerFault(name, err)
	case report.New:
		c.pass(name, "check.journal_new", report.Folder)
	case report.Unfinished:
		c.warn(name, "check.journal_unfinished_hint", "check.journal_unfinished", report.Folder)
	default:
		c.pass(name, "check.journal_ok", report.Folder, report.Records)
	}
	switch {
	case err != nil || !alone:
	case report.Together:
		c.warn(name, "check.journal_together_hint", "check.journal_together")
	case c.app.Config.State.Witness.IsZero():
		c.warn(name, "check.no_witness_hint", "check.no_witness")
	}
}

// witness tells what the witness of the ledger answered.
func (c *checker) witness(report state.WitnessReport, err error) {
	const name = "witness"
	switch v := c.voice(); {
	case err != nil:
		c.ledgerFault(name, err)
	case report.Place == "":
	case report.Moved:
		c.fail(name, "check.witness_moved_hint", "check.fault", report.Fault)
	case report.Fault != nil:
		c.fail(name, "check.witness_hint", "check.witness_fault", report.Place, v.Fault(report.Fault))
	case !report.Late.IsZero():
		c.fail(name, "check.witness_hint", "check.witness_late", report.Place, v.Moment(report.Late))
	case report.Together:
		c.warn(name, "check.witness_together_hint", "check.witness_together", report.Place)
	case report.At.IsZero():
		c.pass(name, "check.witness_new", report.Place)
	default:
		c.pass(name, "check.witness_ok", report.Place, v.Moment(report.At))
	}
}

// health tells of the ledger itself. If it is older, by its journal, that says what to do about its server.
func (c *checker) health(ctx context.Context, store *state.Store, lacks *state.Error) {
	findings, err := store.Health(ctx)
	if err != nil {
		c.fail("ledger", "check.ledger_hint", "check.fault", err)
		return
	}
	var fine []string
	for _, f := range findings {
		if f.Name == "server" && !f.OK && lacks != nil && lacks.Code == state.CodeRolledBack {
			continue
		}
		text := c.text(i18n.Key("check.finding."+f.Name)) + " " + c.voice().Say(f.Value)
		if f.OK && f.Hint.Code == "" {
			fine = append(fine, text)
			continue
		}
		c.report(checkJSON{Check: "ledger", OK: f.OK || remarks[f.Name], Text: text, Hint: c.voice().Say(f.Hint)})
	}
	c.report(checkJSON{Check: "ledger", OK: true, Text: strings.Join(fine, ", ")})
}
