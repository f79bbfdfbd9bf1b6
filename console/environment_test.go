package console_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/consoletest"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// An installation that does not count says so on each page, also before somebody logs in, in the title
// of the window, and on paper; one that counts has no such word.
func TestAnInstallationThatDoesNotCountSaysSoOnEachPage(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t, consoletest.OpenStore(t, state.SQLite), func(o *consoletest.Options) {
		o.Site.Environment = "Homologação"
	}).WithPeople()
	b := w.Browser()
	said := []string{
		"<title>[Homologação] ", `class="top test"`, `class="only-paper environment"`,
		"Ambiente: Homologação (não é o de produção)",
	}
	b.Get("/login").Wants(http.StatusOK, said...)
	b.LogIn(consoletest.People[trade.Reader], consoletest.Password)
	for _, path := range []string{"/", "/rows", "/account", "/licences"} {
		b.Get(path).Wants(http.StatusOK, said...)
	}
	b.Get("/nothing").Wants(http.StatusNotFound, said...)

	other := consoletest.New(t, consoletest.OpenStore(t, state.SQLite)).WithPeople().Browser()
	other.Get("/login").Wants(http.StatusOK)
	if strings.Contains(other.Body, "test-name") || strings.Contains(other.Body, "<title>[") {
		t.Errorf("an installation that counts is marked:\n%s", other.Body)
	}
}
