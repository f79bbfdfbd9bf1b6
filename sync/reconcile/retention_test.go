package reconcile

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

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
