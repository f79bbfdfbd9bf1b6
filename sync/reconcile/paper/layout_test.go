package paper

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/trade"
)

// columns takes the ids of a report's columns by their section.
type columns map[reconcile.SectionID][]string

func (columns) Begin(reconcile.Heading) error { return nil }
func (columns) Row([]any) error               { return nil }
func (columns) End() error                    { return nil }

func (c columns) Section(s reconcile.Section) error {
	for _, column := range s.Columns {
		c[s.ID] = append(c[s.ID], column.ID)
	}
	return nil
}

// Every section has a layout of at most eight columns, and whatever a layout names is a column of
// the report.
func TestALayoutNamesColumnsThatThereAre(t *testing.T) {
	t.Parallel()
	store := must.Get(state.OpenMemory(t.Context()))(t)
	t.Cleanup(func() { _ = store.Close() })
	s := must.Get(reconcile.TakeSnapshot(t.Context(), reconcile.Sources{
		Ledger: store, Zone: time.UTC, Now: time.Now(),
	}, reconcile.Cut{}))(t)
	there := columns{}
	must.Get(s.Report(reconcile.Options{Show: true, Lang: trade.Portuguese}, there))(t)
	for _, id := range reconcile.AllSections {
		if n := len(layouts[id]); n == 0 || n > 8 {
			t.Errorf("%s has %d columns", id, n)
		}
		for _, column := range layouts[id] {
			for _, part := range append(strings.Split(column.main, "|"), column.beneath...) {
				for name := range strings.SplitSeq(strings.TrimLeft(part, "#?>~!"), "@") {
					if !slices.Contains(there[id], name) {
						t.Errorf("%s has no column %s", id, name)
					}
				}
			}
		}
	}
}

// What people read of a row: its names, its key beneath them, weights with their units, money with
// the sign of its currency and cents, and what differs.
func TestARowIsReadInAFewColumns(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w := NewHTML(&b)
	column := func(id string, typ reconcile.Type) reconcile.Column {
		return reconcile.Column{ID: id, Title: strings.ToUpper(id), Type: typ}
	}
	section := reconcile.Section{ID: reconcile.ContractsSection, Title: "Contratos"}
	for _, c := range []struct {
		id  string
		typ reconcile.Type
	}{
		{"show", reconcile.CodeColumn},
		{"key", reconcile.CodeColumn},
		{"remote_id", reconcile.CodeColumn},
		{"order_type", reconcile.TextColumn},
		{"order_date", reconcile.DayColumn},
		{"product", reconcile.TextColumn},
		{"unit", reconcile.TextColumn},
		{"amount_erp", reconcile.NumberColumn},
		{"kg_erp", reconcile.NumberColumn},
		{"kg_sent", reconcile.NumberColumn},
		{"kg_difference", reconcile.NumberColumn},
		{"currency", reconcile.TextColumn},
		{"price_erp", reconcile.MoneyColumn},
		{"value_erp", reconcile.MoneyColumn},
		{"value_difference", reconcile.MoneyColumn},
		{"state", reconcile.TextColumn},
	} {
		section.Columns = append(section.Columns, column(c.id, c.typ))
	}
	number := func(units int64, scale int) trade.Decimal { return trade.NewDecimal(units, scale) }
	shown := trade.Shown{Texts: []trade.ShownText{{Label: "produtor", Text: "Ana <Silva>"}}}
	head := reconcile.Heading{Title: "Conciliação", Lang: trade.Portuguese, Zone: time.UTC}
	head.Head.ID, head.Head.At = `r"1\`, time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	for _, err := range []error{
		w.Begin(head), w.Section(section),
		w.Row([]any{
			shown, "01|000001", "id-1", "COMPRA", reconcile.Day("2026-10-05"), "SOJA", "SC", number(5100, 0),
			number(306_000, 0), number(306_000, 0), number(0, 0), "BRL", number(140_505, 3), number(716_550_005, 3),
			number(0, 0),
			reconcile.Label{ID: "accepted", Text: "enviado"},
		}),
		w.Row([]any{
			trade.Shown{},
			"01||1", "id-2", "COMPRA", reconcile.Day("2026-10-05"), "SOJA", "TON", number(61_750_4675, 7),
			number(61_750_4675, 4), number(0, 0), number(0, 0), "BRL", number(1, 0), number(1, 0), number(0, 0),
			reconcile.Label{ID: "accepted", Text: "enviado"},
		}), w.End(),
	} {
		must.Do(t, err)
	}
	for _, text := range []string{
		`<span>Ana &lt;Silva&gt;<small>01|000001</small><small>id-1</small></span>`,
		`data-label="ORDER_DATE"><span>05/10/2026<small>COMPRA</small></span>`,
		`data-label="KG_ERP"><span>306,000<small>5.100 sc</small></span>`,
		`<span>01|(vazio)|1<small>id-2</small></span>`,
		`data-label="KG_ERP"><span>61,750</span>`,
		`data-label="VALUE_ERP"><span>R$ 716.550,01<small>PRICE_ERP: 140,505</small></span>`,
		`@bottom-left{content:"Relatório r1 · posição em 01/11/2026 12:00"`, `size:A4 landscape`,
	} {
		if !strings.Contains(b.String(), text) {
			t.Errorf("the page does not have %s:\n%s", text, b.String())
		}
	}
	if n := strings.Count(b.String(), "<th "); n != 8 {
		t.Errorf("there are %d columns", n)
	}
}

// On a page a divergence leads to its document in the console.
func TestADivergenceOnAPageLeadsToTheConsole(t *testing.T) {
	t.Parallel()
	for console, want := range map[string]string{
		"https://coop.example": `<a href="https://coop.example/search?q=01%7C1+%3Cb%3E">01|1 &lt;b&gt;</a>`,
		"":                     `<span>01|1 &lt;b&gt;`,
	} {
		var b bytes.Buffer
		w := NewHTML(&b)
		section := reconcile.Section{ID: reconcile.DivergencesSection, Columns: []reconcile.Column{
			{ID: "key", Title: "Chave", Type: reconcile.CodeColumn}, {ID: "kind", Title: "O quê"},
		}}
		must.Do(t, w.Begin(reconcile.Heading{Lang: trade.Portuguese, Zone: time.UTC, Console: console}))
		must.Do(t, w.Section(section))
		must.Do(t, w.Row([]any{"01|1 <b>", reconcile.Label{ID: "volume", Text: "peso"}}))
		must.Do(t, w.End())
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page lacks %s:\n%s", want, b.String())
		}
	}
}

func TestAColumnInWhichNoRowHasATextIsLeftOutOfAPage(t *testing.T) {
	t.Parallel()
	r := &Report{most: 2}
	must.Do(t, r.Section(Section{Columns: []Column{{Title: "a"}, {Title: "b"}, {Title: "c"}}}),
		r.Row(Line{Cells: []Cell{{Text: "1"}, {}, {}}}),
		r.Row(Line{Cells: []Cell{{Text: "2"}, {}, {Text: "3"}}}),
		r.End())
	table := r.Sections[0]
	if len(table.Columns) != 2 || table.Columns[1].Title != "c" || table.Rows[1].Cells[1].Text != "3" {
		t.Errorf("%+v", table)
	}
}

// The page of a report has on its cover the columns of the screen that have anything, no value without a
// currency, all weights to the kilogram, and lines to sign on only if it is of a closing.
func TestTheCoverHasWhatTheScreenHas(t *testing.T) {
	t.Parallel()
	kg := func(n int64) trade.Decimal { return trade.NewDecimal(n, 0) }
	line := func(state trade.State, n int64) reconcile.AccountLine {
		return reconcile.AccountLine{LineKey: reconcile.LineKey{State: state}, Rows: 1, Amount: kg(n)}
	}
	head := reconcile.Heading{Lang: trade.Portuguese, Zone: time.UTC, Cover: []reconcile.Account{
		{
			AccountKey: reconcile.AccountKey{Product: "SOJA", Measure: reconcile.Contracted},
			States:     []reconcile.AccountLine{line(trade.Accepted, 5000), line(trade.Waiting, 1250)}, Sent: kg(5000),
		},
		{
			AccountKey: reconcile.AccountKey{Product: "SOJA", Measure: reconcile.Worth},
			Outside: []reconcile.AccountLine{{
				LineKey: reconcile.LineKey{Outside: reconcile.OutsideUnpriced}, Rows: 1,
			}},
		},
	}}
	page := func() string {
		var b bytes.Buffer
		w := NewHTML(&b)
		must.Do(t, w.Begin(head))
		must.Do(t, w.End())
		return b.String()
	}
	got := page()
	for text, want := range map[string]bool{
		`aguardando"><span>−1,250</span>`: true, `Diferença"><span>1,250</span>`: true, ">5,000<": true, "state.": false,
		"renumerados no ERP": false, "valor fixado": false, "Fechado por": false,
	} {
		if strings.Contains(got, text) != want {
			t.Errorf("%q: %t, want %t, in\n%s", text, !want, want, got[strings.Index(got, "<body>"):])
		}
	}
	head.Cover[0].Renumbered = reconcile.AccountLine{Rows: 4, Amount: kg(40)}
	head.Head.Closed = &reconcile.Closed{Who: "maria"}
	got = page()
	for _, text := range []string{"renumerados no ERP, a decidir\"><span>0,040<", "maria<small>Fechado por"} {
		if !strings.Contains(got, text) {
			t.Errorf("the page of a closing lacks %q", text)
		}
	}
}
