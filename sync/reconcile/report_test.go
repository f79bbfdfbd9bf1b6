package reconcile

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/english"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		must.Do(t, os.WriteFile(file, []byte(got), 0o644))
	}
	for _, line := range english.Lines(must.Get(english.Texts(name, []byte(got)))(t)[name]) {
		t.Errorf("English in %s: %s", name, line)
	}
	want := must.Get(os.ReadFile(file))(t)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got); `go test ./sync/reconcile -update` writes it anew:\n%s", name, diff)
	}
}

// The same month gives the same report in every form, from both ledgers.
func TestOctoberInEveryForm(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.october()
		s := w.take(Cut{})
		golden(t, "october.csv", mustReport(t, s, portuguese, func(b *bytes.Buffer) Writer { return NewCSV(b, 0) }))
		inEnglish := portuguese
		inEnglish.Lang = trade.English
		golden(t, "october.json", mustReport(t, s, inEnglish, func(b *bytes.Buffer) Writer { return NewJSON(b) }))
	})
}

// All sections are of one moment, whatever comes to the ledger while they are written.
func TestAReportIsOfOneMoment(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.october()
		write := func(s *Snapshot) string {
			return mustReport(t, s, portuguese, func(b *bytes.Buffer) Writer { return NewCSV(b, 0) })
		}
		s := w.take(Cut{})
		want := write(s)
		w.add("contracts", "03|000011", soy)
		w.dismiss("contracts", "02|000006")
		w.sweep("contracts", 10, 1)
		s.sums = nil // as if nothing had been read yet
		if diff := cmp.Diff(want, write(s)); diff != "" {
			t.Errorf("what was written later is in the report (-before +after):\n%s", diff)
		}
	})
}

// total finds the line of a dimension, name and product.
func total(t *testing.T, v Overview, by By, name, product string) Total {
	t.Helper()
	for _, one := range v.Totals {
		if one.By == by && one.Name == name && one.Product == product {
			return one
		}
	}
	t.Fatalf("there is no total by %s of %q, %q", by, name, product)
	return Total{}
}

// A contract to be fixed and its fixation are the same grain; a fixation from deposit is not that
// of a contract; what has no amount above zero, is gone or cancelled is in no sum of the ERP, and
// what is gone is still on the platform.
func TestAFixationIsNeverCountedTwice(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.october()
		v := must.Get(w.take(Cut{}).Overview(portuguese))(t)
		got := total(t, v, ByAll, "", "SOJA")
		for name, pair := range map[string][2]string{
			"contracted":      {got.Contracted.String(), "28260"}, // 100+200+70+61+40 sacas
			"fixed":           {got.Fixed.String(), "20760"},      // 100+50+70+61+40 sacas and 1,500 kg
			"from deposit":    {got.Deposit.String(), "1500"},
			"to fix":          {got.ToFix.String(), "9000"}, // 200-50 sacas
			"delivered":       {got.Delivered.String(), "7001.5"},
			"to deliver":      {got.ToDeliver().String(), "21258.5"},
			"BRL":             {got.Values["BRL"].String(), "42365.5"}, // 271 x 130.50 + 50 x 140
			"USD":             {got.Values["USD"].String(), "615.185184"},
			"contracted sent": {got.Sent.Contracted.String(), "23400"}, // 100+200+60+30 sacas
			"delivered sent":  {got.Sent.Delivered.String(), "6001"},
			"fixed sent":      {got.Sent.Fixed.String(), "15900"}, // 100+50+60+30 sacas and 1,500 kg
			"dismissed":       {got.Dismissed.String(), "2400"},
		} {
			if pair[0] != pair[1] {
				t.Errorf("%s is %s, want %s", name, pair[0], pair[1])
			}
		}
		if corn := total(t, v, ByAll, "", "MILHO"); corn.Contracted.String() != "6" ||
			corn.Values["BRL"].String() != "0.01" || corn.Sent.Contracted.Sign() != 0 {
			t.Errorf("corn: %+v", corn)
		}
		for _, s := range v.Summaries {
			if d := s.Difference(); d == nil || *d != 0 {
				t.Errorf("%s does not close: %+v", s.Job, s)
			}
		}
	})
}

func TestASweepThatFoundMoreIsADifference(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "sqlite")
	w.october()
	w.sweep("contracts", 12, 1) // three rows of the ERP that the ledger does not have
	v := must.Get(w.take(Cut{}).Overview(portuguese))(t)
	if d := v.Summaries[0].Difference(); d == nil || *d != 3 {
		t.Errorf("summary %+v", v.Summaries[0])
	}
}

// What was closed is printed again with the same numbers, names and reasons, whatever happened to the rows,
// and after the retention has taken bodies, values and persons: they are in the closed report.
func TestAClosedMonthIsPrintedAgainWithTheSameNumbers(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.october()
		w.add("contracts", "03|000011", soy.with(row{"order_date": "2026-11-02"})) // of the next month
		day := must.Get(trade.ParseDate("2026-10-31"))(t)
		s := w.take(Cut{Day: day})
		want := csvOf(t, s)
		if strings.Contains(want, "03|000011") || !strings.Contains(want, "posteriores à data-base;1") {
			t.Errorf("a document after the cut-off is not left out and counted:\n%s", want)
		}
		audit := trade.AuditRecord{
			At: w.now, Who: "maria", From: "maria@srv", Act: "report close",
			Target: "2026-10-31", Reason: "October", Detail: `{}`,
		}
		done := must.Get(Freeze(t.Context(), w.store, s, "maria", "October", audit))(t)
		w.retain()
		now := csvOf(t, w.take(Cut{Day: day}))
		for _, text := range []string{"130,5", "maria"} {
			if strings.Count(now, text) >= strings.Count(want, text) {
				t.Errorf("the ledger has each %s still: this test shows nothing", text)
			}
		}
		w.change(w.store.Read("contracts", "02|000008"),
			func(e *trade.Entry) { e.State, e.Cause, e.Error, e.GoneSweeps = trade.Withdrawn, "", nil, 2 })
		w.dismiss("contracts", "02|000006")
		w.add("contracts", "03|000012", soy)
		closings, err := w.store.Closings(t.Context(), day)
		if err != nil || len(closings) != 1 || closings[0].Hash != done.Hash {
			t.Fatalf("closings %+v, %v", closings, err)
		}
		again := must.Get(OpenClosed(t.Context(), w.store, closings[0]))(t)
		if diff := cmp.Diff(want, csvOf(t, again)); diff != "" {
			t.Errorf("the reprint (-closed +reprint):\n%s", diff)
		}
		heading := mustReport(t, again, portuguese, func(b *bytes.Buffer) Writer { return NewCSV(b, 0) })
		if !strings.Contains(heading,
			"Fechamento de 31/10/2026: posição guardada em 31/10/2026 12:00 por maria, motivo: October.") ||
			!strings.Contains(heading, done.Hash) {
			t.Errorf("the heading does not say that it is closed:\n%s", heading[:900])
		}
	})
}

// Decisions are told with who and why; one by which a renumbered row took an id over is told as
// that, and one that the retention reduced as no longer kept.
func TestExceptionsTellWhoAndWhy(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		for i, r := range []trade.AuditRecord{
			{
				Act: "adopt", Target: "contracts 01|1",
				Detail: `{"before":{"state":"held"},"after":{"state":"accepted"},"given":{"job":"contracts","key":"01|0"}}`,
			},
			{
				Act: "adopt", Target: "contracts 01|2",
				Detail: `{"before":{"state":"in_doubt"},"after":{"state":"accepted"},"given":null}`,
			},
			{Act: "refs import", Target: "wallets", Detail: `{}`},
			{Act: "late answer", Target: "contracts 01|3", Detail: `none`},
		} {
			r.At, r.Who, r.Reason = w.now.AddDate(0, 0, i), "maria", "seen there"
			must.Do(t, w.store.AppendAudit(t.Context(), r))
		}
		o := portuguese
		o.Sections, o.Filter.To = []SectionID{ExceptionsSection}, must.Get(trade.ParseDate("2026-11-02"))(t)
		got := mustReport(t, w.take(Cut{}), o, func(b *bytes.Buffer) Writer { return NewCSV(b, 1) })
		word := func(key i18n.Key) string { return i18n.Report.Text(trade.Portuguese, key) }
		for _, want := range []string{
			"31/10/2026 12:00:00;maria;" + word("act.moved") + ";contracts;01|1;seen there;" +
				trade.Held.Label(trade.Portuguese) + ";" + trade.Accepted.Label(trade.Portuguese) + ";1\r\n",
			"01/11/2026 12:00:00;maria;" + word("act.adopt") + ";contracts;01|2;",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("%q is not in\n%s", want, got)
			}
		}
		if strings.Contains(got, "wallets") || strings.Contains(got, "01|3") {
			t.Errorf("what is of another day, or no decision about a row, is told:\n%s", got)
		}
	})
}

func TestFiltersSelectRowsAndLeaveTheSummaryWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "sqlite")
	w.october()
	s := w.take(Cut{})
	for name, c := range map[string]struct {
		filter Filter
		want   int
	}{
		"nothing":       {Filter{}, 12},
		"product":       {Filter{Products: []string{"MILHO"}}, 1},
		"branch":        {Filter{Branches: []string{"01"}}, 4},
		"state":         {Filter{States: []trade.State{trade.InDoubt, trade.Rejected}}, 2},
		"from":          {Filter{From: must.Get(trade.ParseDate("2026-10-06"))(t)}, 2},
		"to":            {Filter{To: must.Get(trade.ParseDate("2026-10-06"))(t)}, 10},
		"producer":      {Filter{Producers: []string{"P2|01"}}, 1},
		"place":         {Filter{Places: []string{"001"}}, 12},
		"wallet":        {Filter{Wallets: []string{"33333333-3333-4333-8333-333333333310"}}, 12},
		"harvest":       {Filter{Harvests: []string{"2026/2027"}}, 0},
		"job and state": {Filter{Jobs: []string{"deliveries"}, States: []trade.State{trade.Accepted}}, 1},
	} {
		o := portuguese
		o.Filter = c.filter
		v, err := s.Overview(o)
		if err != nil || v.Selected != c.want || v.Summaries[0].Rows != 10 {
			t.Errorf("%s: %d rows, want %d; summary of %d, %v", name, v.Selected, c.want, v.Summaries[0].Rows, err)
		}
	}
}

// A contract whose price the ERP has removed has none in the report, although one was sent.
func TestAValueThatTheERPRemovedIsNotTheOneThatWasSent(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		sent := w.send(w.add("contracts", "01|000001", soy), trade.OutcomeCreated)
		w.change(sent, func(e *trade.Entry) {
			e.Flags, e.Now = e.Flags.With(trade.Changed, true),
				soy.with(row{"order_type": "A_FIXAR", "price": "", "currency": "", "produtor": ""}).values()
		})
		must.Do(t, w.take(Cut{}).Each(func(r *Row) error {
			if r.ERP.Price != nil || r.ERP.Currency != "" || r.Producer != "" || r.OrderType != "A_FIXAR" ||
				r.Sent.Price == nil || r.Sent.Price.String() != "130.5" {
				t.Errorf("the row is %+v, sent %+v", r, r.Sent)
			}
			return nil
		}))
	})
}
