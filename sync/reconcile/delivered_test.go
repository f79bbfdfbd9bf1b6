package reconcile

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
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
			out = append(out, fmt.Sprintf("%s %s %s", r.Key, decimalText(grain, trade.Portuguese),
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
		s := spooled(t, rows)
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

// A contract is found by its key, else by its id on the platform: the newest, where two have the
// same.
func TestDeliveriesFindTheirContracts(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "a folder? of 100% #1")
	must.Do(t, os.Mkdir(folder, 0o700))
	c := newContracts(folder)
	const many = 5000
	remote := func(i int) string { return uuid.NewSHA1(uuid.Nil, []byte(fmt.Sprint(i))).String() }
	long := strings.Repeat("é", 700)
	for i := range many {
		if i == many/2 { // what comes after the first look is found too
			r := Row{Sends: trade.Deliveries}
			if err := c.inherit(&r, nil, remote(1)); err != nil || r.Product != "P1" {
				t.Fatal(r, err)
			}
		}
		r := Row{
			Job: []string{"a", "b"}[i%2], Key: fmt.Sprint(i / 2),
			Document: Document{
				Product: fmt.Sprint("P", i), Harvest: "H", Producer: "X", Place: long, Wallet: "W", Day: "2026-10-05",
			},
		}
		must.Do(t, c.add(trade.Entry{RemoteID: remote(i % (many - 1))}, &r))
	}
	for i := range many {
		r := Row{Sends: trade.Traceability}
		must.Do(t, c.inherit(&r, []trade.ParentKey{
			{Job: "a", Key: "none"},
			{Job: []string{"a", "b"}[i%2], Key: fmt.Sprint(i / 2)},
		}, remote(0)))
		want := Row{
			Sends: trade.Traceability,
			Document: Document{
				Parent: []string{"a", "b"}[i%2], Contract: fmt.Sprint(i / 2),
				Product: fmt.Sprint("P", i), Harvest: "H", Producer: "X", Place: long, Wallet: "W", Day: "2026-10-05",
			},
		}
		if diff := gocmp.Diff(want, r); diff != "" {
			t.Fatalf("contract %d (-want +got)\n%s", i, diff)
		}
	}
	for id, want := range map[string]string{
		remote(7): "P7", strings.ToUpper(remote(8)): "P8",
		remote(0): fmt.Sprint("P", many-1), remote(many): "", "none": "",
	} {
		r := Row{Sends: trade.Deliveries, Document: Document{Producer: "Y"}}
		if err := c.inherit(&r, nil, id); err != nil || r.Product != want || r.Producer != "Y" || r.Day != "" {
			t.Errorf("%s: %+v, %v, want %s", id, r, err, want)
		}
	}
	// a process that dies leaves nothing
	if held, err := os.ReadDir(folder); runtime.GOOS == "linux" && (err != nil || len(held) > 0) {
		t.Errorf("%v can be seen, %v", held, err)
	}
	must.Do(t, c.close())
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
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
