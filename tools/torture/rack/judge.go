package rack

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/safrasync/safrasync/apiclient/sandbox"
)

// Verdict is the result of a trial, as one line of JSON. The six figures from Lost to Undecided
// must be zero.
type Verdict struct {
	Seed          uint64 `json:"seed"`
	ERP           string `json:"erp"`
	Ledger        string `json:"ledger"`
	Kills         int    `json:"kills"`
	Starts        int    `json:"starts"`
	Rows          int    `json:"rows"`    // in the ERP at the end
	Records       int    `json:"records"` // created by the platform
	Lost          int    `json:"lost"`
	Doubled       int    `json:"doubled"`
	FalseAccepted int    `json:"false_accepted"`
	Orphaned      int    `json:"orphaned"`
	OverBudget    int    `json:"over_budget"`
	// rows that are not on the platform exactly once after a person has decided everything
	Undecided int `json:"undecided"`
	InDoubt   int `json:"in_doubt"` // before a person decided
	Held      int `json:"held"`     // before a person decided
	// sum over all kills of the entries in state sending; most of them had not left
	Sending     int      `json:"sending"`
	MostSending int      `json:"most_sending"` // at one kill
	Doubts      int      `json:"doubts"`       // entries that all kills together left in doubt
	MostDoubts  int      `json:"most_doubts"`  // of one kill, in one job
	MaxInFlight int      `json:"max_in_flight"`
	Seconds     float64  `json:"seconds"`
	Examples    []string `json:"examples,omitempty"` // the first few faults found
}

// Clean reports whether nothing was lost and nothing was sent twice.
func (v Verdict) Clean() bool {
	return v.Lost+v.Doubled+v.FalseAccepted+v.Orphaned+v.OverBudget+v.Undecided == 0
}

// mostExamples bounds the examples in a verdict.
const mostExamples = 10

type rowKey struct{ job, key string }

// row is an entry in the output of `rows --json`.
type row struct {
	Job      string  `json:"job"`
	Key      string  `json:"key"`
	State    string  `json:"state"`
	RemoteID *string `json:"remote_id"`
}

// Judge compares the ERP, the platform's log and the program's own output. decided means that a
// person has decided about every doubt, so that each row must be there once.
func (t *Trial) Judge(ctx context.Context, decided bool) error {
	rows, err := t.Work.rows(ctx)
	if err != nil {
		return err
	}
	records, total, err := t.records()
	if err != nil {
		return err
	}
	entries, err := t.entries(ctx)
	if err != nil {
		return err
	}
	v := &t.Verdict
	v.Rows, v.Records = len(rows), total
	if !decided {
		v.InDoubt, v.Held = 0, 0
	}
	for at, marker := range rows {
		ids := records[at.job+" "+marker]
		entry, known := entries[at]
		if len(ids) > 1 {
			v.Doubled++
			t.example("%s %s is on the platform %d times", at.job, at.key, len(ids))
		}
		switch {
		case !known && len(ids) == 0:
			v.Lost++
			t.example("%s %s has no entry and no record", at.job, at.key)
		case !known:
			v.Orphaned++
			t.example("%s %s has a record and no entry", at.job, at.key)
		case entry.State == "accepted":
			if len(ids) == 0 || entry.RemoteID == nil || *entry.RemoteID != ids[0] {
				v.FalseAccepted++
				t.example("%s %s is accepted, and the platform has %v", at.job, at.key, ids)
			}
		case entry.State == "in_doubt" && !decided:
			v.InDoubt++
		case entry.State == "held" && !decided:
			v.Held++
		case len(ids) > 0:
			v.Orphaned++
			t.example("%s %s is %s, and the platform has %v", at.job, at.key, entry.State, ids)
		}
		if decided && len(ids) != 1 {
			v.Undecided++
			t.example("%s %s is %s at the end, with %d records", at.job, at.key, entry.State, len(ids))
		}
	}
	return nil
}

// judgeScript lets a script finish and compares only the ERP with the platform, because a script
// reports nothing else.
func (t *Trial) judgeScript(ctx context.Context) error {
	for range 50 {
		if t.Child.pass(ctx).Run() == nil {
			break
		}
	}
	rows, err := t.Work.rows(ctx)
	if err != nil {
		return err
	}
	records, total, err := t.records()
	if err != nil {
		return err
	}
	t.Verdict.Rows, t.Verdict.Records = len(rows), total
	for at, marker := range rows {
		switch n := len(records[at.job+" "+marker]); {
		case n == 0:
			t.Verdict.Lost++
		case n > 1:
			t.Verdict.Doubled++
			t.example("%s %s is on the platform %d times", at.job, at.key, n)
		}
	}
	return nil
}

func (t *Trial) example(format string, args ...any) {
	if len(t.Verdict.Examples) < mostExamples {
		t.Verdict.Examples = append(t.Verdict.Examples, fmt.Sprintf(format, args...))
	}
}

// records reads from the platform's own log what it executed: ids by job and quantity.
func (t *Trial) records() (byMarker map[string][]string, total int, err error) {
	file, err := os.Open(t.truth.Name())
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = file.Close() }()
	byMarker = map[string][]string{}
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, 1<<24)
	for scanner.Scan() {
		var line sandbox.Line
		if err := json.Unmarshal(scanner.Bytes(), &line); err != nil {
			return nil, 0, fmt.Errorf("the log of the platform: %w", err)
		}
		if !line.Executed {
			continue
		}
		var body struct {
			Amount json.Number `json:"amount"`
			Volume json.Number `json:"delivered_volume"`
		}
		if err := json.Unmarshal(line.Body, &body); err != nil {
			return nil, 0, fmt.Errorf("the log of the platform: %w", err)
		}
		job, marker := "contracts", body.Amount
		if line.Resource == sandbox.ResourceDeliveries {
			job, marker = "deliveries", body.Volume
		}
		at := job + " " + marker.String()
		byMarker[at] = append(byMarker[at], line.ID)
		total++
	}
	return byMarker, total, scanner.Err()
}

func (t *Trial) entries(ctx context.Context) (map[rowKey]row, error) {
	out := map[rowKey]row{}
	err := t.Child.Lines(ctx, func(line []byte) error {
		var r row
		err := json.Unmarshal(line, &r)
		out[rowKey{r.Job, r.Key}] = r
		return err
	}, "rows", "--json")
	return out, err
}
