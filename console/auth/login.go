package auth

import (
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/trade"
)

func (s *Sessions) loginRoutes() []web.Route {
	return []web.Route{
		{Method: http.MethodGet, Path: "/login", Open: true, Handle: s.showLogin},
		{Method: http.MethodPost, Path: "/login", Open: true, Handle: s.logIn},
		web.Post("/logout", trade.Reader, s.logOut),
		web.Get("/account", trade.Reader, s.showAccount),
		web.Post("/account/password", trade.Reader, s.changeOwnPassword),
	}
}

// loginPage is what the page of the login shows.
type loginPage struct {
	Next  string
	Name  string
	Fault string // key of a phrase
	Wait  time.Duration
	Said  string // a whole sentence, of a login by the issuer
}

func (s *Sessions) showLogin(q *web.Request) error {
	next := web.Local(q.FormValue("next"))
	if q.Login != nil {
		return q.Redirect(next)
	}
	return q.Page(http.StatusOK, "login", loginPage{Next: next})
}

// logIn lets a person in. Whatever is wrong, the answer is the same and takes as long (C3).
func (s *Sessions) logIn(q *web.Request) error {
	name, password := UserName(q.PostFormValue("name")), q.PostFormValue("password")
	shown := loginPage{Next: web.Local(q.PostFormValue("next")), Name: name}
	user, err := s.Users.User(q.Context(), name)
	if err != nil && !errors.Is(err, trade.ErrNobody) {
		return err
	}
	fits, wait, err := s.try(q, user, name, password)
	switch {
	case err != nil:
		return err
	case wait > 0:
		shown.Fault, shown.Wait = "login.wait", wait
		return q.Page(http.StatusTooManyRequests, "login", shown)
	case !fits:
		shown.Fault = "login.wrong"
		if err := s.Users.AppendAudit(q.Context(), failed(q, user)); err != nil {
			return err
		}
		return q.Page(http.StatusUnauthorized, "login", shown)
	}
	// disabled, or changed, at this moment
	if err := s.begin(q, user, "login", "", q.Site.Now()); errors.Is(err, trade.ErrNobody) {
		shown.Fault = "login.wrong"
		return q.Page(http.StatusUnauthorized, "login", shown)
	} else if err != nil {
		return err
	}
	return q.Redirect(shown.Next)
}

// failed is the record of a login that failed. What was typed for a name that does not exist may be
// a password, so it is not kept.
func failed(q *web.Request, user trade.User) trade.AuditRecord {
	record := q.Record("login failed", user.Name, "", "")
	if record.Who = user.Name; user.Name == "" {
		record.Who = "?"
	}
	return record
}

// try compares a password, unless that was tried too often: then wait tells for how long.
func (s *Sessions) try(q *web.Request, user trade.User, name, password string) (
	fits bool, wait time.Duration, err error,
) {
	device := q.CookieValue(cookieDevice)
	if device != "" {
		device = hashOf(device)
		known, err := s.Logins.KnownDevice(q.Context(), device, user.ID, q.Site.Now().Add(-web.DeviceKept))
		if err != nil {
			return false, 0, err
		}
		if !known {
			device = ""
		}
	}
	leave, err := s.hashes.enter(q.Context()) // before it counts: a console that is busy is no try
	if err != nil {
		return false, 0, err
	}
	defer leave()
	now := q.Site.Now()
	allowed, until, err := s.Logins.Try(q.Context(), buckets(name, device, q.From), now, slower(now))
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
	return s.hashes.fits(password, stored), 0, nil
}

// begin makes a new login for a user; the one that the browser had ends (C5). detail is for the
// audit, proved is when the person proved who it is.
func (s *Sessions) begin(q *web.Request, user trade.User, act, detail string, proved time.Time) error {
	now := q.Site.Now()
	secret, device := newSecret(), q.CookieValue(cookieDevice)
	const anybody = 0 // several people may use one browser
	ours, err := s.Logins.KnownDevice(q.Context(), hashOf(device), anybody, now.Add(-web.DeviceKept))
	if err != nil {
		return err
	}
	if !ours { // none, or one that the console did not give
		device = newSecret()
	}
	began := now
	replaces := ""
	if q.Login != nil {
		replaces = q.Login.Hash
		if q.Login.User.ID == user.ID && act == "proof" {
			began = q.Login.BeganAt // to prove oneself does not make it last longer
		}
	}
	login := trade.Login{Hash: hashOf(secret), User: user, BeganAt: began, SeenAt: now, ProvedAt: proved, From: q.From}
	record := q.Record(act, user.Name, "", detail)
	record.Who = user.Name
	tried := append(buckets(user.Name, "", q.From), buckets(user.Name, hashOf(device), q.From)...)
	tried = append(tried, issuerBucket(q.From)) // a whole office may log in from one address
	if err := s.Logins.LogIn(q.Context(), login, replaces, hashOf(device), tried, record); err != nil {
		return err
	}
	q.Secret, q.Login = secret, &login
	q.SetCookie(cookieLogin, secret, 0)
	q.SetCookie(cookieDevice, device, web.DeviceKept)
	return nil
}

func (s *Sessions) logOut(q *web.Request) error {
	if err := s.Logins.LogOut(q.Context(), q.Login.Hash, q.Record("logout", q.Login.User.Name, "", "")); err != nil {
		return err
	}
	q.SetCookie(cookieLogin, "", -time.Second)
	return q.Redirect("/login")
}

type accountPage struct{ Fault string }

func (s *Sessions) showAccount(q *web.Request) error {
	return q.Page(http.StatusOK, "account", accountPage{})
}

// changeOwnPassword takes the old password first; every other login of the person ends.
func (s *Sessions) changeOwnPassword(q *web.Request) error {
	user, err := s.Users.User(q.Context(), q.Login.User.Name)
	if err != nil {
		return err
	}
	if user.Issuer != "" {
		return q.Page(http.StatusUnprocessableEntity, "account", accountPage{Fault: "users.elsewhere"})
	}
	fits, wait, err := s.try(q, user, user.Name, q.PostFormValue("old"))
	if err != nil {
		return err
	}
	password := q.PostFormValue("new")
	refuse := func(key string) error {
		return q.Page(http.StatusUnprocessableEntity, "account", accountPage{Fault: key})
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
	if user.Password, err = s.hashes.hash(q.Context(), password); err != nil {
		return err
	}
	user.PasswordAt = q.Site.Now()
	done, err := s.Users.ChangeUser(q.Context(), user, q.Record("user password", user.Name, "", ""))
	if err != nil {
		return err
	}
	if !done {
		return refuse("account.moved")
	}
	user.Version++
	if err := s.begin(q, user, "login", "", q.Site.Now()); err != nil {
		return err
	}
	q.Tell("password")
	return q.Redirect("/account")
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
