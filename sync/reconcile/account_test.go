package reconcile

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// fatal is what a check needs of a test.
type fatal interface {
	Helper()
	Fatalf(format string, args ...any)
}

// closes wants each account of an overview to close exactly, and to agree with the totals: the
// ERP's sum minus what is named outside minus each state is zero.
func closes(t fatal, v Overview) {
	t.Helper()
	totals := map[string]Total{}
	for _, one := range v.Totals {
		if one.By == ByAll {
			totals[one.Product] = one
		}
	}
	type figure struct{ erp, sent trade.Decimal }
	seen := map[string]map[Measure]figure{}
	worth := map[string]map[string]figure{}
	for _, a := range v.Accounts {
		if a.Proof().Sign() != 0 || a.SentProof().Sign() != 0 {
			t.Fatalf("%s of %q does not close: %s and %s of %+v", a.Measure, a.Product, a.Proof(), a.SentProof(), a)
		}
		rounded, lines := a.Rounded(), func(a Account) []AccountLine { // as people read it, it closes too
			return slices.Concat(a.States, a.Outside, []AccountLine{a.Changed, a.Left, a.Renumbered, {Amount: a.Sent}})
		}
		for i, l := range lines(rounded) {
			off := l.Amount.Sub(lines(a)[i].Amount).Abs()
			if lines(a)[i].Amount.Sign() == 0 && l.Amount.Sign() != 0 || rounded.Proof().Sign() != 0 ||
				rounded.SentProof().Sign() != 0 || off.Cmp(trade.NewDecimal(1, 0)) > 0 ||
				a.Measure == Worth && off.Cmp(trade.NewDecimal(1, 2)) > 0 {
				t.Fatalf("%s of %q: %+v is rounded to %+v", a.Measure, a.Product, a, rounded)
			}
		}
		if seen[a.Product] == nil {
			seen[a.Product], worth[a.Product] = map[Measure]figure{}, map[string]figure{}
		}
		seen[a.Product][a.Measure] = figure{a.ERP(), a.Sent}
		if a.Measure == Worth {
			worth[a.Product][a.Currency] = figure{a.ERP(), a.Sent}
		}
	}
	same := func(product, what string, got figure, erp, sent trade.Decimal) {
		t.Helper()
		if !got.erp.Equal(erp) || !got.sent.Equal(sent) {
			t.Fatalf("%s of %q: the account has %s and %s, the totals %s and %s", what, product, got.erp, got.sent,
				erp, sent)
		}
	}
	for product := range seen {
		one := totals[product]
		same(product, "contracted", seen[product][Contracted], one.Contracted, one.Sent.Contracted)
		same(product, "delivered", seen[product][Delivered], one.Delivered, one.Sent.Delivered)
		same(product, "fixed", seen[product][Fixed], one.Fixed, one.Sent.Fixed)
		for currency, got := range worth[product] {
			same(product, currency, got, one.Values[currency], one.Sent.Values[currency])
		}
	}
	for product, one := range totals {
		for _, currency := range one.Currencies() {
			if _, ok := worth[product][currency]; !ok {
				t.Fatalf("no account has the %s of %q", currency, product)
			}
		}
	}
}

// Whatever the rows, and whatever the query returns besides: each account closes.
func TestEachAccountCloses(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		rows := rapid.SliceOfN(rapid.Custom(anyRow), 0, 30).Draw(rt, "rows")
		s := keeping(t, rows)
		for i := range s.Head.Jobs {
			j := &s.Head.Jobs[i]
			j.Read = rapid.IntRange(0, 1).Draw(rt, "read")
			for _, why := range trade.BesideKinds {
				if rapid.Bool().Draw(rt, "beside") {
					continue
				}
				b := trade.Beside{Why: why}
				f := anyRow(rt).ERP
				b.Add(f)
				if rapid.Bool().Draw(rt, "by product") {
					b.Of(rapid.SampledFrom([]string{"SOJA", ""}).Draw(rt, "product"),
						rapid.SampledFrom([]string{"COMPRA", "FIXACAO_COMPRA", ""}).Draw(rt, "type")).Add(f)
				}
				j.Beside = append(j.Beside, b)
			}
		}
		closes(rt, must.Get(s.Overview(portuguese))(rt))
		o := portuguese
		o.Filter.Products = []string{"SOJA"}
		closes(rt, must.Get(s.Overview(o))(rt))
	})
}

// The difference of a product is explained by state and cause; what is in no total is named with its
// kilograms; and a record that was sent as another product is that product's.
func TestWhatBecameOfRowsHasWords(t *testing.T) {
	t.Parallel()
	for _, after := range Afters {
		for _, lang := range []trade.Lang{trade.Portuguese, trade.English} {
			if word := AccountWord(after, lang); !strings.Contains(word, " ") {
				t.Errorf("%s is told as %q", after, word)
			}
		}
	}
}

func TestTheDifferenceOfAProductIsExplained(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.october()
		w.add("contracts", "02|000011", soy.with(row{"amount": "200", "price": "-3"}), func(e *trade.Entry) {
			e.State, e.Cause, e.Payload, e.PayloadHash = trade.Invalid, "rule:price", nil, ""
			e.Error = &trade.EntryError{Kind: trade.ValidationError, Fields: []trade.Problem{}}
		})
		swapped := w.send(w.add("contracts", "02|000012", soy.with(row{"product": "MILHO", "amount": "10"})),
			trade.OutcomeCreated)
		w.change(swapped, func(e *trade.Entry) {
			now := soy.with(row{"amount": "11", "order_type": "A_FIXAR", "price": "", "currency": ""})
			e.Flags, e.Now, e.Quantity = e.Flags.With(trade.Changed, true), now.values(),
				trade.Quantity{Amount: trade.NewDecimal(11, 0), Unit: trade.SC}
		})
		double := trade.Beside{Why: trade.BesideDouble, Keys: []string{"01|000001"}}
		hundred, price := trade.NewDecimal(100, 0), trade.NewDecimal(13050, 2)
		f := Figures{Amount: &hundred, Unit: trade.SC, Price: &price, Currency: "BRL"}
		double.Add(f)
		double.Of("SOJA", "COMPRA").Add(f)
		cursor := trade.Cursor{
			SweptAt: w.now, Sweep: &trade.Sweep{InScope: 12, Gone: 1, Read: 13, Beside: []trade.Beside{double}},
		}
		w.store.RecordPage("contracts", trade.Page{Cursor: &cursor})
		deliveries := trade.Cursor{SweptAt: w.now, Sweep: &trade.Sweep{InScope: 2, Read: 2}}
		w.store.RecordPage("deliveries", trade.Page{Cursor: &deliveries})
		s := w.take(Cut{})
		closes(t, must.Get(s.Overview(portuguese))(t))
		text := mustReport(t, s, portuguese, func(b *bytes.Buffer) Writer { return NewCSV(b, 0) })
		for _, line := range []string{
			"SOJA;contratado;tudo o que a consulta traz do ERP;;;;46920;;;total", // 28,260 + 6,000 + 12,000 + 660
			"SOJA;contratado;fora: a mais com número repetido no ERP;;;1;6000;;;fora do total",
			"SOJA;contratado;fora: com preço ou volume negativo;;;1;12000;;;fora do total",
			"SOJA;contratado;no ERP;;;;28920;;;total",
			"SOJA;valor fixado;fora: a mais com número repetido no ERP;;;1;;BRL;13050;fora do total",
			"MILHO;contratado;mudou no ERP depois do envio (enviado − ERP);;;1;600;;;parcela",
			"MILHO;contratado;na plataforma;;;;600;;;total",
			"SOJA;contratado;na plataforma, e não mais no ERP;;;1;1800;;;parcela",
			"SOJA;contratado;diferença da conta;;;;0;;;prova",
		} {
			if !strings.Contains(text, line) {
				t.Errorf("the report lacks %q:\n%s", line, text)
			}
		}
	})
}

// The first line of an account is a SUM over the ERP, or is not there: without a sweep of each job it
// is not known.
func TestWhatTheQueryReturnsIsSaidOnlyWhereItIsKnown(t *testing.T) {
	t.Parallel()
	const unplaced = "a cancelled delivery of a contract that the ledger does not have"
	hundred := trade.NewDecimal(100, 0)
	row := func(sends trade.Kind) Row {
		return Row{
			Job: string(sends), Sends: sends, Key: "1", SendingState: SendingState{State: trade.Pending},
			Document: Document{Product: "SOJA", OrderType: "A_FIXAR"}, ERP: Figures{Amount: &hundred, Unit: trade.KG},
		}
	}
	for what, one := range map[string]struct {
		change               func(*JobHead)
		contracts, delivered bool
	}{
		"swept": {func(*JobHead) {}, true, true},
		"a cancelled delivery": {func(j *JobHead) {
			b := trade.Beside{Why: trade.BesideCancelled, Sums: trade.Sums{Rows: 1}}
			b.Of("SOJA", "").Add(Figures{})
			j.Beside = []trade.Beside{b}
		}, true, true},
		unplaced: {func(j *JobHead) {
			b := trade.Beside{Why: trade.BesideCancelled, Sums: trade.Sums{Rows: 1}}
			b.Of("", "").Add(Figures{})
			j.Beside = []trade.Beside{b}
		}, true, true},
		"never swept":                     {func(j *JobHead) { j.SweptAt, j.Read, j.Rows = nil, 0, 0 }, false, false},
		"swept by a program without this": {func(j *JobHead) { j.Read = 0 }, false, false},
	} {
		s := keeping(t, []Row{row(trade.OrderCommitments), row(trade.Deliveries)})
		for i := range s.Head.Jobs {
			s.Head.Jobs[i].Read = 1
			if s.Head.Jobs[i].Sends == trade.Deliveries {
				one.change(&s.Head.Jobs[i])
			}
		}
		for _, products := range [][]string{nil, {"SOJA"}} {
			o := portuguese
			o.Filter.Products = products
			for _, a := range must.Get(s.Overview(o))(t).Accounts {
				want := map[Measure]bool{Contracted: one.contracts, Delivered: one.delivered}[a.Measure]
				if what == unplaced && a.Measure == Delivered {
					want = products == nil // its account is the one without a product
				}
				if a.Product == "SOJA" && a.Whole != want {
					t.Errorf("%s, products %q: %s of SOJA is whole: %t", what, products, a.Measure, a.Whole)
				}
			}
		}
	}
}

// A row that waited when a person declared that the platform has it counts there as it was then,
// although no request was made for it; what the ERP changes later is a difference.
func TestARowThatWasNeverSentCountsOnThePlatformOnceAPersonSaysSo(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		waiting := w.add("contracts", "01|000001", soy.with(row{"order_type": "A_FIXAR", "amount": "10"}),
			func(e *trade.Entry) {
				e.State, e.Cause, e.Payload, e.PayloadHash = trade.Waiting, "ref:wallets", nil, ""
				e.WaitingFor = []trade.Awaited{{Ref: "wallets", Code: "99"}}
			})
		adopted := waiting
		adopted.State, adopted.RemoteID, adopted.Cause, adopted.WaitingFor = trade.Accepted, remoteID(1), "", nil
		done := must.Get(w.store.Act(t.Context(), []trade.Act{{
			Update: &trade.Update{From: trade.Waiting, Entry: adopted},
			Audit:  trade.AuditRecord{At: w.now, Who: "maria", Act: "adopt", Target: "contracts 01|000001"},
		}}))(t)
		if !done[0] {
			t.Fatal("it was not adopted")
		}
		sent := func() (a Account) {
			for _, one := range must.Get(w.take(Cut{}).Overview(portuguese))(t).Accounts {
				if one.Measure == Contracted {
					a = one
				}
			}
			return a
		}
		if a := sent(); a.Sent.String() != "600" || a.Changed.Rows != 0 {
			t.Errorf("%+v", a)
		}
		w.change(w.store.Read("contracts", "01|000001"), func(e *trade.Entry) {
			now := soy.with(row{"order_type": "A_FIXAR", "amount": "11"})
			e.Flags, e.Now = e.Flags.With(trade.Changed, true), now.values()
			e.Quantity = trade.Quantity{Amount: trade.NewDecimal(11, 0), Unit: trade.SC}
		})
		if a := sent(); a.Sent.String() != "600" || a.ERP().String() != "660" || a.Changed.Amount.String() != "-60" {
			t.Errorf("%+v", a)
		}
	})
}

// A cause that differs from row to row is not named as a field that nobody knows.
func TestTheReportSaysThatTheQueryNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	l := AccountLine{LineKey: LineKey{State: trade.Invalid, Cause: "rule:invalid"}}
	want := "com erro (dados do ERP): a consulta diz, em cada linha, o que está errado"
	if got := l.Why(portuguese); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A document that was typed again under another number is counted there alone, until the ERP gives its first
// number to another document: then both are counted.
func TestANumberThatTheERPHasGivenToAnotherDocumentIsCountedAgain(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		first := w.send(w.add("contracts", "1", soy), trade.OutcomeCreated)
		w.add("contracts", "3", soy, func(e *trade.Entry) {
			e.State, e.Cause = trade.Held, trade.CauseRetyped
			e.Error = &trade.EntryError{
				Kind: trade.ConflictError, Fields: []trade.Problem{},
				Counterpart: &trade.Counterpart{Job: "contracts", Key: "1", Gone: true},
			}
		})
		counted := func() int { return must.Get(w.take(Cut{}).Overview(portuguese))(t).Summaries[0].Bridge().Rows }
		if n := counted(); n != 1 {
			t.Errorf("%d rows are counted, want the one that was typed again", n)
		}
		w.change(first, func(e *trade.Entry) {
			e.Flags, e.Now = e.Flags.With(trade.Replaced, true), soy.with(row{"amount": "50"}).values()
			e.Quantity = trade.Quantity{Amount: trade.NewDecimal(50, 0), Unit: trade.SC}
		})
		if n := counted(); n != 2 {
			t.Errorf("%d rows are counted, want both documents", n)
		}
	})
}
