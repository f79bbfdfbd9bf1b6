package office

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/sync/pending"
	"github.com/safrasync/safrasync/trade"
)

// What rows wait for is remembered, and not the rows: a code may be a piece of all that was read
// with its row. (Not parallel: memory is measured.)
func TestCodesThatAreMissingKeepNoRows(t *testing.T) {
	const rows, length = 1000, 16 << 10
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	found := pending.NewCauses(nil)
	for i := range rows {
		row := fmt.Sprintf("W%04d", i) + strings.Repeat("x", length)
		found.Add(trade.Entry{
			State: trade.Waiting, Cause: "ref:wallets",
			WaitingFor: []trade.Awaited{{Ref: "wallets", Code: row[:5]}},
		})
	}
	kept := heap() - before
	if groups := found.Sorted(); len(groups) != 1 || len(groups[0].Subjects) != rows ||
		groups[0].Subjects[7].Text != "W0007" || groups[0].Subjects[7].Rows != 1 {
		t.Fatalf("%+v", groups)
	}
	if kept > rows*length/4 {
		t.Errorf("%d KiB are kept", kept>>10)
	}
}

// Rows of one rule that are wrong in different ways are different groups, each with its own text;
// a position in a text makes no other group.
func TestOtherReasonsAreOtherGroups(t *testing.T) {
	t.Parallel()
	found := pending.NewCauses(nil)
	for i, detail := range []phrase.Packed{"check digits", "check digits", "11 or 14 characters", "byte 3", "byte 17"} {
		found.Add(trade.Entry{
			ID: int64(i + 1), State: trade.Invalid, Cause: "producer_id:document",
			Error: &trade.EntryError{Fields: []trade.Problem{
				{Field: "producer_id", Rule: trade.RuleDocument, Detail: detail},
			}},
		})
	}
	rows := map[string]int{}
	for _, g := range found.Sorted() {
		rows[string(g.Problem.Detail)] = g.Rows()
	}
	if diff := cmp.Diff(map[string]int{"check digits": 2, "11 or 14 characters": 1, "byte 3": 2}, rows); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
