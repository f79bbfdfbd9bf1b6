package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"time"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/trade"
)

// The cookies of every page. Where browsers reach the console by TLS their names begin with
// __Host-, which browsers take only with Secure, without Domain, and for the whole host; on
// loopback without TLS they cannot, so that they have other names there.
const (
	cookieLang  = "safrasync-lang"
	cookieTheme = "safrasync-theme"
	cookieTold  = "safrasync-told"
)

// DeviceKept is how long a browser is known.
const DeviceKept = 180 * 24 * time.Hour

// CookieName is the name that a cookie has for browsers.
func (s *Site) CookieName(name string) string {
	if s.Secure {
		return "__Host-" + name
	}
	return name + "-loopback"
}

// SetCookie sets a cookie; age 0 is until the browser ends, below 0 removes it.
func (q *Request) SetCookie(name, value string, age time.Duration) {
	cookie := &http.Cookie{
		Name: q.Site.CookieName(name), Value: value, Path: "/", Secure: q.Site.Secure, HttpOnly: true,
		SameSite: http.SameSiteStrictMode, MaxAge: int(age / time.Second),
	}
	http.SetCookie(q.Writer, cookie)
}

// CookieValue is what the browser has in a cookie; "" where it has none.
func (q *Request) CookieValue(name string) string {
	cookie, err := q.Cookie(q.Site.CookieName(name))
	if err != nil {
		return ""
	}
	return cookie.Value
}

// token is what forms of this login carry. It is made of the secret, which no page holds.
func (q *Request) token() string {
	mac := hmac.New(sha256.New, []byte(q.Secret))
	_, _ = mac.Write([]byte("form")) // never fails
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// TokenFits compares the token of a form, or of the header that scripts send, with that of the
// login (C7).
func (q *Request) TokenFits() bool {
	given := q.PostFormValue("token")
	if given == "" {
		given = q.Header.Get("X-Token")
	}
	return subtle.ConstantTimeCompare([]byte(given), []byte(q.token())) == 1
}

// Tell keeps a sentence, by its key, for the next page.
func (q *Request) Tell(key string) { q.SetCookie(cookieTold, key, time.Minute) }

// Told returns the sentence that was kept, once.
func (q *Request) Told() string {
	key := "told." + q.CookieValue(cookieTold)
	if !i18n.Console.Has(i18n.Key(key)) {
		return ""
	}
	q.SetCookie(cookieTold, "", -time.Second)
	return key
}

// Prefer keeps a language and an appearance in the browser, where they are some.
func (q *Request) Prefer(lang trade.Lang, theme string) {
	if lang == trade.Portuguese || lang == trade.English {
		q.SetCookie(cookieLang, string(lang), DeviceKept)
	}
	if theme == "light" || theme == "dark" || theme == "auto" {
		q.SetCookie(cookieTheme, theme, DeviceKept)
	}
}

// langOf is the language that the person has chosen, or that of the configuration.
func (q *Request) langOf() trade.Lang {
	switch lang := trade.Lang(q.CookieValue(cookieLang)); lang {
	case trade.English, trade.Portuguese:
		return lang
	}
	return q.Site.Lang
}

// themeOf is light, dark, or "" for that of the system.
func (q *Request) themeOf() string {
	if theme := q.CookieValue(cookieTheme); theme == "light" || theme == "dark" {
		return theme
	}
	return ""
}
