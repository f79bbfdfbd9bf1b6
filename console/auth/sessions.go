package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/trade"
)

const (
	cookieLogin  = "safrasync"
	cookieDevice = "safrasync-device"

	seenStep   = time.Minute      // precision of the stored time of last use
	issuerMost = time.Hour        // a login by the issuer, which states the role at each login only
	proofHolds = 10 * time.Minute // after the password was given, for acts that may double a record
)

// Users has the people of the console, and does the orders about them: package office. Its errors
// are trade.ErrNobody, ErrTaken, ErrLastAdministrator and ErrRole where they apply.
type Users interface {
	Users(ctx context.Context) ([]trade.User, error)
	User(ctx context.Context, name string) (trade.User, error)
	// UserFrom returns the user whom an issuer knows by a subject.
	UserFrom(ctx context.Context, issuer, subject string) (trade.User, error)
	AddUser(ctx context.Context, u trade.User, who trade.Person) error
	// ChangeUser also ends the user's logins. done is false if the user was changed since it was
	// read.
	ChangeUser(ctx context.Context, before, after trade.User, act string, who trade.Person) (done bool, err error)
	// AddFromIssuer and ChangeFromIssuer do the same on the word of an issuer, which is told to the
	// audit.
	AddFromIssuer(ctx context.Context, u trade.User, told any, who trade.Person) error
	ChangeFromIssuer(ctx context.Context, u trade.User, act string, told any, who trade.Person) (done bool, err error)
	// AppendAudit stores one record of an act that changes nothing else.
	AppendAudit(ctx context.Context, record trade.AuditRecord) error
}

// Logins stores who is logged in, the known browsers, and the tries.
type Logins interface {
	Login(ctx context.Context, hash string) (trade.Login, error)
	LogIn(ctx context.Context, l trade.Login, replaces, device string, buckets []string, record trade.AuditRecord) error
	// AllLogins returns the logins of all people, the last used first; their hashes are no secrets.
	AllLogins(ctx context.Context) ([]trade.Login, error)
	LoginSeen(ctx context.Context, hash string, at time.Time) error
	LogOut(ctx context.Context, hash string, record trade.AuditRecord) error
	KnownDevice(ctx context.Context, hash string, user int64, since time.Time) (bool, error)
	// Try counts a try in each bucket, before its result is known.
	Try(ctx context.Context, buckets []string, now time.Time,
		next func(trade.Tries) trade.Tries) (allowed bool, until time.Time, err error)
	// Blocked returns until when the longest blocked of the buckets is blocked, or was.
	Blocked(ctx context.Context, buckets []string) (until time.Time, err error)
	PruneLogins(ctx context.Context, began, seen, tried, device time.Time) error
}

// Parts are the parts of sessions.
type Parts struct {
	Users  Users
	Logins Logins
	OpenID *OpenID       // nil: people log in by a password of this ledger only
	Idle   time.Duration // how long a login lasts without use
	Most   time.Duration // how long a login lasts at most
}

// Sessions identifies people, and logs them in and out.
type Sessions struct {
	Parts
	hashes       *hasher
	administered atomic.Bool // there is an administrator with a password; never false again
}

// New returns the sessions of a console.
func New(o Parts) *Sessions { return &Sessions{Parts: o, hashes: newHasher()} }

// Routes lists the routes to log in and out, and the page of the users.
func (s *Sessions) Routes() []web.Route {
	return []web.Route{
		{Method: http.MethodGet, Path: "/login", Open: true, Handle: s.showLogin},
		{Method: http.MethodPost, Path: "/login", Open: true, Handle: s.logIn},
		{Method: http.MethodPost, Path: "/login/openid", Open: true, Handle: s.goToIssuer},
		{
			Method: http.MethodGet, Path: BackPath, Open: true, Takes: web.AnswerWithin + issuerAnswers,
			Handle: s.comeBack,
		},
		web.Post("/logout", trade.Reader, s.logOut).AtFirst(),
		web.Get("/account", trade.Reader, s.showAccount).AtFirst(),
		web.Post("/account/password", trade.Reader, s.changeOwnPassword).AtFirst(),
		web.Post("/account/prove", trade.Reader, s.proveAtIssuer),
		web.Get("/users", trade.Administrator, s.showUsers),
		web.Post("/users", trade.Administrator, s.addUser),
		web.Post("/users/{name}", trade.Administrator, s.changeUser),
	}
}

// Issuer returns the name of the login provider for people; "" if there is none.
func (s *Sessions) Issuer() string {
	if s.OpenID == nil {
		return ""
	}
	return s.OpenID.Label
}

// Administered reports whether there is an administrator who does not depend on an issuer. Once it
// is true it stays true.
func (s *Sessions) Administered(ctx context.Context) (bool, error) {
	if s.administered.Load() {
		return true, nil
	}
	users, err := s.Users.Users(ctx)
	if err != nil {
		return false, err
	}
	if !slices.ContainsFunc(users, func(u trade.User) bool {
		return u.Role == trade.Administrator && !u.Disabled && u.Issuer == ""
	}) {
		return false, nil
	}
	s.administered.Store(true)
	return true, nil
}

// Identify sets the login of a request, if it has one that has not expired.
func (s *Sessions) Identify(q *web.Request) error {
	q.Login, q.Secret = nil, q.CookieValue(cookieLogin)
	if q.Secret == "" {
		return nil
	}
	login, err := s.Logins.Login(q.Context(), hashOf(q.Secret))
	if errors.Is(err, trade.ErrNobody) {
		return nil
	}
	if err != nil {
		return err
	}
	if s.expired(q, login) {
		return nil
	}
	now := q.Site.Now()
	q.Login = &login
	// what the browser sends by itself does not count as use, so that the idle limit continues
	alone := q.URL.Path == "/live" || q.Header.Get("HX-Trigger") == "numbers" // of home.html
	if now.Sub(login.SeenAt) >= seenStep && !alone {
		if err := s.Logins.LoginSeen(q.Context(), login.Hash, now); err != nil { // the login then ends a little earlier
			q.Site.Log.Warn("console: nobody noted that a person is still there", zap.Error(err))
		}
	}
	return nil
}

// expired reports whether a login is over, or its issuer no longer vouches for the person.
func (s *Sessions) expired(q *web.Request, l trade.Login) bool {
	now, most := q.Site.Now(), s.Most
	issuer := l.User.Issuer
	if issuer != "" {
		most = min(most, issuerMost)
	}
	return now.Sub(l.SeenAt) > s.Idle || now.Sub(l.BeganAt) > most || l.BeganAt.After(now.Add(seenStep)) ||
		issuer != "" && (s.OpenID == nil || s.OpenID.Issuer != issuer)
}

// ToLogin answers a request without a valid login. If the link is from another site, the browser
// has not sent its cookie (SameSite=Strict); a page then sends it to the same address once more.
func (*Sessions) ToLogin(q *web.Request) error {
	next := web.Local(q.URL.RequestURI())
	switch {
	case q.Header.Get("HX-Request") == "true":
		q.Writer.Header().Set("HX-Redirect", "/login")
		return &web.Fault{Status: http.StatusUnauthorized, Code: "login"}
	case q.Method != http.MethodGet && q.Method != http.MethodHead:
		return &web.Fault{Status: http.StatusUnauthorized, Code: "login"}
	case q.Header.Get("Sec-Fetch-Site") == "cross-site":
		return q.Page(http.StatusOK, "onward", next)
	case next == "/":
		return q.Redirect("/login")
	}
	return q.Redirect("/login?next=" + url.QueryEscape(next))
}

// Proved reports whether the person has given the password, here or at the issuer, recently enough
// for an act that may double a record.
func (*Sessions) Proved(q *web.Request) bool {
	return q.Site.Now().Sub(q.Login.ProvedAt).Abs() <= proofHolds
}

// Prove checks the password again, before an act that may double a record. fault is the key of
// a phrase if it was wrong or missing.
func (s *Sessions) Prove(q *web.Request, password string) (fault string, err error) {
	if s.Proved(q) {
		return "", nil
	}
	if q.Login.User.Issuer != "" { // the user has no password here: see proveAtIssuer
		return "Confirm your identity first: this action may duplicate a record.", nil
	}
	if password == "" {
		return "Type your password: this action may duplicate a record.", nil
	}
	user, err := s.Users.User(q.Context(), q.Login.User.Name)
	if err != nil {
		return "", err
	}
	fits, wait, err := s.try(q, user, user.Name, password)
	switch {
	case err != nil:
		return "", err
	case wait > 0:
		return "Too many attempts. Wait a few minutes.", nil
	case !fits:
		return "The password is incorrect. Nothing was done.", s.Users.AppendAudit(q.Context(), failed(q, user))
	}
	return "", s.begin(q, user, "proof", "", q.Site.Now())
}

// Prune removes expired logins and tries. The housekeeping calls it.
func Prune(ctx context.Context, logins Logins, now time.Time, idle, most time.Duration) error {
	return logins.PruneLogins(ctx, now.Add(-most), now.Add(-idle-seenStep), now.Add(-triesKept),
		now.Add(-web.DeviceLifetime))
}

// newSecret returns 256 random bits as text.
func newSecret() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// hashOf returns what the ledger stores of a secret. The secret has as many bits as the hash, so
// that a slow hash would gain nothing.
func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
