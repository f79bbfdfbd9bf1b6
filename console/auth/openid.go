package auth

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	gosync "sync"
	"time"
	"unicode"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"golang.org/x/oauth2"

	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/trade"
)

// The limits for conversations with an issuer.
const (
	issuerAnswers = 10 * time.Second // for one answer
	// at the same time; a slow issuer does not take the places of other pages
	issuerTalks   = 4
	issuerWaiting = 4               // people who wait for a conversation; more are refused
	issuerTurn    = 5 * time.Second // how long they wait
	issuerBody    = 1 << 20         // of an answer
	issuerHeader  = 32 << 10        // of an answer
	issuerKnown   = time.Hour       // after that its metadata is read again
	issuerAgain   = time.Minute     // the pause after a failed read of the metadata
	// to read metadata again while older metadata is known: the login needs the rest of the time
	issuerRefresh = 2 * time.Second
	clockSkew     = 2 * time.Minute // between its clock and ours
)

// OpenIDOptions are the OpenID Connect provider with which people may log in, and their roles.
type OpenIDOptions struct {
	Issuer   string // its address, exactly as it writes it
	ClientID string
	Secret   string
	Label    string                // the provider's name for people
	Claim    string                // claim that names groups or roles, or a path of names with dots
	Roles    map[string]trade.Role // by name in the claim; of several the highest applies
	Roots    *x509.CertPool        // nil: the system's
}

// OpenID logs people in with the provider that the cooperative already has. Only those who log in
// with it depend on it: it is contacted when somebody logs in, never at the start.
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
	post  bool // the secret is sent in the form, not in the header
	read  time.Time
}

// NewOpenID returns the login with a provider. It sends no request.
func NewOpenID(o OpenIDOptions) *OpenID {
	transport := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		TLSClientConfig:     &tls.Config{RootCAs: o.Roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout: issuerAnswers, ResponseHeaderTimeout: issuerAnswers,
		MaxResponseHeaderBytes: issuerHeader, DisableKeepAlives: true, // logins are rare
	}
	return &OpenID{
		OpenIDOptions: o, talks: make(chan struct{}, issuerTalks),
		waiting: make(chan struct{}, issuerWaiting), turn: issuerTurn, patience: issuerAnswers, refresh: issuerRefresh,
		client: &http.Client{
			Timeout: issuerAnswers, Transport: bounded{transport},
			// send the secret only to the address that the issuer names
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// bounded limits the size of an answer, and takes the keys that nobody understands out of a set: those
// are to be ignored (RFC 7517, 5), and the library refuses the set.
type bounded struct{ to http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.to.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, issuerBody))
	_ = answer.Body.Close() // it has served
	if err != nil {
		return nil, err
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if json.Unmarshal(text, &set) == nil && set.Keys != nil {
		set.Keys = slices.DeleteFunc(set.Keys, func(key json.RawMessage) bool {
			return new(jose.JSONWebKey).UnmarshalJSON(key) != nil
		})
		text, err = json.Marshal(set)
	}
	answer.Body = io.NopCloser(bytes.NewReader(text))
	return answer, err
}

// talk waits for its turn to contact the issuer. It returns the context for the conversation; the
// caller must call end.
func (o *OpenID) talk(ctx context.Context) (_ context.Context, end func(), err error) {
	select {
	case o.talks <- struct{}{}:
	default:
		// until another one ends, so that a person who comes at a busy moment need not begin again
		select {
		case o.waiting <- struct{}{}:
			defer func() { <-o.waiting }()
		default:
			return nil, nil, web.ErrBusy
		}
		turn, cancel := context.WithTimeout(ctx, o.turn)
		defer cancel()
		select {
		case o.talks <- struct{}{}:
		case <-turn.Done():
			return nil, nil, web.ErrBusy
		}
	}
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, o.client), o.patience)
	return ctx, func() { cancel(); <-o.talks }, nil
}

// provider returns the issuer's metadata. If they cannot be read again, or are invalid now, it
// returns the last valid ones.
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

// ask reads the issuer's metadata and stores them.
func (o *OpenID) ask(ctx context.Context, now time.Time) (*oidc.Provider, error) {
	fresh, err := oidc.NewProvider(ctx, o.Issuer)
	if err != nil {
		return nil, phrase.Errorf("the issuer %s: %w", o.Issuer, brief(err))
	}
	var says struct {
		Auth    string   `json:"authorization_endpoint"`
		Token   string   `json:"token_endpoint"`
		Keys    string   `json:"jwks_uri"`
		Methods []string `json:"token_endpoint_auth_methods_supported"`
		PKCE    []string `json:"code_challenge_methods_supported"`
	}
	if err := fresh.Claims(&says); err != nil {
		return nil, phrase.Errorf("the issuer %s: %w", o.Issuer, brief(err))
	}
	// Codes and the secret would be sent there, or keys read from there that somebody on the network may
	// have replaced.
	for _, at := range []string{says.Auth, says.Token, says.Keys} {
		u, err := url.Parse(at)
		if err != nil || u.Host == "" || u.Scheme != "https" &&
			!(u.Scheme == "http" && strings.HasPrefix(o.Issuer, "http:")) {
			err = errors.New("it names an address that does not begin with https://")
			return nil, phrase.Errorf("the issuer %s: %w", o.Issuer, err)
		}
	}
	if len(says.PKCE) > 0 && !slices.Contains(says.PKCE, "S256") {
		return nil, phrase.Errorf("the issuer %s does not take the code challenge S256", o.Issuer)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.known, o.read = fresh, now
	o.post = len(says.Methods) > 0 && !slices.Contains(says.Methods, "client_secret_basic")
	return fresh, nil
}

// oauth returns the configuration of the code flow.
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
		Scopes: []string{oidc.ScopeOpenID, "profile", "email"},
	}
}

// address returns the address to which the browser goes to log in.
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
	if f.proof { // require the password again, whatever session the issuer has
		options = append(options, oauth2.SetAuthURLParam("prompt", "login"), oauth2.SetAuthURLParam("max_age", "0"))
	}
	return o.oauth(p, back).AuthCodeURL(f.part("state"), options...), nil
}

// Check reads the issuer's metadata and keys, as the first login does.
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
		return phrase.Errorf("the issuer %s: %w", o.Issuer, brief(err))
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, says.Keys, nil)
	if err != nil {
		return phrase.Errorf("the keys of the issuer: %w", brief(err))
	}
	answer, err := o.client.Do(request)
	if err != nil {
		return phrase.Errorf("the keys of the issuer: %w", brief(err))
	}
	defer answer.Body.Close()
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&set); err != nil || len(set.Keys) == 0 ||
		answer.StatusCode != http.StatusOK {
		return phrase.Errorf("the keys of the issuer cannot be read: status %d", answer.StatusCode)
	}
	return nil
}

// brief returns an error of the conversation as one short line, because a wrong address may answer
// with whole pages.
func brief(err error) error {
	if to, ok := errors.AsType[*url.Error](err); ok { // its text contains the address with the query
		err = to.Err
	}
	text := strings.Join(strings.FieldsFunc(err.Error(),
		func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	if runes := []rune(text); len(runes) > 200 {
		text = string(runes[:200]) + "…"
	}
	return errors.New(text)
}

// oneWord returns an error code of the protocol. Any other text could be anything, so that oneWord
// replaces it.
func oneWord(code string) string {
	if code == "" || len(code) > 60 || strings.ContainsFunc(code,
		func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') }) {
		return "without a code"
	}
	return code
}
