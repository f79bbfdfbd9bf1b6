package auth_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/console/auth"
	"github.com/safrasync/safrasync/internal/consoletest"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

func TestATryThatTheConsoleIsTooBusyForDoesNotCount(t *testing.T) {
	consoletest.OnBoth(t, func(t *testing.T, s *state.Store) {
		w := consoletest.New(t, s).WithPeople()
		b := w.Browser()
		free := w.Sessions.FillHashes()
		for range 30 {
			b.LogIn(consoletest.People[trade.Reader], consoletest.Password).Wants(http.StatusServiceUnavailable)
		}
		free()
		b.LogIn(consoletest.People[trade.Reader], consoletest.Password).Wants(http.StatusSeeOther)
	})
}

func TestTheConsoleTakesItsOwnDeviceIDsOnly(t *testing.T) {
	consoletest.OnBoth(t, func(t *testing.T, s *state.Store) {
		w := consoletest.New(t, s).WithPeople()
		at := must.Get(url.Parse(w.Server.URL))(t)
		b := w.Browser()
		device := func() string {
			for _, c := range b.Client.Jar.Cookies(at) {
				if c.Name == auth.CookieDevice {
					return c.Value
				}
			}
			return ""
		}
		chosen := strings.Repeat("chosen", 9)
		b.Client.Jar.SetCookies(at, []*http.Cookie{{Name: auth.CookieDevice, Value: chosen, Path: "/"}})
		b.LogIn(consoletest.People[trade.Reader], consoletest.Password).Wants(http.StatusSeeOther)
		given := device()
		if given == chosen || len(given) < 40 {
			t.Errorf("the browser is known as %q", given)
		}
		// on the same browser
		b.LogIn(consoletest.People[trade.Accountant], consoletest.Password).Wants(http.StatusSeeOther)
		if again := device(); again != given {
			t.Errorf("its id became %q", again)
		}
	})
}

func TestWhatTheBrowserAsksByItselfIsNoUse(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t, consoletest.OpenStore(t, state.SQLite)).WithPeople()
	b := w.As(trade.Reader)
	w.Clock.Pass(20 * time.Minute)
	_, end := b.OpenLive()
	end()
	b.Header = http.Header{"Hx-Trigger": {"numbers"}} // the numbers of the first page, after a run
	b.Get("/").Wants(http.StatusOK)
	b.Header = nil
	w.Clock.Pass(20 * time.Minute)
	b.Get("/account").Wants(http.StatusSeeOther)
}

func TestAPageThatAPersonOpensIsUse(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t, consoletest.OpenStore(t, state.SQLite)).WithPeople()
	b := w.As(trade.Reader)
	for range 3 {
		w.Clock.Pass(20 * time.Minute)
		b.Get("/account").Wants(http.StatusOK)
	}
}

func TestANewUsersNameFitsAnAddress(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"a/b", "a\nb", "a\u202eb", "a?b", "a%2fb", "",
		".", "..", "-x", "@ana", "=cmd", "\u0251dm", "\u0280oot", "\u0430na", "\u0430\u043d\u0430", "a  b",
		"root", "Root", "safrasync",
		"ana\u200b",
	} {
		if got := auth.NewUserName(name); got != "" {
			t.Errorf("%q is taken, as %q", name, got)
		}
	}
	if got := auth.NewUserName("ａｎａ"); got != "ana" {
		t.Errorf("a name of wide letters becomes %q beside ana", got)
	}
	if got := auth.NewUserName(" Ana Lúcia "); got != "ana lúcia" {
		t.Errorf("it becomes %q", got)
	}
}
