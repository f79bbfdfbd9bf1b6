package console

import (
	"strings"

	"github.com/safrasync/safrasync/trade"
)

// navItem is one page of the menu.
type navItem struct {
	Path  string
	Key   string // of a phrase
	Here  bool
	needs trade.Role
}

// menu lists the pages of the menu in their order.
var menu = []navItem{
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
func (f frame) Nav() []navItem {
	var out []navItem
	for _, item := range menu {
		if f.User == nil || !f.User.Role.May(item.needs) {
			continue
		}
		item.Here = f.Path == item.Path || item.Path != "/" && strings.HasPrefix(f.Path, item.Path+"/")
		out = append(out, item)
	}
	return out
}
