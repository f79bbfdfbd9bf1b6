// What check asks of the ledger and its journal.

package maintenance

import (
	"context"
	"errors"
	"strings"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// remarks are the findings about the ledger that do not prevent it from working.
var remarks = map[string]bool{"file_system": true, "free_space": true, "wal": true}

// ledger opens the ledger and checks it. If it cannot be opened, ledger reports why and returns an
// empty one in memory, so that the checks of the jobs can continue. A ledger of an older version
// passes, because the start migrates it; offline, ledger then returns nil.
func (c *checker) ledger(ctx context.Context, offline bool) *state.Store {
	store, err := c.app.OpenLedger(ctx, cli.AsItIs)
	switch fault := cli.LedgerFault(err); {
	case fault != nil && fault.Code == state.CodeOlder:
		c.pass("ledger", "has an older version; starting the service upgrades it")
		if offline {
			return nil
		}
	case err != nil:
		c.ledgerFault("ledger", err)
	default:
		journal, lacks := store.JournalReport(ctx, c.app.Config.State.Journals())
		c.health(ctx, store, cli.LedgerFault(lacks))
		w, fault := store.WitnessReport(ctx)
		// Without a witness elsewhere nobody would notice what the ledger and its journal do not.
		alone := c.app.Config.State.Witness.IsZero() || w.Together
		switch {
		case lacks != nil:
			c.ledgerFault("journal", lacks)
		case journal.New:
			c.pass("journal", "%s; the first run creates it", journal.Folder)
		case journal.Unfinished:
			c.warn("journal", "a process is writing, or was interrupted while writing; the next run settles it", "%s has one record that the ledger does not have yet", journal.Folder)
		default:
			c.pass("journal", "%s, %d {record|records}, in step with the ledger", journal.Folder, journal.Records)
		}
		switch {
		case lacks != nil || !alone:
		case journal.Together:
			c.warn("journal", "set state.witness, a folder on another machine, or put state.journal on another disk (installation guide, step 4)", "ledger and journal are on one disk: an image of that disk, restored, would send again unnoticed")
		case c.app.Config.State.Witness.IsZero():
			c.warn("journal", "set state.witness, a folder on another machine (installation guide, step 4)", "no witness is set: copies of ledger and journal that are put back together would send again unnoticed")
		}
		switch v := c.voice(); {
		case fault != nil:
			c.ledgerFault("witness", fault)
		case w.Place == "":
		case w.Moved:
			c.fail("witness", "name it in state.witness again; if it was given up, `safrasync release JOB --checked --reason TEXT` once a run has stopped for it", "%v", w.Fault)
		case w.Fault != nil:
			c.fail("witness", "mount its disk, start its server, or check the rights: a running service goes on without it, but after a restart it waits for it", "%s: %s", w.Place, v.Fault(w.Fault))
		case !w.Late.IsZero():
			c.fail("witness", "mount its disk, start its server, or check the rights: a running service goes on without it, but after a restart it waits for it", "%s was not written since %s: an image of the machine of a later time would not be noticed", w.Place, v.Moment(w.Late))
		case w.Together:
			c.warn("witness", "put state.witness on another machine", "%s is on this machine, or on the same server as the ledger: an image brings both back", w.Place)
		case w.At.IsZero():
			c.pass("witness", "%s; will be written by the first run", w.Place)
		default:
			c.pass("witness", "%s, written at %s, in step with the ledger", w.Place, v.Moment(w.At))
		}
		if last, err := store.LastBackup(ctx); err == nil { // else health has said so
			c.backupDisk(last)
		}
		err = store.Belongs(ctx, c.app.Config.API.Platform())
		var other *trade.OtherPlatformError
		switch {
		case errors.As(err, &other):
			c.fail("platform", "nothing is sent; for another platform set state.dsn to a new path and run `safrasync state new`; for the same platform at another address run `safrasync state rebind --reason TEXT`", "the ledger has sent to %s (%d {row|rows} accepted, %d in doubt), and api.base_url is %s: those rows would never be sent there, and deliveries would carry contract ids of the other platform", other.Ledger, other.Accepted,
				other.Doubts, other.Now)
		case err != nil:
			c.ledgerFault("platform", err)
		default:
			c.pass("platform", "the ledger may send to %s", c.app.Config.API.Platform())
		}
		return store
	}
	store, err = state.OpenMemory(ctx)
	if err != nil {
		c.fail("ledger", "check state.dsn, the folder and its permissions", "%v", err)
		return nil
	}
	c.app.Closers = append(c.app.Closers, store.Close)
	return store
}

// health tells of the ledger itself. If it is older, by its journal, that says what to do about its server.
func (c *checker) health(ctx context.Context, store *state.Store, lacks *state.Error) {
	findings, err := store.Health(ctx)
	if err != nil {
		c.fail("ledger", "check state.dsn, the folder and its permissions", "%v", err)
		return
	}
	var fine []string
	for _, f := range findings {
		if f.Name == "server" && !f.OK && lacks != nil && lacks.Code == state.CodeRolledBack {
			continue
		}
		text := c.text("check.finding."+f.Name) + " " + c.voice().Say(f.Value)
		if f.OK && f.Hint.Code == "" {
			fine = append(fine, text)
			continue
		}
		c.report(checkJSON{Check: "ledger", OK: f.OK || remarks[f.Name], Text: text, Hint: c.voice().Say(f.Hint)})
	}
	c.report(checkJSON{Check: "ledger", OK: true, Text: strings.Join(fine, ", ")})
}
