package state

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

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

func TestActsAreCountedByName(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		for i, act := range []string{"dismiss", "dismiss", "adopt"} {
			must.Do(t, s.AppendAudit(t.Context(),
				trade.AuditRecord{At: at.Add(time.Duration(i) * time.Hour), Who: "maria", Act: act}))
		}
		got, err := s.Acts(t.Context(), at.Truncate(time.Millisecond), at.Add(2*time.Hour))
		if diff := cmp.Diff(map[string]int{"dismiss": 2}, got); diff != "" || err != nil {
			t.Errorf("acts (-want +got):\n%s%v", diff, err)
		}
	})
}
