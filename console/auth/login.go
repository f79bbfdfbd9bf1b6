package auth

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/connlimit"
	"github.com/safrasync/safrasync/trade"
)

// loginPage is the data of the login page.
type loginPage struct {
	Next  string
	Name  string
	Fault string // key of a phrase
	Wait  time.Duration
	Said  string // a whole sentence about a login by the issuer
}

func (s *Sessions) showLogin(q *web.Request) error {
	next := web.Local(q.Form.Get("next"))
	if q.Login != nil {
		return q.Redirect(next)
	}
	return q.Page(http.StatusOK, "login", loginPage{Next: next})
}

// logIn logs a person in. Whatever is wrong, the answer is the same and takes the same time.
func (s *Sessions) logIn(q *web.Request) error {
	name, password := UserName(q.PostForm.Get("name")), q.PostForm.Get("password")
	shown := loginPage{Next: web.Local(q.PostForm.Get("next")), Name: name}
	user, err := s.Users.User(q.Context(), name)
	if err != nil && !errors.Is(err, trade.ErrNobody) {
		return err
	}
	fits, wait, err := s.try(q, user, name, password)
	switch {
	case err != nil:
		return err
	case wait > 0:
		q.Site.Refused("tries", nil)
		shown.Fault, shown.Wait = "login.wait", wait
		return q.Page(http.StatusTooManyRequests, "login", shown)
	case !fits:
		shown.Fault = "The user name or password is incorrect."
		if err := s.Users.AppendAudit(q.Context(), failed(q, user)); err != nil {
			return err
		}
		return q.Page(http.StatusUnauthorized, "login", shown)
	}
	// the user may have been disabled or changed meanwhile
	if err := s.begin(q, user, "login", "", q.Site.Now()); errors.Is(err, trade.ErrNobody) {
		shown.Fault = "The user name or password is incorrect."
		return q.Page(http.StatusUnauthorized, "login", shown)
	} else if err != nil {
		return err
	}
	return q.Redirect(shown.Next)
}

// failed returns the audit record of a failed login. If the name is unknown, it is not recorded,
// because the text may be a password typed in the wrong field.
func failed(q *web.Request, user trade.User) trade.AuditRecord {
	record := q.Record("login failed", user.Name, "")
	record.Who = cmp.Or(user.Name, "?")
	return record
}

// try compares a password. After too many tries it does not compare, and wait is for how long.
func (s *Sessions) try(q *web.Request, user trade.User, name, password string) (
	fits bool, wait time.Duration, err error,
) {
	device := q.CookieValue(cookieDevice)
	if device != "" {
		device = hashOf(device)
		known, err := s.Logins.KnownDevice(q.Context(), device, user.ID, q.Site.Now().Add(-web.DeviceLifetime))
		if err != nil {
			return false, 0, err
		}
		if !known {
			device = ""
		}
	}
	now, tried := q.Site.Now(), buckets(name, device, q.From)
	until, err := s.Logins.Blocked(q.Context(), tried) // who must wait takes no place from others
	if err != nil {
		return false, 0, err
	}
	if until.After(now) {
		return false, max(until.Sub(now), time.Second), nil
	}
	leave, err := s.hashes.enter(q.Context(), q.From, device != "") // a busy console is no try
	if err != nil {
		return false, 0, err
	}
	defer leave()
	allowed, until, err := s.Logins.Try(q.Context(), tried, now, slower(now))
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

// begin creates a new login for a user and ends the one that the browser had. detail is for
// the audit; proved is when the person last proved their identity.
func (s *Sessions) begin(q *web.Request, user trade.User, act, detail string, proved time.Time) error {
	now := q.Site.Now()
	secret, device := newSecret(), q.CookieValue(cookieDevice)
	const anybody = 0 // several people may use one browser
	ours, err := s.Logins.KnownDevice(q.Context(), hashOf(device), anybody, now.Add(-web.DeviceLifetime))
	if err != nil {
		return err
	}
	if !ours { // none, or not issued by this console
		device = newSecret()
	}
	began := now
	replaces := ""
	if q.Login != nil {
		replaces = q.Login.Hash
		if q.Login.User.ID == user.ID && act == "proof" {
			began = q.Login.BeganAt // a proof does not extend the login
		}
	}
	login := trade.Login{Hash: hashOf(secret), User: user, BeganAt: began, SeenAt: now, ProvedAt: proved, From: q.From}
	record := q.Record(act, user.Name, detail)
	record.Who = user.Name
	tried := append(buckets(user.Name, "", q.From), buckets(user.Name, hashOf(device), q.From)...)
	tried = append(tried, issuerBucket(q.From))
	if err := s.Logins.LogIn(q.Context(), login, replaces, hashOf(device), tried, record); err != nil {
		return err
	}
	q.Secret, q.Login = secret, &login
	q.SetCookie(cookieLogin, secret, 0)
	q.SetCookie(cookieDevice, device, web.DeviceLifetime)
	return nil
}

func (s *Sessions) logOut(q *web.Request) error {
	if err := s.Logins.LogOut(q.Context(), q.Login.Hash, q.Record("logout", q.Login.User.Name, "")); err != nil {
		return err
	}
	q.SetCookie(cookieLogin, "", -time.Second)
	return q.Redirect("/login")
}

type accountPage struct{ Fault string }

func (s *Sessions) showAccount(q *web.Request) error {
	return q.Page(http.StatusOK, "account", accountPage{})
}

// changeOwnPassword requires the old password. All other logins of the person end.
func (s *Sessions) changeOwnPassword(q *web.Request) error {
	user, err := s.Users.User(q.Context(), q.Login.User.Name)
	if err != nil {
		return err
	}
	if user.Issuer != "" {
		return q.Page(http.StatusUnprocessableEntity, "account", accountPage{Fault: "users.elsewhere"})
	}
	fits, wait, err := s.try(q, user, user.Name, q.PostForm.Get("old"))
	if err != nil {
		return err
	}
	password := q.PostForm.Get("new")
	refuse := func(key string) error {
		return q.Page(http.StatusUnprocessableEntity, "account", accountPage{Fault: key})
	}
	switch fault := PasswordFault(password, user.Name); {
	case wait > 0:
		return refuse("Too many attempts. Wait a few minutes.")
	case !fits:
		return refuse("The current password is incorrect.")
	case fault != "":
		return refuse(fault)
	case password == q.PostForm.Get("old"):
		return refuse("The new password is the old one.")
	case password != q.PostForm.Get("again"):
		return refuse("The two new passwords are not the same.")
	}
	before := user
	user.Password, err = s.hashes.hash(q, password)
	if err != nil {
		return err
	}
	user.PasswordAt, user.FirstPassword = q.Site.Now(), false
	done, err := s.Users.ChangeUser(q.Context(), before, user, "user password", q.Person(""))
	if err != nil {
		return err
	}
	if !done {
		return refuse("An administrator has just changed your account. Log in again.")
	}
	user.Version++
	if err := s.begin(q, user, "login", "", q.Site.Now()); err != nil {
		return err
	}
	q.SetFlash("password")
	if before.FirstPassword {
		return q.Redirect("/")
	}
	return q.Redirect("/account")
}

// reserved are names that nobody gets: those of the host's first account and of the service, as
// they stand in the audit.
var reserved = []string{"root", "safrasync"}

// NewUserName is UserName for a user who is added. It also returns "" for a name that is not of
// the letters of Portuguese, digits, single blanks and ._-@, beginning with a letter or digit: others look like
// another person's, or do not fit into an address, a log line or a cell of a spreadsheet.
func NewUserName(text string) string {
	name := UserName(norm.NFKC.String(text))
	for i, r := range name {
		usual := r >= 'a' && r <= 'z' || r >= 'à' && r <= 'ÿ' && r != '÷' || r >= '0' && r <= '9'
		blank := r == ' ' && !strings.Contains(name, "  ")
		if !usual && (i == 0 || !blank && !strings.ContainsRune("._-@", r)) {
			return ""
		}
	}
	if slices.Contains(reserved, name) {
		return ""
	}
	return name
}

// UserName converts a name to the ledger's form: lower case, without surrounding blanks. It returns
// "" if the name is too long.
func UserName(text string) string {
	name := strings.ToLower(strings.TrimSpace(text))
	if utf8.RuneCountInString(name) > 100 {
		return ""
	}
	return name
}

// How failed logins are slowed down. A name is slowed down for unknown browsers only; a
// browser that the person has used before is counted separately, so that nobody can lock out
// another person. An address is slowed down later, because a whole office may share it.
const (
	freeTriesName    = 5
	freeTriesAddress = 20
	longestDelay     = 15 * time.Minute
	triesKept        = 24 * time.Hour // how long a failed try counts
)

// buckets returns the buckets in which a try to log in counts: the browser if the person has used
// it before, or else the name and the address. So a stranger at the same address does not lock out
// known browsers. An IPv6 host counts as one address, whatever address it chooses.
func buckets(name, device, from string) []string {
	if device != "" {
		return []string{"device:" + device}
	}
	return []string{"name:" + hashOf(name), "address:" + connlimit.Key(from)}
}

// issuerBucket returns the bucket for answers of an issuer. It is separate from passwords, so that
// a faulty issuer does not lock out people who have a password.
func issuerBucket(from string) string { return "openid:" + connlimit.Key(from) }

// slower returns the change of a bucket by one more try. After the free tries each doubles the next
// wait. A day without any resets the bucket.
func slower(now time.Time) func(trade.Tries) trade.Tries {
	return func(t trade.Tries) trade.Tries {
		if now.Sub(t.At) > triesKept {
			t.Failures = 0
		}
		t.Failures++
		t.At, t.Until = now, now
		free := freeTriesName
		if strings.HasPrefix(t.Bucket, "address:") || strings.HasPrefix(t.Bucket, "openid:") {
			free = freeTriesAddress
		}
		if over := t.Failures - free; over > 0 {
			delay := longestDelay
			if over <= 10 {
				delay = min(longestDelay, time.Second<<over)
			}
			t.Until = now.Add(delay)
		}
		return t
	}
}
