package main

import (
	"testing"

	"github.com/safrasync/safrasync/trade"
)

func TestAPersonLogsInAndSeesTheFirstPage(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.browser().Get("/").Wants(200, "Entrar")
	b := d.as(trade.Accountant).Get("/").Wants(200, "Início", "carla", "Cooperativa Exemplo")
	b.Submit("/logout", map[string][]string{}).Wants(200, "Entrar")
	b.Get("/account").Wants(200, "Entrar")
}
