package pages

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
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
	Missing  trade.Decimal // value of what is missing, in R$
	Branches barTable
	Ages     barTable // how long what each department can cure has stood
}

// barTable is a table with a bar on each line, of which its columns name the parts.
type barTable struct {
	First, Sum, Share string // heads; Share: "" = none
	Lines             []barLine
}

// barLine is a line of a table of bars.
type barLine struct {
	picture.Stack
	Sum   picture.Mark   // what the bar is of
	Share string         // hundredths that are on the platform
	Parts []picture.Mark // one for each column
}

// seasonShown is what two pages show of a season: what each product has, and does not have, on the platform.
// Seasons are never added up.
type seasonShown struct {
	At       time.Time // zero: it is being counted
	Seasons  []string  // one can be chosen
	Season   string    // the one that is shown
	Query    string    // of the address, with the season that it names; "" = it names none
	Products barTable
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
		out.Products = standsOf(q.Voice(), q.Voice().T("Product"), out.of.Products)
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
	page.Missing = page.of.Missing
	page.Ages = barTable{First: v.T("Department"), Sum: v.T("Documents")}
	for _, who := range trade.Departments { // how long what each can cure has stood
		sums := page.of.Ages[who]
		if sums == nil {
			continue
		}
		line, rows := barLine{}, 0
		for i, one := range sums {
			rows += one.Rows
			line.Parts = append(line.Parts, picture.Mark{
				Class: []string{"erp", "waiting", "invalid", "doubt"}[i], Name: v.T("season.age." + strconv.Itoa(i)),
				Said: v.Number(one.Rows), Path: figurePath(one.Of), Amount: trade.NewDecimal(int64(one.Rows), 0),
			})
		}
		line.Stack = picture.Stacked(v.T("home.who."+string(who)), "", trade.Decimal{}, line.Parts...)
		line.Sum = picture.Mark{Said: v.Number(rows), Amount: trade.NewDecimal(int64(rows), 0)}
		page.Ages.Lines = append(page.Ages.Lines, line)
	}
	if len(page.of.Branches) > 1 {
		page.Branches = standsOf(v, v.T("Branch"), page.of.Branches)
	}
	return q.Page(http.StatusOK, "season", page)
}

// statePart is a part of what a sum by state is made of, with what its colour means.
type statePart struct {
	class, key string
	states     []trade.State
}

// stateParts are these parts.
var stateParts = []statePart{
	{"sent", "sent", []trade.State{trade.Accepted}},
	{"waiting", "waiting", onTheWay},
	{"invalid", "with errors", []trade.State{trade.Invalid}},
	{"rejected", "rejected", []trade.State{trade.Rejected}},
	{"doubt", "in doubt", []trade.State{trade.InDoubt}},
	{"held", "held", []trade.State{trade.Held}},
	{"none", "dismissed", []trade.State{trade.Dismissed}},
}

// standsOf returns what is missing of each stand as a bar, all on one scale; of a stand that is on the
// platform, that.
func standsOf(v view.Voice, first string, stands []reconcile.StateSum) barTable {
	var most trade.Decimal
	for _, s := range stands {
		if lacks := s.Figure().Kilograms.Sub(s.States[trade.Accepted].Kilograms); lacks.Cmp(most) > 0 {
			most = lacks
		}
	}
	parts := slices.DeleteFunc(slices.Clone(stateParts[1:]), func(part statePart) bool { // those that none of them has
		some := func(s reconcile.StateSum) bool { return s.Figure(part.states...).Rows > 0 }
		return !slices.ContainsFunc(stands, some)
	})
	lines := trade.Map(stands, func(s reconcile.StateSum) barLine {
		all, sent := s.Figure().Kilograms, s.Figure(trade.Accepted)
		line := barLine{Share: v.Number(picture.Percent(sent.Kilograms, all))}
		title := v.T("no product")
		if s.Name != "" {
			title = view.Mask(s.Name)
		}
		var amount trade.Decimal
		for _, part := range parts {
			of := s.Figure(part.states...)
			amount = amount.Add(of.Kilograms)
			line.Parts = append(line.Parts, picture.Mark{
				Class: part.class, Name: v.T(part.key), Said: v.BareWhole(of.Kilograms), Path: figurePath(of.Of),
				Amount: of.Kilograms,
			})
		}
		line.Sum = picture.Mark{Said: v.BareWhole(amount), Amount: amount}
		said := v.T("%s%% of %s on the platform", line.Share, v.WholeTonnes(all))
		line.Stack = picture.Stacked(title, said, most, line.Parts...)
		if amount.Sign() == 0 {
			line.Stack = picture.Stacked(title, said, trade.Decimal{}, picture.Mark{
				Class: "sent", Name: v.T("sent"), Said: v.WholeTonnes(all), Path: figurePath(sent.Of), Amount: all,
			})
		}
		line.Path = figurePath(sent.Of)
		return line
	})
	return barTable{First: first, Sum: v.T("missing t"), Share: v.T("on the platform"), Lines: lines}
}

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
