package view

import (
	"strings"

	"github.com/safrasync/safrasync/trade"
)

// Frame is what every page has around it.
type Frame struct {
	Voice
	Page  string // name of its template
	Name  string // of the installation
	User  *trade.User
	Token string
	Path  string
	Theme string
	Asset Assets
	Bare  bool // a part of a page, for htmx
	Told  string
	By    string // what people know the issuer by; "" = there is none
	Data  any
}

// May tells a template whether the person may use what needs a role, so that it need not be
// offered. The guard decides.
func (f Frame) May(role string) bool { return f.User != nil && f.User.Role.May(trade.Role(role)) }

// NavItem is one page of the menu.
type NavItem struct {
	Path  string
	Key   string // of a phrase
	Here  bool
	needs trade.Role
}

// menu lists the pages of the menu in their order.
var menu = []NavItem{
	{Path: "/", Key: "nav.home", needs: trade.Reader},
	{Path: "/pending", Key: "nav.pending", needs: trade.Reader},
	{Path: "/rows", Key: "nav.rows", needs: trade.Reader},
	{Path: "/doubts", Key: "nav.doubts", needs: trade.Reader},
	{Path: "/changed", Key: "nav.changed", needs: trade.Reader},
	{Path: "/references", Key: "nav.references", needs: trade.Reader},
	{Path: "/report", Key: "nav.report", needs: trade.Reader},
	{Path: "/runs", Key: "nav.runs", needs: trade.Reader},
	{Path: "/schedules", Key: "nav.schedules", needs: trade.Reader},
	{Path: "/audit", Key: "nav.audit", needs: trade.Reader},
	{Path: "/users", Key: "nav.users", needs: trade.Administrator},
}

// Nav gives the pages of the menu that the person may see.
func (f Frame) Nav() []NavItem {
	var out []NavItem
	for _, item := range menu {
		if f.User == nil || !f.User.Role.May(item.needs) {
			continue
		}
		item.Here = f.Path == item.Path || item.Path != "/" && strings.HasPrefix(f.Path, item.Path+"/")
		out = append(out, item)
	}
	return out
}
