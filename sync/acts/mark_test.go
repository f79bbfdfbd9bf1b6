package acts_test

import (
	"testing"

	"github.com/safrasync/safrasync/sync/acts"
)

// An approval that is stored before the program is replaced must be the same after it: marks are no part of
// the JSON of a plan.
func TestTheMarkOfAPlanOutlivesTheProgram(t *testing.T) {
	t.Parallel()
	const (
		job  = "457a746bc2e2219148139da446e7e913f07c1f370960e2770360ac4bd12dc8e2"
		rows = "aa7b59da2b384982a63d67af479f18461464703b249ab53487ae6611e1dfc363"
	)
	if mark := (acts.JobPlan{Act: acts.ActResume, Job: "contracts"}).Mark(); mark != job {
		t.Errorf("a job's plan: %s, want %s", mark, job)
	}
	row := acts.RowPlan{Steps: []acts.RowStep{{Key: "01|1"}, {Key: "01|2", Refused: acts.Moved}}}
	if mark := row.Mark(); mark != rows {
		t.Errorf("a plan of rows: %s, want %s", mark, rows)
	}
}
