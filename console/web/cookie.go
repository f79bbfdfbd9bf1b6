package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/trade"
)

// The cookies of every page. If browsers reach the console by TLS, the names begin with __Host-,
// which browsers accept only with Secure, without Domain, and for the whole host. On loopback
// without TLS that is impossible, so that the names differ there.
const (
	cookieLang  = "safrasync-lang"
	cookieTheme = "safrasync-theme"
	cookieTold  = "safrasync-told"
)

// DeviceLifetime is how long a browser is remembered.
const DeviceLifetime = 180 * 24 * time.Hour

// CookieName returns the full name of a cookie.
func (s *Site) CookieName(name string) string {
	if s.Secure {
		return "__Host-" + name
	}
	return name + "-loopback"
}

// SetCookie sets a cookie. Age 0 keeps it until the browser ends; a negative age removes it.
func (q *Request) SetCookie(name, value string, age time.Duration) {
	cookie := &http.Cookie{
		Name: q.Site.CookieName(name), Value: value, Path: "/", Secure: q.Site.Secure, HttpOnly: true,
		SameSite: http.SameSiteStrictMode, MaxAge: int(age / time.Second),
	}
	http.SetCookie(q.Writer, cookie)
}

// CookieValue returns the value of a cookie; "" if the browser has none.
func (q *Request) CookieValue(name string) string {
	cookie, err := q.Cookie(q.Site.CookieName(name))
	if err != nil {
		return ""
	}
	return cookie.Value
}

// token returns the token that forms of this login contain. It is derived from the secret, which no
// page contains.
func (q *Request) token() string {
	mac := hmac.New(sha256.New, []byte(q.Secret))
	_, _ = mac.Write([]byte("form")) // never fails
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// TokenFits reports whether the token of a form, or of the header that scripts send, is that of the
// login.
func (q *Request) TokenFits() bool {
	given := q.PostForm.Get("token")
	if given == "" {
		given = q.Header.Get("X-Token")
	}
	return subtle.ConstantTimeCompare([]byte(given), []byte(q.token())) == 1
}

// SetFlash stores the key of a sentence, with its counts, for the next page.
func (q *Request) SetFlash(key string, counts ...int) {
	for _, n := range counts {
		key += "," + strconv.Itoa(n)
	}
	q.SetCookie(cookieTold, key, time.Minute)
}

// PopFlash returns the stored sentence and removes it.
func (q *Request) PopFlash() string {
	parts := strings.Split(q.CookieValue(cookieTold), ",")
	key := "told." + parts[0]
	if !i18n.Console.Has(key) {
		return ""
	}
	q.SetCookie(cookieTold, "", -time.Second)
	v := q.Voice()
	var counts []any
	for _, part := range parts[1:] {
		n, _ := strconv.Atoi(part) // a cookie that somebody wrote by hand counts nothing
		counts = append(counts, v.Number(n))
	}
	return v.T(key, counts...)
}

// Prefer stores a language and an appearance in the browser, if they are valid.
func (q *Request) Prefer(lang trade.Lang, theme string) {
	if lang == trade.Portuguese || lang == trade.English {
		q.SetCookie(cookieLang, string(lang), DeviceLifetime)
	}
	if theme == "light" || theme == "dark" || theme == "auto" {
		q.SetCookie(cookieTheme, theme, DeviceLifetime)
	}
}
