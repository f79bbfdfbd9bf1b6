package view

import (
	"strings"

	"github.com/safrasync/safrasync/trade"
)

// Frame is what every page has around it.
type Frame struct {
	Voice
	Page   string // name of its template
	Name   string // of the installation
	User   *trade.User
	Token  string
	Path   string
	Theme  string
	Asset  Assets
	Bare   bool // a part of a page, for htmx
	Told   string
	Titles trade.Titles
	By     string // what people know the issuer by; "" = there is none
	// Counts is what waits on a page of the menu, by its path.
	Counts map[string]int
	Data   any
}

// May tells a template whether the person may use what needs a role, so that it need not be
// offered. The guard decides.
func (f Frame) May(role string) bool { return f.User != nil && f.User.Role.May(trade.Role(role)) }

// NavItem is one page of the menu.
type NavItem struct {
	Path   string
	Key    string // of a phrase
	Icon   string // in templates/parts.html
	Here   bool
	Count  int  // what waits there; 0 = nothing is said
	Urgent bool // it waits for a person
	needs  trade.Role
}

// NavGroup is a part of the menu.
type NavGroup struct {
	Key   string // of a phrase
	Items []NavItem
}

// menu lists the pages of the menu in their order. The first four are one tap away on a phone.
var menu = []NavGroup{
	{"nav.work", []NavItem{
		{Path: "/", Key: "nav.home", Icon: "home", needs: trade.Reader},
		{Path: "/pending", Key: "nav.pending", Icon: "pending", needs: trade.Reader},
		{Path: "/doubts", Key: "nav.doubts", Icon: "doubts", Urgent: true, needs: trade.Reader},
		{Path: "/rows", Key: "nav.rows", Icon: "rows", needs: trade.Reader},
		{Path: "/changed", Key: "nav.changed", Icon: "changed", needs: trade.Reader},
		{Path: "/approvals", Key: "nav.approvals", Icon: "approvals", Urgent: true, needs: trade.Reader},
	}},
	{"nav.books", []NavItem{
		{Path: "/report", Key: "nav.report", Icon: "report", needs: trade.Reader},
		{Path: "/references", Key: "nav.references", Icon: "references", needs: trade.Reader},
		{Path: "/audit", Key: "nav.audit", Icon: "audit", needs: trade.Reader},
	}},
	{"nav.operation", []NavItem{
		{Path: "/runs", Key: "nav.runs", Icon: "runs", needs: trade.Reader},
		{Path: "/schedules", Key: "nav.schedules", Icon: "schedules", needs: trade.Reader},
		{Path: "/users", Key: "nav.users", Icon: "users", needs: trade.Administrator},
	}},
}

// onPhone is how many pages have a place of their own below the page on a phone.
const onPhone = 4

// Menu returns the pages that the person may see, by group.
func (f Frame) Menu() []NavGroup {
	var out []NavGroup
	for _, group := range menu {
		g := NavGroup{Key: group.Key}
		for _, item := range group.Items {
			if f.User == nil || !f.User.Role.May(item.needs) {
				continue
			}
			item.Here = f.Path == item.Path || item.Path != "/" && strings.HasPrefix(f.Path, item.Path+"/")
			item.Count = f.Counts[item.Path]
			g.Items = append(g.Items, item)
		}
		if len(g.Items) > 0 {
			out = append(out, g)
		}
	}
	return out
}

// Tabs returns the pages that a phone shows below the page.
func (f Frame) Tabs() []NavItem {
	groups := f.Menu()
	if len(groups) == 0 {
		return nil
	}
	return groups[0].Items[:min(onPhone, len(groups[0].Items))]
}

// Title is what people are shown instead of the name of a job.
func (f Frame) Title(job string) string { return f.Titles.Of(job) }

// Lead is what people are shown of a row, documents masked; its key where that is nothing.
func (f Frame) Lead(e trade.Entry) string { return e.Shown.Masked().Lead(Mask(e.Key)) }

// Beneath is the key of a row that something else leads; "" where the key leads.
func (f Frame) Beneath(e trade.Entry) string {
	if e.Shown.Line() == "" {
		return ""
	}
	return Mask(e.Key)
}

// Sends is a job with what it sends, where its title does not say so.
func (f Frame) Sends(job string, kind trade.Kind) string {
	title := f.Title(job)
	if strings.EqualFold(title, f.Kind(kind)) {
		return title
	}
	return title + " (" + f.Kind(kind) + ")"
}

// Target is what an act that waits is for, as people know it.
func (f Frame) Target(act, target string) string {
	if act == "close" {
		if day, err := trade.ParseDate(target); err == nil {
			return f.Date(day)
		}
	}
	job, key, one := strings.Cut(target, " ")
	if !one {
		return f.Title(job)
	}
	return f.Title(job) + " " + Mask(key)
}
