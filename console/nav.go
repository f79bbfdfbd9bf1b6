package console

import (
	"strings"

	"github.com/safrasync/safrasync/trade"
)

// navItem is one page of the menu.
type navItem struct {
	Path   string
	Key    string // of a phrase
	Icon   string // in templates/parts.html
	Here   bool
	Count  int  // what waits there; 0 = nothing is said
	Urgent bool // it waits for a person
	needs  trade.Role
}

// navGroup is a part of the menu.
type navGroup struct {
	Key   string // of a phrase
	Items []navItem
}

// menu lists the pages of the menu in their order. The first four are one tap away on a phone.
var menu = []navGroup{
	{"nav.work", []navItem{
		{Path: "/", Key: "nav.home", Icon: "home", needs: trade.Reader},
		{Path: "/pending", Key: "nav.pending", Icon: "pending", needs: trade.Reader},
		{Path: "/doubts", Key: "nav.doubts", Icon: "doubts", Urgent: true, needs: trade.Reader},
		{Path: "/rows", Key: "nav.rows", Icon: "rows", needs: trade.Reader},
		{Path: "/changed", Key: "nav.changed", Icon: "changed", needs: trade.Reader},
	}},
	{"nav.books", []navItem{
		{Path: "/report", Key: "nav.report", Icon: "report", needs: trade.Reader},
		{Path: "/references", Key: "nav.references", Icon: "references", needs: trade.Reader},
		{Path: "/audit", Key: "nav.audit", Icon: "audit", needs: trade.Reader},
	}},
	{"nav.operation", []navItem{
		{Path: "/runs", Key: "nav.runs", Icon: "runs", needs: trade.Reader},
		{Path: "/schedules", Key: "nav.schedules", Icon: "schedules", needs: trade.Reader},
		{Path: "/users", Key: "nav.users", Icon: "users", needs: trade.Administrator},
	}},
}

// onPhone is how many pages have a place of their own below the page on a phone.
const onPhone = 4

// Menu returns the pages that the person may see, by group.
func (f frame) Menu() []navGroup {
	var out []navGroup
	for _, group := range menu {
		g := navGroup{Key: group.Key}
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
func (f frame) Tabs() []navItem {
	groups := f.Menu()
	if len(groups) == 0 {
		return nil
	}
	return groups[0].Items[:min(onPhone, len(groups[0].Items))]
}
