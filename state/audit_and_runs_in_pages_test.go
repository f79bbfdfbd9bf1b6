package state

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

func TestStuckGivesWhatWaitsWithItsVersion(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		rows := mustRecord(
			t, s, lease, newEntry("goes"),
			short("waits", trade.OrderCommitments, trade.Waiting, sacas("1"), wallet("1")),
			short("wrong", trade.OrderCommitments, trade.Invalid, sacas("1")), newEntry("too"),
		)
		wrong := rows[2]
		wrong.Cause = "rule:price"
		if lost, err := s.Record(t.Context(), lease,
			trade.Page{Updates: []trade.Update{{From: trade.Invalid, Entry: wrong}}}); err != nil || lost != 0 {
			t.Fatal(lost, err)
		}
		got := must.Get(s.Stuck(t.Context(), "contracts"))(t)
		want := []trade.RowVersion{{ID: rows[1].ID, Version: 1}, {ID: wrong.ID, Version: 2}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Stuck (-want +got):\n%s", diff)
		}
	})
}

func TestTheAuditIsReadInPages(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		for i := range 7 {
			record := trade.AuditRecord{
				At: at.Add(time.Duration(i) * time.Hour), Who: []string{"ana", "bia"}[i%2],
				Act: "retry", Target: fmt.Sprintf("contracts 01|%d", i), Reason: "r",
			}
			must.Do(t, s.AppendAudit(t.Context(), record))
		}
		read := func(q trade.AuditQuery) (seqs []int64, pages int) {
			t.Helper()
			for {
				page := must.Get(s.AuditPage(t.Context(), q))(t)
				pages++
				for _, r := range page.Records {
					seqs = append(seqs, r.Seq)
				}
				if page.Next == 0 {
					return seqs, pages
				}
				q.Before = page.Next
			}
		}
		all, pages := read(trade.AuditQuery{Limit: 3})
		first := all[len(all)-1]
		if len(all) != 7 || pages != 3 || all[0] != first+6 {
			t.Errorf("all records are %v in %d pages", all, pages)
		}
		for name, c := range map[string]struct {
			q    trade.AuditQuery
			want []int64
		}{
			"who":    {trade.AuditQuery{Who: "bia"}, []int64{5, 3, 1}},
			"act":    {trade.AuditQuery{Act: "adopt"}, nil},
			"target": {trade.AuditQuery{Target: "01|4"}, []int64{4}},
			"time":   {trade.AuditQuery{From: at.Add(2 * time.Hour), Until: at.Add(4 * time.Hour)}, []int64{3, 2}},
		} {
			c.q.Limit = 3
			got, _ := read(c.q)
			for i := range got {
				got[i] -= first
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("by %s (-want +got):\n%s", name, diff)
			}
		}
	})
}

func TestRunsAreReadInPagesAndByTheirIDs(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		for i := range 5 {
			report := trade.RunReport{
				ID: fmt.Sprintf("run-%d", i), Job: []string{"contracts", "deliveries"}[i%2],
				StartedAt: at, EndedAt: at, Sent: i,
			}
			must.Do(t, s.FinishRun(t.Context(), report))
		}
		var ids []string
		for after := ""; ; {
			page := must.Get(s.RunPage(t.Context(), "contracts", after, 2))(t)
			for _, r := range page.Runs {
				ids = append(ids, r.ID)
			}
			if after = page.Next; after == "" {
				break
			}
		}
		if diff := cmp.Diff([]string{"run-4", "run-2", "run-0"}, ids); diff != "" {
			t.Errorf("RunPage (-want +got):\n%s", diff)
		}
		if run, err := s.Run(t.Context(), "run-3"); err != nil || run.Sent != 3 {
			t.Errorf("Run gives %+v, %v", run, err)
		}
		if _, err := s.Run(t.Context(), "none"); !errors.Is(err, sqldb.ErrNotFound) {
			t.Errorf("Run of a run that is not there: %v", err)
		}
		if _, err := s.RunPage(t.Context(), "", "x", 2); err == nil {
			t.Error("RunPage takes x for where a page begins")
		}
	})
}
