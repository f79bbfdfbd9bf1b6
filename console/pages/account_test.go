package pages

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/console/view"
	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/sync/reconcile/paper"
	"github.com/safrasync/safrasync/trade"
)

// testAccount has a line of each sort.
func testAccount(whole bool) reconcile.Account {
	n := func(kg int64) trade.Decimal { return trade.NewDecimal(kg, 0) }
	state := func(s trade.State, cause string, rows int, kg int64) reconcile.AccountLine {
		return reconcile.AccountLine{LineKey: reconcile.LineKey{State: s, Cause: cause}, Rows: rows, Amount: n(kg)}
	}
	after := func(name string, kg int64) reconcile.AccountLine {
		return reconcile.AccountLine{LineKey: reconcile.LineKey{After: name}, Rows: 1, Amount: n(kg)}
	}
	return reconcile.Account{
		AccountKey: reconcile.AccountKey{Product: "MILHO", Measure: reconcile.Contracted}, Whole: whole, Read: n(1070),
		Outside: []reconcile.AccountLine{{
			LineKey: reconcile.LineKey{Outside: reconcile.OutsideCancelled}, Rows: 1, Amount: n(70),
		}},
		States: []reconcile.AccountLine{
			state(trade.Accepted, "", 5, 700), state(trade.Pending, "", 2, 200),
			state(trade.Invalid, "rule:payday", 1, 60), state(trade.Held, "", 1, 40),
		},
		Changed: after("changed", -30), Left: after("left", 80), Renumbered: after("renumbered", 5), Sent: n(755),
	}
}

// The causes of a product come to what leads from one total to the other, with what has no cause of its own.
func TestTheCausesOfAProductComeToItsDifference(t *testing.T) {
	t.Parallel()
	by := accounting{v: view.NewVoice(trade.Portuguese, time.UTC), o: reconcile.Options{Lang: trade.Portuguese}}
	for _, whole := range []bool{false, true} {
		a := testAccount(whole)
		row := by.row(a, inTonnes)
		from := a.ERP()
		if whole {
			from = a.Read
		}
		var sum trade.Decimal
		for _, cause := range row.Causes {
			sum = sum.Add(cause.Amount)
			if cause.Name == "" || cause.Rows == 0 {
				t.Errorf("a cause without a name or rows: %+v", cause)
			}
		}
		if sum.Cmp(a.Sent.Sub(from)) != 0 || row.Rest.Sign() != 0 || row.Gap.Amount.Cmp(a.ERP().Sub(a.Sent)) != 0 {
			t.Errorf("whole %t: causes of %s, from %s to %s; rest %s", whole, sum, from, a.Sent, row.Rest)
		}
	}
	a := testAccount(false)
	a.Sent = a.Sent.Add(trade.NewDecimal(4, 1))
	if row := by.row(a, inTonnes); row.Rest.String() != "0.4" {
		t.Errorf("less than a kilogram is left: %s", row.Rest)
	}
}

// What the query returns is said if it is known of each product: a line without it would not add up.
func TestWhatTheQueryReturnsIsSaidIfItIsKnown(t *testing.T) {
	t.Parallel()
	by := accounting{v: view.NewVoice(trade.Portuguese, time.UTC), o: reconcile.Options{Lang: trade.Portuguese}}
	known, unknown := by.row(testAccount(true), inTonnes), by.row(testAccount(false), inTonnes)
	if all := tableOf([]accountRow{known}, true); all[0].Steps[0].Amount.String() != "1070" {
		t.Errorf("%+v", all)
	}
	for _, r := range tableOf([]accountRow{by.row(testAccount(true), inTonnes), unknown}, true) {
		if r.Steps[0].Amount.String() != "1000" {
			t.Errorf("%+v", r)
		}
	}
	if alone := tableOf([]accountRow{by.row(testAccount(false), inTonnes)}, true); !alone[0].Steps[0].Total ||
		alone[0].Steps[0].Amount.String() != "1000" {
		t.Errorf("%+v", alone)
	}
	out := reconcile.Account{Outside: testAccount(false).Outside[:1]}
	out.Outside[0].Amount = trade.Decimal{}
	if out.Empty() || !(reconcile.Account{}).Empty() {
		t.Error("a product of rows that weigh nothing is in no account")
	}
}

// reportText returns the page of a report.
func reportText(t *testing.T, v view.Voice, shown *reportShown) string {
	t.Helper()
	var b strings.Builder
	frame := view.Frame{
		Voice: v, Page: "report", User: &trade.User{Role: trade.Reader},
		Asset: view.Asset,
		Data:  reportPage{Form: url.Values{}, Report: shown},
	}
	if err := view.Execute(&b, frame); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// On the screen money is in thousands; on paper the cells have whole amounts, and the head their unit. What is in
// no sum has its currency, and nothing is said of what is not there.
func TestAReportInMoneySaysItsUnitAndWhatIsInNoSum(t *testing.T) {
	t.Parallel()
	account := func(currency string, rows int, read int64) reconcile.Account {
		return reconcile.Account{
			AccountKey: reconcile.AccountKey{Product: "SOJA", Measure: reconcile.Worth, Currency: currency},
			Read:       trade.NewDecimal(read, 0),
			Outside: []reconcile.AccountLine{{
				LineKey: reconcile.LineKey{Outside: reconcile.OutsideUnpriced}, Rows: rows,
			}},
		}
	}
	q := &web.Request{Lang: trade.Portuguese, Site: &web.Site{Zone: time.UTC}}
	shown := must.Get((&Pages{}).shown(q, url.Values{"unit": {inMoney}}, &paper.Report{
		Overview: reconcile.Overview{Accounts: []reconcile.Account{
			account("BRL", 7, 200_000_000), account("USD", 2, 3_000_000), account("", 1, 0),
		}},
	}, reconcile.Options{Lang: trade.Portuguese}))(t)
	text := reportText(t, q.Voice(), shown)
	for _, want := range []string{
		`<small>(<span class="no-paper">R$ mil</span><span class="only-paper">R$</span>)</small>`,
		`<small class="no-paper">US$ mil</small><small class="only-paper">US$</small>`,
		"7 sem preço ou moeda (R$)</a>", "2 sem preço ou moeda (US$)</a>", "1 sem preço ou moeda</a></p>",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %s:\n%s", want, text)
		}
	}
	if strings.Contains(text, ">0 ") {
		t.Error("it says how many there are of what there is none")
	}
	shown.Outside, shown.Beside = nil, 3
	text = reportText(t, q.Voice(), shown)
	if !strings.Contains(text, ": <a href=\"/report?part=bridge\">3 canceladas") {
		t.Error("it does not say what the ERP has that is no document")
	}
}

// A page marks the product that its lines do not explain, exactly, and says that nothing is missing only of one
// that has no difference.
func TestAReportMarksWhatNoLineExplains(t *testing.T) {
	t.Parallel()
	by := accounting{v: view.NewVoice(trade.Portuguese, time.UTC), o: reconcile.Options{Lang: trade.Portuguese}}
	page := func(a reconcile.Account) string {
		row := by.row(a, inTonnes)
		shown := reportShown{Report: &paper.Report{}, Unit: inTonnes, Table: tableOf([]accountRow{row}, false)}
		shown.Opened, shown.Fall = &row, by.fall(row, inTonnes)
		return reportText(t, by.v, &shown)
	}
	const mark, nothing = `class="differs">Sobra sem explicação: 0,4 kg`, "Nada falta."
	a := testAccount(true)
	if text := page(a); strings.Contains(text, mark) || strings.Contains(text, nothing) {
		t.Errorf("of an account with causes:\n%s", text)
	}
	a.Sent = a.Sent.Add(trade.NewDecimal(4, 1))
	if text := page(a); strings.Count(text, mark) != 2 {
		t.Errorf("of one that is not explained:\n%s", text)
	}
	a = reconcile.Account{States: a.States[:1], Read: a.States[0].Amount, Sent: a.States[0].Amount}
	if text := page(a); !strings.Contains(text, nothing) {
		t.Errorf("of one that is all there:\n%s", text)
	}
	a.Sent = a.Sent.Add(a.Sent)
	if text := page(a); strings.Contains(text, nothing) {
		t.Errorf("of one with a difference:\n%s", text)
	}
}
