package rack

import (
	"context"
	"encoding/json"
)

// leftByAProcess is the code of the error of a row that is in doubt because a process ended, and not
// because of an answer.
const leftByAProcess = "attempt.sender_gone"

// countDoubts counts the rows that are in doubt because the program was killed, and that were not
// counted before. The new ones of one job come from one kill, because a job sends nothing before
// the rows that it had in flight are settled.
func (t *Trial) countDoubts(ctx context.Context) error {
	if t.Script != "" {
		return nil
	}
	fresh := map[string]int{}
	err := t.Child.Lines(ctx, func(line []byte) error {
		var r struct {
			Job   string `json:"job"`
			Key   string `json:"key"`
			Error *struct {
				Code string `json:"code"`
			} `json:"error"`
		}
		if err := json.Unmarshal(line, &r); err != nil {
			return err
		}
		at := rowKey{r.Job, r.Key}
		if r.Error != nil && r.Error.Code == leftByAProcess && !t.doubts[at] {
			t.doubts[at] = true
			fresh[r.Job]++
		}
		return nil
	}, "rows", "--state", "in_doubt", "--json")
	for _, n := range fresh {
		t.Verdict.Doubts += n
		t.Verdict.MostDoubts = max(t.Verdict.MostDoubts, n)
		if n > t.MaxInFlight {
			t.Verdict.OverBudget++
		}
	}
	return err
}
