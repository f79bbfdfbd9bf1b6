package auth

import (
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
	"github.com/safrasync/safrasync/trade"
)

// BackPath is where an issuer sends browsers back to: what has to be registered there, with the
// address of the console before it.
const BackPath = "/login/openid/back"

// openIDPages lead people to the issuer and back.
type openIDPages struct{ s *Sessions }

func (p *openIDPages) routes() []web.Route {
	return []web.Route{
		{Method: http.MethodPost, Path: "/login/openid", Open: true, Handle: p.goToIssuer},
		{
			Method: http.MethodGet, Path: BackPath, Open: true, Takes: web.AnswerWithin + issuerAnswers,
			Handle: p.comeBack,
		},
		web.Post("/account/prove", trade.Reader, p.proveAtIssuer),
	}
}

// flowLasts is how long somebody may take to log in at the issuer.
const flowLasts = 10 * time.Minute

const cookieFlow = "safrasync-openid"

// flow is a login at the issuer on its way. Only the browser holds it: state, nonce and verifier
// are made of its secret, so that what comes back fits this browser alone, and once, because the
// cookie goes with the first answer that is worked on.
type flow struct {
	secret string
	began  time.Time
	proof  bool // of somebody who is logged in
	next   string
}

// part is one of the values that are made of the secret.
func (f flow) part(name string) string {
	mac := hmac.New(sha256.New, []byte(f.secret))
	_, _ = mac.Write([]byte("openid " + name)) // never fails
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func (f flow) text() string {
	kind := "login"
	if f.proof {
		kind = "proof"
	}
	return strings.Join([]string{
		f.secret, strconv.FormatInt(f.began.Unix(), 10), kind,
		base64.RawURLEncoding.EncodeToString([]byte(f.next)),
	}, ".")
}

// flow is that of the browser, if it has one that is not over.
func (p *openIDPages) flow(q *web.Request) (f flow, ok bool) {
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

// back is the address that the issuer sends this browser back to: the one by which it asks for the
// console, which is among those of the configuration.
func (p *openIDPages) back(q *web.Request) string {
	scheme := "http://"
	if q.Site.Secure {
		scheme = "https://"
	}
	return scheme + q.Host + BackPath
}

func (p *openIDPages) goToIssuer(q *web.Request) error {
	if p.s.OpenID == nil {
		return web.ErrNotFound
	}
	return p.toIssuer(q, flow{next: web.Local(q.PostFormValue("next"))})
}

// proveAtIssuer lets a person without a password here prove again who it is, before what may double
// a record (C9).
func (p *openIDPages) proveAtIssuer(q *web.Request) error {
	if q.Login.User.Issuer == "" {
		return web.ErrNotFound
	}
	return p.toIssuer(q, flow{next: web.Local(q.PostFormValue("next")), proof: true})
}

// toIssuer sends the browser to the issuer: by a page, because a form must lead nowhere else than
// to us (C8).
func (p *openIDPages) toIssuer(q *web.Request, f flow) error {
	f.secret, f.began = newSecret(), q.Site.Now()
	if len(f.next) > 1024 { // a cookie has its bounds
		f.next = "/"
	}
	address, err := p.s.OpenID.address(q.Context(), f, p.back(q), q.Site.Now())
	if err != nil {
		return p.unheard(q, f, err)
	}
	q.SetCookie(cookieFlow, f.text(), flowLasts)
	return q.Page(http.StatusOK, "away", address)
}

// unheard says that the issuer does not answer. Whoever has a password here can still log in.
func (p *openIDPages) unheard(q *web.Request, f flow, err error) error {
	if errors.Is(err, web.ErrBusy) {
		return err
	}
	if err := p.keptOnce(q, f, "the issuer does not answer", q.Site.Now().Add(time.Minute)); err != nil {
		return err
	}
	q.Site.Log.Warn("console: the issuer of logins does not answer", zap.String("id", q.ID), zap.Error(err))
	return p.notIn(q, f, http.StatusServiceUnavailable, "openid.down")
}

// notIn shows the page of the login with the reason why somebody did not get in. Whoever gets in
// then goes on to the page that was wanted.
func (p *openIDPages) notIn(q *web.Request, f flow, status int, key string, more ...any) error {
	return q.Page(status, "login", loginPage{
		Next: web.Local(f.next),
		Said: q.Voice().T(key, append([]any{p.s.OpenID.Label}, more...)...),
	})
}

// kept keeps in the audit that somebody did not get in by the issuer, with the cause, one of a few.
// Who it was is the person of the session where that had to prove it, else whom the issuer named as
// far as that is a user here.
func (p *openIDPages) kept(q *web.Request, f flow, user trade.User, v visitor, cause string) error {
	if f.proof && q.Login != nil {
		user = q.Login.User
	}
	record := q.Record("login failed", user.Name, "", v.detail(p.s.OpenID.Issuer, cause))
	if record.Who = user.Name; user.Name == "" {
		record.Who = "?"
	}
	return p.s.Users.AppendAudit(q.Context(), record)
}

// keptOnce is kept for what anybody can cause without the issuer: of an address, or of the person
// of a session, it keeps one such record until a time, so that nobody fills the audit.
func (p *openIDPages) keptOnce(q *web.Request, f flow, cause string, until time.Time) error {
	whose := q.From
	if f.proof && q.Login != nil {
		whose = hashOf(q.Login.User.Name)
	}
	now := q.Site.Now()
	first, _, err := p.s.Logins.Try(q.Context(), []string{"openid-kept:" + whose + " " + cause}, now,
		func(t trade.Tries) trade.Tries { return trade.Tries{Bucket: t.Bucket, At: now, Until: until} })
	if err != nil || !first {
		return err
	}
	return p.kept(q, f, trade.User{}, visitor{}, cause)
}

// forgetFlow lets a way to the issuer end.
func (p *openIDPages) forgetFlow(q *web.Request) {
	if q.CookieValue(cookieFlow) != "" {
		q.SetCookie(cookieFlow, "", -time.Second)
	}
}

// comeBack takes what the issuer sends the browser back with. Whatever is wrong with it, nobody
// gets in.
func (p *openIDPages) comeBack(q *web.Request) error {
	if p.s.OpenID == nil {
		return q.Redirect("/login")
	}
	f, ok := p.flow(q)
	// the browser keeps its cookies from requests that others cause: the same once more, from a
	// page of ours
	if !ok && q.Header.Get("Sec-Fetch-Site") == "cross-site" {
		return q.Page(http.StatusOK, "onward", web.Local(q.URL.RequestURI()))
	}
	given := q.URL.Query()
	if !ok || subtle.ConstantTimeCompare([]byte(given.Get("state")), []byte(f.part("state"))) != 1 {
		p.forgetFlow(q)
		return p.notIn(q, f, http.StatusBadRequest, "openid.stale")
	}
	ctx, end, err := p.s.OpenID.talk(q.Context())
	if err != nil { // the way is not over: the same page once more goes on with it, and it is no try
		return err
	}
	defer end()
	now := q.Site.Now()
	// each makes us ask somebody else, or keep a record (C4)
	allowed, until, err := p.s.Logins.Try(q.Context(), []string{issuerBucket(q.From)}, now, slower(now))
	switch {
	case err != nil:
		return err
	case !allowed:
		if err := p.keptOnce(q, f, "too many tries", until); err != nil {
			return err
		}
		return q.Page(http.StatusTooManyRequests, "login",
			loginPage{Next: web.Local(f.next), Fault: "login.wait", Wait: max(until.Sub(now), time.Second)})
	}
	p.forgetFlow(q)
	if iss := given.Get("iss"); iss != "" && iss != p.s.OpenID.Issuer {
		return p.refused(q, f, visitor{}, &refusal{"the answer is of another issuer", nil})
	}
	if code := given.Get("error"); code != "" {
		q.Site.Log.Info("console: the issuer of logins let somebody not in", zap.String("id", q.ID),
			zap.String("code", oneWord(code)))
		if err := p.kept(q, f, trade.User{}, visitor{}, "the issuer lets nobody in"); err != nil {
			return err
		}
		return p.notIn(q, f, http.StatusForbidden, "openid.refused")
	}
	v, err := p.s.OpenID.visitor(ctx, f, given.Get("code"), p.back(q), now)
	if refused := (*refusal)(nil); errors.As(err, &refused) {
		return p.refused(q, f, v, refused)
	}
	if err != nil {
		return p.unheard(q, f, err)
	}
	return p.enter(q, f, v)
}

// refused says that what came back cannot be trusted. The audit has the cause, the log what lies
// behind it.
func (p *openIDPages) refused(q *web.Request, f flow, v visitor, why *refusal) error {
	q.Site.Log.Warn("console: a login at the issuer was refused", zap.String("id", q.ID), zap.Error(why))
	user := trade.User{}
	if v.Subject != "" {
		var err error
		if user, err = p.s.Users.UserFrom(q.Context(), p.s.OpenID.Issuer, v.Subject); err != nil &&
			!errors.Is(err, trade.ErrNobody) {
			return err
		}
	}
	if err := p.kept(q, f, user, v, why.cause); err != nil {
		return err
	}
	return p.notIn(q, f, http.StatusUnauthorized, "openid.untrusted", q.ID)
}

// enter lets in whom the issuer names, if it gives a role, and if that person is not disabled here.
func (p *openIDPages) enter(q *web.Request, f flow, v visitor) error {
	issuer := p.s.OpenID.Issuer
	user, err := p.s.Users.UserFrom(q.Context(), issuer, v.Subject)
	if err != nil && !errors.Is(err, trade.ErrNobody) {
		return err
	}
	known := err == nil
	if key, cause := noProof(q, f, user, known, v); key != "" {
		return p.stays(q, f, user, v, key, cause)
	}
	switch {
	case known && user.Disabled:
		return p.stays(q, f, user, v, "openid.disabled", "disabled", user.Name)
	case v.Role == "" && known:
		return p.loseRole(q, f, user, v)
	case v.Role == "":
		return p.stays(q, f, user, v, "openid.no_role", "no role")
	case !known:
		name := v.user(issuer)
		user, err = p.add(q, name, v)
		if errors.Is(err, trade.ErrNobody) {
			return p.stays(q, f, trade.User{}, v, "openid.taken", "the name "+name+" is taken", name,
				arguments(name, v.Subject))
		}
		if err != nil {
			return err
		}
	case user.Role != v.Role:
		record := q.Record("user role", user.Name, "", v.detail(issuer, ""))
		record.Who = user.Name
		user.Role = v.Role
		done, err := p.s.Users.ChangeUser(q.Context(), user, record)
		if err != nil {
			return err
		}
		if !done {
			return p.stays(q, f, user, v, changing, "changed at this moment")
		}
		user.Version++
	}
	act := "login"
	if f.proof {
		act = "proof"
	}
	// disabled, or changed, at this moment
	if err := p.s.begin(q, user, act, v.detail(issuer, ""), v.proved(q.Site.Now())); errors.Is(err, trade.ErrNobody) {
		return p.stays(q, f, user, v, changing, "changed at this moment")
	} else if err != nil {
		return err
	}
	return q.Redirect(f.next)
}

// noProof says, by the key of a phrase and for the audit, why a person who had to prove who it is
// did not; "" where that was proved, or need not be.
func noProof(q *web.Request, f flow, user trade.User, known bool, v visitor) (key, cause string) {
	switch {
	case !f.proof:
		return "", ""
	case q.Login == nil:
		return "openid.ended", "the session has ended"
	case !known || q.Login.User.ID != user.ID:
		return "openid.other", "another person"
	case v.at.Before(f.began.Add(-clockSkew)):
		return "openid.not_again", "not asked again"
	}
	return "", ""
}

// loseRole keeps a user out to whom the issuer gives no role any more: what the person had before
// ends too.
func (p *openIDPages) loseRole(q *web.Request, f flow, user trade.User, v visitor) error {
	record := q.Record("login failed", user.Name, "", v.detail(p.s.OpenID.Issuer, "no role"))
	record.Who = user.Name
	done, err := p.s.Users.ChangeUser(q.Context(), user, record)
	if err != nil {
		return err
	}
	if !done { // what changed the user at this moment has ended the sessions
		return p.stays(q, f, user, v, "openid.no_role", "no role")
	}
	return p.notIn(q, f, http.StatusForbidden, "openid.no_role")
}

// add makes a user of a person who comes for the first time, also when another browser of the same
// person was first. trade.ErrNobody: the name is somebody else's.
func (p *openIDPages) add(q *web.Request, name string, v visitor) (trade.User, error) {
	issuer := p.s.OpenID.Issuer
	record := q.Record("user add", name, "", v.detail(issuer, ""))
	record.Who = name
	err := p.s.Users.AddUser(q.Context(), trade.User{Name: name, Role: v.Role, Issuer: issuer, Subject: v.Subject},
		record)
	if err != nil && !errors.Is(err, trade.ErrTaken) {
		return trade.User{}, err
	}
	return p.s.Users.UserFrom(q.Context(), issuer, v.Subject)
}

// stays keeps somebody out whom the issuer named, with the record in the audit.
func (p *openIDPages) stays(q *web.Request, f flow, user trade.User, v visitor, key, cause string, more ...any) error {
	if err := p.kept(q, f, user, v, cause); err != nil {
		return err
	}
	status := http.StatusForbidden
	if key == changing {
		status = http.StatusConflict
	}
	return p.notIn(q, f, status, key, more...)
}

// changing is the phrase for somebody whose user was changed by somebody else at this moment.
const changing = "openid.changing"
