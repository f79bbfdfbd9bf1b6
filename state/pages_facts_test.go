package state

import (
	"cmp"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// sorted returns all pages of a query.
func sorted(t testing.TB, s *Store, q trade.RowQuery) (rows []trade.Entry) {
	t.Helper()
	for {
		page := must.Get(s.RowPage(t.Context(), q))(t)
		rows = append(rows, page.Rows...)
		if len(page.Rows) > q.Limit {
			t.Fatalf("%d rows on a page of %d", len(page.Rows), q.Limit)
		}
		if q.After = page.Next; q.After == "" {
			return rows
		}
		if len(page.Rows) == 0 || len(rows) > 10_000 {
			t.Fatalf("%+v: there is no last page", q)
		}
	}
}

// Every order of a column and every part of the filter give, page by page, what a look at all rows
// gives.
func TestPagesGiveEachRowOnce(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		fillLarge(t, s, 1500)
		all := rowsOf(t, s, trade.RowQuery{})
		listings := map[int64]listingRow{}
		for _, e := range all {
			listings[e.ID] = listingRow{}
		}
		var read []listingRow
		must.Do(t, s.db.All(t.Context(), "test", &read, `SELECT `+strings.Join(listingColumns, ", ")+` FROM listing`))
		for _, l := range read {
			listings[l.EntryID] = l
		}
		is := func(p sql.NullString, text string) bool { return p.String == text }
		number := func(p sql.NullInt64, ok func(int64) bool) bool { return p.Valid && ok(p.Int64) }
		month, worth := must.Get(trade.ParseDate("2025-05-01"))(t), trade.NewDecimal(500_000, 0)
		end := must.Get(trade.ParseDate("2026-05-31"))(t)
		begin := time.UnixMilli(1_760_000_000_000)
		const refusal = "message.wallet.not-found"
		in := func(states ...trade.State) func(trade.Entry, listingRow) bool {
			return func(e trade.Entry, _ listingRow) bool { return slices.Contains(states, e.State) }
		}
		keyed := func(from int, text string) func(trade.Entry, listingRow) bool {
			return func(e trade.Entry, _ listingRow) bool { return strings.HasPrefix(e.Key[from:], text) }
		}
		filters := map[string]struct {
			q    trade.RowQuery
			want func(e trade.Entry, l listingRow) bool
		}{
			"all": {trade.RowQuery{}, func(trade.Entry, listingRow) bool { return true }},
			"a product that many have": {
				trade.RowQuery{Facts: trade.FactQuery{Product: "SOJA"}},
				func(_ trade.Entry, l listingRow) bool { return is(l.Product, "SOJA") },
			},
			"a part of a product": {
				trade.RowQuery{Facts: trade.FactQuery{Product: "tri"}},
				func(_ trade.Entry, l listingRow) bool { return is(l.Product, "TRIGO") },
			},
			"no such product": {
				trade.RowQuery{Facts: trade.FactQuery{Product: "CAFÉ"}},
				func(trade.Entry, listingRow) bool { return false },
			},
			"a producer in a branch, sent": {
				trade.RowQuery{
					Facts:  trade.FactQuery{Producer: "PRODUTOR 77", Branch: "05"},
					States: []trade.State{trade.Accepted},
				},
				func(e trade.Entry, l listingRow) bool {
					return is(l.Producer, "PRODUTOR 77") && is(l.Branch, "05") && e.State == trade.Accepted
				},
			},
			"from a worth on": {
				trade.RowQuery{Facts: trade.FactQuery{WorthFrom: &worth}},
				func(_ trade.Entry, l listingRow) bool {
					return number(l.Worth, func(n int64) bool { return n >= 5_000_000_000 })
				},
			},
			"documents of a period with a flag": {
				trade.RowQuery{
					Facts: trade.FactQuery{DayFrom: month, DayUntil: end}, Flags: []trade.Flag{trade.Changed},
				},
				func(e trade.Entry, l listingRow) bool {
					return e.Flags.Has(trade.Changed) &&
						number(l.Day, func(n int64) bool { return n >= 20250501 && n <= 20260531 })
				},
			},
			"a cause": {
				trade.RowQuery{Causes: []string{"ref:wallets"}, Facts: trade.FactQuery{Product: "SOJA"}},
				func(e trade.Entry, l listingRow) bool { return e.Cause == "ref:wallets" && is(l.Product, "SOJA") },
			},
			"changed in a time, of two states": {
				trade.RowQuery{
					From: begin.Add(500 * time.Second), States: []trade.State{trade.Accepted, trade.Held},
					Facts: trade.FactQuery{Branch: "07"},
				},
				func(e trade.Entry, l listingRow) bool {
					return !e.UpdatedAt.Before(begin.Add(500*time.Second)) && is(l.Branch, "07") &&
						(e.State == trade.Accepted || e.State == trade.Held)
				},
			},
			"a text": {
				trade.RowQuery{Text: "|0000007", Facts: trade.FactQuery{Product: "SOJA"}},
				func(e trade.Entry, l listingRow) bool { return e.Key[2:10] == "|0000007" && is(l.Product, "SOJA") },
			},
			"many states": {trade.RowQuery{States: []trade.State{trade.Accepted}}, in(trade.Accepted)},
			"one state":   {trade.RowQuery{States: []trade.State{trade.Invalid}}, in(trade.Invalid)},
			"two states": {
				trade.RowQuery{States: []trade.State{trade.Held, trade.Accepted}}, in(trade.Held, trade.Accepted),
			},
			"another job": {trade.RowQuery{Jobs: []string{"deliveries"}}, in()},
			"a refusal":   {trade.RowQuery{Causes: []string{refusal, "nothing"}}, in(trade.Rejected)},
			"a refusal, waiting": {
				trade.RowQuery{Causes: []string{refusal}, States: []trade.State{trade.Waiting}}, in(),
			},
			"a flag": {
				trade.RowQuery{Flags: []trade.Flag{trade.Changed, trade.Twin}},
				func(e trade.Entry, _ listingRow) bool { return e.Flags.Has(trade.Changed) },
			},
			"a number": {trade.RowQuery{Text: "777"}, keyed(3, "000000777")},
			"a key":    {trade.RowQuery{Text: "04|000000777"}, keyed(0, "04|000000777")},
			"a branch": {trade.RowQuery{Text: "04|"}, keyed(0, "04|")},
			"inside":   {trade.RowQuery{Text: "|0000007"}, keyed(2, "|0000007")},
			"nowhere":  {trade.RowQuery{Text: "x'%_\\"}, in()},
			"a time": {
				trade.RowQuery{From: begin.Add(500 * time.Second), Until: begin.Add(700 * time.Second)},
				func(e trade.Entry, _ listingRow) bool {
					since := e.UpdatedAt.Sub(begin)
					return since >= 500*time.Second && since < 700*time.Second
				},
			},
		}
		placeOf := func(e trade.Entry, by trade.RowSort) place {
			l, at := listings[e.ID], place{ID: e.ID}
			switch by {
			case trade.ByTitle:
				at.Text = textOrNull(l.Title)
			case trade.ByProduct:
				at.Text = l.Product
			case trade.ByProducer:
				at.Text = l.Producer
			case trade.ByBranch:
				at.Text = l.Branch
			case trade.ByDay:
				at.Number = l.Day
			case trade.ByVolume:
				at.Number = l.Kilograms
			case trade.ByValue:
				at.Number = l.Worth
			case trade.ByState:
				at.Number = sql.NullInt64{Int64: int64(slices.Index(trade.States, e.State)), Valid: true}
			default:
				at.Number = sql.NullInt64{Int64: e.UpdatedAt.UnixMilli(), Valid: true}
			}
			return at
		}
		sorts := []trade.RowSort{trade.NewestFirst, trade.OldestFirst, trade.ByKey}
		for _, column := range trade.Columns {
			sorts = append(sorts, column, "-"+column)
		}
		for name, tt := range filters {
			var want []trade.Entry
			for _, e := range all {
				if tt.want(e, listings[e.ID]) {
					want = append(want, e)
				}
			}
			by := sorts[:3]
			if tt.q.Facts != (trade.FactQuery{}) || name == "all" || name == "many states" {
				by = sorts
			}
			for i, sort := range by {
				by, down := sort.Column()
				slices.SortFunc(want, func(a, b trade.Entry) int {
					switch sort {
					case trade.NewestFirst:
						return cmp.Compare(b.ID, a.ID)
					case trade.OldestFirst:
						return cmp.Compare(a.ID, b.ID)
					case trade.ByKey:
						return strings.Compare(a.Key, b.Key)
					}
					x, y := placeOf(a, by), placeOf(b, by)
					known := x.Number.Valid || x.Text.Valid
					if known != (y.Number.Valid || y.Text.Valid) {
						if known {
							return -1
						}
						return 1
					}
					c := cmp.Or(cmp.Compare(x.Number.Int64, y.Number.Int64),
						strings.Compare(x.Text.String, y.Text.String), cmp.Compare(a.ID, b.ID))
					if down {
						return -c
					}
					return c
				})
				q := tt.q
				q.Sort, q.Limit = sort, 97
				key := func(e trade.Entry) string { return e.Key }
				keys := trade.Map(want, key)
				for _, few := range []int{40, sqldb.DefaultTuning.Few} {
					if few > 40 && i > 2 && by != trade.ByVolume {
						continue
					}
					s.db.Tune.Few = few
					got := trade.Map(sorted(t, s, q), key)
					if diff := gocmp.Diff(keys, got, cmpopts.EquateEmpty()); diff != "" {
						t.Fatalf("%s, %s, few are %d: %d of %d rows (-want +got):\n%.2000s", name, sort, few, len(got),
							len(keys), diff)
					}
				}
			}
			sums := must.Get(s.RowSums(t.Context(), tt.q, true))(t)["contracts"]
			var kg, worth, n, unweighed int64
			for _, e := range want {
				l := listings[e.ID]
				n++
				if !l.Kilograms.Valid {
					unweighed++
				}
				kg, worth = kg+l.Kilograms.Int64, worth+l.Worth.Int64
			}
			if int64(sums.Rows) != n || int64(sums.Unweighed) != unweighed ||
				!sums.Kilograms.Equal(trade.ListingDecimal(kg)) ||
				!sums.Values["BRL"].Equal(trade.ListingDecimal(worth)) || len(sums.Values) > 1 {
				t.Errorf("%s: %+v, want %d rows, %d without weight, %d, %d", name, sums, n, unweighed, kg, worth)
			}
		}
	})
}

// listed returns what lists have of a row, after the diagnosis found that this is what each row says.
func listed(t testing.TB, s *Store, key string) listingRow {
	t.Helper()
	d := Diagnosis{}
	must.Do(t, s.diagnoseRows(t.Context(), &d))
	if d.Problem != "" {
		t.Errorf("lists have something else than the rows: %v", d.Args)
	}
	var row listingRow
	must.Do(t, s.db.Get(t.Context(), "test", &row, `SELECT `+prefixed("l", listingColumns)+
		` FROM listing l JOIN entry e ON e.id = l.entry_id WHERE e.key = ?`, key))
	row.EntryID, row.Words, row.Documents = 0, "", ""
	return row
}

// What lists are sorted and narrowed by is what was sent or would be, through all that becomes of a row:
// it waits, is mapped, sent, changed in the ERP, moved to another job, copied, and reduced.
func TestWhatListsSayFollowsTheRow(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		known := func(day, kg, worth int64) listingRow {
			n := func(v int64) sql.NullInt64 { return sql.NullInt64{Int64: v, Valid: v != 0} }
			currency := ""
			if worth != 0 {
				currency = "BRL"
			}
			return listingRow{
				Job: "contracts", Product: textOrNull("SOJA"), Producer: textOrNull("ANA"),
				Branch: textOrNull("03"), Day: n(day), Kilograms: n(kg), Worth: n(worth), Currency: currency,
				ContractJob: textOrNull("contracts"), Contract: textOrNull("03|1000"),
			}
		}
		is := func(when string, want listingRow) {
			t.Helper()
			want.Title = "41001 · ana"
			if got := listed(t, s, "03|1001"); got != want {
				t.Errorf("%s: lists have\n%+v, want\n%+v", when, got, want)
			}
		}
		lease := mustLease(t, s, "contracts")
		update := func(change func(*trade.Entry)) {
			t.Helper()
			e := mustEntry(t, s, "contracts", "03|1001")
			from := e.State
			change(&e)
			page := trade.Page{Updates: []trade.Update{{From: from, Entry: e}}}
			if lost := must.Get(s.Record(t.Context(), lease, page))(t); lost > 0 {
				t.Fatal("the row was not written")
			}
		}
		e := newEntry("03|1001")
		e.State, e.Cause, e.Payload, e.PayloadHash = trade.Waiting, "ref:wallets", nil, ""
		e.Shown = trade.NewShown(e.Key,
			[]trade.ShownText{{Label: "contrato", Text: "1001"}, {Label: "produtor", Text: "Ana"}})
		e.Facts = trade.Facts{
			Product: "SOJA", Producer: "ANA", Branch: "03", Day: must.Get(trade.ParseDate("2026-05-10"))(t),
			Currency: "BRL", Worth: trade.NewDecimal(12345, 2),
			Contract: trade.ParentKey{Job: "contracts", Key: "03|1000"},
		}
		mustRecord(t, s, lease, e)
		is("it waits", known(20260510, 60030*10_000, 1234500))
		body := func(amount, price, day string) func(*trade.Entry) {
			return func(e *trade.Entry) {
				e.State, e.Cause = trade.Pending, ""
				e.Payload = []byte(`{"amount":` + amount + `,"unit_of_measurement":"SC","price":` + price +
					`,"currency":"BRL","product":"SOJA","order_date":"` + day + `"}`)
				e.PayloadHash = trade.PayloadHash("", e.Payload)
			}
		}
		update(body("10.5", "100.25", "2026-05-11"))
		is("it is mapped", known(20260511, 630*10_000, 10526250))
		update(body("20", "0.00004", "2026-05-12")) // of less than what is stored: it is still known
		zero := known(20260512, 1200*10_000, 8)
		is("it is mapped again", zero)
		mustSettle(t, s, lease, created(mustSend(t, s, lease, mustEntry(t, s, "contracts", "03|1001")), sqldb.NewID()))
		is("it is sent", zero)
		update(func(e *trade.Entry) {
			e.Quantity, e.Flags = sacas("99"), trade.Flags{trade.Changed}
			e.Facts.Producer = "BIA"
		})
		changed := zero
		changed.Producer = textOrNull("BIA")
		is("it is changed in the ERP", changed)
		update(func(e *trade.Entry) { e.Flags = nil })
		must.Do(t, s.ReleaseLease(t.Context(), lease))
		mustMove(t, s, "contracts", "contratos")
		changed.Job, changed.Title, changed.ContractJob = "contratos", "41001 · ana", textOrNull("contratos")
		if got := listed(t, s, "03|1001"); got != changed {
			t.Errorf("lists have %+v, want %+v", got, changed)
		}
		e = mustEntry(t, s, "contratos", "03|1001")
		if n := must.Get(s.Erase(t.Context(), []int64{e.ID}, nil, at.Add(400*day), byRetention))(t); n != 1 {
			t.Fatal(n)
		}
		reduced := listingRow{
			Job: "contratos", Title: "13|41001", Kilograms: sql.NullInt64{Int64: 5940 * 10_000, Valid: true},
		}
		if got := listed(t, s, "03|1001"); got != reduced {
			t.Errorf("reduced: lists have %+v, want %+v", got, reduced)
		}
	})
}

// A delivery has the season of its contract, not that of another job's row with this key, also after the job of its
// contract is renamed.
func TestARowHasTheSeasonOfTheContractOfItsJob(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		add := func(job, key, season, of string) {
			t.Helper()
			lease := mustLease(t, s, job)
			e := newEntry(key)
			e.Facts = trade.Facts{Season: season}
			if of != "" {
				e.Facts.Contract = trade.ParentKey{Job: of, Key: "1"}
			}
			mustRecord(t, s, lease, e)
			must.Do(t, s.ReleaseLease(t.Context(), lease))
		}
		add("a", "1", "2025", "")
		add("b", "1", "2026", "")
		add("loads", "of a", "", "a")
		add("loads", "of b", "", "b")
		add("loads", "of none", "", "c")
		are := func(seasons string, want ...string) {
			t.Helper()
			q := trade.RowQuery{Sort: trade.OldestFirst, Limit: 10, Facts: trade.FactQuery{Season: seasons}}
			q.Of.Harvest = seasons
			keys := trade.Map(sorted(t, s, q), func(e trade.Entry) string { return e.Job + " " + e.Key })
			if !slices.Equal(keys, want) {
				t.Errorf("of the seasons %s are %q, want %q", seasons, keys, want)
			}
		}
		are("2025", "a 1", "loads of a")
		are("2026", "b 1", "loads of b")
		are("2026,-", "b 1", "loads of b", "loads of none")
		mustMove(t, s, "b", "d")
		are("2026", "d 1", "loads of b")
		listed(t, s, "of b")
		mustMove(t, s, "loads", "cargas")
		are("2025", "a 1", "cargas of a")
	})
}

// Of a ledger without a job, and of one whose only job has no rows, every list is empty, and no error.
func TestListsOfALedgerWithoutRowsAreEmpty(t *testing.T) {
	bothTuned(t, sqldb.DefaultTuning, func(t *testing.T, s *Store) {
		orders := append([]trade.RowSort{trade.NewestFirst, trade.OldestFirst, trade.ByKey}, trade.Columns...)
		look := func() {
			for _, order := range orders {
				for _, q := range []trade.RowQuery{
					{}, {Text: "milho"}, {States: trade.States}, {Facts: trade.FactQuery{Producer: "nobody"}},
				} {
					q.Sort, q.Limit = order, 10
					page, err := s.RowPage(t.Context(), q)
					if err != nil || len(page.Rows) > 0 || page.Next != "" {
						t.Errorf("%+v: %+v, %v", q, page, err)
					}
					keys, more, err := s.RowKeys(t.Context(), q)
					if err != nil || len(keys) > 0 || more {
						t.Errorf("%+v: %v %v, %v", q, keys, more, err)
					}
					for _, whole := range []bool{true, false} {
						for job, sums := range must.Get(s.RowSums(t.Context(), q, whole))(t) {
							if sums.Rows > 0 {
								t.Errorf("%+v: %s has %+v", q, job, sums)
							}
						}
					}
				}
			}
			names, more, err := s.RowNames(t.Context(), trade.ByProducer, nil, "a", 3)
			if err != nil || len(names) > 0 || more {
				t.Errorf("%v %v, %v", names, more, err)
			}
		}
		look()
		must.Do(t, s.SetJobStatus(t.Context(), trade.JobStatus{Job: "contracts", State: trade.Running, Since: at}))
		look()
	})
}

// A text that more names have than are looked up is refused: a part of them would look like all.
func TestATextThatTooManyNamesHaveIsRefused(t *testing.T) {
	bothTuned(t, sqldb.DefaultTuning, func(t *testing.T, s *Store) {
		fillLarge(t, s, 1500)
		asked := func(producer string) []error {
			q := trade.RowQuery{Facts: trade.FactQuery{Producer: producer}, Limit: 10}
			_, page := s.RowPage(t.Context(), q)
			_, _, keys := s.RowKeys(t.Context(), q)
			_, sums := s.RowSums(t.Context(), q, true)
			return []error{page, keys, sums}
		}
		for _, err := range asked("produtor") {
			if !errors.Is(err, trade.ErrManyNames) {
				t.Errorf("part of many names: %v", err)
			}
		}
		for _, text := range []string{"produtor 77", "PRODUTOR 77", "nobody"} {
			for _, err := range asked(text) {
				must.Do(t, err)
			}
		}
		_, more, err := s.RowNames(t.Context(), trade.ByProducer, nil, "", 3)
		if err != nil || !more {
			t.Errorf("three of many names: %v %v", more, err)
		}
		s.db.Tune.Names = 50 // not all can be looked at
		for _, err := range asked("produtor 77") {
			if !errors.Is(err, trade.ErrManyNames) {
				t.Errorf("not all names were looked at: %v", err)
			}
		}
		for _, err := range asked("PRODUTOR 77") {
			must.Do(t, err)
		}
	})
}
