package auth

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/connlimit"
	"github.com/safrasync/safrasync/trade"
)

// BackPath is the path to which an issuer redirects browsers. With the address of the console
// before it, it must be registered at the issuer.
const BackPath = "/login/openid/back"

// flowLasts is how long somebody may take to log in at the issuer.
const flowLasts = 10 * time.Minute

const cookieFlow = "safrasync-openid"

// flow is a login at the issuer in progress. Only the browser stores it. State, nonce and verifier
// are derived from its secret, so that an answer is valid in this browser alone, and only once,
// because the first answer that is processed removes the cookie.
type flow struct {
	secret string
	began  time.Time
	proof  bool // the person is logged in already and proves their identity
	next   string
}

// part returns one of the values that are derived from the secret.
func (f flow) part(name string) string {
	mac := hmac.New(sha256.New, []byte(f.secret))
	_, _ = mac.Write([]byte("openid " + name)) // never fails
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// flow returns the browser's flow. ok is false if there is none, or if it has expired.
func (s *Sessions) flow(q *web.Request) (f flow, ok bool) {
	parts := strings.Split(q.CookieValue(cookieFlow), ".")
	if len(parts) != 4 || len(parts[0]) < 40 {
		return f, false
	}
	began, err := strconv.ParseInt(parts[1], 10, 64)
	next, errNext := base64.RawURLEncoding.DecodeString(parts[3])
	if err != nil || errNext != nil {
		return f, false
	}
	f = flow{parts[0], time.Unix(began, 0), parts[2] == "proof", web.Local(string(next))}
	age := q.Site.Now().Sub(f.began)
	return f, age > -time.Minute && age < flowLasts
}

// back returns the address to which the issuer redirects this browser: under the host name that the
// browser uses, which is one of those configured.
func (s *Sessions) back(q *web.Request) string {
	scheme := "http://"
	if q.Site.Secure {
		scheme = "https://"
	}
	return scheme + q.Host + BackPath
}

func (s *Sessions) goToIssuer(q *web.Request) error {
	if s.OpenID == nil {
		return web.ErrNotFound
	}
	return s.toIssuer(q, flow{next: web.Local(q.PostForm.Get("next"))})
}

// proveAtIssuer lets a person without a password here prove their identity again, before an act
// that may double a record.
func (s *Sessions) proveAtIssuer(q *web.Request) error {
	if q.Login.User.Issuer == "" {
		return web.ErrNotFound
	}
	return s.toIssuer(q, flow{next: web.Local(q.PostForm.Get("next")), proof: true})
}

// toIssuer sends the browser to the issuer. It uses a page with a link, because a form may only
// lead to this console.
func (s *Sessions) toIssuer(q *web.Request, f flow) error {
	f.secret, f.began = newSecret(), q.Site.Now()
	if len(f.next) > 1024 { // cookies are limited in size
		f.next = "/"
	}
	address, err := s.OpenID.address(q.Context(), f, s.back(q), q.Site.Now())
	if err != nil {
		return s.issuerDown(q, f, err)
	}
	kind := "login"
	if f.proof {
		kind = "proof"
	}
	q.SetCookie(cookieFlow, strings.Join([]string{
		f.secret, strconv.FormatInt(f.began.Unix(), 10), kind,
		base64.RawURLEncoding.EncodeToString([]byte(f.next)),
	}, "."), flowLasts)
	return q.Page(http.StatusOK, "away", address)
}

// issuerDown shows that the issuer does not answer. People with a password here can still log in.
func (s *Sessions) issuerDown(q *web.Request, f flow, err error) error {
	if errors.Is(err, web.ErrBusy) {
		return err
	}
	if err := s.recordFailureOnce(q, f, "the issuer does not answer", q.Site.Now().Add(time.Minute)); err != nil {
		return err
	}
	q.Site.Log.Warn("console: the issuer of logins does not answer", zap.String("id", q.ID), zap.Error(err))
	return s.notIn(q, f, http.StatusServiceUnavailable, "%s did not answer. Try again in a moment; users who have a password in this program can log in with it.")
}

// notIn shows the login page with the reason why somebody was not logged in. A login from that page
// goes on to the page that was wanted.
func (s *Sessions) notIn(q *web.Request, f flow, status int, key string, more ...any) error {
	return q.Page(status, "login", loginPage{
		Next: web.Local(f.next),
		Said: q.Voice().T(key, append([]any{s.OpenID.Label}, more...)...),
	})
}

// recordFailure records in the audit that somebody was not logged in by the issuer, with one of a few
// causes. The person recorded is that of the session if the flow is a proof, otherwise the person
// named by the issuer, if that is a user here.
func (s *Sessions) recordFailure(q *web.Request, f flow, user trade.User, v visitor, cause string) error {
	if f.proof && q.Login != nil {
		user = q.Login.User
	}
	record := failed(q, user)
	record.Detail = v.detail(s.OpenID.Issuer, cause)
	return s.Users.AppendAudit(q.Context(), record)
}

// recordFailureOnce is kept for failures that anybody can cause without the issuer. For each address, or
// each person of a session, it records a cause only once until a time, so that nobody can fill the
// audit.
func (s *Sessions) recordFailureOnce(q *web.Request, f flow, cause string, until time.Time) error {
	whose := connlimit.Key(q.From)
	if f.proof && q.Login != nil {
		whose = hashOf(q.Login.User.Name)
	}
	now := q.Site.Now()
	first, _, err := s.Logins.Try(q.Context(), []string{"openid-kept:" + whose + " " + cause}, now,
		func(t trade.Tries) trade.Tries { return trade.Tries{Bucket: t.Bucket, At: now, Until: until} })
	if err != nil || !first {
		return err
	}
	return s.recordFailure(q, f, trade.User{}, visitor{}, cause)
}

// forgetFlow removes the browser's flow.
func (s *Sessions) forgetFlow(q *web.Request) {
	if q.CookieValue(cookieFlow) != "" {
		q.SetCookie(cookieFlow, "", -time.Second)
	}
}

// comeBack handles the redirect from the issuer. If anything in it is wrong, nobody is logged in.
func (s *Sessions) comeBack(q *web.Request) error {
	if s.OpenID == nil {
		return q.Redirect("/login")
	}
	f, ok := s.flow(q)
	// Browsers send no cookies with requests that other sites cause: request the same address once
	// more, from a page of ours.
	if !ok && q.Header.Get("Sec-Fetch-Site") == "cross-site" {
		return q.Page(http.StatusOK, "onward", web.Local(q.URL.RequestURI()))
	}
	given := q.URL.Query()
	if !ok || subtle.ConstantTimeCompare([]byte(given.Get("state")), []byte(f.part("state"))) != 1 {
		s.forgetFlow(q)
		return s.notIn(q, f, http.StatusBadRequest, "This login through %s was not started in this browser, or took too long. Start again.")
	}
	now, tried := q.Site.Now(), []string{issuerBucket(q.From)}
	until, err := s.Logins.Blocked(q.Context(), tried) // who must wait takes no turn from others
	if err != nil {
		return err
	}
	if until.After(now) {
		return s.slowed(q, f, now, until)
	}
	ctx, end, err := s.OpenID.talk(q.Context())
	if err != nil { // the flow stays valid: reloading the page continues it, and this is no try
		return err
	}
	defer end()
	// each attempt causes a request to the issuer or an audit record
	allowed, until, err := s.Logins.Try(q.Context(), tried, now, slower(now))
	switch {
	case err != nil:
		return err
	case !allowed:
		return s.slowed(q, f, now, until)
	}
	s.forgetFlow(q)
	if iss := given.Get("iss"); iss != "" && iss != s.OpenID.Issuer {
		return s.refused(q, f, visitor{}, &refusal{"the answer is of another issuer", nil})
	}
	if code := given.Get("error"); code != "" {
		q.Site.Log.Info("console: the issuer of logins let somebody not in", zap.String("id", q.ID),
			zap.String("code", oneWord(code)))
		if err := s.recordFailure(q, f, trade.User{}, visitor{}, "the issuer lets nobody in"); err != nil {
			return err
		}
		return s.notIn(q, f, http.StatusForbidden, "%s did not confirm the login: it was cancelled, or you have no access there. Try again, or talk to IT.")
	}
	v, err := s.OpenID.visitor(ctx, f, given.Get("code"), s.back(q), now)
	if refused := (*refusal)(nil); errors.As(err, &refused) {
		return s.refused(q, f, v, refused)
	}
	if err != nil {
		return s.issuerDown(q, f, err)
	}
	return s.enter(q, f, v)
}

// slowed shows how long the address must wait.
func (s *Sessions) slowed(q *web.Request, f flow, now, until time.Time) error {
	q.Site.Refused("tries", nil)
	if err := s.recordFailureOnce(q, f, "too many tries", until); err != nil {
		return err
	}
	return q.Page(http.StatusTooManyRequests, "login",
		loginPage{Next: web.Local(f.next), Fault: "login.wait", Wait: max(until.Sub(now), time.Second)})
}

// refused shows that the issuer's answer cannot be trusted. The audit gets the cause; the log also
// gets the error behind it.
func (s *Sessions) refused(q *web.Request, f flow, v visitor, why *refusal) error {
	q.Site.Log.Warn("console: a login at the issuer was refused", zap.String("id", q.ID), zap.Error(why))
	user := trade.User{}
	if v.Subject != "" {
		var err error
		user, err = s.Users.UserFrom(q.Context(), s.OpenID.Issuer, v.Subject)
		if err != nil && !errors.Is(err, trade.ErrNobody) {
			return err
		}
	}
	if err := s.recordFailure(q, f, user, v, why.cause); err != nil {
		return err
	}
	return s.notIn(q, f, http.StatusUnauthorized, "The answer from %s could not be accepted. Start again; if it happens again, give IT the number %s.", q.ID)
}

// enter logs in the person whom the issuer names, if the issuer gives a role and the user is not
// disabled here.
func (s *Sessions) enter(q *web.Request, f flow, v visitor) error {
	issuer := s.OpenID.Issuer
	user, err := s.Users.UserFrom(q.Context(), issuer, v.Subject)
	if err != nil && !errors.Is(err, trade.ErrNobody) {
		return err
	}
	known := err == nil
	switch {
	case f.proof && q.Login == nil:
		return s.refuse(q, f, user, v, "%s confirmed your identity, but your session in this program has since ended. Nothing was done; log in again.", "the session has ended")
	case f.proof && (!known || q.Login.User.ID != user.ID):
		return s.refuse(q, f, user, v, "%s confirmed a different person from the one of this session. Nothing was done.", "another person")
	case f.proof && v.at.Before(f.began.Add(-clockSkew)):
		return s.refuse(q, f, user, v, "%s did not ask for your password again, which this action requires. Nothing was done; tell IT.", "not asked again")
	case known && user.Disabled:
		return s.refuse(q, f, user, v, "%s confirmed your identity, but the user %s is disabled in this program. Talk to an administrator.", "disabled", user.Name)
	case v.Role == "" && known:
		done, err := s.Users.ChangeFromIssuer(q.Context(), user, "login failed", v.claims(issuer, "no role"),
			as(q, user.Name)) // it ends all sessions of the user
		if err != nil {
			return err
		}
		if !done { // another change of the user has already ended the sessions
			return s.refuse(q, f, user, v, "%s confirmed your identity, but gives you no role in this program. Ask IT for one: reader, accountant or administrator.", "no role")
		}
		return s.notIn(q, f, http.StatusForbidden, "%s confirmed your identity, but gives you no role in this program. Ask IT for one: reader, accountant or administrator.")
	case v.Role == "":
		return s.refuse(q, f, user, v, "%s confirmed your identity, but gives you no role in this program. Ask IT for one: reader, accountant or administrator.", "no role")
	case !known:
		// The person's name in the ledger and the audit from now on: the address if the issuer has verified
		// it, or the login name, or else one that cannot be confused with either.
		name := NewUserName(v.login)
		if v.verified {
			name = cmp.Or(NewUserName(v.Email), name)
		}
		if name == "" {
			name = "openid-" + hashOf(issuer + " " + v.Subject)[:16]
		}
		err := s.Users.AddFromIssuer(q.Context(),
			trade.User{Name: name, Role: v.Role, Issuer: issuer, Subject: v.Subject}, v.claims(issuer, ""), as(q, name))
		if err != nil && !errors.Is(err, trade.ErrNameTaken) {
			return err
		}
		// taken: another browser of the same person has just created it, or the name is another person's
		user, err = s.Users.UserFrom(q.Context(), issuer, v.Subject)
		if errors.Is(err, trade.ErrNobody) {
			return s.refuse(q, f, trade.User{}, v, "%s confirmed your identity, but the user %s already exists in this program and is not linked automatically. If it is you, an administrator can link it on the server: safrasync users link %s", "the name "+name+" is taken", name,
				arguments(name, v.Subject))
		}
		if err != nil {
			return err
		}
	case user.Role != v.Role:
		user.Role = v.Role
		done, err := s.Users.ChangeFromIssuer(q.Context(), user, "user role", v.claims(issuer, ""), as(q, user.Name))
		if err != nil {
			return err
		}
		if !done {
			return s.refuse(q, f, user, v, changing, "changed at this moment")
		}
		user.Version++
	}
	act := "login"
	if f.proof {
		act = "proof"
	}
	// The login counts as proved since the person authenticated at the issuer, which may be long ago, because
	// an issuer with a session does not ask again; if the issuer does not state the time, not at all.
	proved := v.at
	switch now := q.Site.Now(); {
	case v.at.IsZero():
		proved = time.Unix(0, 0)
	case v.at.After(now): // the issuer's clock is ahead
		proved = now
	}
	// the user may have been disabled or changed meanwhile
	if err := s.begin(q, user, act, v.detail(issuer, ""), proved); errors.Is(err, trade.ErrNobody) {
		return s.refuse(q, f, user, v, changing, "changed at this moment")
	} else if err != nil {
		return err
	}
	return q.Redirect(f.next)
}

// as returns the person whom the issuer names, who is not yet logged in.
func as(q *web.Request, name string) trade.Person {
	who := q.Person("")
	who.Name = name
	return who
}

// refuse refuses a person whom the issuer named, and records that in the audit.
func (s *Sessions) refuse(q *web.Request, f flow, user trade.User, v visitor, key, cause string, more ...any) error {
	if err := s.recordFailure(q, f, user, v, cause); err != nil {
		return err
	}
	status := http.StatusForbidden
	if key == changing {
		status = http.StatusConflict
	}
	return s.notIn(q, f, status, key, more...)
}

// changing is the key of the phrase for a user who was changed by somebody else at the same moment.
const changing = "%s confirmed your identity, but your user in this program was just changed. Log in again."
