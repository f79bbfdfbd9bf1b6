package state

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

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
		soy := showing("01|001004", "C-0017/2026", "João da Silva", "111.444.777-35", "NF 000.012.345")
		north := showing("01|001005", "C-0018/2026", "JOAO PEREIRA", "529.982.247-25", "NF 99")
		soy.Facts.Product, north.Facts.Branch = "SOJA 987.654.321-00", "08 Unidade Norte"
		mustRecord(t, s, lease, soy, north,
			showing("01|50039", "C-0019/2026", "Maria Conceição", "52998224725", ""),
			showing("529.982.247-25|7", "", "Ana", "", ""))
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
			finds(masked, "soja", "01|001004")
			finds(masked, "silva SOJA", "01|001004")
			finds(masked, "norte", "01|001005")
			finds(masked, "9876543") // the product's, which has no place among documents
			finds(masked, "08")      // a branch is found by its name
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
		finds(false, "11144477735")
		var left struct{ Words, Documents string }
		must.Do(t, s.db.Read.GetContext(t.Context(), &left,
			s.db.Q(`SELECT words, documents FROM listing WHERE entry_id = ?`), e.ID))
		if left.Words != " #1001004 1001004 1 1004 " || left.Documents != " " {
			t.Errorf("%q is left of what was erased", left)
		}
	})
}

// What a search finds does not depend on the way in which it looks: the rows that have the words, the
// figures, the id or the text in their keys.
func TestASearchFindsWhatTheKeysHave(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		long := "01|" + strings.Repeat("abcde-", 12) + "Z9|77"
		lease := mustLease(t, s, "contracts")
		mustRecord(t, s, lease, showing(long), showing("A B-0012|x"), showing("filial 7/000345"), showing("---|1"),
			showing("529.982.247-25|31"))
		for text, want := range map[string]string{
			"e-Z9": long, "B-0012": "A B-0012|x", "-0012": "A B-0012|x", "A B": "A B-0012|x", "12|x": "A B-0012|x",
			"7/0003": "filial 7/000345", "0345": "filial 7/000345", "8/0003": "", "---": "---|1", "Z8": "",
			"982.247": "529.982.247-25|31",
		} {
			page := must.Get(s.RowPage(t.Context(), trade.RowQuery{Text: text, Limit: 20}))(t)
			got := strings.Join(trade.Map(page.Rows, func(e trade.Entry) string { return e.Key }), ",")
			if got != want {
				t.Errorf("%q finds %q, want %q", text, got, want)
			}
		}
	})
}
