package state

import (
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// F049: a value that somebody changed by hand to what the program never writes is told by whatever
// reads it; nothing takes it for empty.
func TestAValueThatIsNoneOfOursIsToldAndNotTakenForNothing(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		lease := mustLease(t, s, "contracts")
		waiting := short("w", trade.OrderCommitments, trade.Waiting, sacas("1"), wallet("12"),
			trade.Awaited{Platform: "wallets", ID: "w-1"})
		es := mustRecord(t, s, lease, newEntry("a"), waiting)
		cursor := trade.Cursor{Bound: "x", SweptAt: at, Sweep: &trade.Sweep{InScope: 2}}
		must.Get(s.Record(ctx, lease, trade.Page{Cursor: &cursor}))(t)
		mustSettle(t, s, lease, refused(mustSend(t, s, lease, es[0])))
		run := trade.RunReport{
			ID: sqldb.NewID(), Job: "contracts", StartedAt: at, EndedAt: trade.End{Time: at.Add(time.Second)},
			States: map[trade.State]int{}, Flags: map[trade.Flag]int{},
		}
		stopped := trade.JobStatus{Job: "contracts", State: trade.Stopped, Since: at, Stop: &trade.Stop{Code: "x"}}
		must.Get(s.Beat(ctx, trade.Instance{Owner: sqldb.Self(), Command: "run"}))(t)
		for _, err := range []error{
			s.StartRun(ctx, run), s.FinishRun(ctx, run), s.SetJobStatus(ctx, stopped),
			s.Announce(ctx, "1.0.0", at),
		} {
			must.Do(t, err)
		}
		entry := func() error {
			_, err := s.Entry(ctx, "contracts", "w")
			if err != nil && !strings.Contains(err.Error(), "row 2 is damaged in column ") {
				t.Errorf("the row is not named: %v", err)
			}
			return err
		}
		known := func() error { _, err := s.Known(ctx, "contracts", []string{"w"}); return err }
		each := func() error { return s.EachKnown(ctx, "contracts", func(trade.Known) error { return nil }) }
		runs := func() error { _, err := s.Runs(ctx, "contracts", 1); return err }
		ended := func() error {
			return s.RunsEnded(ctx, at, at.Add(time.Hour), func(trade.RunReport) error { return nil })
		}
		for _, test := range []struct {
			table, column, value string
			reads                map[string]func() error
		}{
			{"entry", "flags", "{", map[string]func() error{
				"Entry": entry, "Known": known, "EachKnown": each,
				"FlagCounts": func() error { _, err := s.FlagCounts(ctx, "contracts"); return err },
			}},
			{"entry", "waiting_for", `[{"ref":"wallets"},{"platform":"wallets","id":"w-1"},`, map[string]func() error{
				"Entry":       entry,
				"WakeBlocked": func() error { _, err := s.WakeBlocked(ctx, lease, "wallets", "w-1"); return err },
			}},
			{"body", "cells", "{", map[string]func() error{"Entry": entry}},
			{"entry", "key_parts", "{", map[string]func() error{"Entry": entry}},
			{
				"entry", "amount", "a lot",
				map[string]func() error{"Entry": entry},
			},
			{
				"sent", "messages", "{",
				map[string]func() error{"Attempts": func() error { _, err := s.Attempts(ctx, es[0].ID); return err }},
			},
			{
				"job_cursor", "brakes", "{",
				map[string]func() error{"Cursor": func() error { _, err := s.Cursor(ctx, "contracts"); return err }},
			},
			{
				"job_cursor", "sweep", "{",
				map[string]func() error{"Cursor": func() error { _, err := s.Cursor(ctx, "contracts"); return err }},
			},
			{
				"job_status", "stop", "{",
				map[string]func() error{"JobStatus": func() error {
					_, err := s.JobStatus(ctx, "contracts")
					return err
				}},
			},
			{"job_lease", "owner", "{", map[string]func() error{
				"Leases":       func() error { _, err := s.Leases(ctx); return err },
				"AcquireLease": func() error { _, err := s.AcquireLease(ctx, "contracts", sqldb.Self()); return err },
			}},
			{"instance", "owner", "{", map[string]func() error{
				"Instances": func() error { _, err := s.Instances(ctx); return err },
				"Beat":      func() error { _, err := s.Beat(ctx, trade.Instance{Owner: sqldb.Self()}); return err },
			}},
			{"run", "report", "{", map[string]func() error{"Runs": runs, "RunsEnded": ended}},
			{"service", "owner", "{", map[string]func() error{
				"Services": func() error { _, err := s.Services(ctx); return err },
				"Announce": func() error { return s.Announce(ctx, "1.0.0", at) },
			}},
		} {
			var kept []struct {
				Value *string `db:"v"`
			}
			where := map[string]string{
				"entry": "key = 'w'", "body": "entry_id = (SELECT id FROM entry WHERE key = 'w')",
			}[test.table]
			if where == "" {
				where = "1 = 1"
			}
			if err := s.db.Read.Select(&kept, `SELECT CAST(`+test.column+` AS TEXT) AS v FROM `+test.table+` WHERE `+
				where+` LIMIT 1`); err != nil || len(kept) != 1 {
				t.Fatalf("%s.%s: %d rows, %v", test.table, test.column, len(kept), err)
			}
			if err := byHand(s, `UPDATE `+test.table+` SET `+test.column+` = ? WHERE `+where, test.value); err != nil {
				t.Logf("%s.%s: the database itself refuses it: %v", test.table, test.column, err)
				continue
			}
			for name, read := range test.reads {
				if err := read(); err == nil {
					t.Errorf("%s reads a damaged %s.%s", name, test.table, test.column)
				}
			}
			mustExec(t, s, `UPDATE `+test.table+` SET `+test.column+` = ? WHERE `+where, kept[0].Value)
		}
	})
}
