package sync_test

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// plan fills the calendar.
func (y *year) plan(start time.Time, days int) {
	within := func(day int, from, to float64) time.Time {
		return start.Add(time.Duration(day)*24*time.Hour +
			time.Duration((from+y.random.Float64()*(to-from))*float64(time.Hour)))
	}
	for day := range days {
		weekend := start.AddDate(0, 0, day).Weekday() == time.Sunday
		for range y.random.IntN(5) {
			if !weekend {
				y.at(within(day, 1, 14), "edit", y.edit)
			}
		}
		if !weekend {
			y.at(within(day, 3, 5), "person", y.work)
		}
		if day%2 == 0 {
			y.storm(within(day, 0, 12))
		}
	}
	month := func(n int) time.Time { return start.Add(time.Duration(n) * y.month) }
	y.at(month(2), "401 for a day", func() { y.api.SetAPIKey("another key") })
	y.at(month(2).Add(24*time.Hour), "key renewed", y.clearWeather)
	y.at(month(4), "the clock is a year ahead", func() { y.clock.jump(365 * 24 * time.Hour) })
	y.at(month(4).Add(50*time.Hour), "the clock is right again", func() { y.clock.jump(-365 * 24 * time.Hour) })
	y.at(month(6), "the clock is a day behind", func() { y.clock.jump(-24 * time.Hour) })
	y.at(month(6).Add(30*time.Hour), "the clock is right again", func() { y.clock.jump(24 * time.Hour) })
}

// storms are what the platform, or the way to it, does for some hours, or for a day and a half.
var storms = []string{
	"refused@1-", "status=503@1-", "unavailable=30s@1-", "hang@1-", "hang,commit@1-", "lost-after@1-%30",
	"lost-before,reset@1-%30", "status=500,commit@1-%50", "status=500@1-%50",
	"throttle=20s@1-%60", "late=8m@1-%40", "garbage@1-%20", "noid@1-%20", "html@1-%50", "status=401,empty@1-",
	"status=403@1-%50", "cut@1-%30", "malformed@1-%50", "redirect@1-%50",
}

// storm plans one, and its end.
func (y *year) storm(at time.Time) {
	hours := time.Duration(2+y.random.IntN(34)) * time.Hour
	if n := y.random.IntN(len(storms) + 3); n >= len(storms) {
		y.at(at, "the platform is not there", func() { y.net.setDown(true) })
	} else {
		y.at(at, storms[n], func() { y.api.SetFaults(faults(y.t, storms[n])...) })
	}
	y.at(at.Add(hours), "fair", y.clearWeather)
}

func (y *year) clearWeather() {
	y.net.setDown(false)
	y.api.SetFaults()
	y.api.SetAPIKey("a-key-of-the-tests")
}

// stamp is when the ERP says that a row changed: its own clock is right.
func stamp(ago time.Duration) string { return time.Now().Add(-ago).UTC().Format("2006-01-02 15:04:05") }

// edit is something that people do in the ERP.
func (y *year) edit() {
	num := fmt.Sprintf("%04d", 1+y.random.IntN(max(y.next, 1)))
	sign := func(changed string) {
		y.next++
		y.contract(y.next)
		y.exec(`UPDATE contrato SET data_contrato = '2018-01-02', pagamento = '2018-12-01', atualizado = ? WHERE num = ?`,
			changed, fmt.Sprintf("%04d", y.next))
	}
	switch n := y.random.IntN(16); n {
	case 0, 1, 2, 3, 4:
		sign(stamp(0))
	case 5, 6: // a transaction that was open for long
		sign(stamp(time.Duration(1+y.random.IntN(60)) * time.Hour))
	case 7:
		sign("2099-01-01 00:00:00")
	case 8, 9, 10, 11, 12:
		change := []string{
			fmt.Sprintf("preco = %d", 50+y.random.IntN(50)), fmt.Sprintf("carteira = '%d'", y.random.IntN(2)),
			"pagamento = NULL", "pagamento = '2018-12-01'", "situacao = 'cancelado'",
		}[n-8]
		y.exec(`UPDATE contrato SET `+change+`, atualizado = ? WHERE num = ?`, stamp(0), num)
	case 13:
		y.exec(
			`DELETE FROM contrato WHERE num = ? AND num NOT IN (SELECT num FROM entrega UNION SELECT num FROM rateio)`,
			num)
	default:
		var parents []int
		must.Do(y.t, y.erp.Select(&parents, `SELECT CAST(num AS INTEGER) FROM contrato ORDER BY num`))
		y.tickets++
		if len(parents) == 0 {
			return
		}
		parent := parents[y.random.IntN(len(parents))]
		if y.random.IntN(3) == 0 {
			y.share(fmt.Sprint("r", y.tickets), parent, y.tickets)
		} else {
			y.delivery(y.tickets, parent, y.tickets)
			y.exec(`UPDATE entrega SET dia = '2018-12-05' WHERE dia > '2019'`)
		}
	}
}

// made returns the id of the record that a row has on the platform; "" = none.
func (y *year) made(e trade.Entry) string {
	of := map[trade.Kind][2]string{
		trade.OrderCommitments: {sandbox.ResourceOrderCommitments, "amount"},
		trade.Deliveries:       {sandbox.ResourceDeliveries, "delivered_volume"},
		trade.Traceability:     {sandbox.ResourceTraceability, "allocated_volume"},
	}[e.Sends]
	for _, r := range y.api.CreatedOf(of[0]) {
		if fmt.Sprint(r.Fields[of[1]]) == e.Quantity.Amount.String() {
			return r.ID
		}
	}
	return ""
}

// work is the person's morning: who looks at the platform first, and decides by what is there.
func (y *year) work() {
	ctx := y.t.Context()
	for _, job := range y.jobs {
		must.Do(y.t, y.person.Watch(ctx, job.name))
		plan, err := y.person.Release(ctx, job.name)
		plan.Checked = true
		if err == nil && plan.Refused == acts.NotRefused {
			_, err = y.person.DoJob(ctx, plan, maria)
			y.note("release %s", job.name)
		}
		if err != nil {
			y.t.Fatal(err)
		}
	}
	filter := trade.RowQuery{States: []trade.State{trade.InDoubt, trade.Held, trade.Rejected, trade.Dismissed}}
	for _, e := range y.entries(filter) {
		y.decide(e)
	}
}

// decide is the person's decision about one row.
func (y *year) decide(e trade.Entry) {
	ctx, id := y.t.Context(), y.made(e)
	keys := []string{e.Key}
	var plan acts.RowPlan
	var err error
	switch {
	case e.State == trade.Dismissed:
		plan, err = y.person.Reopen(ctx, e.Job, keys)
	case e.State == trade.InDoubt && y.random.IntN(10) == 0 && time.Now().Before(y.end):
		plan, err = y.person.Dismiss(ctx, e.Job, keys)
	case (e.State == trade.InDoubt || e.State == trade.Held) && id != "":
		plan, err = y.person.Adopt(ctx, e.Job, e.Key, acts.Adoption{ID: id, DespiteDifferences: true})
	case e.State == trade.InDoubt:
		plan, err = y.person.Resend(ctx, e.Job, e.Key, true)
	default:
		plan, err = y.person.Retry(ctx, e.Job, keys, true)
	}
	var failure *apiclient.CallError
	if errors.As(err, &failure) { // the platform is not there: another day
		y.note("%s %s cannot be decided: %s", e.Job, e.Key, failure.Fault)
		return
	}
	if err == nil {
		plan, err = y.person.Do(ctx, plan, maria)
	}
	if err != nil {
		y.t.Fatalf("%s %s: %v\n%s", e.Job, e.Key, err, y.recent())
	}
	y.note("%s %s %s %s", plan.Act, e.Job, e.Key, plan.Steps[0].Refused)
}

// accounts checks that the ledger knows of every row of the ERP and of every record of the
// platform, and claims no record that is not there.
func (y *year) accounts() {
	y.t.Helper()
	var missing []string
	must.Do(y.t, y.erp.Select(&missing,
		`SELECT num FROM contrato WHERE situacao NOT IN ('rascunho', 'cancelado')`))
	records := map[string]bool{}
	for _, r := range y.api.CreatedOf() {
		records[r.ID] = true
	}
	for _, e := range y.entries(trade.RowQuery{}) {
		missing = slices.DeleteFunc(missing,
			func(num string) bool { return e.Job == "contracts" && e.Key == "01|"+num })
		id := y.made(e)
		switch {
		case e.State == trade.Accepted && !records[e.RemoteID]:
			y.t.Errorf("%s %s is accepted as %s, which is not on the platform", e.Job, e.Key, e.RemoteID)
		case e.State == trade.Accepted && e.RemoteID != id:
			y.t.Errorf("%s %s is accepted as %s, but its record is %s", e.Job, e.Key, e.RemoteID, id)
		case id != "" && e.State != trade.Accepted && e.State != trade.InDoubt && e.State != trade.Held &&
			e.State != trade.Dismissed:
			y.t.Errorf("%s %s is %s, and on the platform as %s", e.Job, e.Key, e.State, id)
		}
	}
	if len(missing) > 0 {
		y.t.Errorf("the ledger does not know the contracts %v", missing)
	}
}
