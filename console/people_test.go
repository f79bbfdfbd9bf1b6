package console_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	gosync "sync"
	"testing"
	"time"

	"github.com/safrasync/safrasync/console"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// No account comes from the factory: before the first administrator is there, no page works, and
// each says how to add one.
func TestC02_NoRouteWorksBeforeTheFirstAdministrator(t *testing.T) {
	t.Parallel()
	w := newWorld(t, openStore(t, state.SQLite))
	w.add("lia", trade.Reader)
	for _, r := range console.Routes() {
		if r.Free {
			continue
		}
		b := w.browser()
		b.do(r.Method, pathOf(r.Path), url.Values{
			"name":     {"lia"},
			"password": {password},
		}).wants(http.StatusServiceUnavailable, "safrasync users add")
		if len(b.got.Values("Set-Cookie")) > 0 {
			t.Errorf("%s %s sets a cookie", r.Method, r.Path)
		}
	}
	w.add("ana", trade.Administrator)
	w.browser().get("/login").wants(http.StatusOK, "Entrar")
}

func TestC02_PasswordsThatAreTriedFirstAreRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ password, want string }{
		{"quatro cavalos no milharal", ""},
		{"çãõ äöü ñ 日本語 ½ ~", ""},
		{strings.Repeat("ab cd", 25) + "xyz", ""},
		{strings.Repeat("x1 ", 50), "password.long"},
		{"curta demais", ""},
		{"onze caract", "password.short"},
		{"senha", "password.short"},
		{"password1234", "password.common"},
		{"P@ssw0rd1234", "password.common"},
		{"cooperativa2026", "password.common"},
		{"123456789012", "password.common"},
		{"soja2026soja2026", "password.common"},
		{"Milho2026!2027", "password.common"},
		{"aaaaaaaaaaaaaaa", "password.common"},
		{"senhasenhasenha", "password.common"},
		{"qwertyuiop12", "password.common"},
		{"SafraSync!!!!!", "password.common"},
		{"anacarolina.silva", "password.common"},
		{"\xff\xfe aaaaaaaaaaaaaaaaaa", "password.unreadable"},
	} {
		if got := console.PasswordFault(tt.password, "anacarolina.silva"); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.password, got, tt.want)
		}
	}
}

// A name that does not exist, one that is disabled and a wrong password get the same answer for the
// same work.
func TestC03_AnUnknownUserCostsAsMuchAsAKnownOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t, openStore(t, state.SQLite)).withPeople()
	w.add("otto", trade.Reader)
	user, err := w.store.User(t.Context(), "otto")
	if err != nil {
		t.Fatal(err)
	}
	user.Disabled = true
	if done, err := w.store.ChangeUser(t.Context(), user,
		trade.AuditRecord{At: w.clock.now(), Act: "user disable"}); err != nil || !done {
		t.Fatal(done, err)
	}
	var mu gosync.Mutex
	compared := 0
	w.console.Compared(func() {
		mu.Lock()
		defer mu.Unlock()
		compared++
	})
	var bodies []string
	for i, name := range []string{"nobody", "otto", "carla"} {
		given := password
		if name == "carla" {
			given = "another password"
		}
		b := w.browser().logIn(name, given).wants(http.StatusUnauthorized, "não conferem")
		bodies = append(bodies, strings.ReplaceAll(b.body, name, "NAME"))
		if compared != i+1 {
			t.Errorf("%s: %d comparisons, want %d", name, compared, i+1)
		}
	}
	if bodies[0] != bodies[1] || bodies[1] != bodies[2] {
		t.Error("the answers differ")
	}
}

// A name that is tried too often is slowed down for strangers, not for the browser of the person
// whose it is, and not for ever.
func TestC04_TriesAreSlowedDownAndStrangersLockNobodyOut(t *testing.T) {
	onBoth(t, func(t *testing.T, s *state.Store) {
		w := newWorld(t, s).withPeople()
		owner := w.as(trade.Accountant)
		stranger := w.browser()
		for range 5 {
			stranger.logIn("carla", "wrong wrong wrong").wants(http.StatusUnauthorized)
		}
		stranger.logIn("carla", "wrong wrong wrong").wants(http.StatusUnauthorized)
		stranger.logIn("carla", password).wants(http.StatusTooManyRequests, "Espere")
		owner.do(http.MethodPost, "/logout", url.Values{"token": {owner.get("/").token()}})
		owner.logIn("carla", password).wants(http.StatusSeeOther)
		w.clock.pass(3 * time.Second)
		stranger.logIn("carla", password).wants(http.StatusSeeOther)
	})
}

// D5: an address that tries many names is slowed down too, and keeps nobody out who shares it, on a
// browser that the person has used before.
func TestD5AStrangerBehindTheSameAddressKeepsNobodyOutWhoIsKnown(t *testing.T) {
	onBoth(t, func(t *testing.T, s *state.Store) {
		w := newWorld(t, s).withPeople()
		owner := w.as(trade.Accountant)
		other := w.browser()
		slow := 0
		for i := range 40 {
			if other.logIn(fmt.Sprintf("name%d", i), "wrong wrong wrong"); other.status == http.StatusTooManyRequests {
				slow++
			}
		}
		if slow < 15 {
			t.Errorf("%d of 40 tries were slowed down", slow)
		}
		owner.do(http.MethodPost, "/logout", url.Values{"token": {owner.get("/").token()}})
		owner.logIn("carla", password).wants(http.StatusSeeOther)
		w.clock.pass(15 * time.Minute)
		other.logIn("ana", password).wants(http.StatusSeeOther)
	})
}

// Of many tries at once only so many are hashed together; the rest of the console answers
// meanwhile.
func TestC04_ManyTriesAtOnceKeepTheConsoleFree(t *testing.T) {
	t.Parallel()
	w := newWorld(t, openStore(t, state.SQLite)).withPeople()
	hashed, answered := make(chan struct{}), make(chan struct{}, 60)
	w.console.Compared(func() { <-hashed }) // a host on which a password takes as long as it likes
	var tries gosync.WaitGroup
	var mu gosync.Mutex
	statuses := map[int]int{}
	for i := range 60 {
		tries.Go(func() {
			b := w.browser().logIn(fmt.Sprintf("name%d", i), "wrong wrong wrong")
			mu.Lock()
			defer mu.Unlock()
			statuses[b.status]++
			answered <- struct{}{}
		})
	}
	func() {
		defer close(hashed)
		for range 60 - 16 { // no more are left than there are places
			<-answered
		}
		w.browser().get("/login").wants(http.StatusOK)
	}()
	tries.Wait()
	for status := range statuses {
		if !slices.Contains([]int{http.StatusUnauthorized, http.StatusTooManyRequests, http.StatusServiceUnavailable},
			status) {
			t.Errorf("statuses %v", statuses)
		}
	}
}

// The cookie is what the checklist wants; a login ends by logging out, by time, and when the user
// is changed; each login has another secret.
func TestC05_LoginsEndAndCookiesAreBound(t *testing.T) {
	onBoth(t, func(t *testing.T, s *state.Store) {
		secure := newWorld(t, s, func(o *console.Options) { o.Secure = true })
		plain := newWorld(t, s).withPeople()
		b := secure.browser().logIn("carla", password).wants(http.StatusSeeOther)
		cookies := b.got.Values("Set-Cookie")
		for _, cookie := range cookies {
			if !strings.HasPrefix(cookie, "__Host-") || !strings.Contains(cookie, "; Path=/;") ||
				!strings.Contains(cookie, "; HttpOnly") || !strings.Contains(cookie, "; Secure") ||
				!strings.Contains(cookie, "; SameSite=Strict") || strings.Contains(cookie, "Domain") {
				t.Errorf("cookie %s", cookie)
			}
		}
		if len(cookies) < 2 {
			t.Errorf("cookies %v", cookies)
		}
		for _, cookie := range plain.browser().logIn("carla", password).got.Values("Set-Cookie") {
			if strings.Contains(cookie, "Secure") || !strings.Contains(cookie, "HttpOnly") ||
				!strings.Contains(cookie, "SameSite=Strict") {
				t.Errorf("cookie without TLS %s", cookie)
			}
		}

		one := plain.as(trade.Accountant)
		old := cookieOf(one)
		one.get("/").wants(http.StatusOK)
		token := one.token()
		one.do(http.MethodPost, "/logout", url.Values{"token": {token}}).wants(http.StatusSeeOther)
		again := plain.browser()
		again.header.Set("Cookie", old)
		again.get("/").wants(http.StatusSeeOther)
		again.do(http.MethodPost, "/logout", url.Values{"token": {token}}).wants(http.StatusUnauthorized)

		one.logIn("carla", password)
		if cookieOf(one) == old {
			t.Error("a new login has the old secret")
		}
		plain.clock.pass(29 * time.Minute)
		one.get("/").wants(http.StatusOK)
		plain.clock.pass(29 * time.Minute)
		one.get("/").wants(http.StatusOK)
		plain.clock.pass(32 * time.Minute)
		one.get("/").wants(http.StatusSeeOther)

		one.logIn("carla", password)
		for range 26 {
			plain.clock.pass(28 * time.Minute)
			one.get("/")
		}
		one.wants(http.StatusSeeOther) // twelve hours

		two := plain.as(trade.Accountant)
		admin := plain.as(trade.Administrator)
		admin.get("/users").do(http.MethodPost, "/users/carla",
			url.Values{"token": {admin.token()}, "do": {"disable"}}).wants(http.StatusSeeOther)
		two.get("/").wants(http.StatusSeeOther)
		two.logIn("carla", password).wants(http.StatusUnauthorized)
		admin.get("/users").do(http.MethodPost, "/users/carla",
			url.Values{"token": {admin.token()}, "do": {"enable"}}).wants(http.StatusSeeOther)

		three, four := plain.as(trade.Accountant), plain.as(trade.Accountant)
		three.get("/account").do(http.MethodPost, "/account/password", url.Values{
			"token": {three.token()}, "old": {password}, "new": {"outra frase bem comprida"},
			"again": {"outra frase bem comprida"},
		}).wants(http.StatusSeeOther)
		three.get("/").wants(http.StatusOK)
		four.get("/").wants(http.StatusSeeOther)
	})
}

func cookieOf(b *browser) string {
	b.w.t.Helper()
	address, err := url.Parse(b.w.server.URL)
	if err != nil {
		b.w.t.Fatal(err)
	}
	for _, cookie := range b.client.Jar.Cookies(address) {
		if cookie.Name == b.w.console.CookieLogin() {
			return cookie.Name + "=" + cookie.Value
		}
	}
	b.w.t.Fatal("nobody is logged in")
	return ""
}

// The last administrator stays one.
func TestTheLastAdministratorStays(t *testing.T) {
	onBoth(t, func(t *testing.T, s *state.Store) {
		w := newWorld(t, s).withPeople()
		b := w.as(trade.Administrator)
		for _, form := range []url.Values{{"do": {"disable"}}, {"do": {"role"}, "role": {"reader"}}} {
			form.Set("token", b.get("/users").token())
			b.do(http.MethodPost, "/users/ana", form).wants(http.StatusUnprocessableEntity, "último administrador")
		}
		b.get("/users").do(http.MethodPost, "/users",
			url.Values{
				"token": {b.token()}, "name": {" Bia "}, "role": {"administrator"},
				"password": {password},
			}).wants(http.StatusSeeOther)
		b.get("/users").do(http.MethodPost, "/users",
			url.Values{
				"token": {b.token()}, "name": {"bia"}, "role": {"reader"},
				"password": {password},
			}).wants(http.StatusUnprocessableEntity, "já existe")
		b.get("/users").do(http.MethodPost, "/users/bia",
			url.Values{"token": {b.token()}, "do": {"role"}, "role": {"emperor"}}).wants(http.StatusUnprocessableEntity)
		b.get("/users").do(http.MethodPost, "/users/ana",
			url.Values{"token": {b.token()}, "do": {"disable"}}).wants(http.StatusSeeOther)
		b.get("/users").wants(http.StatusSeeOther)
	})
}

// Who logged in, who failed and what was changed stands in the audit, with name and address, and
// nothing that was typed for a name that does not exist.
func TestC15_LoginsAndChangesStandInTheAudit(t *testing.T) {
	onBoth(t, func(t *testing.T, s *state.Store) {
		w := newWorld(t, s).withPeople()
		w.browser().logIn("my secret password", "x").wants(http.StatusUnauthorized)
		w.browser().logIn("carla", "x").wants(http.StatusUnauthorized)
		b := w.as(trade.Administrator)
		b.get("/users").do(http.MethodPost, "/users/lia",
			url.Values{"token": {b.token()}, "do": {"role"}, "role": {"accountant"}}).wants(http.StatusSeeOther)
		b.get("/users").do(http.MethodPost, "/logout", url.Values{"token": {b.token()}}).wants(http.StatusSeeOther)
		records, err := s.Audit(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range records[:5] {
			got = append(got, r.Who+" "+r.From+" "+r.Act+" "+r.Target+" "+r.Detail)
		}
		want := []string{
			"ana console 127.0.0.1 logout ana ",
			`ana console 127.0.0.1 user role lia {"before":{"role":"reader","disabled":false},"after":{"role":"accountant","disabled":false}}`,
			"ana console 127.0.0.1 login ana ",
			"carla console 127.0.0.1 login failed carla ",
			"? console 127.0.0.1 login failed  ",
		}
		if !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if broken, err := s.VerifyAudit(t.Context()); err != nil || broken != 0 {
			t.Errorf("the chain: %d, %v", broken, err)
		}
	})
}
