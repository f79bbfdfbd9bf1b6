package state

import (
	"context"
	"time"

	"github.com/safrasync/safrasync/state/books"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// actServer is the act in the audit when the hosts go on by themselves after a promotion.
const actServer = "server"

// confirmServer compares the ledger with what this host has confirmed of it. It writes only if there is
// something to confirm or to report.
func (s *Store) confirmServer(ctx context.Context, op string) error {
	now, err := s.db.LedgerState(ctx)
	if err != nil {
		return err
	}
	if s.db.Unconfirmed(s.db.Confirmed(), now) == nil {
		s.db.Confirm(now.Confirmed)
		return nil
	}
	return s.db.InTx(ctx, op, (*sqldb.Tx).SameServer)
}

// sign makes the ledger's term the one that this host has confirmed. If the ledger is on another
// server, or went back, it asks all hosts to report, and reports for this one. Either is possible
// only if the ledger has everything in this host's journal. If all hosts have reported from a
// promoted server, the ledger belongs to it from now on. Otherwise Sign returns why nothing may be
// sent yet.
func (s *Store) sign(ctx context.Context, op string, slot int) error {
	var left error
	_, err := s.db.TryTx(ctx, op, slot, func(t *sqldb.Tx) error {
		v, err := s.readAndCheckJournal(t, s.db.JournalPath, true)
		if err != nil {
			return err
		}
		if len(v.left) > 0 {
			if _, err := s.settleJournalled(t, &v); err != nil {
				return err
			}
		}
		s.db.Confirm(sqldb.Confirmed{Term: v.Compare.Term, Seen: v.Compare.Seen})
		now, err := t.State()
		if err != nil {
			return err
		}
		ours := v.row.ID
		if v.others != nil {
			// Its neighbours have to be taken in first. That it went back is for all hosts to know.
			if reason, _ := s.db.ReasonOf(sqldb.Confirmed{Term: v.Compare.Term}, now); reason != sqldb.WentBack {
				return v.others
			}
			ours = ""
		}
		left = nil
		if err := reportSeen(t, ours, s.db.Confirmed(), &now); err != nil || now.Asked == "" {
			return err
		}
		silent, err := t.Silent(now)
		if err != nil {
			return err
		}
		if len(silent) > 0 || !now.MayGoOn() {
			left = t.Unsettled(s.db.Confirmed(), now)
			return nil
		}
		// The ledger belongs to the promoted server from now on.
		if err := t.Draw(now, s.db.Confirmed()); err != nil {
			return err
		}
		if err := newLife(t); err != nil { // it may lack what was not in a journal
			return err
		}
		_, err = books.AddOwnAudit(t, actServer, sqldb.ServerText(now.Server), map[string]any{
			"was": sqldb.ServerText(now.Recorded),
			"is":  sqldb.ServerText(now.Server),
			"why": trade.Say("audit.promoted"),
		})
		return err
	})
	if err != nil {
		return err
	}
	return left
}

// reportSeen confirms a new term in the journal with this id, if that is all there is to do. Otherwise it
// asks all hosts to report, unless they were asked already, and reports for this journal, which must
// be in step with the ledger.
func reportSeen(t *sqldb.Tx, id string, had sqldb.Confirmed, now *sqldb.LedgerState) error {
	reason, _ := t.S.ReasonOf(had, *now)
	// Another server, or one that went back, does not take the place of the one that was confirmed.
	if (reason == "" || reason == sqldb.Promoted) && (now.Number != had.Number || now.Server != had.Server) {
		term := now.Term
		t.Noting(time.Now()).Term = &term
	}
	if reason == "" && now.Asked == "" {
		return nil
	}
	if reason != "" {
		if err := t.Ask(now, reason); err != nil {
			return err
		}
	}
	return t.Report(id, had.Number)
}
