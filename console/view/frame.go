package view

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/safrasync/safrasync/trade"
)

// Frame is the data that every page needs around its own.
type Frame struct {
	Voice
	Page        string // name of its template
	Name        string // of the installation
	Environment string // name of an installation that does not count, such as Homologação; "" = it does
	Now         time.Time
	User        *trade.User
	Token       string
	Path        string
	Theme       string
	Asset       Assets
	Bare        string // name of the part of a page that htmx asks for; "" = the page
	Told        string
	Titles      trade.Titles
	By          string // name of the login provider for people; "" = none
	// Counts is how many items wait on a page of the menu, by its path.
	Counts map[string]int
	Data   any
}

// May reports whether the person has a role, so that a template can omit what the person may not
// use. The guard enforces it.
func (f Frame) May(role string) bool { return f.User != nil && f.User.Role.May(trade.Role(role)) }

// NavItem is one page of the menu.
type NavItem struct {
	Path   string
	Name   string // of its icon in templates/parts.html, and of its phrase after nav.
	Here   bool
	Count  int    // items that wait there; 0 = not shown
	Urgent bool   // they wait for a person
	also   string // the pages below this path belong to it too; "" = none
	needs  string // a role; "" = any
}

// NavGroup is a group of the menu.
type NavGroup struct {
	Key   string // of a phrase
	Items []NavItem
}

// menu lists the pages of the menu in order. The first four have tabs on a phone.
var menu = []NavGroup{
	{"nav.work", []NavItem{
		{Path: "/", Name: "home"},
		{Path: "/pending", Name: "pending"},
		{Path: "/doubts", Name: "doubts", Urgent: true},
		{Path: "/rows", Name: "rows"},
		{Path: "/changed", Name: "changed"},
		{Path: "/approvals", Name: "approvals", Urgent: true, needs: string(trade.Accountant)},
	}},
	{"nav.books", []NavItem{
		{Path: "/season", Name: "season"},
		{Path: "/report", Name: "report"},
		{Path: "/references", Name: "references"},
		{Path: "/audit", Name: "audit"},
	}},
	{"nav.operation", []NavItem{
		{Path: "/routines", Name: "routines", also: "/runs/"},
		{Path: "/events", Name: "events"},
		{Path: "/alerts", Name: "alerts"},
		{Path: "/users", Name: "users", needs: string(trade.Administrator)},
	}},
}

// onPhone is how many pages have a tab on a phone.
const onPhone = 4

// Menu returns the pages that the person may see, by group.
func (f Frame) Menu() []NavGroup {
	var out []NavGroup
	for _, group := range menu {
		g := NavGroup{Key: group.Key}
		for _, item := range group.Items {
			if item.needs != "" && !f.May(item.needs) {
				continue
			}
			item.Here = f.Path == item.Path || item.Path != "/" && strings.HasPrefix(f.Path, item.Path+"/") ||
				item.also != "" && strings.HasPrefix(f.Path, item.also)
			item.Count = f.Counts[item.Path]
			g.Items = append(g.Items, item)
		}
		out = append(out, g)
	}
	return out
}

// Tabs returns the pages that a phone shows as tabs below the page.
func (f Frame) Tabs() []NavItem { return f.Menu()[0].Items[:onPhone] }

// Title returns the title of a job for people.
func (f Frame) Title(job string) string { return f.Titles.Of(job) }

// Lead returns the columns of a row that people see, with documents masked; its key if there are
// none.
func (f Frame) Lead(e trade.Entry) string { return e.Shown.Masked().Lead(f.Key(e.Key)) }

// First returns what a list names a row by: the first of its shown columns, or its key.
func (f Frame) First(e trade.Entry) string { return e.Shown.Masked().First(f.Key(e.Key)) }

// About returns the other columns of a row that people see, first the names.
func (Frame) About(e trade.Entry) string {
	var names, numbers []trade.ShownText
	for i, t := range e.Shown.Masked().Texts {
		switch {
		case i == 0:
		case strings.ContainsFunc(t.Text, unicode.IsLetter):
			names = append(names, t)
		case t.Text != "": // it says nothing by itself
			t.Text = t.Label + " " + t.Text
			numbers = append(numbers, t)
		}
	}
	return trade.Shown{Texts: append(names, numbers...)}.Line()
}

// Type returns what a row is: the title of its job, in the singular if that is a kind's.
func (f Frame) Type(e trade.Entry) string {
	title := f.Title(e.Job)
	if strings.EqualFold(title, e.Sends.Plural(f.lang)) {
		return e.Sends.Label(f.lang)
	}
	return title
}

// Beneath returns the key of a row whose Lead is not the key; otherwise "".
func (f Frame) Beneath(e trade.Entry) string {
	if e.Shown.Line() == "" {
		return ""
	}
	return f.Key(e.Key)
}

// Sends returns the title of a job with the kind that it sends, unless the title names that kind.
func (f Frame) Sends(job string, kind trade.Kind) string {
	title := f.Title(job)
	if strings.Contains(strings.ToLower(f.Kind(kind)), strings.ToLower(title)) {
		return title
	}
	return title + " (" + f.Kind(kind) + ")"
}

// Target returns what a waiting act is about, for people.
func (f Frame) Target(act, target string) string {
	if day, err := trade.ParseDate(target); err == nil { // of a month that is closed
		return f.Month(day.String())
	}
	job, key, one := strings.Cut(target, " ")
	if act == "refs set" || f.Title(job) == job && slices.Contains(trade.ReferenceKinds, job) {
		return strings.TrimSpace(f.T("kind."+job) + " " + f.Key(key))
	}
	if !one {
		return f.Title(job)
	}
	return f.Title(job) + " " + f.Key(key)
}
