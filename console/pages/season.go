package pages

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/safrasync/safrasync/console/view"
	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/internal/picture"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/trade"
)

// seasonPage is the page of a season's pictures.
type seasonPage struct {
	seasonShown
	Gap      *picture.Area   // value of what is missing, nil: nothing
	Days     picture.Ticks   // what was sent on each
	Ages     []picture.Stack // of each department
	Branches []picture.Stack
}

// seasonShown is what two pages show of a season: what each product has, and does not have, on the platform.
// Seasons are never added up.
type seasonShown struct {
	At       time.Time // zero: it is being counted
	Seasons  []string  // one can be chosen
	Season   string    // the one that is shown
	Query    string    // of the address, with the season that it names; "" = it names none
	Products []picture.Stack
	of       *reconcile.Season // nil: there is none
}

// seasonOf returns the season that the address names, else the present one.
func seasonOf(q *web.Request, s *office.Season) (out seasonShown) {
	if name := q.Form.Get("season"); name != "" {
		out.Query = "?" + url.Values{"season": {name}}.Encode()
	}
	if s == nil {
		return out
	}
	out.At = s.At
	for i, one := range s.Seasons {
		name := cmp.Or(one.Harvest, trade.NotKnown)
		out.Seasons = append(out.Seasons, name)
		if i == 0 || name == q.Form.Get("season") {
			out.of, out.Season = one, name
		}
	}
	if out.of != nil {
		out.Products = trade.Map(out.of.Products, func(s reconcile.StateSum) picture.Stack {
			return stackOf(q.Voice(), s, trade.Decimal{})
		})
	}
	return out
}

func (p *Pages) showSeason(q *web.Request) error {
	s, err := p.office.Season(q.Context())
	if err != nil {
		return err
	}
	page := seasonPage{seasonShown: seasonOf(q, s)}
	if page.of == nil {
		return q.Page(http.StatusOK, "season", page)
	}
	v := q.Voice()
	var sent []picture.Mark
	for _, d := range s.Days {
		sent = append(sent, picture.Mark{
			Class: []string{"none", "sent"}[min(d.Sent, 1)], Name: v.Day(d.At),
			Said: v.T("season.day", v.Number(d.Sent)), Amount: trade.NewDecimal(int64(d.Sent), 0),
		})
	}
	page.Days = picture.Strip(v.T("Sent each day, of all seasons"), sent...)
	for _, who := range trade.Departments { // how long what each can cure has stood
		sums := page.of.Ages[who]
		if sums == nil {
			continue
		}
		var marks []picture.Mark
		for i, one := range sums {
			marks = append(marks, picture.Mark{
				Class: []string{"none", "waiting", "invalid", "doubt"}[i], Name: v.T("season.age." + strconv.Itoa(i)),
				Said: v.Documents(one.Rows), Path: figurePath(one.Of), Amount: trade.NewDecimal(int64(one.Rows), 0),
			})
		}
		page.Ages = append(page.Ages, picture.Stacked(v.T("home.who."+string(who)), "", trade.Decimal{}, marks...))
	}
	// the value of the documents up to each day that the platform does not have
	say := func(d trade.Decimal) string { return v.WholeMoney("BRL", d) }
	var points []picture.Point
	var missing trade.Decimal
	days := slices.Sorted(maps.Keys(page.of.Missing)) // those without a day first
	for i, day := range days {
		missing = missing.Add(page.of.Missing[day])
		if i%(1+len(days)/pointsMost) != 0 && i != len(days)-1 {
			continue
		}
		one := picture.Point{Mark: picture.Mark{Name: day, Said: say(missing), Amount: missing}}
		if at, err := time.Parse(time.DateOnly, day); err == nil {
			one.Name, one.Short = v.Date(trade.DateOf(at)), month(v, at)+at.Format("/06")
		}
		points = append(points, one)
	}
	if missing.Sign() > 0 {
		gap := picture.Over(v.T("Value that is missing on the platform, up to each day: %s", say(missing)), say, points...)
		page.Gap = &gap
	}
	var most trade.Decimal
	for _, b := range page.of.Branches {
		if lacks := b.All.Kilograms.Sub(b.States[trade.Accepted].Kilograms); lacks.Cmp(most) > 0 {
			most = lacks
		}
	}
	if len(page.of.Branches) > 1 {
		page.Branches = trade.Map(page.of.Branches, func(b reconcile.StateSum) picture.Stack {
			return stackOf(v, b, most)
		})
	}
	return q.Page(http.StatusOK, "season", page)
}

// stateParts are the parts of what a sum by state is made of, each with what its colour means.
var stateParts = []struct {
	class, key string
	states     []trade.State
}{
	{"sent", "sent", []trade.State{trade.Accepted}},
	{"waiting", "waits", onTheWay},
	{"invalid", "with errors", []trade.State{trade.Invalid}},
	{"rejected", "refused", []trade.State{trade.Rejected}},
	{"doubt", "in doubt", []trade.State{trade.InDoubt}},
	{"held", "held", []trade.State{trade.Held}},
	{"none", "dismissed", []trade.State{trade.Dismissed}},
	{"none", "report.bar.unknown", []trade.State{""}},
}

// stackOf returns what is missing of a stand as a bar, of which most would be as wide as the picture; of a stand
// that is on the platform, that.
func stackOf(v view.Voice, s reconcile.StateSum, most trade.Decimal) picture.Stack {
	all, sent := s.All.Kilograms, s.Figure(trade.Accepted)
	missing := all.Sub(sent.Kilograms)
	said := v.T("%s%% of %s on the platform", v.Number(picture.Percent(sent.Kilograms, all)), v.WholeTonnes(all))
	parts := stateParts[1:]
	if missing.Sign() > 0 {
		said += " · " + v.T("missing: %s", v.WholeTonnes(missing))
	} else {
		parts = stateParts[:1]
	}
	var marks []picture.Mark
	for _, part := range parts {
		of := s.Figure(part.states...)
		m := picture.Mark{Class: part.class, Name: v.T(part.key), Path: figurePath(of.Of), Amount: of.Kilograms}
		m.Said = v.WholeTonnes(m.Amount)
		if missing.Sign() > 0 {
			share := v.Number(picture.Percent(m.Amount, missing))
			if share == "0" && m.Amount.Sign() > 0 {
				share = "<1"
			}
			m.Said += " · " + share + "%"
		}
		marks = append(marks, m)
	}
	title := v.T("no product")
	if s.Name != "" {
		title = view.Mask(s.Name)
	}
	out := picture.Stacked(title, said, most, marks...)
	out.Path = figurePath(sent.Of)
	return out
}

// pointsMost is how many points a line has; more days are taken together.
const pointsMost = 53

// glassMost is how many deliveries are read for the glass of a contract; one with more has none.
const glassMost = 1000

// glassOf returns what a contract holds, by its deliveries; nil if there are none, or they cannot be
// added up.
func glassOf(v view.Voice, e trade.Entry, dependents []trade.Entry) *picture.Glass {
	agreed, ok := e.Quantity.Kilograms()
	if e.Sends != trade.OrderCommitments || !ok || agreed.Sign() <= 0 || len(dependents) >= glassMost {
		return nil
	}
	var delivered, fixed trade.Decimal
	some := false
	for _, d := range dependents {
		if kg, ok := d.Quantity.Kilograms(); ok && d.Sends == trade.Deliveries && !d.GoneFromERP() {
			delivered, some = delivered.Add(kg), true
		}
	}
	if !some {
		return nil
	}
	now, was := e.Listing(), e
	was.Now = nil
	if was.Listing().Product != now.Product { // its deliveries are of another document
		return nil
	}
	if now.Currency != "" {
		fixed = agreed
	}
	mark := func(class, key string, kg trade.Decimal) picture.Mark {
		return picture.Mark{Class: class, Name: v.T(key), Said: v.Tonnes(kg) + " · " + v.Sacas(kg), Amount: kg}
	}
	return new(picture.Filled(v.T("How much has been delivered"), mark("erp", "contracted", agreed),
		mark("sent", "delivered", delivered), mark("none", "fixed", fixed)))
}

// month returns the short name of a month.
func month(v view.Voice, at time.Time) string {
	return strings.Fields(v.T("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec"))[at.Month()-1]
}
