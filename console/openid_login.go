package console

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

	"github.com/safrasync/safrasync/console/view"
	"github.com/safrasync/safrasync/trade"
)

// BackPath is where an issuer sends browsers back to: what has to be registered there, with the
// address of the console before it.
const BackPath = "/login/openid/back"

var openIDRoutes = []route{
	{method: http.MethodPost, path: "/login/openid", open: true, handle: goToIssuer},
	{method: http.MethodGet, path: BackPath, open: true, takes: answerWithin + issuerAnswers, handle: comeBack},
	{method: http.MethodPost, path: "/account/prove", needs: trade.Reader, handle: proveAtIssuer},
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
func (q *request) flow() (f flow, ok bool) {
	parts := strings.Split(q.cookie(cookieFlow), ".")
	if len(parts) != 4 || len(parts[0]) < 40 {
		return f, false
	}
	began, err := strconv.ParseInt(parts[1], 10, 64)
	next, errNext := base64.RawURLEncoding.DecodeString(parts[3])
	if err != nil || errNext != nil {
		return f, false
	}
	f = flow{parts[0], time.Unix(began, 0), parts[2] == "proof", local(string(next))}
	age := q.c.Now().Sub(f.began)
	return f, age > -time.Minute && age < flowLasts
}

// back is the address that the issuer sends this browser back to: the one by which it asks for the
// console, which is among those of the configuration.
func (q *request) back() string {
	scheme := "http://"
	if q.c.Secure {
		scheme = "https://"
	}
	return scheme + q.Host + BackPath
}

func goToIssuer(q *request) error {
	if q.c.OpenID == nil {
		return errNotFound
	}
	return q.toIssuer(flow{next: local(q.PostFormValue("next"))})
}

// proveAtIssuer lets a person without a password here prove again who it is, before what may double
// a record (C9).
func proveAtIssuer(q *request) error {
	if q.login.User.Issuer == "" {
		return errNotFound
	}
	return q.toIssuer(flow{next: local(q.PostFormValue("next")), proof: true})
}

// toIssuer sends the browser to the issuer: by a page, because a form must lead nowhere else than
// to us (C8).
func (q *request) toIssuer(f flow) error {
	f.secret, f.began = newSecret(), q.c.Now()
	if len(f.next) > 1024 { // a cookie has its bounds
		f.next = "/"
	}
	address, err := q.c.OpenID.address(q.Context(), f, q.back(), q.c.Now())
	if err != nil {
		return q.unheard(f, err)
	}
	q.setCookie(cookieFlow, f.text(), flowLasts)
	return q.page(http.StatusOK, "away", address)
}

// unheard says that the issuer does not answer. Whoever has a password here can still log in.
func (q *request) unheard(f flow, err error) error {
	if errors.Is(err, errBusy) {
		return err
	}
	if err := q.keptOnce(f, "the issuer does not answer", q.c.Now().Add(time.Minute)); err != nil {
		return err
	}
	q.c.Log.Warn("console: the issuer of logins does not answer", zap.String("id", q.id), zap.Error(err))
	return q.notIn(f, http.StatusServiceUnavailable, "openid.down")
}

// notIn shows the page of the login with the reason why somebody did not get in. Whoever gets in
// then goes on to the page that was wanted.
func (q *request) notIn(f flow, status int, key string, more ...any) error {
	v := view.NewVoice(q.lang, q.c.Zone)
	return q.page(status, "login", loginPage{
		Next: local(f.next),
		Said: v.T(key, append([]any{q.c.OpenID.Label}, more...)...),
	})
}

// kept keeps in the audit that somebody did not get in by the issuer, with the cause, one of a few.
// Who it was is the person of the session where that had to prove it, else whom the issuer named as
// far as that is a user here.
func (q *request) kept(f flow, user trade.User, v visitor, cause string) error {
	if f.proof && q.login != nil {
		user = q.login.User
	}
	record := q.record("login failed", user.Name, "", v.detail(q.c.OpenID.Issuer, cause))
	if record.Who = user.Name; user.Name == "" {
		record.Who = "?"
	}
	return q.c.Users.AppendAudit(q.Context(), record)
}

// keptOnce is kept for what anybody can cause without the issuer: of an address, or of the person
// of a session, it keeps one such record until a time, so that nobody fills the audit.
func (q *request) keptOnce(f flow, cause string, until time.Time) error {
	whose := q.from
	if f.proof && q.login != nil {
		whose = hashOf(q.login.User.Name)
	}
	now := q.c.Now()
	first, _, err := q.c.Logins.Try(q.Context(), []string{"openid-kept:" + whose + " " + cause}, now,
		func(t trade.Tries) trade.Tries { return trade.Tries{Bucket: t.Bucket, At: now, Until: until} })
	if err != nil || !first {
		return err
	}
	return q.kept(f, trade.User{}, visitor{}, cause)
}

// forgetFlow lets a way to the issuer end.
func (q *request) forgetFlow() {
	if q.cookie(cookieFlow) != "" {
		q.setCookie(cookieFlow, "", -time.Second)
	}
}

// comeBack takes what the issuer sends the browser back with. Whatever is wrong with it, nobody
// gets in.
func comeBack(q *request) error {
	if q.c.OpenID == nil {
		return q.redirect("/login")
	}
	f, ok := q.flow()
	// the browser keeps its cookies from requests that others cause: the same once more, from a page of ours
	if !ok && q.Header.Get("Sec-Fetch-Site") == "cross-site" {
		return q.page(http.StatusOK, "onward", local(q.URL.RequestURI()))
	}
	given := q.URL.Query()
	if !ok || subtle.ConstantTimeCompare([]byte(given.Get("state")), []byte(f.part("state"))) != 1 {
		q.forgetFlow()
		return q.notIn(f, http.StatusBadRequest, "openid.stale")
	}
	ctx, end, err := q.c.OpenID.talk(q.Context())
	if err != nil { // the way is not over: the same page once more goes on with it, and it is no try
		return err
	}
	defer end()
	now := q.c.Now()
	// each makes us ask somebody else, or keep a record (C4)
	allowed, until, err := q.c.Logins.Try(q.Context(), []string{issuerBucket(q.from)}, now, slower(now))
	switch {
	case err != nil:
		return err
	case !allowed:
		if err := q.keptOnce(f, "too many tries", until); err != nil {
			return err
		}
		return q.page(http.StatusTooManyRequests, "login",
			loginPage{Next: local(f.next), Fault: "login.wait", Wait: max(until.Sub(now), time.Second)})
	}
	q.forgetFlow()
	if iss := given.Get("iss"); iss != "" && iss != q.c.OpenID.Issuer {
		return q.refused(f, visitor{}, &refusal{"the answer is of another issuer", nil})
	}
	if code := given.Get("error"); code != "" {
		q.c.Log.Info("console: the issuer of logins let somebody not in", zap.String("id", q.id),
			zap.String("code", oneWord(code)))
		if err := q.kept(f, trade.User{}, visitor{}, "the issuer lets nobody in"); err != nil {
			return err
		}
		return q.notIn(f, http.StatusForbidden, "openid.refused")
	}
	v, err := q.c.OpenID.visitor(ctx, f, given.Get("code"), q.back(), now)
	if refused := (*refusal)(nil); errors.As(err, &refused) {
		return q.refused(f, v, refused)
	}
	if err != nil {
		return q.unheard(f, err)
	}
	return q.enter(f, v)
}

// refused says that what came back cannot be trusted. The audit has the cause, the log what lies
// behind it.
func (q *request) refused(f flow, v visitor, why *refusal) error {
	q.c.Log.Warn("console: a login at the issuer was refused", zap.String("id", q.id), zap.Error(why))
	user := trade.User{}
	if v.Subject != "" {
		var err error
		if user, err = q.c.Users.UserFrom(q.Context(), q.c.OpenID.Issuer, v.Subject); err != nil &&
			!errors.Is(err, trade.ErrNobody) {
			return err
		}
	}
	if err := q.kept(f, user, v, why.cause); err != nil {
		return err
	}
	return q.notIn(f, http.StatusUnauthorized, "openid.untrusted", q.id)
}

// enter lets in whom the issuer names, if it gives a role, and if that person is not disabled here.
func (q *request) enter(f flow, v visitor) error {
	issuer := q.c.OpenID.Issuer
	user, err := q.c.Users.UserFrom(q.Context(), issuer, v.Subject)
	if err != nil && !errors.Is(err, trade.ErrNobody) {
		return err
	}
	known := err == nil
	if f.proof {
		switch {
		case q.login == nil:
			return q.stays(f, user, v, "openid.ended", "the session has ended")
		case !known || q.login.User.ID != user.ID:
			return q.stays(f, user, v, "openid.other", "another person")
		case v.at.Before(f.began.Add(-clockSkew)):
			return q.stays(f, user, v, "openid.not_again", "not asked again")
		}
	}
	switch {
	case known && user.Disabled:
		return q.stays(f, user, v, "openid.disabled", "disabled", user.Name)
	case v.Role == "" && known: // what the person had before ends too
		record := q.record("login failed", user.Name, "", v.detail(issuer, "no role"))
		record.Who = user.Name
		done, err := q.c.Users.ChangeUser(q.Context(), user, record)
		if err != nil {
			return err
		}
		if !done { // what changed the user at this moment has ended the sessions
			return q.stays(f, user, v, "openid.no_role", "no role")
		}
		return q.notIn(f, http.StatusForbidden, "openid.no_role")
	case v.Role == "":
		return q.stays(f, user, v, "openid.no_role", "no role")
	case !known:
		name := v.user(issuer)
		record := q.record("user add", name, "", v.detail(issuer, ""))
		record.Who = name
		err := q.c.Users.AddUser(q.Context(), trade.User{Name: name, Role: v.Role, Issuer: issuer, Subject: v.Subject},
			record)
		if err != nil && !errors.Is(err, trade.ErrTaken) {
			return err
		}
		// also when another browser of the same person was first
		user, err = q.c.Users.UserFrom(q.Context(), issuer, v.Subject)
		if errors.Is(err, trade.ErrNobody) {
			return q.stays(f, trade.User{}, v, "openid.taken", "the name "+name+" is taken", name,
				arguments(name, v.Subject))
		}
		if err != nil {
			return err
		}
	case user.Role != v.Role:
		record := q.record("user role", user.Name, "", v.detail(issuer, ""))
		record.Who = user.Name
		user.Role = v.Role
		done, err := q.c.Users.ChangeUser(q.Context(), user, record)
		if err != nil {
			return err
		}
		if !done {
			return q.changing(f, user, v)
		}
		user.Version++
	}
	act := "login"
	if f.proof {
		act = "proof"
	}
	// disabled, or changed, at this moment
	if err := q.begin(user, act, v.detail(issuer, ""), v.proved(q.c.Now())); errors.Is(err, trade.ErrNobody) {
		return q.changing(f, user, v)
	} else if err != nil {
		return err
	}
	return q.redirect(f.next)
}

// stays keeps somebody out whom the issuer named, with the record in the audit.
func (q *request) stays(f flow, user trade.User, v visitor, key, cause string, more ...any) error {
	if err := q.kept(f, user, v, cause); err != nil {
		return err
	}
	return q.notIn(f, http.StatusForbidden, key, more...)
}

// changing keeps somebody out whose user was changed by somebody else at this moment.
func (q *request) changing(f flow, user trade.User, v visitor) error {
	if err := q.kept(f, user, v, "changed at this moment"); err != nil {
		return err
	}
	return q.notIn(f, http.StatusConflict, "openid.changing")
}

// foreign tells whether a login began by an issuer that the configuration does not name any more.
func (c *Console) foreign(u trade.User) bool {
	return u.Issuer != "" && (c.OpenID == nil || c.OpenID.Issuer != u.Issuer)
}
