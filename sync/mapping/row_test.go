package mapping

import (
	"strings"
	"testing"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/trade"
)

// rowJob is a job of which only the columns count.
func rowJob(key, mapped []string) *Job {
	return &Job{
		Spec:    JobSpec{Key: key, Cancelled: &CancelledSpec{Column: "situacao"}},
		Mapping: &Mapping{Columns: mapped, Hashed: mapped}, Cancelled: map[string]bool{"cancelado": true},
	}
}

// The form of a source hash never changes: with another one, every row of every ledger would look
// changed.
func TestTheSourceHashHasItsForm(t *testing.T) {
	t.Parallel()
	job := rowJob([]string{"num"}, []string{"bad", "missing", "none", "price", "text"})
	row := erp.NewRow([]string{"num", "TEXT", "price", "none", "bad"}, []erp.Value{
		{Kind: erp.Text, Text: "1"},
		{Kind: erp.Text, Text: " a|b "},
		{Kind: erp.Number, Text: "120.5000"},
		{},
		{Kind: erp.Text, Err: "bytes not valid UTF-8 at 3"},
	})
	want := trade.HashOf(
		"3:bad1:!26:bytes not valid UTF-8 at 37:missing1:-0:4:none1:-0:5:price1:=5:120.54:text1:=3:a|b")
	if got := job.sourceHash(row.Get); got != want {
		t.Errorf("hash %s, want %s", got, want)
	}
}

// A number has one text, however a database writes it; what is no number keeps its own.
func TestANumberHasOneText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0": "0", "-0": "0", "0.0": "0", "-0.00": "0", "1": "1", "10": "10", "100": "100", " 1.0 ": "1", "1.50": "1.5",
		"-1.50": "-1.5", "0.10": "0.1", "00.1": "0.1", "01": "1", ".5": "0.5", "5.": "5", "1e2": "100", "+1": "1",
		"1.2.3": "1.2.3", "--1": "--1", "-": "-", "": "", "NaN": "NaN", "Infinity": "Infinity", "1,5": "1,5",
		"123456789012345678901234567890":  "123456789012345678901234567890",
		"1234567890123456789012345678901": "1234567890123456789012345678901",
		"0.00000000000000000000000000001": "0.00000000000000000000000000001",
		"99999999999999999999.9900":       "99999999999999999999.99",
		strings.Repeat("9", 60):           strings.Repeat("9", 60),
	} {
		for _, kind := range []erp.Kind{erp.Number, erp.Float} {
			if got := PlainText(erp.Value{Kind: kind, Text: text}); got != want {
				t.Errorf("%q is %q, want %q", text, got, want)
			}
		}
		if got := PlainText(erp.Value{Kind: erp.Text, Text: text}); got != strings.TrimSpace(text) {
			t.Errorf("as a text %q is %q", text, got)
		}
	}
}

// A row without the column of its key has none, and says which.
func TestARowWithoutTheColumnOfItsKey(t *testing.T) {
	t.Parallel()
	if _, err := keyOf(erp.NewRow([]string{"a"}, []erp.Value{{}}), []string{"b"}); err == nil ||
		err.Error() != "key column b is not in the query" {
		t.Errorf("%v", err)
	}
}
