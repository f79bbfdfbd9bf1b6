package console

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/trade"
)

// The cookies. Where browsers reach the console by TLS their names begin with __Host-, which
// browsers take only with Secure, without Domain, and for the whole host; on loopback without TLS
// they cannot, so that they have other names there.
const (
	cookieLogin  = "safrasync"
	cookieDevice = "safrasync-device"
	cookieLang   = "safrasync-lang"
	cookieTheme  = "safrasync-theme"
	cookieTold   = "safrasync-told"
)

func (c *Console) cookieName(name string) string {
	if c.Secure {
		return "__Host-" + name
	}
	return name + "-loopback"
}

// setCookie sets a cookie; age 0 is until the browser ends, below 0 removes it.
func (q *request) setCookie(name, value string, age time.Duration) {
	cookie := &http.Cookie{
		Name: q.c.cookieName(name), Value: value, Path: "/", Secure: q.c.Secure, HttpOnly: true,
		SameSite: http.SameSiteStrictMode, MaxAge: int(age / time.Second),
	}
	http.SetCookie(q.w, cookie)
}

func (q *request) cookie(name string) string {
	cookie, err := q.Cookie(q.c.cookieName(name))
	if err != nil {
		return ""
	}
	return cookie.Value
}

// newSecret is 256 bits that nobody can guess.
func newSecret() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// hashOf is what the ledger keeps of a secret. It has as many bits as its hash: nothing is gained
// by a slow one.
func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// token is what forms of this login carry. It is made of the secret, which no page holds.
func (q *request) token() string {
	mac := hmac.New(sha256.New, []byte(q.secret))
	_, _ = mac.Write([]byte("form")) // never fails
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// alone tells whether the browser asks by itself: that is no use, and the idle limit goes on.
func (q *request) alone() bool {
	return q.URL.Path == "/live" || q.Header.Get("HX-Trigger") == "numbers" // of home.html
}

// whoAsks finds the login of the request, if it has one that is not over.
func (q *request) whoAsks() error {
	q.secret = q.cookie(cookieLogin)
	if q.secret == "" {
		return nil
	}
	login, err := q.c.Logins.Login(q.Context(), hashOf(q.secret))
	if errors.Is(err, trade.ErrNobody) {
		return nil
	}
	if err != nil {
		return err
	}
	now := q.c.Now()
	if now.Sub(login.SeenAt) > q.c.Idle || now.Sub(login.BeganAt) > q.c.Most || login.BeganAt.After(now.Add(seenStep)) {
		return nil
	}
	if q.c.foreign(login.User) { // nobody answers for that person any more
		return nil
	}
	q.login = &login
	if now.Sub(login.SeenAt) >= seenStep && !q.alone() {
		if err := q.c.Logins.LoginSeen(q.Context(), login.Hash, now); err != nil { // it ends a little earlier
			q.c.Log.Warn("console: nobody noted that a person is still there", zap.Error(err))
		}
	}
	return nil
}

// proved tells whether the person has given the password, here or at the issuer, lately enough for
// what may double a record (C9).
func (q *request) proved() bool { return q.c.Now().Sub(q.login.ProvedAt).Abs() <= proofHolds }

// toLogin answers a request that nobody is logged in for. A browser that comes from another site
// does not show who it is (SameSite=Strict): it is sent on to the same page once.
func (q *request) toLogin() error {
	switch {
	case q.Header.Get("HX-Request") == "true":
		q.w.Header().Set("HX-Redirect", "/login")
		return &fault{http.StatusUnauthorized, "login", nil}
	case q.Method != http.MethodGet && q.Method != http.MethodHead:
		return &fault{http.StatusUnauthorized, "login", nil}
	case q.Header.Get("Sec-Fetch-Site") == "cross-site":
		return q.page(http.StatusOK, "onward", local(q.URL.RequestURI()))
	}
	next := local(q.URL.RequestURI())
	if next == "/" {
		return q.redirect("/login")
	}
	return q.redirect("/login?next=" + url.QueryEscape(next))
}

// tell keeps a sentence, by its key, for the next page.
func (q *request) tell(key string) { q.setCookie(cookieTold, key, time.Minute) }

// told gives the sentence that was kept, once.
func (q *request) told() string {
	key := "told." + q.cookie(cookieTold)
	if !i18n.Console.Has(i18n.Key(key)) {
		return ""
	}
	q.setCookie(cookieTold, "", -time.Second)
	return key
}

// langOf is the language that the person has chosen, or that of the configuration.
func (q *request) langOf() trade.Lang {
	switch trade.Lang(q.cookie(cookieLang)) {
	case trade.English:
		return trade.English
	case trade.Portuguese:
		return trade.Portuguese
	}
	return q.c.Lang
}

// themeOf is light, dark, or "" for that of the system.
func (q *request) themeOf() string {
	if theme := q.cookie(cookieTheme); theme == "light" || theme == "dark" {
		return theme
	}
	return ""
}
