package state

import (
	"slices"
	"testing"
)

// Whoever adds a column to the entry decides whether it may hold what belongs to a person.
func TestEachColumnOfAnEntryIsReducedOrKeptOnPurpose(t *testing.T) {
	t.Parallel()
	kept := []string{ // what prevents a second sending, the sums, and no text of the ERP but keys and codes
		"job", "sends", "key", "key_parts", "state", "cause", "entry_id", "record_id", "another",
		"flags", "acknowledged", "generation", "attempts", "first_seen_at", "updated_at",
		"next_attempt_at", "waiting_for", "source_hash", "shown_mark", "mapped_with", "target",
		"payload_hash", "content", "amount", "volume", "unit", "gone_sweeps", "resend_audit_id",
		"dismissal", "weak",
	}
	all := slices.Concat(newColumns, bodyColumns)
	for _, column := range all {
		reduced := column != "entry_id" && slices.Contains(slices.Concat(reducedColumns, reducedBody), column)
		if reduced == slices.Contains(kept, column) {
			t.Errorf("column %s: let the retention reduce it, or say here that it may stay", column)
		}
	}
	for _, column := range kept {
		if !slices.Contains(all, column) {
			t.Errorf("there is no column %s", column)
		}
	}
}
