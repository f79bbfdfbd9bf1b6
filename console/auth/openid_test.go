package auth_test

import (
	"context"
	"crypto/x509"
	"html"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	gosync "sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/safrasync/safrasync/console/auth"
	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/consoletest"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/oidctest"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// company is a console whose people may come by an issuer.
type company struct {
	*consoletest.World
	issuer *oidctest.Issuer
	openID *auth.OpenID
}

// rui is a person of the issuer.
var rui = map[string]any{
	"sub": "248289761001", "email": "Rui@Coop.example", "email_verified": true,
	"name": "Rui Prado", "groups": []string{"everybody", "safra-contabil"},
}

func with(claims map[string]any, name string, value any) map[string]any {
	out := maps.Clone(claims)
	out[name] = value
	return out
}

func newCompany(t *testing.T, s *state.Store, adjust ...func(*consoletest.Options)) *company {
	t.Helper()
	c := &company{}
	c.issuer = oidctest.Start(t, func() time.Time { return c.Clock.Now() })
	c.openID = auth.NewOpenID(auth.OpenIDOptions{
		Issuer: c.issuer.URL, ClientID: oidctest.ClientID, Secret: oidctest.Secret, Label: "Conta Coop",
		Claim: "groups", Roots: rootsOf(c.issuer),
		Roles: map[string]trade.Role{
			"safra-leitura": trade.Reader, "safra-contabil": trade.Accountant,
			"safra-ti": trade.Administrator,
		},
	})
	issued := func(o *consoletest.Options) { o.Auth.OpenID = c.openID }
	c.World = consoletest.New(t, s, append([]func(*consoletest.Options){issued}, adjust...)...).WithPeople()
	c.issuer.Person(rui)
	return c
}

var leadsAway = regexp.MustCompile(`content="0;url=(https://[^"]+)"`)

// away begins a login at the issuer, and gives the path by which the issuer sends the browser back.
func (c *company) away(b *consoletest.Browser, path string, form url.Values) string {
	c.T.Helper()
	b.Post(path, form).Wants(http.StatusOK, "Conta Coop")
	m := leadsAway.FindStringSubmatch(b.Body)
	if m == nil {
		c.T.Fatalf("the page does not lead to the issuer:\n%s", b.Body)
	}
	return c.at(html.UnescapeString(m[1]))
}

// at is what the issuer answers the browser with.
func (c *company) at(address string) string {
	c.T.Helper()
	client := c.issuer.Server.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	request := must.Get(http.NewRequestWithContext(c.T.Context(), http.MethodGet, address, nil))(c.T)
	answer, err := client.Do(request)
	must.Do(c.T, err)
	defer answer.Body.Close()
	back, err := url.Parse(answer.Header.Get("Location"))
	if err != nil || answer.StatusCode != http.StatusFound || "http://"+back.Host != c.Server.URL {
		c.T.Fatalf("the issuer answered %d, %s, %v", answer.StatusCode, back, err)
	}
	return back.RequestURI()
}

// come logs in by the issuer.
func (c *company) come(b *consoletest.Browser) *consoletest.Browser {
	c.T.Helper()
	return b.Get(c.away(b, "/login/openid", url.Values{"next": {"/rows"}}))
}

// of is a person of the issuer in the ledger.
func (c *company) of(subject string) trade.User {
	c.T.Helper()
	return must.Get(c.Store.UserFrom(c.T.Context(), c.issuer.URL, subject))(c.T)
}

// nobody wants that a subject has no user here.
func (c *company) nobody(subject string) {
	c.T.Helper()
	if u, err := c.Store.UserFrom(c.T.Context(), c.issuer.URL, subject); err == nil {
		c.T.Errorf("%s is %+v", subject, u)
	}
}

// last is the last record of the audit.
func (c *company) last() string {
	c.T.Helper()
	records := must.Get(c.Store.Audit(c.T.Context(), 0))(c.T)
	return records[0].Who + ": " + records[0].Act + " " + records[0].Target + " " + records[0].Detail
}

// Who the issuer names gets in with the role that its groups give, each time anew; who, by which
// issuer and with what role stands in the audit.
func TestPeopleComeByTheIssuer(t *testing.T) {
	consoletest.OnBoth(t, func(t *testing.T, s *state.Store) {
		c := newCompany(t, s)
		b := c.Browser()
		b.Get("/login?next=%2Frows").Wants(http.StatusOK, "Entrar com Conta Coop", `name="password"`)
		if c.come(b).Wants(http.StatusSeeOther); b.Got.Get("Location") != "/rows" {
			t.Errorf("the way goes on to %s", b.Got.Get("Location"))
		}
		b.Get("/account").Wants(http.StatusOK, "rui@coop.example", "contabilidade", "Você entra por Conta Coop")
		if strings.Contains(b.Body, `name="old"`) {
			t.Error("a person without a password is asked for it")
		}
		u := c.of("248289761001")
		if u.Name != "rui@coop.example" || u.Role != trade.Accountant || u.Password != "" || u.Issuer != c.issuer.URL {
			t.Errorf("user %+v", u)
		}
		want := `rui@coop.example: login rui@coop.example {"issuer":"` + c.issuer.URL +
			`","subject":"248289761001","email":"Rui@Coop.example","name":"Rui Prado","role":"accountant"}`
		if got := c.last(); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		if asked := c.issuer.Asked()[0]; asked.Get("scope") != "openid profile email" || asked.Get("prompt") != "" ||
			asked.Get("redirect_uri") != c.Server.URL+auth.BackPath {
			t.Errorf("asked for %v", asked)
		}

		// The same person with another address and another role is the same user, and what the old
		// role had ends.
		c.issuer.Person(with(with(rui, "email", "rui.prado@coop.example"), "groups", "safra-leitura"))
		other := c.Browser()
		c.come(other).Wants(http.StatusSeeOther)
		other.Get("/account").Wants(http.StatusOK, "rui@coop.example", "leitura")
		b.Get("/account").Wants(http.StatusSeeOther)
		// Without a role there is no entry, and no session goes on.
		c.issuer.Person(with(rui, "groups", []string{"everybody"}))
		c.come(b).Wants(http.StatusForbidden, "Conta Coop confirmou quem você é, mas não lhe dá nenhum perfil")
		other.Get("/account").Wants(http.StatusSeeOther)
		if got := c.last(); !strings.HasPrefix(got, "rui@coop.example: login failed rui@coop.example ") ||
			!strings.Contains(got, `"fault":"no role"`) {
			t.Error(got)
		}
		if p, err := s.VerifyAudit(t.Context()); err != nil || p.Broken != 0 {
			t.Errorf("the chain: %d, %v", p.Broken, err)
		}
		for _, kept := range []string{oidctest.Secret, "Rui", "rui"} {
			if strings.Contains(c.Log.String(), kept) {
				t.Errorf("the log has %q", kept)
			}
		}
	})
}

// The name is the address where the issuer stands for it, else the name for logging in, and never
// one that belongs elsewhere; roles may stand deeper.
func TestWhatTheIssuerSaysOfAPerson(t *testing.T) {
	t.Parallel()
	c := newCompany(t, consoletest.OpenStore(t, state.SQLite))
	for _, tt := range []struct {
		name   string
		claims map[string]any
		want   string
		role   trade.Role
	}{
		{
			"no address",
			map[string]any{"sub": "1", "preferred_username": "Bia", "groups": "safra-leitura"},
			"bia",
			trade.Reader,
		},
		{
			"an address that nobody has verified",
			map[string]any{
				"sub": "2", "email": "chefe@coop.example", "email_verified": false,
				"preferred_username": "caio", "groups": "safra-leitura",
			},
			"caio", trade.Reader,
		},
		{"as text", map[string]any{
			"sub": "3", "email": "chefe@coop.example", "email_verified": "false",
			"groups": "safra-leitura",
		}, "openid-", trade.Reader},
		{
			"an address of which nothing is said",
			map[string]any{
				"sub": "11", "email": "chefe@coop.example", "preferred_username": "iara",
				"groups": "safra-leitura",
			},
			"iara", trade.Reader,
		},
		{"verified as text", map[string]any{
			"sub": "12", "email": "ines@coop.example", "email_verified": "true",
			"groups": "safra-leitura",
		}, "ines@coop.example", trade.Reader},
		{
			"one dot",
			map[string]any{"sub": "13", "preferred_username": " . ", "groups": "safra-leitura"},
			"openid-",
			trade.Reader,
		},
		{
			"two dots",
			map[string]any{"sub": "14", "preferred_username": "..", "groups": "safra-leitura"},
			"openid-",
			trade.Reader,
		},
		{
			"the service",
			map[string]any{"sub": "15", "preferred_username": "SafraSync", "groups": "safra-leitura"},
			"openid-", trade.Reader,
		},
		{
			"a name that is a path",
			map[string]any{"sub": "4", "preferred_username": "a/../b", "groups": "safra-leitura"},
			"openid-", trade.Reader,
		},
		{"a name with a line break", map[string]any{
			"sub": "5", "preferred_username": "a\nb",
			"groups": "safra-leitura",
		}, "openid-", trade.Reader},
		{"the most of several roles", map[string]any{
			"sub": "6", "preferred_username": "duda",
			"groups": []any{"safra-ti", 7, "safra-leitura"},
		}, "duda", trade.Administrator},
		{"not a text", map[string]any{
			"sub": "7", "preferred_username": "edu",
			"groups": map[string]any{"safra-ti": true},
		}, "", ""},
		{"no claim", map[string]any{"sub": "8", "preferred_username": "fe"}, "", ""},
		{"another case", map[string]any{"sub": "9", "preferred_username": "gil", "groups": "SAFRA-TI"}, "", ""},
	} {
		c.issuer.Person(tt.claims)
		b := c.come(c.Browser())
		subject, _ := tt.claims["sub"].(string)
		if tt.role == "" {
			b.Wants(http.StatusForbidden, "nenhum perfil")
			c.nobody(subject)
			continue
		}
		b.Wants(http.StatusSeeOther)
		if u := c.of(subject); !strings.HasPrefix(u.Name, tt.want) || u.Role != tt.role {
			t.Errorf("%s: %+v", tt.name, u)
		}
	}
	deep := auth.NewOpenID(auth.OpenIDOptions{
		Issuer: c.issuer.URL, ClientID: oidctest.ClientID, Secret: oidctest.Secret, Label: "Conta Coop",
		Claim: "realm_access.roles", Roots: rootsOf(c.issuer), Roles: map[string]trade.Role{"r": trade.Reader},
	})
	w := consoletest.New(t, c.Store, func(o *consoletest.Options) { o.Auth.OpenID = deep })
	d := &company{World: w, issuer: c.issuer}
	d.issuer.OnlyPost = true
	d.issuer.Person(map[string]any{
		"sub": "10", "preferred_username": "hugo",
		"realm_access": map[string]any{"roles": []string{"r"}},
	})
	d.come(d.Browser()).Wants(http.StatusSeeOther)
}

func rootsOf(i *oidctest.Issuer) *x509.CertPool {
	roots := x509.NewCertPool()
	roots.AddCert(i.Server.Certificate())
	return roots
}

// Whatever is wrong with the issuer's answer, nobody gets in, nobody is added, the person gets a
// sentence and the log the cause, and a password still works.
func TestAWrongAnswerOfTheIssuerLetsNobodyIn(t *testing.T) {
	t.Parallel()
	for fault, want := range map[oidctest.Fault]struct {
		status int
		says   string
	}{
		oidctest.WrongNonce:    {http.StatusUnauthorized, "não pôde ser aceita"},
		oidctest.NoNonce:       {http.StatusUnauthorized, "não pôde ser aceita"},
		oidctest.Expired:       {http.StatusUnauthorized, "não pôde ser aceita"},
		oidctest.FromTheFuture: {http.StatusUnauthorized, "não pôde ser aceita"},
		oidctest.WrongAudience: {http.StatusUnauthorized, "não pôde ser aceita"},
		oidctest.OtherParty:    {http.StatusUnauthorized, "não pôde ser aceita"},
		oidctest.WrongIssuer:   {http.StatusUnauthorized, "não pôde ser aceita"},
		oidctest.WrongKey:      {http.StatusUnauthorized, "não pôde ser aceita"},
		oidctest.Unsigned:      {http.StatusUnauthorized, "não pôde ser aceita"},
		oidctest.SharedKey:     {http.StatusUnauthorized, "não pôde ser aceita"},
		oidctest.NoSubject:     {http.StatusUnauthorized, "não pôde ser aceita"},
		oidctest.NoToken:       {http.StatusUnauthorized, "não pôde ser aceita"},
		oidctest.Denies:        {http.StatusForbidden, "não confirmou a entrada"},
		oidctest.Fails:         {http.StatusServiceUnavailable, "não respondeu"},
		oidctest.KeysFail:      {http.StatusServiceUnavailable, "não respondeu"},
		oidctest.KeysArePages:  {http.StatusServiceUnavailable, "não respondeu"},
		oidctest.Redirects:     {http.StatusUnauthorized, "não pôde ser aceita"},
	} {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			c := newCompany(t, consoletest.OpenStore(t, state.SQLite))
			c.issuer.Fault(fault)
			b := c.come(c.Browser()).Wants(want.status, "Conta Coop", want.says, `name="password"`,
				`name="next" value="/rows"`)
			if strings.Contains(b.Body, "<script>alert") {
				t.Error("the issuer's own text is on the page")
			}
			c.nobody("248289761001")
			b.Get("/account").Wants(http.StatusSeeOther)
			b.LogIn("carla", consoletest.Password).Wants(http.StatusSeeOther)
			if log := c.Log.String(); strings.Contains(log, oidctest.Secret) || !strings.Contains(log, "issuer") {
				t.Errorf("the log: %s", log)
			}
			c.issuer.Fault("")
			c.come(c.Browser()).Wants(http.StatusSeeOther)
		})
	}
}

// An answer counts once, in the browser that began, within ten minutes, and only with the state
// that this browser has.
func TestAnAnswerOfTheIssuerCountsOnceAndHere(t *testing.T) {
	t.Parallel()
	c := newCompany(t, consoletest.OpenStore(t, state.SQLite))
	begin := func(b *consoletest.Browser) string { return c.away(b, "/login/openid", nil) }
	stale := func(b *consoletest.Browser, path string) {
		t.Helper()
		before := c.issuer.Tokens()
		b.Get(path).Wants(http.StatusBadRequest, "não foi iniciada neste navegador")
		if c.issuer.Tokens() != before {
			t.Error("the code went to the issuer")
		}
		b.Get("/account").Wants(http.StatusSeeOther)
	}
	thief := c.Browser()
	stale(thief, begin(c.Browser())) // somebody else's answer, in a browser that has begun nothing
	begin(thief)
	stale(thief, begin(c.Browser())) // or something else
	b := c.Browser()
	path := begin(b)
	c.Clock.Pass(11 * time.Minute)
	stale(b, path)
	path = begin(b)
	stale(b, strings.Replace(path, "state=", "state=x", 1))
	stale(b, path) // after a wrong state the right one is over too

	path = begin(b)
	b.Get(strings.Replace(path, "iss=https", "iss=http", 1)).Wants(http.StatusUnauthorized, "não pôde ser aceita")

	path = begin(b)
	held := b.Client.Jar.Cookies(must.Get(url.Parse(c.Server.URL))(t))
	b.Get(path).Wants(http.StatusSeeOther)
	again := c.Browser()
	stale(again, path)
	// a copy of the cookie: the issuer has taken the code already
	again.Client.Jar.SetCookies(must.Get(url.Parse(c.Server.URL))(t), held)
	again.Get(path).Wants(http.StatusUnauthorized, "não pôde ser aceita")
	again.Get("/account").Wants(http.StatusSeeOther)
}

// A browser that comes from the issuer keeps its cookies to itself: it is sent on to the same
// address once, from a page of ours.
func TestABrowserThatComesFromTheIssuerShowsItsCookiesOnce(t *testing.T) {
	t.Parallel()
	c := newCompany(t, consoletest.OpenStore(t, state.SQLite))
	b := c.Browser()
	path := c.away(b, "/login/openid", nil)
	other := c.Browser()
	other.Header.Set("Sec-Fetch-Site", "cross-site")
	other.Get(path).Wants(http.StatusOK, "0;url=/login/openid/back?")
	m := regexp.MustCompile(`0;url=([^"]+)"`).FindStringSubmatch(other.Body)
	if got := html.UnescapeString(m[1]); got != path {
		t.Errorf("sent on to %s, want %s", got, path)
	}
	if c.issuer.Tokens() != 0 {
		t.Error("the code went to the issuer before the browser showed who it is")
	}
	b.Header.Set("Sec-Fetch-Site", "same-origin")
	b.Get(path).Wants(http.StatusSeeOther)
}

// The cookie of the way is like the others, the page that leads away lets forms go
// nowhere else, and the way goes on only to a page of ours.
func TestTheWayToTheIssuer(t *testing.T) {
	t.Parallel()
	c := newCompany(t, consoletest.OpenStore(t, state.SQLite), func(o *consoletest.Options) { o.Site.Secure = true })
	b := c.Browser()
	b.Post("/login/openid", url.Values{"next": {"//evil.example/"}}).Wants(http.StatusOK)
	cookies := b.Got.Values("Set-Cookie")
	if len(cookies) != 1 || !strings.HasPrefix(cookies[0], "__Host-safrasync-openid=") {
		t.Fatalf("cookies %v", cookies)
	}
	for _, wants := range []string{"; Path=/;", "; HttpOnly", "; Secure", "; SameSite=Strict", "; Max-Age=600"} {
		if !strings.Contains(cookies[0], wants) {
			t.Errorf("%s is not in %s", wants, cookies[0])
		}
	}
	if policy := b.Got.Get("Content-Security-Policy"); !strings.Contains(policy, "form-action 'self'") ||
		strings.Contains(policy, c.issuer.URL) {
		t.Errorf("policy %s", policy)
	}
	if asked := leadsAway.FindStringSubmatch(b.Body); !strings.Contains(html.UnescapeString(asked[1]),
		url.QueryEscape("https://"+must.Get(url.Parse(c.Server.URL))(t).Host+auth.BackPath)) {
		t.Errorf("behind TLS the way back is %s", asked[1])
	}
	plain := newCompany(t, consoletest.OpenStore(t, state.SQLite))
	p := plain.Browser()
	if p.Get(plain.away(p, "/login/openid", url.Values{"next": {"//evil.example/"}})); p.Got.Get("Location") != "/" {
		t.Errorf("the way goes on to %s", p.Got.Get("Location"))
	}
}

// An issuer that is down, or is none, stops nobody who has a password; one that hangs takes no more
// than its places; what it said before counts.
func TestAnIssuerThatIsDownStopsNobodyElse(t *testing.T) {
	t.Parallel()
	c := newCompany(t, consoletest.OpenStore(t, state.SQLite))
	for _, fault := range []oidctest.Fault{
		oidctest.Pages, oidctest.OtherDiscovery, oidctest.OpenAddress,
		oidctest.OpenKeys,
	} {
		c.issuer.Fault(fault)
		c.Browser().Post("/login/openid", nil).Wants(http.StatusServiceUnavailable,
			"Conta Coop não respondeu", `name="password"`)
		if err := c.openID.Check(t.Context(), c.Clock.Now()); err == nil || len(err.Error()) > 500 {
			t.Errorf("%s: %v", fault, err)
		}
	}
	c.issuer.Fault("")
	if err := c.openID.Check(t.Context(), c.Clock.Now()); err != nil {
		t.Error(err)
	}
	c.come(c.Browser()).Wants(http.StatusSeeOther)
	c.Clock.Pass(2 * time.Hour)
	c.issuer.Fault(oidctest.Pages) // to log in there it is needed, to say where it is no more
	c.Browser().Post("/login/openid", nil).Wants(http.StatusOK)

	c.issuer.Fault(oidctest.Hangs)
	c.openID.Patience(time.Hour).Turn(time.Hour)
	late := c.Browser()
	path := c.away(late, "/login/openid", nil)
	var all gosync.WaitGroup
	for range auth.IssuerTalks {
		b := c.Browser()
		path := c.away(b, "/login/openid", nil)
		all.Go(func() { b.Get(path) })
	}
	for c.issuer.Tokens() < 1+auth.IssuerTalks { // all of them hang there
		c.Browser().Get("/login").Wants(http.StatusOK)
	}
	var turnedAway atomic.Bool
	all.Go(func() {
		late.Get(path)
		turnedAway.Store(late.Status != http.StatusSeeOther)
	})
	for c.openID.Waiting() < 1 && !turnedAway.Load() { // for one of them to end
		c.Browser().LogIn("carla", consoletest.Password).Wants(http.StatusSeeOther)
	}
	c.issuer.Fault("")
	c.issuer.Server.CloseClientConnections()
	all.Wait()
	late.Wants(http.StatusSeeOther)

	c.issuer.Server.Close()
	b := c.As(trade.Accountant)
	b.Get("/account").Wants(http.StatusOK)
	gone := consoletest.New(t, c.Store, func(o *consoletest.Options) {
		o.Auth.OpenID = auth.NewOpenID(auth.OpenIDOptions{
			Issuer: c.issuer.URL, Label: "Conta Coop",
			Roots: rootsOf(c.issuer),
		})
	})
	gone.Browser().Post("/login/openid", nil).Wants(http.StatusServiceUnavailable,
		"Conta Coop não respondeu")
	gone.As(trade.Accountant).Get("/account").Wants(http.StatusOK)
}

// An issuer that does not say again what it is takes nothing of the time of the login, and is asked
// again a minute later.
func TestAnIssuerThatHangsWhenAskedAgainIsKnown(t *testing.T) {
	t.Parallel()
	c := newCompany(t, consoletest.OpenStore(t, state.SQLite))
	c.come(c.Browser()).Wants(http.StatusSeeOther)
	b := c.Browser()
	c.Clock.Pass(time.Hour - time.Minute)
	path := c.away(b, "/login/openid", nil)
	c.Clock.Pass(time.Minute)
	if n := c.issuer.Found(); n != 1 {
		t.Fatalf("it was asked %d times within an hour", n)
	}
	c.issuer.Fault(oidctest.HangsAtFirst)
	c.openID.Refresh(10 * time.Millisecond)
	b.Get(path).Wants(http.StatusSeeOther)
	c.openID.Refresh(time.Hour)

	c.issuer.Fault(oidctest.OtherDiscovery)
	c.Clock.Pass(time.Minute)
	before := c.issuer.Found()
	for range 2 {
		c.come(c.Browser()).Wants(http.StatusSeeOther)
		if n := c.issuer.Found() - before; n != 1 {
			t.Errorf("within a minute it was asked %d times, want once", n)
		}
		c.Clock.Pass(time.Minute - time.Second)
	}
	c.issuer.Fault("")
	for range 2 {
		c.come(c.Browser()).Wants(http.StatusSeeOther)
		if n := c.issuer.Found() - before; n != 2 {
			t.Errorf("it was asked %d times, want it to be known again", n)
		}
		c.Clock.Pass(time.Hour - time.Second)
	}
}

// Who waits for a conversation in vain has not lost the way: the same page once more goes on with
// it.
func TestWhoFindsTheIssuerBusyGoesOnLater(t *testing.T) {
	t.Parallel()
	c := newCompany(t, consoletest.OpenStore(t, state.SQLite))
	b := c.Browser()
	path := c.away(b, "/login/openid", url.Values{"next": {"/rows"}})
	end := c.openID.Fill()
	c.openID.Turn(time.Millisecond)
	b.Get(path).Wants(http.StatusServiceUnavailable, "código “busy”")
	if c.issuer.Tokens() != 0 {
		t.Error("the code went to the issuer")
	}
	end()
	if b.Get(path).Wants(http.StatusSeeOther); b.Got.Get("Location") != "/rows" {
		t.Errorf("the way goes on to %s", b.Got.Get("Location"))
	}
	b.Get(path).Wants(http.StatusBadRequest, "não foi iniciada neste navegador")
}

// Who brings codes that are none is slowed down, by address.
func TestCodesThatAreNoneAreSlowedDown(t *testing.T) {
	t.Parallel()
	c := newCompany(t, consoletest.OpenStore(t, state.SQLite))
	slow := 0
	for range 30 {
		b := c.Browser()
		path := c.away(b, "/login/openid", nil)
		if b.Get(regexp.MustCompile(`code=[^&]+`).ReplaceAllString(path,
			"code=none")); b.Status == http.StatusTooManyRequests {
			slow++
		}
	}
	if slow < 5 || c.issuer.Tokens() > 25 {
		t.Errorf("%d of 30 were slowed down, and the issuer was asked %d times", slow, c.issuer.Tokens())
	}
	c.Clock.Pass(15 * time.Minute)
	c.come(c.Browser()).Wants(http.StatusSeeOther)
}

// Tries at an issuer that does not answer are not those of a password: a whole office with one
// address still gets in by that.
func TestAnIssuerThatIsDownSlowsNoPasswordDown(t *testing.T) {
	t.Parallel()
	c := newCompany(t, consoletest.OpenStore(t, state.SQLite))
	c.issuer.Fault(oidctest.Fails)
	slow := false
	for range 25 {
		b := c.Browser()
		b.Get(c.away(b, "/login/openid", nil))
		slow = slow || b.Status == http.StatusTooManyRequests
	}
	if !slow {
		t.Error("an address may ask as often as it likes")
	}
	c.Browser().LogIn("carla", consoletest.Password).Wants(http.StatusSeeOther)
}

// keeps counts the records of the audit whose detail has a cause.
func (c *company) keeps(cause string) (n int) {
	c.T.Helper()
	records := must.Get(c.Store.Audit(c.T.Context(), 0))(c.T)
	for _, r := range records {
		if strings.Contains(r.Detail, `"fault":"`+cause+`"`) {
			n++
		}
	}
	return n
}

// Whoever does not get in leaves one record with the cause, and with the person as far as one is
// known: that of the session where somebody had to prove who it is.
func TestTheAuditSaysWhoDidNotGetInAndWhy(t *testing.T) {
	consoletest.OnBoth(t, func(t *testing.T, s *state.Store) {
		c := newCompany(t, s)
		kept := func(want string) {
			t.Helper()
			who, cause, _ := strings.Cut(want, ": ")
			target := who
			if who == "?" {
				target = ""
			}
			if got := c.last(); !strings.HasPrefix(got, who+": login failed "+target+" {") ||
				!strings.Contains(got, `"fault":"`+cause+`"`) {
				t.Errorf("got %s, want %s", got, want)
			}
		}
		for fault, cause := range map[oidctest.Fault]string{
			oidctest.Denies: "the issuer lets nobody in", oidctest.NoToken: "there is no id_token",
			oidctest.Expired: "the token has expired", oidctest.WrongKey: "the token is not valid",
			oidctest.NoSubject: "the token names nobody", oidctest.WrongNonce: "the nonce is another one",
			oidctest.FromTheFuture: "the token was issued later than our clock says",
			oidctest.OtherParty:    "the token was made for another client",
			oidctest.PartyList:     "the token was made for another client",
			oidctest.NoTime:        "the token does not say when it was issued",
			oidctest.Redirects:     "the code is not taken",
		} {
			c.issuer.Fault(fault)
			c.come(c.Browser())
			kept("?: " + cause)
		}
		c.issuer.Fault("")
		b := c.Browser()
		c.come(b).Wants(http.StatusSeeOther)
		c.issuer.Fault(oidctest.WrongNonce)
		c.come(c.Browser()).Wants(http.StatusUnauthorized)
		kept("rui@coop.example: the nonce is another one")

		// An issuer that does not answer: once for an address and a minute, whatever is pressed how
		// often.
		c.issuer.Fault(oidctest.Fails)
		c.come(c.Browser()).Wants(http.StatusServiceUnavailable)
		kept("?: the issuer does not answer")
		c.come(c.Browser()).Wants(http.StatusServiceUnavailable)
		if n := c.keeps("the issuer does not answer"); n != 1 {
			t.Errorf("%d records within a minute", n)
		}
		c.Clock.Pass(time.Minute)
		c.come(c.Browser()).Wants(http.StatusServiceUnavailable)
		if n := c.keeps("the issuer does not answer"); n != 2 {
			t.Errorf("%d records in two minutes", n)
		}

		c.Clock.Pass(time.Minute)
		c.issuer.Fault(oidctest.KeysFail)
		c.come(c.Browser()).Wants(http.StatusServiceUnavailable)
		if n := c.keeps("the issuer does not answer"); n != 3 {
			t.Errorf("%d records of an issuer that does not answer, want 3: its keys cannot be read", n)
		}
		c.issuer.Fault(oidctest.Fails)
		c.Clock.Pass(time.Minute)

		// A proof is about the person of the session, whoever the issuer names.
		prove := func() string { return c.away(b, "/account/prove", url.Values{"token": {b.Get("/account").Token()}}) }
		b.Get(prove()).Wants(http.StatusServiceUnavailable)
		kept("rui@coop.example: the issuer does not answer")
		n := c.keeps("the issuer does not answer")
		if b.Get(prove()).Wants(http.StatusServiceUnavailable); c.keeps("the issuer does not answer") != n {
			t.Error("a person who presses again leaves another record within the minute")
		}
		c.issuer.Fault(oidctest.Denies)
		b.Get(prove()).Wants(http.StatusForbidden)
		kept("rui@coop.example: the issuer lets nobody in")
		c.issuer.Fault("")
		c.issuer.Person(with(with(rui, "sub", "other"), "email", "outra@coop.example"))
		b.Get(prove()).Wants(http.StatusForbidden, "confirmou outra pessoa")
		kept("rui@coop.example: another person")
		if got := c.last(); !strings.Contains(got, `"subject":"other"`) {
			t.Errorf("who it was instead is not told: %s", got)
		}
		c.issuer.Person(rui)
		path := prove()
		b.Post("/logout", url.Values{"token": {b.Get("/account").Token()}}).Wants(http.StatusSeeOther)
		b.Get(path).Wants(http.StatusForbidden, "enquanto isso a sua sessão neste programa terminou")
		kept("rui@coop.example: the session has ended")
	})
}

// Who asks too often leaves one record for the time of waiting.
func TestTooManyTriesAtTheIssuerAreRecordedOnce(t *testing.T) {
	t.Parallel()
	c := newCompany(t, consoletest.OpenStore(t, state.SQLite))
	c.issuer.Fault(oidctest.Denies)
	slow := 0
	for range 30 {
		b := c.Browser()
		if b.Get(c.away(b, "/login/openid", nil)); b.Status == http.StatusTooManyRequests {
			slow++
		}
	}
	if n := c.keeps("too many tries"); n != 1 || slow < 5 {
		t.Errorf("%d of 30 were slowed down, with %d records", slow, n)
	}
}

type people = auth.Users

// hurried is the ledger of a console in which somebody else is always a moment earlier.
type hurried struct {
	people
	meanwhile func(trade.User)
}

func (h *hurried) UserFrom(ctx context.Context, issuer, subject string) (trade.User, error) {
	u, err := h.people.UserFrom(ctx, issuer, subject)
	if err == nil && h.meanwhile != nil {
		h.meanwhile(u)
	}
	return u, err
}

// Who comes while an administrator changes the same user does not get in, is told so, and stands in
// the audit.
func TestAUserThatChangesDuringTheLogin(t *testing.T) {
	consoletest.OnBoth(t, func(t *testing.T, s *state.Store) {
		hurry := &hurried{}
		c := newCompany(t, s, func(o *consoletest.Options) {
			o.Users = func(u auth.Users) auth.Users {
				hurry.people = u
				return hurry
			}
		})
		c.come(c.Browser()).Wants(http.StatusSeeOther)
		hurry.meanwhile = func(u trade.User) {
			if done, err := s.ChangeUser(t.Context(), u,
				trade.AuditRecord{At: c.Clock.Now(), Who: "ana", Act: "user end", Target: u.Name}); err != nil ||
				!done {
				t.Error(done, err)
			}
		}
		for groups, want := range map[string]struct {
			status      int
			says, cause string
		}{
			// as before: the login finds it
			"safra-contabil": {http.StatusConflict, "o seu usuário neste programa acabou de mudar", "changed at this moment"},
			// another role: the change finds it
			"safra-leitura": {http.StatusConflict, "o seu usuário neste programa acabou de mudar", "changed at this moment"},
			"everybody":     {http.StatusForbidden, "nenhum perfil", "no role"},
		} {
			c.issuer.Person(with(rui, "groups", groups))
			b := c.Browser()
			c.come(b).Wants(want.status, want.says)
			if got := c.last(); !strings.HasPrefix(got, "rui@coop.example: login failed rui@coop.example ") ||
				!strings.Contains(got, `"fault":"`+want.cause+`"`) {
				t.Errorf("%s: %s", groups, got)
			}
			b.Get("/account").Wants(http.StatusSeeOther)
		}
	})
}

// A name that somebody has here is never taken over; an administrator's order links it, and then
// the password is over.
func TestALocalUserIsNeverTakenOver(t *testing.T) {
	consoletest.OnBoth(t, func(t *testing.T, s *state.Store) {
		c := newCompany(t, s)
		c.issuer.Person(map[string]any{"sub": "77", "preferred_username": "Carla", "groups": []string{"safra-ti"}})
		c.come(c.Browser()).Wants(http.StatusForbidden, "o usuário carla já existe", "safrasync users link carla 77")
		c.nobody("77")
		if got := c.last(); !strings.HasPrefix(got, "?: login failed ") ||
			!strings.Contains(got, "the name carla is taken") {
			t.Error(got)
		}
		c.As(trade.Accountant).Get("/account").Wants(http.StatusOK, "contabilidade")
		c.issuer.Person(map[string]any{
			"sub": "7'; reboot #", "preferred_username": "Carla",
			"groups": []string{"safra-ti"},
		})
		if b := c.come(c.Browser()).Wants(http.StatusForbidden); !strings.Contains(html.UnescapeString(b.Body),
			`safrasync users link carla '7'\''; reboot #'`) {
			t.Errorf("the command is not one that can be copied:\n%s", b.Body)
		}
		c.issuer.Person(map[string]any{"sub": "-77", "preferred_username": "Carla", "groups": []string{"safra-ti"}})
		c.come(c.Browser()).Wants(http.StatusForbidden, "safrasync users link -- carla -77")
		c.issuer.Person(map[string]any{"sub": "77", "preferred_username": "Carla", "groups": []string{"safra-ti"}})

		link := func(name string) error {
			u := must.Get(s.User(t.Context(), name))(t)
			u.Password, u.Issuer, u.Subject = "", c.issuer.URL, "77"
			_, err := s.ChangeUser(t.Context(), u,
				trade.AuditRecord{At: c.Clock.Now(), Who: "ana", Act: "user link", Target: name})
			return err
		}
		must.Do(t, link("carla"))
		if err := link("lia"); err == nil {
			t.Error("one subject is two users")
		}
		if err := link("ana"); err == nil {
			t.Error("nobody is left who looks after people without the issuer")
		}
		c.come(c.Browser()).Wants(http.StatusSeeOther)
		if u := c.of("77"); u.Name != "carla" || u.Role != trade.Administrator {
			t.Errorf("%+v", u)
		}
		c.Browser().LogIn("carla", consoletest.Password).Wants(http.StatusUnauthorized, "senha incorretos")
		c.Browser().LogIn("carla", "").Wants(http.StatusUnauthorized, "senha incorretos")
	})
}

// What an administrator does counts for those who come by an issuer too: sessions end, who is
// disabled stays out; role and password are not theirs to set.
func TestAdministratorsEndAndDisableWhoComesByTheIssuer(t *testing.T) {
	consoletest.OnBoth(t, func(t *testing.T, s *state.Store) {
		c := newCompany(t, s)
		b, admin := c.Browser(), c.As(trade.Administrator)
		do := func(form url.Values) *consoletest.Browser {
			form.Set("token", admin.Get("/users").Token())
			return admin.Post("/users/rui@coop.example", form)
		}
		c.come(b).Wants(http.StatusSeeOther)
		admin.Get("/users").Wants(http.StatusOK, "entra por Conta Coop", `href="/users?open=rui%40coop.example#open"`)
		admin.Get("/users?open=rui@coop.example").Wants(http.StatusOK, "Encerrar sessões", "entra por Conta Coop")
		b.Get("/account").Wants(http.StatusOK)
		b.Post("/account/password",
			url.Values{
				"token": {b.Get("/account").Token()}, "old": {""}, "new": {"outra frase bem comprida"},
				"again": {"outra frase bem comprida"},
			}).Wants(http.StatusUnprocessableEntity, "entra por outro serviço")
		do(url.Values{"do": {"end"}, "sure": {"1"}}).Wants(http.StatusSeeOther)
		b.Get("/account").Wants(http.StatusSeeOther)
		c.come(b).Wants(http.StatusSeeOther)
		do(url.Values{"do": {"role"}, "role": {"administrator"}}).Wants(http.StatusUnprocessableEntity,
			"entra por outro serviço")
		do(url.Values{
			"do":       {"password"},
			"password": {"outra frase bem comprida"},
		}).Wants(http.StatusUnprocessableEntity, "entra por outro serviço")
		do(url.Values{"do": {"disable"}, "sure": {"1"}}).Wants(http.StatusSeeOther)
		b.Get("/account").Wants(http.StatusSeeOther)
		c.come(b).Wants(http.StatusForbidden, "o usuário rui@coop.example está desativado")
		b.Get("/account").Wants(http.StatusSeeOther)
		do(url.Values{"do": {"enable"}}).Wants(http.StatusSeeOther)
		c.come(b).Wants(http.StatusSeeOther)

		// Administrators of the issuer do not make up for the last one of this ledger.
		c.issuer.Person(with(rui, "groups", "safra-ti"))
		c.come(b).Wants(http.StatusSeeOther)
		admin.Get("/users").Post("/users/ana",
			url.Values{"token": {admin.Token()}, "do": {"disable"}, "sure": {"1"}}).
			Wants(http.StatusUnprocessableEntity,
				"último administrador")
	})
}

// The first administrator is one of this ledger; until then the way to the issuer is closed
// too.
func TestTheFirstAdministratorIsNotTheIssuers(t *testing.T) {
	t.Parallel()
	s := consoletest.OpenStore(t, state.SQLite)
	must.Do(t, s.AddUser(t.Context(), trade.User{
		Name: "rui", Role: trade.Administrator, Issuer: "https://issuer.example",
		Subject: "1",
	}, trade.AuditRecord{At: time.Now(), Who: "test", Act: "user add"}))
	w := consoletest.New(t, s, func(o *consoletest.Options) {
		o.Auth.OpenID = auth.NewOpenID(auth.OpenIDOptions{Issuer: "https://issuer.example", Label: "Conta"})
	})
	for _, path := range []string{"/login", auth.BackPath} {
		w.Browser().Get(path).Wants(http.StatusServiceUnavailable, "safrasync users add")
	}
	w.Browser().Post("/login/openid", nil).Wants(http.StatusServiceUnavailable, "safrasync users add")
}

// Before what may double a record the person proves at the issuer who it is, and there only a
// fresh proof of the same person counts.
func TestProofAtTheIssuer(t *testing.T) {
	consoletest.OnBoth(t, func(t *testing.T, s *state.Store) {
		c := newCompany(t, s)
		b := c.Browser()
		c.come(b).Wants(http.StatusSeeOther)
		prove := func() *consoletest.Browser {
			t.Helper()
			token := b.Get("/account").Token()
			return b.Get(c.away(b, "/account/prove", url.Values{"token": {token}, "next": {"/rows/7/resend"}}))
		}
		proved := func() time.Time { return provedAt(b) }
		first := proved()
		c.Clock.Pass(20 * time.Minute)
		for fault, says := range map[oidctest.Fault]string{
			oidctest.NoProof:  "não pediu sua senha de novo",
			oidctest.OldProof: "não pediu sua senha de novo",
		} {
			c.issuer.Fault(fault)
			if prove().Wants(http.StatusForbidden, says); !proved().Equal(first) {
				t.Errorf("%s is a proof", fault)
			}
		}
		c.issuer.Fault("")
		c.issuer.Person(with(with(rui, "sub", "other"), "email", "outra@coop.example"))
		if prove().Wants(http.StatusForbidden, "confirmou outra pessoa"); !proved().Equal(first) {
			t.Error("another person proved it")
		}
		c.nobody("other")
		c.issuer.Person(rui)
		if prove().Wants(http.StatusSeeOther); b.Got.Get("Location") != "/rows/7/resend" ||
			!proved().Equal(c.Clock.Now()) {
			t.Errorf("location %s, proved at %s", b.Got.Get("Location"), proved())
		}
		asked := c.issuer.Asked()
		if last := asked[len(asked)-1]; last.Get("prompt") != "login" || last.Get("max_age") != "0" {
			t.Errorf("asked for %v", last)
		}
		if got := c.last(); !strings.HasPrefix(got, "rui@coop.example: proof ") {
			t.Error(got)
		}
		// Who has a password gives that.
		local := c.As(trade.Accountant)
		local.Post("/account/prove",
			url.Values{"token": {local.Get("/account").Token()}}).Wants(http.StatusNotFound)
	})
}

// An issuer lets people in whom it knows still without asking for anything. Only what it says
// of the time counts as a proof, and it is never later than now.
func TestALoginWithoutThePasswordIsNoProof(t *testing.T) {
	consoletest.OnBoth(t, func(t *testing.T, s *state.Store) {
		c := newCompany(t, s)
		for _, tt := range []struct {
			name  string
			fault oidctest.Fault
			at    any
			want  time.Time
		}{
			{"not said", oidctest.NoProof, nil, time.Unix(0, 0)},
			{"an hour ago", oidctest.OldProof, nil, c.Clock.Now().Add(-time.Hour)},
			{"now", "", nil, c.Clock.Now()},
			{"later than now", "", c.Clock.Now().Add(time.Minute).Unix(), c.Clock.Now()},
			{"not a time", "", "now", time.Unix(0, 0)},
			{"beyond all times", "", 1e300, time.Unix(0, 0)},
			{"before all times", "", -1e300, time.Unix(0, 0)},
		} {
			c.issuer.Fault(tt.fault)
			c.issuer.Person(rui)
			if tt.at != nil {
				c.issuer.Person(with(rui, "auth_time", tt.at))
			}
			b := c.Browser()
			if c.come(b).Wants(http.StatusSeeOther); !provedAt(b).Equal(tt.want) {
				t.Errorf("%s: proved at %s, want %s", tt.name, provedAt(b), tt.want)
			}
		}
	})
}

// provedAt is when the person of the browser proved who it is.
func provedAt(b *consoletest.Browser) time.Time {
	b.World.T.Helper()
	login := must.Get(b.World.Store.Login(b.World.T.Context(),
		auth.HashOf(strings.TrimPrefix(cookieOf(b), auth.CookieLogin+"="))))(b.World.T)
	return login.ProvedAt
}

// Without the issuer in the configuration, or with another one, nobody answers for its people:
// their sessions are over.
func TestSessionsOfAnIssuerThatIsNotConfiguredAreOver(t *testing.T) {
	t.Parallel()
	c := newCompany(t, consoletest.OpenStore(t, state.SQLite))
	b := c.Browser()
	c.come(b).Wants(http.StatusSeeOther)
	cookie := cookieOf(b)
	for name, openID := range map[string]*auth.OpenID{
		"none":    nil,
		"another": auth.NewOpenID(auth.OpenIDOptions{Issuer: "https://other.example", Label: "Outra"}),
	} {
		w := consoletest.New(t, c.Store, func(o *consoletest.Options) { o.Auth.OpenID = openID })
		other := w.Browser()
		other.Header.Set("Cookie", cookie)
		if other.Get("/account"); other.Status != http.StatusSeeOther {
			t.Errorf("%s: %d", name, other.Status)
		}
		w.As(trade.Accountant).Get("/account").Wants(http.StatusOK)
		// not by the label of another one
		w.As(trade.Administrator).Get("/users").Wants(http.StatusOK, "entra por "+c.issuer.URL)
		if openID == nil {
			w.Browser().Post("/login/openid", nil).Wants(http.StatusNotFound)
			if page := w.Browser().Get("/login").Body; strings.Contains(page, "/login/openid") {
				t.Error("a way is offered that leads nowhere")
			}
		}
	}
	if !slices.ContainsFunc(c.Sessions.Routes(), func(r web.Route) bool { return r.Path == auth.BackPath }) {
		t.Error("there is no way back")
	}
}

// A role that the issuer took away ends within an hour, however much the login is used.
func TestALoginByTheIssuerEndsWithinAnHour(t *testing.T) {
	consoletest.OnBoth(t, func(t *testing.T, s *state.Store) {
		c := newCompany(t, s)
		b := c.Browser()
		c.come(b).Wants(http.StatusSeeOther)
		for range 3 {
			c.Clock.Pass(20 * time.Minute)
			b.Get("/account").Wants(http.StatusOK)
		}
		c.Clock.Pass(time.Minute)
		b.Get("/account").Wants(http.StatusSeeOther)
		local := c.As(trade.Reader)
		for range 4 {
			c.Clock.Pass(20 * time.Minute)
			local.Get("/account").Wants(http.StatusOK)
		}
	})
}
