package pages

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/safrasync/safrasync/console/view"
	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/picture"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/trade"
)

// seasonPage is the page of the season's pictures.
type seasonPage struct {
	At       time.Time // zero: it is being counted
	Old      bool
	Products []picture.Stack
	Funnel   []funnelStage
	Gap      *picture.Gap // value of the documents, nil: none has a value
	Missing  trade.Decimal
	Calendar picture.Calendar
	Ages     []picture.Columns // of each department
	Branches []picture.Stack
	More     int // branches that are not shown
}

// funnelStage is a stage on the way of the grain, and what is lost on the way to the next.
type funnelStage struct {
	Stack picture.Stack
	Key   string // of the stage's phrase
}

// branchesMost is how many branches have a picture.
const branchesMost = 24

func (p *Pages) showSeason(q *web.Request) error {
	s, err := p.office.Season(q.Context())
	if err != nil {
		return err
	}
	if s == nil {
		return q.Page(http.StatusOK, "season", seasonPage{})
	}
	v := q.Voice()
	page := seasonPage{
		At: s.At, Old: q.Site.Now().Sub(s.At) > oldAfter,
		Products: productStacks(v, s.Products),
	}
	// The way of the grain from the ERP to the platform. Each stage has what is left, and beside it what does
	// not get to it.
	all := s.Whole.All.Kilograms.Add(s.Beside.Kilograms)
	left := all
	for _, stage := range []struct{ key, class, lost string }{
		{"season.erp", "none", ""},
		{"season.read", "invalid", "season.lost.read"},
		{"season.valid", "invalid", "season.lost.valid"},
		{"season.known", "waiting", "season.lost.known"},
		{"season.posted", "waiting", "season.lost.posted"},
		{"season.confirmed", "doubt", "season.lost.confirmed"},
	} {
		lost := s.Lost[strings.TrimPrefix(stage.key, "season.")]
		path := figurePath(lost.Of)
		if stage.key == "season.read" { // of these the ledger has no rows
			lost.Sums, path = s.Beside, "/report#bridge"
		}
		left = left.Sub(lost.Kilograms)
		class := "erp"
		if stage.key == "season.confirmed" {
			class = "sent"
		}
		marks := []picture.Mark{{Class: class, Name: v.T(stage.key), Said: v.WholeTonnes(left), Amount: left}}
		if lost.Kilograms.Sign() > 0 {
			marks = append(marks, picture.Mark{
				Class: stage.class, Name: v.T(stage.lost), Said: "− " + v.WholeTonnes(lost.Kilograms), Path: path,
				Amount: lost.Kilograms,
			})
		}
		page.Funnel = append(page.Funnel, funnelStage{picture.Stacked("", "", all, marks...), stage.key})
	}
	days := make([]picture.Day, len(s.Calendar))
	for i, d := range s.Calendar {
		said := v.T("season.day", v.Number(d.Sent))
		if d.Refused {
			said = v.T("%s sent, and something was refused", v.Number(d.Sent))
		}
		days[i] = picture.Day{
			Mark: picture.Mark{Name: v.Day(d.At), Said: said, Amount: trade.NewDecimal(int64(d.Sent), 0)},
			At:   d.At, Dot: d.Refused,
		}
	}
	page.Calendar = picture.Days(v.T("Sent each day (dot: something was refused)"), func(t time.Time) string {
		return month(v, t)
	}, days...)
	for _, who := range trade.Departments { // how long what each can cure has stood
		sums := s.Ages[who]
		if sums == nil {
			continue
		}
		var groups []picture.Group
		for i, one := range sums {
			name := v.T("season.age." + strconv.Itoa(i))
			groups = append(groups, picture.Group{Name: name, Marks: []picture.Mark{{
				Class: "waiting", Name: name, Said: v.Documents(one.Rows), Path: figurePath(one.Of),
				Amount: trade.NewDecimal(int64(one.Rows), 0),
			}}})
		}
		page.Ages = append(page.Ages, picture.Standing(v.T("home.who."+string(who)), v.Decimal, groups...))
	}
	// the value of the documents up to each day, in the ERP and on the platform, and what is missing there
	say := func(d trade.Decimal) string { return v.WholeMoney("BRL", d) }
	var points []picture.Point
	var erp, sent trade.Decimal
	for i, d := range s.Days {
		erp, sent = erp.Add(d.ERP), sent.Add(d.Sent)
		if i%(1+len(s.Days)/pointsMost) != 0 && i != len(s.Days)-1 {
			continue
		}
		name, short := d.Day, ""
		if day, err := trade.ParseDate(d.Day); err == nil {
			at, _ := time.Parse(time.DateOnly, d.Day) // it is a day
			name, short = v.Date(day), month(v, at)+at.Format("/06")
		}
		points = append(points, picture.Point{
			Name: name, Short: short, Above: erp, Below: sent, AboveSaid: say(erp), BelowSaid: say(sent),
		})
	}
	if len(s.Days) > 0 {
		gap := picture.Between(v.T("Value of the documents up to each day: %s are missing on the platform", say(erp.Sub(sent))), say, points...)
		page.Gap, page.Missing = &gap, erp.Sub(sent)
	}
	branches := s.Branches
	if len(branches) > branchesMost {
		page.More = len(branches) - branchesMost
		branches = branches[:branchesMost]
	}
	if len(branches) > 1 {
		for _, b := range branches {
			page.Branches = append(page.Branches, stackOf(v, nameOr(v, b.Name), b, branches[0].All.Kilograms))
		}
	}
	return q.Page(http.StatusOK, "season", page)
}

// standParts are the parts of a bar of states, each with what its colour means.
var standParts = []struct {
	class, key string
	states     []trade.State
}{
	{"sent", "sent", []trade.State{trade.Accepted}},
	{"waiting", "waits", onTheWay},
	{"invalid", "with errors", []trade.State{trade.Invalid}},
	{"rejected", "refused", []trade.State{trade.Rejected}},
	{"doubt", "in doubt", []trade.State{trade.InDoubt}},
	{"doubt", "held", []trade.State{trade.Held}},
	{"none", "dismissed", []trade.State{trade.Dismissed}},
}

// stackOf returns a stand as a bar, of which most would be as wide as the picture.
func stackOf(v view.Voice, title string, s reconcile.Stand, most trade.Decimal) picture.Stack {
	var marks []picture.Mark
	for _, part := range standParts {
		of := s.Figure(part.states...)
		m := picture.Mark{Class: part.class, Name: v.T(part.key), Path: figurePath(of.Of), Amount: of.Kilograms}
		m.Said = v.WholeTonnes(m.Amount)
		marks = append(marks, m)
	}
	sent := picture.Percent(s.States[trade.Accepted].Kilograms, s.All.Kilograms)
	return picture.Stacked(title,
		v.T("%s%% of %s on the platform", v.Number(sent), v.WholeTonnes(s.All.Kilograms)), most, marks...)
}

func nameOr(v view.Voice, name string) string {
	if name == "" {
		return v.T("no product")
	}
	return view.Mask(name)
}

// productStacks returns the bar of each product.
func productStacks(v view.Voice, products []reconcile.Stand) []picture.Stack {
	return trade.Map(products, func(s reconcile.Stand) picture.Stack {
		return stackOf(v, nameOr(v, s.Name), s, trade.Decimal{})
	})
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
		if kg, ok := d.Quantity.Kilograms(); ok && d.Sends == trade.Deliveries && !d.Away() {
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
