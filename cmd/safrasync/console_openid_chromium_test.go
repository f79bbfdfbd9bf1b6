package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	gosync "sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/safrasync/safrasync/console"
	"github.com/safrasync/safrasync/console/auth"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/oidctest"
	"github.com/safrasync/safrasync/trade"
)

// arrivals notes by which ways a browser comes back to the console: what it says of where it comes
// from, and the cookies that it shows.
type arrivals struct {
	mu   gosync.Mutex
	list []string
}

func (a *arrivals) note(h http.Handler, path string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == path {
			var names []string
			for _, c := range r.Cookies() {
				names = append(names, strings.TrimSuffix(strings.TrimPrefix(c.Name, "__Host-"), "-loopback"))
			}
			slices.Sort(names)
			a.mu.Lock()
			a.list = append(a.list, r.Header.Get("Sec-Fetch-Site")+" "+strings.Join(names, ","))
			a.mu.Unlock()
		}
		h.ServeHTTP(w, r)
	})
}

// taken returns what was noted, and forgets it.
func (a *arrivals) taken() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := a.list
	a.list = nil
	return list
}

// The issuer is another site than the console, as it always is; a real Chromium then keeps the
// console's cookies (SameSite=Strict) from what the issuer's page causes. People get in all the
// same, prove who they are before a second sending, and come by links of other sites: over TLS with
// the cookies as they are shipped, and on loopback without.
func TestChromiumLogsInAtAnIssuerOfAnotherSite(t *testing.T) {
	t.Parallel()
	for name, over := range map[string]bool{"tls": true, "loopback": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, "lost-before,reset@1")
			issuer := d.issuer()
			issuer.Asks = true
			back, rows := &arrivals{}, &arrivals{}
			var c *console.Console
			server := httptest.NewUnstartedServer(nil)
			prefix, suffix, base := "", "-loopback", "http://"+server.Listener.Addr().String()
			if over {
				_, port, _ := strings.Cut(server.Listener.Addr().String(), ":")
				d.host.App.Config.Console.CertFile = "own.pem"
				d.host.App.Config.Console.Hosts = []string{"safrasync.coop.example"}
				prefix, suffix, base = "__Host-", "", "https://safrasync.coop.example:"+port
			}
			c = d.host.Console()
			server.Config.Handler = back.note(rows.note(c, "/rows"), auth.BackPath)
			if over {
				server.StartTLS()
			} else {
				server.Start()
			}
			t.Cleanup(func() {
				c.Close()
				server.Close()
			})
			b := newChrome(t, base, 1366, 768, chromedp.Flag("ignore-certificate-errors", true),
				chromedp.Flag("host-resolver-rules", "MAP safrasync.coop.example 127.0.0.1"))
			complaints := b.complaints()
			on := func(origin string) {
				t.Helper()
				at, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`location.origin`))
				if err != nil || at != origin {
					t.Fatalf("the browser is at %s, want %s, %v\n%s", at, origin, err, b.text())
				}
			}
			// To the issuer by a page of ours, over its own page, and back by two: the first is
			// asked for by the issuer, so that it comes without a cookie, the second by us.
			goes := func(press, showing string) {
				t.Helper()
				b.do(chromedp.Click(chromedp.CSS(press)),
					chromedp.WaitVisible(chromedp.CSS(`form[method=post] > button:only-child`)))
				on(issuer.URL)
				b.do(chromedp.Click(chromedp.CSS("button")), chromedp.WaitVisible(chromedp.CSS(showing)))
				on(base)
			}

			issuer.Fault(oidctest.OldProof)
			b.open("/rows?state=rejected")
			b.accessible("login " + name)
			goes(`form[action="/login/openid"] button`, `form[action="/logout"] button`)
			b.shows("rui", "Documentos")
			if at, err := chromedp.Run(b.ctx,
				chromedp.Evaluate[string](`location.pathname + location.search`)); err != nil ||
				at != "/rows?state=rejected" {
				t.Errorf("the browser is at %s, %v", at, err)
			}
			if got, want := back.taken(),
				[]string{"cross-site ", "same-origin safrasync-openid"}; !slices.Equal(got, want) {
				t.Errorf("the browser came back by %q, want %q", got, want)
			}
			kept := must.Get(chromedp.Call(b.ctx, network.GetCookies, network.GetCookiesParams{}))(t)
			names := map[string]bool{}
			for _, cookie := range kept.Cookies {
				names[cookie.Name] = true
				if !cookie.HTTPOnly || cookie.SameSite != network.CookieSameSiteStrict || cookie.Secure != over ||
					cookie.Path != "/" || !strings.HasPrefix(cookie.Name, prefix) ||
					strings.HasPrefix(cookie.Domain, ".") {
					t.Errorf("the cookie %+v", cookie)
				}
			}
			if !names[prefix+"safrasync"+suffix] || names[prefix+"safrasync-openid"+suffix] {
				t.Errorf("cookies %v", names)
			}

			// A link of another site, as in a mail that is read in the browser: who is logged in is
			// so there too.
			rows.taken()
			b.do(chromedp.Navigate(issuer.URL+"/.well-known/openid-configuration"),
				chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`location.href = %q; 0`, base+"/rows?state=accepted")),
				chromedp.WaitVisible(chromedp.CSS(`form[action="/logout"] button`)))
			b.shows("Documentos", "rui")
			if got := rows.taken(); len(got) != 2 || got[0] != "cross-site " ||
				!strings.HasPrefix(got[1], "same-origin safrasync") {
				t.Errorf("the browser came by the link as %q", got)
			}

			// Before a second sending the issuer asks again.
			doubt, _ := d.inDoubt()
			b.open("/doubts/" + strconv.FormatInt(doubt.ID, 10)) // from now on this host knows of the doubt
			d.sql("state.db", fmt.Sprintf(`UPDATE quarantine SET ticks = ticks - %d`, time.Hour))
			order := func() {
				t.Helper()
				b.open("/doubts/" + strconv.FormatInt(doubt.ID, 10))
				b.click(`#absent form[action="/act/resend"] button`)
				b.shows("se já existir lá, ficará duplicado")
			}
			order()
			issuer.Fault("")
			goes(`button[formaction="/account/prove"]`, `form[action="/logout"] button`)
			if got := back.taken(); len(got) != 2 || got[0] != "cross-site " ||
				!strings.HasPrefix(got[1], "same-origin safrasync") || !strings.Contains(got[1], "safrasync-openid") {
				t.Errorf("the browser came back by %q", got)
			}
			order()
			form := `form[action="/act/resend"] `
			b.do(chromedp.Click(chromedp.CSS(form + "input[name=checked]")))
			b.fill(form+"[name=reason]", "não está lá")
			b.click(form + "button")
			b.shows("É enviado de novo na próxima execução.")
			if e := d.entry("contracts", doubt.Key); e.State != trade.Pending || e.Generation != 2 {
				t.Errorf("the row is %s in generation %d, want pending in 2", e.State, e.Generation)
			}
			b.click(`form[action="/logout"] button`)
			b.open("/rows")
			b.shows("127.0.0.1")
			if list := complaints(); len(list) > 0 {
				t.Errorf("the browser complains: %s", strings.Join(list, "; "))
			}
			if asked := issuer.Asked(); len(asked) < 2 ||
				asked[len(asked)-1].Get("redirect_uri") != base+auth.BackPath {
				t.Errorf("the issuer was asked %v", asked)
			}
		})
	}
}
