package alert

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// daysOf is what a branch had on each working day before a day: rows, and a ton a row.
func daysOf(branch string, before trade.Date, weeks, rows int) []trade.ArrivedDay {
	var out []trade.ArrivedDay
	for day := before.AddDays(-7 * weeks); day.Before(before); day = day.AddDays(1) {
		if isWorkday(day.In(time.UTC)) {
			kg := trade.NewDecimal(int64(rows)*1000, 0)
			out = append(out, trade.ArrivedDay{Branch: branch, Day: day, Rows: rows, Kg: kg})
		}
	}
	return out
}

// What is usual is learned from the same weekdays of the same weeks; days of another season, a
// single bulk load, and too few days say nothing.
func TestWhatIsUsualIsLearnedFromTheSameWeekdays(t *testing.T) {
	t.Parallel()
	day := must.Get(trade.ParseDate("2026-08-12"))(t) // a Wednesday
	if _, ok := usualOf(daysOf("01", day, 5, 10), "01", day); ok {
		t.Error("four Wednesdays say what is usual")
	}
	days := daysOf("01", day, 30, 10)
	for i := range days {
		switch {
		case days[i].Day == day.AddDays(-14):
			days[i].Rows = 4000 // a bulk load
		case days[i].Day.Before(day.AddDays(-60)):
			days[i].Rows = 1 // between the harvests
		}
	}
	days = append(days, daysOf("02", day, 30, 99)...)
	u, ok := usualOf(days, "01", day)
	if !ok || u.least != 10 || u.most != 4000 && u.most != 10 {
		t.Errorf("usual is %+v, %v", u, ok)
	}
	last := daysOf("01", day.AddDays(-305), 20, 50) // a year before
	u, ok = usualOf(append(last, daysOf("01", day, 7, 10)...), "01", day)
	if !ok || u.least < 10 || u.most != 50 {
		t.Errorf("with the year before usual is %+v, %v", u, ok)
	}
}

// Much less on a day that is over, and much more at once, are told for the branch alone; a day as
// usual, one that is not over, and one at which nobody looked are not.
func TestADayOutOfTheUsualIsTold(t *testing.T) {
	day := must.Get(trade.ParseDate("2026-08-12"))(t)
	for name, c := range map[string]struct {
		rows   int
		hour   int
		looked bool
		told   string
	}{
		"as usual":       {9, 20, true, ""},
		"less":           {4, 20, true, "só vieram 4 contratos (4.000 kg"},
		"none":           {0, 20, true, "só vieram 0 contratos"},
		"not over":       {0, 12, true, ""},
		"nobody looked":  {0, 20, false, ""},
		"more":           {41, 12, true, "vieram 41 contratos"},
		"somewhat more":  {19, 20, true, ""},
		"the next night": {4, 33, true, "só vieram 4 contratos (4.000 kg"},
	} {
		t.Run(name, func(t *testing.T) {
			one(t, func(t *testing.T, w *world) {
				w.OldestLimitOff()
				w.Limits.Usual = true
				w.Jobs[0].NothingNew = 0
				add := func(branch string, at time.Time, rows int) {
					var list []trade.Entry
					for i := range rows {
						list = append(list, w.contract(fmt.Sprint(branch, at.Unix(), i), "", func(e *trade.Entry) {
							e.State, e.Cause, e.Payload, e.PayloadHash = trade.Invalid, "rule:price", nil, ""
							e.Error = &trade.EntryError{Kind: trade.MappingError}
							e.FirstSeenAt, e.Facts.Branch = at, branch
							e.Quantity = trade.Quantity{Amount: trade.NewDecimal(1, 0), Unit: "TON"}
						}))
					}
					if len(list) > 0 {
						w.record("contracts", list...)
					}
				}
				for week := 8; week > 0; week-- { // only Wednesdays are asked about
					for _, branch := range []string{"01", "02"} {
						add(branch, day.AddDays(-7*week).In(saoPaulo).Add(10*time.Hour), 10)
					}
				}
				add("01", day.In(saoPaulo).Add(10*time.Hour), c.rows)
				add("02", day.In(saoPaulo).Add(10*time.Hour), 10)
				w.now = day.In(saoPaulo).Add(time.Duration(c.hour) * time.Hour).UTC()
				if c.looked {
					w.run("contracts")
				}
				w.tick(0)
				if c.told == "" {
					w.wantMails()
					return
				}
				m := w.wantMails(begins(Unusual, "", "contracts"))[0]
				m.says(t, "filial 01", c.told, "12/08/2026", "de 10 a 10 contratos (de 10.000 kg")
				if strings.Contains(m.text, "filial 02") {
					t.Error("the other branch is told, too")
				}
				if strings.HasPrefix(c.told, "só") { // until somebody has looked at the end of another day
					w.now = day.In(saoPaulo).Add(44 * time.Hour).UTC()
					w.tick(0)
					w.tick(time.Hour)
					w.wantMails()
				}
			})
		})
	}
}

// A load typed twice today is told although yesterday had too little, and a branch whose name may be
// that of a person is named nowhere.
func TestBothSidesOfTheUsualAreToldAndNoNames(t *testing.T) {
	t.Parallel()
	wednesday := must.Get(trade.ParseDate("2026-08-12"))(t)
	const farm = "FAZENDA JOAO"
	today := trade.ArrivedDay{Branch: farm, Day: wednesday, Rows: 40}
	days := append(daysOf(farm, wednesday.AddDays(-1), 10, 10), today)
	j := jobFacts{Job: Job{Name: "contracts"}, arrived: arrived{days: days}}
	j.runs.good = wednesday.In(saoPaulo).Add(-time.Hour)
	found := judgeUsual(facts{at: wednesday.In(saoPaulo).Add(12 * time.Hour)}, j, saoPaulo)
	if len(found) != 2 || found[0].detail.More || !found[1].detail.More || found[0].subject == found[1].subject {
		t.Fatalf("%+v", found)
	}
	if text := fmt.Sprintf("%+v", found); strings.Contains(text, "JOAO") {
		t.Errorf("a name is told: %s", text)
	}
	for branch, want := range map[string]string{
		"01": "01", "0101": "0101", "MT-02": "MT-02", "SPO": "SPO", "JOSE": "", "JOSE SILVA": "",
		"Fazenda 7 de maio": "", "12345678909": "***.456.789-**", "11222333000181": "",
	} {
		if got := codeOf(branch); got != want {
			t.Errorf("%s is told as %q", branch, got)
		}
	}
}
