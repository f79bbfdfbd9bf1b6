package auth_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	gosync "sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/safrasync/safrasync/console/auth"
	"github.com/safrasync/safrasync/internal/connlimit"
	"github.com/safrasync/safrasync/internal/consoletest"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

func TestPasswordsThatAreTriedFirstAreRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ password, want string }{
		{"quatro cavalos no milharal", ""},
		{"çãõ äöü ñ 日本語 ½ ~", ""},
		{strings.Repeat("ab cd", 25) + "xyz", ""},
		{strings.Repeat("x1 ", 50), "password.long"},
		{"fazenda2026!!", "password.common"},
		{"primavera2026", "password.common"},
		{"brasil2026hexa", "password.common"},
		{"Coop2026Coop", "password.common"},
		{"deus e fiel 10", "password.common"},
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
		{"safra2026safra", "password.common"},
		{"ana carolina silva 26", "password.common"},
		{"maracaju2026", "password.common"},
		{"São Gabriel do Oeste 79", "password.common"},
		{"milho & soja, 2026", "password.common"},
		{"918273645029", ""},
		{"quatro sacas de milho", ""},
		{"\xff\xfe aaaaaaaaaaaaaaaaaa", "password.unreadable"},
	} {
		if got := auth.PasswordFault(tt.password, "anacarolina.silva"); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.password, got, tt.want)
		}
	}
}

// A name that does not exist, one that is disabled and a wrong password get the same answer for the
// same work.
func TestAnUnknownUserCostsAsMuchAsAKnownOne(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t, consoletest.OpenStore(t, state.SQLite)).WithPeople()
	w.Add("otto", trade.Reader)
	user := must.Get(w.Store.User(t.Context(), "otto"))(t)
	user.Disabled = true
	if done, err := w.Store.ChangeUser(t.Context(), user,
		trade.AuditRecord{At: w.Clock.Now(), Act: "user disable"}); err != nil || !done {
		t.Fatal(done, err)
	}
	var mu gosync.Mutex
	compared := 0
	w.Sessions.Compared(func() {
		mu.Lock()
		defer mu.Unlock()
		compared++
	})
	var bodies []string
	for i, name := range []string{"nobody", "otto", "carla"} {
		given := consoletest.Password
		if name == "carla" {
			given = "another password"
		}
		b := w.Browser().LogIn(name, given).Wants(http.StatusUnauthorized, "senha incorretos")
		bodies = append(bodies, strings.ReplaceAll(b.Body, name, "NAME"))
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
func TestTriesAreSlowedDownAndStrangersLockNobodyOut(t *testing.T) {
	consoletest.OnBoth(t, func(t *testing.T, s *state.Store) {
		w := consoletest.New(t, s).WithPeople()
		owner := w.As(trade.Accountant)
		stranger := w.Browser()
		for range 5 {
			stranger.LogIn("carla", "wrong wrong wrong").Wants(http.StatusUnauthorized)
		}
		stranger.LogIn("carla", "wrong wrong wrong").Wants(http.StatusUnauthorized)
		stranger.LogIn("carla", consoletest.Password).Wants(http.StatusTooManyRequests, "Espere")
		owner.Post("/logout", url.Values{"token": {owner.Get("/").Token()}})
		owner.LogIn("carla", consoletest.Password).Wants(http.StatusSeeOther)
		w.Clock.Pass(3 * time.Second)
		stranger.LogIn("carla", consoletest.Password).Wants(http.StatusSeeOther)
	})
}

// An address that tries many names is slowed down too, and keeps nobody out who shares it, on a
// browser that the person has used before.
func TestAStrangerBehindTheSameAddressKeepsNobodyOutWhoIsKnown(t *testing.T) {
	consoletest.OnBoth(t, func(t *testing.T, s *state.Store) {
		w := consoletest.New(t, s).WithPeople()
		owner := w.As(trade.Accountant)
		other := w.Browser()
		slow := 0
		for i := range 40 {
			if other.LogIn(fmt.Sprintf("name%d", i), "wrong wrong wrong"); other.Status == http.StatusTooManyRequests {
				slow++
			}
		}
		if slow < 15 {
			t.Errorf("%d of 40 tries were slowed down", slow)
		}
		owner.Post("/logout", url.Values{"token": {owner.Get("/").Token()}})
		owner.LogIn("carla", consoletest.Password).Wants(http.StatusSeeOther)
		w.Clock.Pass(15 * time.Minute)
		other.LogIn("ana", consoletest.Password).Wants(http.StatusSeeOther)
	})
}

// Of many tries at once only so many are hashed together; the rest of the console answers
// meanwhile.
func TestManyTriesAtOnceKeepTheConsoleFree(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t, consoletest.OpenStore(t, state.SQLite)).WithPeople()
	hashed, answered := make(chan struct{}), make(chan struct{}, 60)
	w.Sessions.Compared(func() { <-hashed }) // a host on which a password takes as long as it likes
	var tries gosync.WaitGroup
	var mu gosync.Mutex
	statuses := map[int]int{}
	for i := range 60 {
		tries.Go(func() {
			b := w.Browser().LogIn(fmt.Sprintf("name%d", i), "wrong wrong wrong")
			mu.Lock()
			defer mu.Unlock()
			statuses[b.Status]++
			answered <- struct{}{}
		})
	}
	func() {
		defer close(hashed)
		for range 60 - 16 { // no more are left than there are places
			<-answered
		}
		w.Browser().Get("/login").Wants(http.StatusOK)
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
func TestLoginsEndAndCookiesAreBound(t *testing.T) {
	consoletest.OnBoth(t, func(t *testing.T, s *state.Store) {
		secure := consoletest.New(t, s, func(o *consoletest.Options) { o.Site.Secure = true })
		plain := consoletest.New(t, s).WithPeople()
		b := secure.Browser().LogIn("carla", consoletest.Password).Wants(http.StatusSeeOther)
		cookies := b.Got.Values("Set-Cookie")
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
		for _, cookie := range plain.Browser().LogIn("carla", consoletest.Password).Got.Values("Set-Cookie") {
			if strings.Contains(cookie, "Secure") || !strings.Contains(cookie, "HttpOnly") ||
				!strings.Contains(cookie, "SameSite=Strict") {
				t.Errorf("cookie without TLS %s", cookie)
			}
		}

		one := plain.As(trade.Accountant)
		old := cookieOf(one)
		one.Get("/").Wants(http.StatusOK)
		token := one.Token()
		one.Post("/logout", url.Values{"token": {token}}).Wants(http.StatusSeeOther)
		again := plain.Browser()
		again.Header.Set("Cookie", old)
		again.Get("/").Wants(http.StatusSeeOther)
		again.Post("/logout", url.Values{"token": {token}}).Wants(http.StatusUnauthorized)

		one.LogIn("carla", consoletest.Password)
		if cookieOf(one) == old {
			t.Error("a new login has the old secret")
		}
		plain.Clock.Pass(29 * time.Minute)
		one.Get("/").Wants(http.StatusOK)
		plain.Clock.Pass(29 * time.Minute)
		one.Get("/").Wants(http.StatusOK)
		plain.Clock.Pass(32 * time.Minute)
		one.Get("/").Wants(http.StatusSeeOther)

		one.LogIn("carla", consoletest.Password)
		for range 26 {
			plain.Clock.Pass(28 * time.Minute)
			one.Get("/")
		}
		one.Wants(http.StatusSeeOther) // twelve hours

		two := plain.As(trade.Accountant)
		admin := plain.As(trade.Administrator)
		admin.Get("/users").Post("/users/carla",
			url.Values{"token": {admin.Token()}, "do": {"disable"}}).Wants(http.StatusOK, "Desativar carla?")
		admin.Post("/users/carla",
			url.Values{"token": {admin.Token()}, "do": {"disable"}, "sure": {"1"}}).Wants(http.StatusSeeOther)
		two.Get("/").Wants(http.StatusSeeOther)
		two.LogIn("carla", consoletest.Password).Wants(http.StatusUnauthorized)
		admin.Get("/users").Post("/users/carla",
			url.Values{"token": {admin.Token()}, "do": {"enable"}}).Wants(http.StatusSeeOther)

		three, four := plain.As(trade.Accountant), plain.As(trade.Accountant)
		three.Get("/account").Post("/account/password", url.Values{
			"token": {three.Token()}, "old": {consoletest.Password}, "new": {"outra frase bem comprida"},
			"again": {"outra frase bem comprida"},
		}).Wants(http.StatusSeeOther)
		three.Get("/").Wants(http.StatusOK)
		four.Get("/").Wants(http.StatusSeeOther)
	})
}

func cookieOf(b *consoletest.Browser) string {
	b.World.T.Helper()
	address := must.Get(url.Parse(b.World.Server.URL))(b.World.T)
	for _, cookie := range b.Client.Jar.Cookies(address) {
		if cookie.Name == auth.CookieLogin {
			return cookie.Name + "=" + cookie.Value
		}
	}
	b.World.T.Fatal("nobody is logged in")
	return ""
}

// The last administrator stays one.
func TestTheLastAdministratorStays(t *testing.T) {
	consoletest.OnBoth(t, func(t *testing.T, s *state.Store) {
		w := consoletest.New(t, s).WithPeople()
		b := w.As(trade.Administrator)
		for _, form := range []url.Values{{"do": {"disable"}, "sure": {"1"}}, {"do": {"role"}, "role": {"reader"}}} {
			form.Set("token", b.Get("/users").Token())
			b.Post("/users/ana", form).Wants(http.StatusUnprocessableEntity, "último administrador")
		}
		b.Get("/users").Post("/users",
			url.Values{
				"token": {b.Token()}, "name": {" Bia "}, "role": {"administrator"},
				"password": {consoletest.Password},
			}).Wants(http.StatusSeeOther)
		b.Get("/users").Post("/users",
			url.Values{
				"token": {b.Token()}, "name": {"bia"}, "role": {"reader"},
				"password": {consoletest.Password},
			}).Wants(http.StatusUnprocessableEntity, "já existe")
		b.Get("/users").Post("/users/bia",
			url.Values{"token": {b.Token()}, "do": {"role"}, "role": {"emperor"}}).Wants(http.StatusUnprocessableEntity)
		b.Get("/users").Post("/users/ana",
			url.Values{"token": {b.Token()}, "do": {"disable"}, "sure": {"1"}}).Wants(http.StatusSeeOther)
		b.Get("/users").Wants(http.StatusSeeOther)
	})
}

// Who logged in, who failed and what was changed stands in the audit, with name and address, and
// nothing that was typed for a name that does not exist.
func TestLoginsAndChangesStandInTheAudit(t *testing.T) {
	consoletest.OnBoth(t, func(t *testing.T, s *state.Store) {
		w := consoletest.New(t, s).WithPeople()
		w.Browser().LogIn("my secret password", "x").Wants(http.StatusUnauthorized)
		w.Browser().LogIn("carla", "x").Wants(http.StatusUnauthorized)
		b := w.As(trade.Administrator)
		b.Get("/users").Post("/users/lia",
			url.Values{"token": {b.Token()}, "do": {"role"}, "role": {"accountant"}}).Wants(http.StatusSeeOther)
		b.Get("/users").Post("/logout", url.Values{"token": {b.Token()}}).Wants(http.StatusSeeOther)
		records := must.Get(s.Audit(t.Context(), 0))(t)
		var got []string
		for _, r := range records[:5] {
			got = append(got, r.Who+" "+r.From+" "+r.Act+" "+r.Target+" "+r.Detail)
		}
		want := []string{
			"ana console 127.0.0.1 logout ana ",
			`ana console 127.0.0.1 user role lia {"after":{"disabled":false,"role":"accountant"},"before":{"disabled":false,"role":"reader"}}`,
			"ana console 127.0.0.1 login ana ",
			"carla console 127.0.0.1 login failed carla ",
			"? console 127.0.0.1 login failed  ",
		}
		if !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if p, err := s.VerifyAudit(t.Context()); err != nil || p.Broken != 0 {
			t.Errorf("the chain: %d, %v", p.Broken, err)
		}
	})
}

// Tries of an address that must wait, and as many at once as there are, keep nobody else out.
func TestTriesOfOneAddressKeepNobodyOutElsewhere(t *testing.T) {
	t.Parallel()
	behind := func(o *consoletest.Options) { o.Behind = netip.MustParsePrefix("127.0.0.1/32") }
	w := consoletest.New(t, consoletest.OpenStore(t, state.SQLite), behind).WithPeople()
	hashed, answered := make(chan struct{}), make(chan struct{}, 40)
	w.Sessions.Compared(func() { <-hashed }) // a host on which a password takes as long as it likes
	var tries gosync.WaitGroup
	for i := range 40 {
		tries.Go(func() {
			b := w.Browser()
			b.Header.Set("X-Forwarded-For", fmt.Sprintf("2001:db8::%x", i+1)) // one host
			b.LogIn(fmt.Sprintf("name%d", i), "wrong wrong wrong")
			answered <- struct{}{}
		})
	}
	for range 40 - auth.HashesEach { // the others are refused
		<-answered
	}
	other := make(chan int)
	go func() {
		b := w.Browser()
		b.Header.Set("X-Forwarded-For", "203.0.113.7")
		other <- b.LogIn("carla", consoletest.Password).Status
	}()
	close(hashed)
	if got := <-other; got != http.StatusSeeOther {
		t.Errorf("the right login from elsewhere is answered %d", got)
	}
	tries.Wait()
}

// A reader's own login in between must not give new guesses at the passwords of others.
func TestAnOwnLoginDoesNotForgetTriesAtOtherNames(t *testing.T) {
	consoletest.OnBoth(t, func(t *testing.T, s *state.Store) {
		w := consoletest.New(t, s).WithPeople()
		slow := 0
		for i := range 40 {
			if w.Browser().LogIn(fmt.Sprintf("name%d", i), "wrong wrong wrong").Status == http.StatusTooManyRequests {
				slow++
			}
			if i == 9 {
				w.Browser().LogIn("carla", "wrong wrong wrong")
				w.Browser().LogIn("carla", consoletest.Password).Wants(http.StatusSeeOther)
			}
		}
		if slow < 15 {
			t.Errorf("%d of 40 tries were slowed down", slow)
		}
	})
}

// Any text may stand as the zone of an address that a proxy passes on, and in the audit.
func TestAnAddressThatWasPassedOnHasNoZone(t *testing.T) {
	for told, want := range map[string]string{
		"fe80::1%eth0": "fe80::1", "[fe80::1%<script>]:80": "fe80::1", "203.0.113.9:1": "203.0.113.9",
		"fe80::1%" + strings.Repeat("x", 60): "",
	} {
		got, ok := connlimit.Forwarded(http.Header{"X-Forwarded-For": {told}})
		if ok != (want != "") || ok && got.String() != want {
			t.Errorf("%.80s: %v, %v; want %s", told, got, ok, want)
		}
	}
}

// Whoever must wait takes no place in which passwords are hashed.
func TestATryThatMustWaitTakesNoPlace(t *testing.T) {
	consoletest.OnBoth(t, func(t *testing.T, s *state.Store) {
		w := consoletest.New(t, s).WithPeople()
		b := w.Browser()
		for b.Status != http.StatusTooManyRequests {
			b.LogIn("carla", "wrong wrong wrong")
		}
		free := w.Sessions.FillHashes()
		defer free()
		b.LogIn("carla", consoletest.Password).Wants(http.StatusTooManyRequests, "Espere")
	})
}

// An IPv6 host is one address, whatever address it chooses.
func TestAnIPv6HostIsOneAddressForItsTries(t *testing.T) {
	consoletest.OnBoth(t, func(t *testing.T, s *state.Store) {
		behind := func(o *consoletest.Options) { o.Behind = netip.MustParsePrefix("127.0.0.1/32") }
		w := consoletest.New(t, s, behind).WithPeople()
		slow := 0
		for i := range 40 {
			b := w.Browser()
			b.Header.Set("X-Forwarded-For", fmt.Sprintf("2001:db8::%x", i+1))
			if b.LogIn(fmt.Sprintf("name%d", i), "wrong wrong wrong"); b.Status == http.StatusTooManyRequests {
				slow++
			}
		}
		if slow < 15 {
			t.Errorf("%d of 40 tries were slowed down", slow)
		}
	})
}

// A place that is missing is counted; the log has no line for each, with which strangers could
// drown those about sending.
func TestABusyConsoleCountsWhomItSendsAway(t *testing.T) {
	t.Parallel()
	var busy, tries atomic.Int64
	counts := func(o *consoletest.Options) {
		o.Site.Refused = func(cause string, _ error) {
			map[string]*atomic.Int64{"busy": &busy, "tries": &tries}[cause].Add(1)
		}
	}
	w := consoletest.New(t, consoletest.OpenStore(t, state.SQLite), counts).WithPeople()
	free := w.Sessions.FillHashes()
	for range 20 {
		w.Browser().LogIn("carla", "wrong wrong wrong").Wants(http.StatusServiceUnavailable)
	}
	free()
	slow := 0
	for range 20 {
		if w.Browser().LogIn("carla", "wrong wrong wrong").Status == http.StatusTooManyRequests {
			slow++
		}
	}
	if log := w.Log.String(); busy.Load() != 20 || tries.Load() != int64(slow) || slow == 0 || log != "" {
		t.Errorf("of 20 %d are counted, of %d tries %d, and the log has:\n%s", busy.Load(), slow, tries.Load(), log)
	}
}

// Whoever gets a password from somebody else opens no page before having chosen their own.
func TestAFirstPasswordIsChangedBeforeAnythingElse(t *testing.T) {
	consoletest.OnBoth(t, func(t *testing.T, s *state.Store) {
		w := consoletest.New(t, s).WithPeople()
		admin := w.As(trade.Administrator)
		admin.Get("/users").Post("/users", url.Values{
			"token": {admin.Token()}, "name": {"bia"}, "role": {"accountant"}, "password": {consoletest.Password},
		}).Wants(http.StatusSeeOther)
		admin.Get("/users").Wants(http.StatusOK, "Entregue a senha pessoalmente", "primeira senha, ainda não trocada")
		b := w.Browser().LogIn("bia", consoletest.Password).Wants(http.StatusSeeOther)
		b.Get("/rows").Wants(http.StatusSeeOther)
		if to := b.Got.Get("Location"); to != "/account" {
			t.Errorf("the list leads to %s", to)
		}
		b.Get("/account").Wants(http.StatusOK, "Esta senha foi dada por outra pessoa")
		token := b.Token()
		b.Post("/account/prove", url.Values{"token": {token}}).Wants(http.StatusForbidden, "escolha a sua senha")
		change := func(to string) *consoletest.Browser {
			return b.Post("/account/password", url.Values{
				"token": {token}, "old": {consoletest.Password}, "new": {to}, "again": {to},
			})
		}
		change(consoletest.Password).Wants(http.StatusUnprocessableEntity, "igual à antiga")
		change("outra frase bem comprida").Wants(http.StatusSeeOther)
		if to := b.Got.Get("Location"); to != "/" {
			t.Errorf("the first own password leads to %s", to)
		}
		b.Get("/rows").Wants(http.StatusOK)
		b.Get("/audit").Wants(http.StatusOK, "<strong>bia</strong> trocou a própria senha")
		admin.Get("/users").Post("/users/bia", url.Values{
			"token": {admin.Token()}, "do": {"password"}, "password": {consoletest.Password},
		}).Wants(http.StatusSeeOther)
		b.LogIn("bia", consoletest.Password).Wants(http.StatusSeeOther)
		b.Get("/rows").Wants(http.StatusSeeOther)
	})
}

// An administrator sees in which browsers somebody is logged in, and ends one of them.
func TestOneSessionOfAPersonIsEnded(t *testing.T) {
	consoletest.OnBoth(t, func(t *testing.T, s *state.Store) {
		w := consoletest.New(t, s).WithPeople()
		one := w.As(trade.Accountant)
		w.Clock.Pass(2 * time.Minute)
		two := w.As(trade.Accountant)
		two.Get("/")
		admin := w.As(trade.Administrator)
		admin.Get("/users").Wants(http.StatusOK, "2 abertas", "1 aberta", "é este navegador", "última atividade")
		hashes := regexp.MustCompile(`name="login" value="([^"]+)"`).FindAllStringSubmatch(admin.Body, -1)
		if len(hashes) != 2 {
			t.Fatalf("%d sessions can be ended, want 2", len(hashes))
		}
		end := func(name, hash string) *consoletest.Browser {
			return admin.Post("/users/"+name, url.Values{"token": {admin.Token()}, "do": {"end_one"}, "login": {hash}})
		}
		end("lia", hashes[0][1]).Wants(http.StatusConflict, "já terminou")
		end("carla", hashes[0][1]).Wants(http.StatusSeeOther) // the last used stands first
		two.Get("/").Wants(http.StatusSeeOther)
		one.Get("/").Wants(http.StatusOK)
		admin.Get("/users").Wants(http.StatusOK, "Sessão encerrada")
		records := must.Get(s.Audit(t.Context(), 1))(t)
		if r := records[0]; r.Who != "ana" || r.Act != "user end one" || r.Target != "carla" {
			t.Errorf("the audit has %+v", r)
		}
	})
}
