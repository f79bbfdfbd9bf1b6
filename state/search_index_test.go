package state

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// indexed makes everything findable that is shown now.
func indexed(t *testing.T, s *Store) {
	t.Helper()
	for more := true; more; {
		more = must.Get(s.Index(t.Context()))(t)
	}
}

// showing is an entry of which people are shown texts.
func showing(key string, texts ...string) trade.Entry {
	e := newEntry(key)
	var shown []trade.ShownText
	for i, text := range texts {
		shown = append(shown, trade.ShownText{Label: []string{"contrato", "produtor", "cpf", "nota"}[i], Text: text})
	}
	e.Shown = trade.NewShown(key, shown)
	return e
}

// A row is found by what people read of it, as they type it; by a document only by those who may
// see documents, and by nothing of it once it is no longer shown.
func TestARowIsFoundByWhatPeopleReadOfIt(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		mustRecord(t, s, lease,
			showing("01|001004", "C-0017/2026", "João da Silva", "111.444.777-35", "NF 000.012.345"),
			showing("01|001005", "C-0018/2026", "JOAO PEREIRA", "529.982.247-25", "NF 99"),
			showing("01|50039", "C-0019/2026", "Maria Conceição", "52998224725", ""),
			showing("529.982.247-25|7", "", "Ana", "", ""))
		indexed(t, s)
		finds := func(masked bool, text string, want ...string) {
			t.Helper()
			page := must.Get(s.RowPage(t.Context(),
				trade.RowQuery{Text: text, Masked: masked, Sort: trade.OldestFirst, Limit: 20}))(t)
			var got []string
			for _, e := range page.Rows {
				got = append(got, e.Key)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%q, masked %v (-want +got):\n%s", text, masked, diff)
			}
		}
		for _, masked := range []bool{false, true} {
			finds(masked, "joao", "01|001004", "01|001005")
			finds(masked, "JOÃO silva", "01|001004")
			finds(masked, "conceicao", "01|50039")
			finds(masked, "romaneio 50039", "01|50039")
			finds(masked, "01/001004", "01|001004")
			finds(masked, "01-1005", "01|001005")
			finds(masked, "C-0018/2026", "01|001005")
			finds(masked, "nota 12345", "01|001004")
			finds(masked, "nowhere")
		}
		for _, cpf := range []string{"111.444.777-35", "11144477735", "111 444 777 35", "cpf 111.444.7"} {
			finds(false, cpf, "01|001004")
			finds(true, cpf)
		}
		finds(false, "529.982.247-25", "01|001005", "01|50039", "529.982.247-25|7")
		for n := range len("52998224725") - 3 {
			finds(true, "52998224725"[:n+4])
		}
		finds(true, "529.982.247-25|7")

		e := mustEntry(t, s, "contracts", "01|001004")
		must.Do(t, s.db.InTx(t.Context(), "test", func(tx *sqldb.Tx) error {
			return tx.Do(`UPDATE entry SET state = 'withdrawn' WHERE id = ?`, e.ID)
		}))
		if n, err := s.Erase(t.Context(), []int64{e.ID}, nil, at.Add(400*day), byRetention); err != nil || n != 1 {
			t.Fatal(n, err)
		}
		finds(false, "silva")
		indexed(t, s)
		finds(false, "11144477735")
		var left []string
		if err := s.db.Read.SelectContext(t.Context(), &left,
			s.db.Q(`SELECT term FROM search_term WHERE entry_id = ?`), e.ID); err != nil || len(left) > 0 {
			t.Errorf("%s is left of what was erased, %v", strings.Join(left, ", "), err)
		}
	})
}

// A list that is sorted by a column has each row once, page by page, in that order.
func TestASortedListHasEachRowOnceInItsOrder(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		var entries []trade.Entry
		for i, amount := range []string{"10", "9.5", "1000", "-3", "10", "700"} {
			e := newEntry("01|" + strings.Repeat("x", i+1))
			e.Quantity = sacas(amount)
			entries = append(entries, e)
		}
		mustRecord(t, s, lease, entries...)
		for _, sort := range []trade.RowSort{trade.ByVolume, "-" + trade.ByVolume} {
			q := trade.RowQuery{Sort: sort, Limit: 2}
			var got []trade.Decimal
			for {
				page, err := s.RowPage(t.Context(), q)
				if err != nil || page.Many {
					t.Fatal(page.Many, err)
				}
				for _, e := range page.Rows {
					got = append(got, e.Quantity.Amount)
				}
				if q.After = page.Next; q.After == "" {
					break
				}
			}
			if len(got) != len(entries) || !slices.IsSortedFunc(got, func(a, b trade.Decimal) int {
				if sort == trade.ByVolume {
					return a.Cmp(b)
				}
				return b.Cmp(a)
			}) {
				t.Errorf("%s: %v", sort, got)
			}
		}
	})
}

// What a row shows may change while it is made findable: what it showed before is not found then. In
// SQLite there is one writer.
func TestARowThatChangesWhileItIsMadeFindableIsFoundByWhatItShowsThen(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, backends[1].open(t))
	mustRecord(t, s, mustLease(t, s, "contracts"), showing("01|1", "C-1", "Silva"))
	id := mustEntry(t, s, "contracts", "01|1").ID
	must.Do(t, s.db.InTx(t.Context(), "test", func(tx *sqldb.Tx) error {
		if err := tx.Do(`UPDATE entry SET shown = '{}' WHERE id = ?`, id); err != nil {
			return err
		}
		_, err := s.Index(t.Context())
		return err
	}))
	indexed(t, s)
	var left []string
	if err := s.db.Read.SelectContext(t.Context(), &left, `SELECT term FROM search_term`); err != nil || left != nil {
		t.Errorf("%s is found although nothing is shown, %v", strings.Join(left, ", "), err)
	}
}
