package main

import (
	"testing"

	"github.com/safrasync/safrasync/trade"
)

func TestAPersonLogsInAndSeesTheFirstPage(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.browser().get("/").shows(200, "Entrar")
	b := d.as(trade.Accountant).get("/").shows(200, "Início", "carla", "Cooperativa Exemplo")
	b.submit("/logout", map[string][]string{}).shows(200, "Entrar")
	b.get("/account").shows(200, "Entrar")
}
