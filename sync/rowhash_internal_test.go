package sync

import (
	"strings"
	"testing"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/trade"
)

// rowJob is a job of which only the columns count.
func rowJob(key, mapped []string) *Job {
	return &Job{Spec: JobSpec{Key: key, Cancelled: &CancelledSpec{Column: "situacao"}}, mapping: &Mapping{columns: mapped, hashed: mapped}, cancelled: map[string]bool{"cancelado": true}}
}

// The form of a source hash never changes: with another one, every row of every ledger would look changed.
func TestTheSourceHashHasItsForm(t *testing.T) {
	t.Parallel()
	job := rowJob([]string{"num"}, []string{"bad", "missing", "none", "price", "text"})
	row := erp.NewRow([]string{"num", "TEXT", "price", "none", "bad"}, []erp.Value{
		{Kind: erp.Text, Text: "1"}, {Kind: erp.Text, Text: " a|b "}, {Kind: erp.Number, Text: "120.5000"}, {}, {Kind: erp.Text, Err: "bytes not valid UTF-8 at 3"},
	})
	want := trade.HashOf("3:bad1:!26:bytes not valid UTF-8 at 37:missing1:-0:4:none1:-0:5:price1:=5:120.54:text1:=3:a|b")
	if got := job.sourceHash(row.Get); got != want {
		t.Errorf("hash %s, want %s", got, want)
	}
}

// The short way to a plain number is the long one.
func FuzzAPlainNumberIsThatOfADecimal(f *testing.F) {
	for _, n := range []string{"1.50", "-0.000", "1e5", "00.10"} {
		f.Add(n)
	}
	f.Fuzz(func(t *testing.T, n string) {
		want := strings.TrimSpace(n)
		if d, err := trade.ParseDecimal(want); err == nil {
			want = d.String()
		}
		if got := plainText(erp.Value{Kind: erp.Number, Text: n}); got != want {
			t.Errorf("number %q is %q, want %q", n, got, want)
		}
	})
}

func TestAPlainNumberIsThatOfADecimal(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"0", "-0", "0.0", "-0.00", "1", "10", "100", "1.0", "1.50", "-1.50", "0.10", "00.1", "01", ".5", "5.", "1.2.3", "1e2", "+1", "--1", "-", "", "NaN", "Infinity", "1,5",
		"123456789012345678901234567890", "1234567890123456789012345678901", "0.00000000000000000000000000001", "99999999999999999999.9900", strings.Repeat("9", 60),
	} {
		want := text
		if d, err := trade.ParseDecimal(text); err == nil {
			want = d.String()
		}
		if got := plainText(erp.Value{Kind: erp.Number, Text: text}); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// benchRow is a row of the width of a contract.
func benchRow() (*Job, erp.Row) {
	columns := []string{"filial", "num", "produtor", "carteira", "tipo", "produto", "safra", "quantidade", "preco", "um", "emissao", "inicio", "fim", "pagamento", "atualizado"}
	values := make([]erp.Value, len(columns))
	for i := range values {
		values[i] = erp.Value{Kind: erp.Text, Text: "valor " + columns[i] + "   "}
	}
	values[7], values[8] = erp.Value{Kind: erp.Number, Text: "1234.5000"}, erp.Value{Kind: erp.Number, Text: "120.250000"}
	return rowJob(columns[:2], columns[2:14]), erp.NewRow(columns, values)
}

// BenchmarkMeet is what a sweep does to a row that is as it was, once it is read: key, hash, and the look into a roll of a million.
func BenchmarkMeet(b *testing.B) {
	job, row := benchRow()
	r := make(roll, 1_000_000)
	for i := range 1_000_000 {
		r.enter(rollKnown(i), known|plain)
	}
	b.ReportAllocs()
	for b.Loop() {
		key, _, err := rowKey(row, job.Spec.Key)
		if err != nil {
			b.Fatal(err)
		}
		r.meet(hashKey(key), markOf(job.sourceHash(row.Get)), false, false)
	}
}

// BenchmarkEnter is what a sweep does to an entry of the ledger, once it is read.
func BenchmarkEnter(b *testing.B) {
	r := make(roll, 1_000_000)
	entries := make([]*trade.Known, 1000)
	for i := range entries {
		entries[i] = rollKnown(i)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		r.enter(entries[i%len(entries)], known|plain)
		i++
	}
}
