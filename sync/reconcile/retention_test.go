package reconcile

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// retain takes everything away that the retention may take, a year later.
func (w *world) retain() {
	w.t.Helper()
	w.now = w.now.AddDate(1, 0, 0)
	const month = 30 * 24 * time.Hour
	keep := state.Retention{Bodies: month, Runs: month, IdleRuns: month, Lookups: month, Inbox: month, Audit: month}
	taken := must.Get(w.store.Retain(w.t.Context(), keep, w.now,
		trade.AuditRecord{At: w.now, Who: "safrasync", Act: trade.ActRetention, Detail: `{}`}))(w.t)
	for _, kind := range []string{state.KeptBodies, state.KeptAudit} {
		if i := slices.IndexFunc(taken, func(r state.Retained) bool { return r.Kind == kind }); i < 0 ||
			taken[i].Rows == 0 {
			w.t.Fatalf("the retention took no %s: %+v", kind, taken)
		}
	}
}

// csvOf is sections of a report in CSV, without its heading.
func csvOf(t *testing.T, s *Snapshot, sections ...SectionID) string {
	t.Helper()
	o := portuguese
	o.Sections = sections
	_, rows, _ := strings.Cut(mustReport(t, s, o, func(b *bytes.Buffer) Writer { return NewCSV(b, 0) }),
		"\r\nResumo\r\n")
	return rows
}

// A closed month has the same numbers, names and reasons after the retention has taken bodies,
// values and persons: they are in the closed report, not in the rows.
func TestTheRetentionChangesNothingOfAClosedMonth(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.october()
		day := must.Get(trade.ParseDate("2026-10-31"))(t)
		s := w.take(Cut{Day: day})
		want := csvOf(t, s)
		if !strings.Contains(want, "maria") || !strings.Contains(want, "130,5") {
			t.Fatalf("no person or no price to lose:\n%s", want)
		}
		audit := trade.AuditRecord{
			At: w.now, Who: "maria", From: "maria@srv", Act: ActClose, Target: day.String(),
			Reason: "October", Detail: `{}`,
		}
		must.Get(Freeze(t.Context(), w.store, s, "maria", "October", audit))(t)
		w.retain()
		if now := csvOf(t, w.take(Cut{Day: day})); strings.Count(now, "130,5") >= strings.Count(want, "130,5") ||
			strings.Count(now, "maria") >= strings.Count(want, "maria") {
			t.Error("the ledger has all values still: this test shows nothing")
		}
		closings, err := w.store.Closings(t.Context(), day)
		if err != nil || len(closings) != 1 {
			t.Fatalf("closings %+v, %v", closings, err)
		}
		again := must.Get(OpenClosed(t.Context(), w.store, closings[0]))(t)
		if diff := cmp.Diff(want, csvOf(t, again)); diff != "" {
			t.Errorf("the reprint (-closed +reprint):\n%s", diff)
		}
	})
}
