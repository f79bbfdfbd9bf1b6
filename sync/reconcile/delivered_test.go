package reconcile

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// overInMemory is what [delivered] tells, of sums that are all in memory.
func overInMemory(rows []Row, t Tolerance) (out []string) {
	sums := map[trade.ParentKey]trade.Decimal{}
	for _, r := range rows {
		if kg, ok := weight(r.ERP); ok && r.Sends == trade.Deliveries && r.counts() && r.State != trade.Dismissed &&
			r.Contract != "" {
			of := trade.ParentKey{Job: r.Parent, Key: r.Contract}
			sums[of] = sums[of].Add(kg)
		}
	}
	for _, r := range rows {
		sum, some := sums[trade.ParentKey{Job: r.Job, Key: r.Key}]
		grain, ok := weight(r.ERP)
		if some && ok && r.Sends == trade.OrderCommitments && r.counts() && r.State != trade.Dismissed &&
			contracted(r.OrderType) && sum.Cmp(t.most(grain)) > 0 {
			shown := strings.ReplaceAll(r.Key, "\x00", "\ufffd") // as files show what cannot be seen
			out = append(out, fmt.Sprintf("%s %s %s", shown, decimalText(grain, trade.Portuguese),
				decimalText(sum, trade.Portuguese)))
		}
	}
	return out
}

// Whatever the rows, and whatever is selected: more delivered than contracted is told of the same
// contracts, with the same sums, in the same order as by sums in memory.
func TestMoreDeliveredThanContractedIsToldWithoutHoldingTheContracts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		key := rapid.SampledFrom([]string{"1", "2", "3", "4", "1\x00", ""})
		rows := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Row {
			r := anyRow(t)
			if r.Key = key.Draw(t, "key"); r.Sends == trade.Deliveries {
				r.Contract = key.Draw(t, "contract")
			}
			return r
		}), 0, 60).Draw(rt, "rows")
		slices.SortStableFunc(rows, func(a, b Row) int {
			return cmp.Compare(slices.Index(trade.Kinds, a.Sends), slices.Index(trade.Kinds, b.Sends))
		})
		s := keeping(t, rows)
		o := portuguese
		o.Sections = []SectionID{DivergencesSection}
		o.Tolerance.Contract = trade.NewDecimal(rapid.Int64Range(0, 50).Draw(rt, "tolerance"), 0)
		if product := rapid.SampledFrom([]string{"SOJA", "MILHO", ""}).Draw(rt, "product"); product != "" {
			o.Filter.Products = []string{product}
		}
		var file bytes.Buffer
		v := must.Get(s.Report(o, NewCSV(&file, 1)))(rt)
		read := csv.NewReader(strings.NewReader(strings.TrimPrefix(file.String(), "\ufeff")))
		read.Comma = ';'
		lines := must.Get(read.ReadAll())(rt)
		if v.Divergences != len(lines)-1 {
			rt.Fatalf("%d divergences are counted, %d told", v.Divergences, len(lines)-1)
		}
		var got []string
		for _, line := range lines[1:] {
			if line[4] == i18n.Report.Text(i18n.Portuguese, "divergence.over_delivered") {
				got = append(got, fmt.Sprintf("%s %s %s", line[2], line[5], line[6]))
			}
		}
		want := overInMemory(slices.DeleteFunc(slices.Clone(rows),
			func(r Row) bool { return r.Sends == trade.OrderCommitments && !o.Filter.Match(&r) }), o.Tolerance)
		if diff := gocmp.Diff(want, got); diff != "" {
			rt.Fatalf("(-want +got)\n%s", diff)
		}
	})
}

// A delivery has the product, the season and the place of its contract: of the one with its key, else
// of the one whose id was sent. Without one it has its key.
func TestDeliveriesFindTheirContracts(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.send(w.add("contracts", "01|000001", soy), trade.OutcomeCreated)
		corn := w.send(w.add("contracts", "01|000002", soy.with(row{"product": "MILHO"})), trade.OutcomeCreated)
		load := row{
			"filial": "01", "num": "000001", "delivered_volume": "70", "delivered_volume_unit_of_measure": "SC",
			"delivery_date": "2026-10-06", "contract_id": remoteID(99),
		}
		w.add("deliveries", "by key", load)
		w.add("deliveries", "by id", load.with(row{"num": "000009", "contract_id": corn.RemoteID}))
		w.add("deliveries", "by ID", load.with(row{"num": "000009", "contract_id": strings.ToUpper(corn.RemoteID)}))
		w.add("deliveries", "none", load.with(row{"num": "000009"}))
		w.add("deliveries", "no id", load.with(row{"num": "000009", "contract_id": "none"}))
		want := map[string]Document{
			"by key": {Contract: "01|000001", Product: "SOJA"},
			"by id":  {Contract: "01|000002", Product: "MILHO"}, "by ID": {Contract: "01|000002", Product: "MILHO"},
			"none": {Contract: "01|000009"}, "no id": {Contract: "01|000009"},
		}
		for key, d := range want {
			d.Parent, d.Day = "contracts", "2026-10-06"
			if d.Product != "" {
				d.Harvest, d.Producer, d.Place = soy["haverst"], soy["produtor"], soy["local"]
				d.Wallet = soy["wallet_id"]
			}
			want[key] = d
		}
		got := map[string]Document{}
		must.Do(t, w.take(Cut{}).rows.each(trade.Deliveries, true, nil, func(r *Row) error {
			got[r.Key] = r.Document
			return nil
		}))
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}

// A job that sends something else than it did has rows of both kinds. All of them are in the
// report, and find their contracts, wherever those stand.
func TestAJobThatSentAnotherKindOnce(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		was := func(kind trade.Kind) func(*trade.Entry) { return func(e *trade.Entry) { e.Sends = kind } }
		load := row{
			"delivered_volume": "70", "delivered_volume_unit_of_measure": "SC", "delivery_date": "2026-10-06",
			"filial": "01", "num": "000001",
		}
		w.add("deliveries", "01|000001", soy, was(trade.OrderCommitments))
		w.add("deliveries", "t1", load)
		w.add("deliveries", "01|000002", soy, was(trade.OrderCommitments))
		w.add("deliveries", "t2", load)
		w.add("contracts", "t3", load, was(trade.Deliveries))
		s := w.take(Cut{})
		o := portuguese
		o.Sections = []SectionID{ContractsSection, DeliveriesSection}
		file := mustReport(t, s, o, func(b *bytes.Buffer) Writer { return NewCSV(b, len(o.Sections)) })
		for _, key := range []string{"01|000001", "01|000002", "t1", "t2", "t3"} {
			if !strings.Contains(file, ";"+key+";") {
				t.Errorf("%s is not in the report:\n%s", key, file)
			}
		}
	})
}
