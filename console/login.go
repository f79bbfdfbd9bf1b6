package console

import (
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/safrasync/safrasync/trade"
)

var loginRoutes = []route{
	{method: http.MethodGet, path: "/login", open: true, handle: showLogin},
	{method: http.MethodPost, path: "/login", open: true, handle: logIn},
	{method: http.MethodPost, path: "/logout", needs: trade.Reader, handle: logOut},
	{method: http.MethodPost, path: "/preferences", open: true, handle: setPreferences},
	{method: http.MethodGet, path: "/account", needs: trade.Reader, handle: showAccount},
	{method: http.MethodPost, path: "/account/password", needs: trade.Reader, handle: changeOwnPassword},
}

// loginPage is what the page of the login shows.
type loginPage struct {
	Next  string
	Name  string
	Fault string // key of a phrase
	Wait  time.Duration
	Said  string // a whole sentence, of a login by the issuer
}

func showLogin(q *request) error {
	next := local(q.FormValue("next"))
	if q.login != nil {
		return q.redirect(next)
	}
	return q.page(http.StatusOK, "login", loginPage{Next: next})
}

// logIn lets a person in. Whatever is wrong, the answer is the same and takes as long (C3).
func logIn(q *request) error {
	name, password := UserName(q.PostFormValue("name")), q.PostFormValue("password")
	shown := loginPage{Next: local(q.PostFormValue("next")), Name: name}
	user, err := q.c.Users.User(q.Context(), name)
	if err != nil && !errors.Is(err, trade.ErrNobody) {
		return err
	}
	fits, wait, err := q.try(user, name, password)
	switch {
	case err != nil:
		return err
	case wait > 0:
		shown.Fault, shown.Wait = "login.wait", wait
		return q.page(http.StatusTooManyRequests, "login", shown)
	case !fits:
		shown.Fault = "login.wrong"
		if err := q.c.Users.AppendAudit(q.Context(), q.failed(user)); err != nil {
			return err
		}
		return q.page(http.StatusUnauthorized, "login", shown)
	}
	// disabled, or changed, at this moment
	if err := q.begin(user, "login", "", q.c.Now()); errors.Is(err, trade.ErrNobody) {
		shown.Fault = "login.wrong"
		return q.page(http.StatusUnauthorized, "login", shown)
	} else if err != nil {
		return err
	}
	return q.redirect(shown.Next)
}

// failed is the record of a login that failed. What was typed for a name that does not exist may be
// a password, so it is not kept.
func (q *request) failed(user trade.User) trade.AuditRecord {
	record := q.record("login failed", user.Name, "", "")
	if record.Who = user.Name; user.Name == "" {
		record.Who = "?"
	}
	return record
}

// try compares a password, unless that was tried too often: then wait tells for how long.
func (q *request) try(user trade.User, name, password string) (fits bool, wait time.Duration, err error) {
	device := q.cookie(cookieDevice)
	if device != "" {
		device = hashOf(device)
		known, err := q.c.Logins.KnownDevice(q.Context(), device, user.ID, q.c.Now().Add(-deviceKept))
		if err != nil {
			return false, 0, err
		}
		if !known {
			device = ""
		}
	}
	leave, err := q.c.hashes.enter(q.Context()) // before it counts: a console that is busy is no try
	if err != nil {
		return false, 0, err
	}
	defer leave()
	now := q.c.Now()
	allowed, until, err := q.c.Logins.Try(q.Context(), buckets(name, device, q.from), now, slower(now))
	if err != nil {
		return false, 0, err
	}
	if !allowed {
		return false, max(until.Sub(now), time.Second), nil
	}
	stored := user.Password
	if user.Disabled {
		stored = ""
	}
	return q.c.hashes.fits(password, stored), 0, nil
}

// begin makes a new login for a user; the one that the browser had ends (C5). detail is for the
// audit, proved is when the person proved who it is.
func (q *request) begin(user trade.User, act, detail string, proved time.Time) error {
	now := q.c.Now()
	secret, device := newSecret(), q.cookie(cookieDevice)
	const anybody = 0 // several people may use one browser
	ours, err := q.c.Logins.KnownDevice(q.Context(), hashOf(device), anybody, now.Add(-deviceKept))
	if err != nil {
		return err
	}
	if !ours { // none, or one that the console did not give
		device = newSecret()
	}
	began := now
	replaces := ""
	if q.login != nil {
		replaces = q.login.Hash
		if q.login.User.ID == user.ID && act == "proof" {
			began = q.login.BeganAt // to prove oneself does not make it last longer
		}
	}
	login := trade.Login{Hash: hashOf(secret), User: user, BeganAt: began, SeenAt: now, ProvedAt: proved, From: q.from}
	record := q.record(act, user.Name, "", detail)
	record.Who = user.Name
	tried := append(buckets(user.Name, "", q.from), buckets(user.Name, hashOf(device), q.from)...)
	tried = append(tried, issuerBucket(q.from)) // a whole office may log in from one address
	if err := q.c.Logins.LogIn(q.Context(), login, replaces, hashOf(device), tried, record); err != nil {
		return err
	}
	q.secret, q.login = secret, &login
	q.setCookie(cookieLogin, secret, 0)
	q.setCookie(cookieDevice, device, deviceKept)
	return nil
}

func logOut(q *request) error {
	if err := q.c.Logins.LogOut(q.Context(), q.login.Hash, q.record("logout", q.login.User.Name, "", "")); err != nil {
		return err
	}
	q.setCookie(cookieLogin, "", -time.Second)
	return q.redirect("/login")
}

// setPreferences keeps the language and the appearance in the browser.
func setPreferences(q *request) error {
	if lang := trade.Lang(q.PostFormValue("lang")); lang == trade.Portuguese || lang == trade.English {
		q.setCookie(cookieLang, string(lang), deviceKept)
	}
	if theme := q.PostFormValue("theme"); theme == "light" || theme == "dark" || theme == "auto" {
		q.setCookie(cookieTheme, theme, deviceKept)
	}
	return q.redirect(local(q.PostFormValue("next")))
}

type accountPage struct{ Fault string }

func showAccount(q *request) error { return q.page(http.StatusOK, "account", accountPage{}) }

// changeOwnPassword takes the old password first; every other login of the person ends.
func changeOwnPassword(q *request) error {
	user, err := q.c.Users.User(q.Context(), q.login.User.Name)
	if err != nil {
		return err
	}
	if user.Issuer != "" {
		return q.page(http.StatusUnprocessableEntity, "account", accountPage{Fault: "users.elsewhere"})
	}
	fits, wait, err := q.try(user, user.Name, q.PostFormValue("old"))
	if err != nil {
		return err
	}
	password := q.PostFormValue("new")
	refuse := func(key string) error {
		return q.page(http.StatusUnprocessableEntity, "account", accountPage{Fault: key})
	}
	switch fault := PasswordFault(password, user.Name); {
	case wait > 0:
		return refuse("account.wait")
	case !fits:
		return refuse("account.wrong")
	case fault != "":
		return refuse(fault)
	case password != q.PostFormValue("again"):
		return refuse("password.differs")
	}
	if user.Password, err = q.c.hashes.hash(q.Context(), password); err != nil {
		return err
	}
	user.PasswordAt = q.c.Now()
	done, err := q.c.Users.ChangeUser(q.Context(), user, q.record("user password", user.Name, "", ""))
	if err != nil {
		return err
	}
	if !done {
		return refuse("account.moved")
	}
	user.Version++
	if err := q.begin(user, "login", "", q.c.Now()); err != nil {
		return err
	}
	q.tell("password")
	return q.redirect("/account")
}

// NewUserName is UserName for somebody who is added: "" also for a name that an address or a line
// of a log could not hold.
func NewUserName(text string) string {
	name := UserName(text)
	if strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsPrint(r) ||
			strings.ContainsRune(`/\?#%`, r)
	}) {
		return ""
	}
	return name
}

// UserName brings a name into the form that the ledger has: lower case, without blanks around it.
func UserName(text string) string {
	name := strings.ToLower(strings.TrimSpace(text))
	if utf8.RuneCountInString(name) > 100 {
		return ""
	}
	return name
}
