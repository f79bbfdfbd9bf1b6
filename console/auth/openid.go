package auth

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	gosync "sync"
	"time"
	"unicode"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/trade"
)

// What is taken from an issuer at most.
const (
	issuerAnswers = 10 * time.Second // one answer of it
	// conversations at once: one that is slow does not take the places of the other pages
	issuerTalks   = 4
	issuerWaiting = 4               // who wait for one of these; more are turned away
	issuerTurn    = 5 * time.Second // that they wait
	issuerBody    = 1 << 20         // of an answer
	issuerHeader  = 32 << 10        // of its headers
	issuerKnown   = time.Hour       // what it says of itself is read again after that
	issuerAgain   = time.Minute     // and again, when it did not say it
	// for that, while what it said before is known: the login itself needs the rest of the time
	issuerRefresh = 2 * time.Second
	clockSkew     = 2 * time.Minute // between its clock and ours
)

// OpenIDOptions say by which OpenID Connect provider people may log in, and what they may then do.
type OpenIDOptions struct {
	Issuer   string // its address, as it writes it itself
	ClientID string
	Secret   string
	Label    string                // what people know it by
	Scopes   []string              // beside openid
	Claim    string                // where it names groups or roles: a claim, or a path of names with dots
	Roles    map[string]trade.Role // of what it names there; who has several gets the most
	Roots    *x509.CertPool        // nil: those of the system
	Proxy    *url.URL              // nil: none
}

// OpenID lets people log in by the provider that the cooperative has already. Nothing waits for it
// but those who come by it: it is asked when somebody wants to log in, never at the start.
type OpenID struct {
	OpenIDOptions
	client   *http.Client
	talks    chan struct{}
	waiting  chan struct{}
	patience time.Duration
	refresh  time.Duration
	turn     time.Duration

	mu    gosync.Mutex
	known *oidc.Provider
	post  bool // the secret goes in the form, not in the header
	read  time.Time
}

// NewOpenID puts the login by a provider together. It asks nobody.
func NewOpenID(o OpenIDOptions) *OpenID {
	transport := &http.Transport{
		TLSClientConfig:     &tls.Config{RootCAs: o.Roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout: issuerAnswers, ResponseHeaderTimeout: issuerAnswers,
		MaxResponseHeaderBytes: issuerHeader, DisableKeepAlives: true, // logins are rare
	}
	if o.Proxy != nil {
		transport.Proxy = http.ProxyURL(o.Proxy)
	}
	return &OpenID{
		OpenIDOptions: o, talks: make(chan struct{}, issuerTalks),
		waiting: make(chan struct{}, issuerWaiting), turn: issuerTurn, patience: issuerAnswers, refresh: issuerRefresh,
		client: &http.Client{
			Timeout: issuerAnswers, Transport: bounded{transport},
			// the secret goes to the address that the issuer names, and nowhere else
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// bounded takes no more of an answer than an issuer has to say.
type bounded struct{ to http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.to.RoundTrip(r)
	if err == nil {
		answer.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(answer.Body, issuerBody), answer.Body}
	}
	return answer, err
}

// talk waits for one of the places in which an issuer is asked, and gives the context for it.
func (o *OpenID) talk(ctx context.Context) (_ context.Context, end func(), err error) {
	select {
	case o.talks <- struct{}{}:
	default:
		if err := o.wait(ctx); err != nil {
			return nil, nil, err
		}
	}
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, o.client), o.patience)
	return ctx, func() { cancel(); <-o.talks }, nil
}

// wait waits until a conversation ends, so that a fifth person at once need not begin again.
func (o *OpenID) wait(ctx context.Context) error {
	select {
	case o.waiting <- struct{}{}:
		defer func() { <-o.waiting }()
	default:
		return web.ErrBusy
	}
	ctx, cancel := context.WithTimeout(ctx, o.turn)
	defer cancel()
	select {
	case o.talks <- struct{}{}:
		return nil
	case <-ctx.Done():
		return web.ErrBusy
	}
}

// provider is what the issuer says of itself. What it said before counts while it is down, or says
// what cannot be.
func (o *OpenID) provider(ctx context.Context, now time.Time) (*oidc.Provider, error) {
	o.mu.Lock()
	known, read := o.known, o.read
	o.mu.Unlock()
	if known != nil && now.Sub(read).Abs() < issuerKnown {
		return known, nil
	}
	if known == nil {
		return o.ask(ctx, now)
	}
	ctx, cancel := context.WithTimeout(ctx, o.refresh)
	defer cancel()
	fresh, err := o.ask(ctx, now)
	if err == nil {
		return fresh, nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.read = now.Add(issuerAgain - issuerKnown)
	return known, nil
}

// ask reads what the issuer says of itself, and keeps it.
func (o *OpenID) ask(ctx context.Context, now time.Time) (*oidc.Provider, error) {
	fresh, err := oidc.NewProvider(ctx, o.Issuer)
	if err != nil {
		return nil, fmt.Errorf("the issuer %s: %w", o.Issuer, brief(err))
	}
	var says struct {
		Auth    string   `json:"authorization_endpoint"`
		Token   string   `json:"token_endpoint"`
		Keys    string   `json:"jwks_uri"`
		Methods []string `json:"token_endpoint_auth_methods_supported"`
		PKCE    []string `json:"code_challenge_methods_supported"`
	}
	if err := fresh.Claims(&says); err != nil {
		return nil, fmt.Errorf("the issuer %s: %w", o.Issuer, brief(err))
	}
	for _, at := range []string{says.Auth, says.Token, says.Keys} {
		if err := sameSecurity(o.Issuer, at); err != nil {
			return nil, fmt.Errorf("the issuer %s: %w", o.Issuer, err)
		}
	}
	if len(says.PKCE) > 0 && !slices.Contains(says.PKCE, "S256") {
		return nil, fmt.Errorf("the issuer %s does not take the code challenge S256", o.Issuer)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.known, o.read = fresh, now
	o.post = len(says.Methods) > 0 && !slices.Contains(says.Methods, "client_secret_basic")
	return fresh, nil
}

// sameSecurity refuses an address in the open that an issuer behind TLS names: codes and the secret
// would go there, or keys come from there that anybody on the way may have put in.
func sameSecurity(issuer, at string) error {
	u, err := url.Parse(at)
	if err != nil || u.Host == "" || u.Scheme != "https" &&
		!(u.Scheme == "http" && strings.HasPrefix(issuer, "http:")) {
		return errors.New("it names an address that does not begin with https://")
	}
	return nil
}

// client is the configuration of the code flow.
func (o *OpenID) oauth(p *oidc.Provider, back string) *oauth2.Config {
	at := p.Endpoint()
	o.mu.Lock()
	defer o.mu.Unlock()
	at.AuthStyle = oauth2.AuthStyleInHeader
	if o.post {
		at.AuthStyle = oauth2.AuthStyleInParams
	}
	return &oauth2.Config{
		ClientID: o.ClientID, ClientSecret: o.Secret, Endpoint: at, RedirectURL: back,
		Scopes: append([]string{oidc.ScopeOpenID}, o.Scopes...),
	}
}

// address is where the browser goes to log in.
func (o *OpenID) address(ctx context.Context, f flow, back string, now time.Time) (string, error) {
	ctx, end, err := o.talk(ctx)
	if err != nil {
		return "", err
	}
	defer end()
	p, err := o.provider(ctx, now)
	if err != nil {
		return "", err
	}
	options := []oauth2.AuthCodeOption{oidc.Nonce(f.part("nonce")), oauth2.S256ChallengeOption(f.part("verifier"))}
	if f.proof { // whoever sits there gives the password again, whatever session the issuer has
		options = append(options, oauth2.SetAuthURLParam("prompt", "login"), oauth2.SetAuthURLParam("max_age", "0"))
	}
	return o.oauth(p, back).AuthCodeURL(f.part("state"), options...), nil
}

// Check asks the issuer for what it says of itself and for its keys, as the first login would.
func (o *OpenID) Check(ctx context.Context, now time.Time) error {
	ctx, end, err := o.talk(ctx)
	if err != nil {
		return err
	}
	defer end()
	p, err := o.provider(ctx, now)
	if err != nil {
		return err
	}
	var says struct {
		Keys string `json:"jwks_uri"`
	}
	if err := p.Claims(&says); err != nil {
		return fmt.Errorf("the issuer %s: %w", o.Issuer, brief(err))
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, says.Keys, nil)
	if err != nil {
		return fmt.Errorf("the keys of the issuer: %w", brief(err))
	}
	answer, err := o.client.Do(request)
	if err != nil {
		return fmt.Errorf("the keys of the issuer: %w", brief(err))
	}
	defer answer.Body.Close()
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&set); err != nil || len(set.Keys) == 0 ||
		answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the keys of the issuer cannot be read: status %d", answer.StatusCode)
	}
	return nil
}

// brief is an error of the conversation in one short line: an issuer that is none answers with
// whole pages.
func brief(err error) error {
	var to *url.Error
	if errors.As(err, &to) { // its text has the address, with what is asked
		err = to.Err
	}
	text := strings.Join(strings.FieldsFunc(err.Error(),
		func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	if runes := []rune(text); len(runes) > 200 {
		text = string(runes[:200]) + "…"
	}
	return errors.New(text)
}

// oneWord is a code of the protocol, and nothing else that an answer may have in its place.
func oneWord(code string) string {
	if code == "" || len(code) > 60 || strings.ContainsFunc(code,
		func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') }) {
		return "without a code"
	}
	return code
}
