package maintenance

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// NewDoctorCommand makes the command doctor.
func NewDoctorCommand(a *cli.App) *cobra.Command {
	var full, audit bool
	var bundle string
	var cmd *cobra.Command
	cmd = a.Command("doctor", "check ledger, journal, disk and permissions; changes nothing", cli.Exactly(0), func(ctx context.Context, _ []string) error {
		if err := a.Alone(cmd, "audit", nil); err != nil {
			return err
		}
		if bundle != "" {
			return writeBundle(ctx, a, bundle, full)
		}
		if audit { // the chain of hashes is checked, and the first record that does not match is reported
			o, err := a.Office(ctx, cli.ToRead, cli.NoERP)
			if err != nil {
				return err
			}
			p, err := o.VerifyAudit(ctx)
			if err != nil {
				return err
			}
			switch {
			case a.AsJSON:
				err = a.PrintJSON(struct {
					OK          bool  `json:"ok"`           // false also if there was nothing to compare with
					FirstBroken int64 `json:"first_broken"` // 0 if every record is unchanged
					Journals    int   `json:"journals"`     // how many it was compared with
					Through     int64 `json:"through"`      // the last record that a journal has
					Last        int64 `json:"last"`
					Unproved    int64 `json:"first_unproved"` // reduced, without a retention that a journal knows
				}{p.Proved(), p.Broken, p.Journals, p.Through, p.Last, p.Reduced})
			case p.Broken != 0:
				a.Show("The audit was altered: record %d is missing or was changed. Compare it with a backup.", p.Broken)
			case p.Journals == 0:
				a.Show("The audit was not verified: there is no journal of this ledger here to compare it with. Its records agree with each other, but may have been written anew. Verify it on the host that sends, with `state.journal` as it is there.")
			case p.Reduced != 0:
				a.Show("The audit was not verified: record %d has lost its words, and the journal here knows of no retention that may take them. If another host did that, verify there; else compare it with a backup.", p.Reduced)
			default:
				a.Show("The audit is unaltered. The journal confirms it up to record %d; the last one is %d.", p.Through, p.Last)
			}
			if err == nil && !p.Proved() {
				return cli.ErrFailed
			}
			return err
		}
		// What the promise depends on that nothing is lost and nothing is sent twice, one line for each
		// check. Nothing is changed.
		c := &checker{app: a}
		config, err := a.LoadConfig()
		if err != nil {
			c.fail("configuration", "config.example.yaml explains every key", "%v", err)
			return errors.Join(&cli.ExitError{Code: cli.ExitConfig}, c.err)
		}
		// Files of ${file:…} that others can read are refused when the configuration is loaded.
		if mode := config.OthersMayWrite(); mode != 0 {
			c.fail("secrets", "whoever can change the configuration decides where the data is sent: run chmod go-w on that file", "other users can change %s (mode %04o)", config.File(), mode)
		} else {
			c.pass("secrets", "only the owner can change %s", config.File())
		}
		c.diagnose(ctx, config, full)
		source, err := a.OpenERP(ctx)
		if err != nil { // only a warning here; `safrasync check` fails on it
			c.warn("erp", "check erp.dsn, the network and the reading user", "%v", c.bare(err))
		} else {
			c.mayWrite(ctx, source)
		}
		if c.failed {
			return errors.Join(cli.ErrFailed, c.err)
		}
		return c.err
	})
	cmd.Flags().BoolVar(&full, "full", false, "read every page of the ledger and its indexes")
	cmd.Flags().BoolVar(&audit, "audit", false, "check that the audit is unaltered, and nothing else")
	cmd.Flags().StringVar(&bundle, "bundle", "",
		"write what helps to find a fault to `FILE`, a .tar.gz without secrets, persons, keys, ids or values")
	return cmd
}

// diagnose opens the ledger for reading and reports each diagnosis.
func (c *checker) diagnose(ctx context.Context, config *config.Config, full bool) {
	store, err := c.app.OpenLedger(ctx, cli.AsItIs)
	if err != nil {
		c.ledgerFault("ledger", err)
		return
	}
	found, err := store.Diagnose(ctx, config.State.Journals(), full, 0)
	for _, d := range found {
		if len(d.Args) == 1 {
			if e, ok := d.Args[0].(*state.Error); ok {
				c.ledgerFault(d.Check, e)
				continue
			}
		}
		for i, arg := range d.Args {
			if at, ok := arg.(time.Time); ok {
				d.Args[i] = c.voice().Moment(at)
			}
		}
		key := "doctor." + d.Check + "." + cmp.Or(d.Problem, "well")
		line := checkJSON{Check: d.Check, OK: d.OK, Text: c.text(key, d.Args...)}
		if hint := key + ".hint"; i18n.CLI.Has(hint) {
			line.Hint = c.text(hint)
		}
		c.report(line)
	}
	if err == nil {
		err = errors.Join(c.lastBackup(ctx, store, config), c.messages(ctx, store))
	}
	if err != nil {
		c.ledgerFault("ledger", err)
	}
}

// lastBackup reports how old the newest copy of the ledger is.
func (c *checker) lastBackup(ctx context.Context, store *state.Store, config *config.Config) error {
	last, err := store.LastBackup(ctx)
	limit := config.Alerts.BackupOlder
	switch {
	case err != nil || !last.Ours:
		return err
	case last.At.IsZero():
		c.warn("backup", "only the ledger knows what was sent: systemctl enable --now safrasync-backup.timer, and `systemctl status safrasync-backup` if the timer is active already; if something else copies it, alerts.backup_older: 0s", "there is no copy of the ledger yet")
	case limit > 0 && last.Age(office.Now()) > limit:
		c.warn("backup", "only the ledger knows what was sent: systemctl enable --now safrasync-backup.timer, and `systemctl status safrasync-backup` if the timer is active already; if something else copies it, alerts.backup_older: 0s", "the last copy of the ledger is of %s", c.voice().Moment(last.At))
	default:
		c.pass("backup", "the last copy of the ledger is of %s", c.voice().Moment(last.At))
	}
	c.backupDisk(last)
	return nil
}

// backupDisk warns of copies that are lost with the ledger, for example because their disk is not
// mounted.
func (c *checker) backupDisk(last trade.LastBackup) {
	if last.Beside != "" {
		c.warn("backup", "mount the disk of the copies, or make them in a folder of another machine: `safrasync backup --keep 14 FOLDER`", "the copies in %s are on the disk of the ledger: they are lost with it", last.Beside)
	}
}

// messages reports the platform's message keys that have no explanation.
func (c *checker) messages(ctx context.Context, store *state.Store) error {
	const most = 20
	seen, err := store.MessageKeys(ctx)
	if err != nil {
		return err
	}
	unknown := slices.DeleteFunc(seen, func(m trade.SeenMessage) bool { return trade.KnowsMessage(m.Key) })
	if len(unknown) == 0 {
		c.pass("messages", "every message key from the platform has an explanation")
		return nil
	}
	list := trade.Map(unknown[:min(most, len(unknown))], func(m trade.SeenMessage) string {
		return c.text("%s (%d×, last at %s)", m.Key, m.Count, c.voice().Moment(m.Last))
	})
	if more := len(unknown) - most; more > 0 {
		list = append(list, c.text("… and %d more", more))
	}
	c.warn("messages", "ask the platform's support what they mean", "the platform answered with message keys that have no explanation yet: %s", strings.Join(list, ", "))
	return nil
}

// ledgerFault reports an error of the ledger, with its hint.
func (c *checker) ledgerFault(name string, err error) {
	if ledger := cli.LedgerFault(err); ledger != nil {
		c.report(checkJSON{Check: name, Text: c.voice().LedgerWhat(ledger), Hint: c.voice().LedgerHint(ledger)})
		return
	}
	c.fail(name, "check state.dsn, the folder and its permissions", "%v", err)
}

// mayWrite warns if the ERP user may write.
func (c *checker) mayWrite(ctx context.Context, source *erp.Source) {
	switch table, err := source.MayWrite(ctx); {
	case err != nil:
		c.warn("erp", "check erp.dsn, the network and the reading user", "%v", c.bare(err))
	case table != "":
		c.warn("erp", "give the program a user that only has SELECT", "the ERP user could change the table %s; the program never writes", table)
	default:
		c.pass("erp", "there is no sign that the ERP user could write")
	}
}
