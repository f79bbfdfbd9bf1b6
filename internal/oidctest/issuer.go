package oidctest

import (
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	gosync "sync"
	"testing"
	"time"
)

// The client that the issuer knows.
const (
	ClientID = "safrasync"
	Secret   = "canary-oidc-secret-5d1f"
)

// Fault is one thing that the issuer does wrongly, from the moment when it is set.
type Fault string

// The faults.
const (
	WrongNonce     Fault = "wrong nonce"
	NoNonce        Fault = "no nonce"
	Expired        Fault = "expired"
	FromTheFuture  Fault = "issued later than now"
	WrongAudience  Fault = "wrong audience"
	OtherParty     Fault = "another authorized party"
	PartyList      Fault = "the authorized party is a list"
	NoTime         Fault = "without the time of its issue"
	WrongIssuer    Fault = "wrong issuer"
	WrongKey       Fault = "signed with another key"
	Unsigned       Fault = "alg none"
	SharedKey      Fault = "signed with the client's secret"
	NoSubject      Fault = "no subject"
	NoToken        Fault = "no id_token"
	NoProof        Fault = "no auth_time"
	OldProof       Fault = "auth_time of long ago"
	Denies         Fault = "access_denied"
	Fails          Fault = "the token endpoint fails"
	KeysFail       Fault = "the endpoint of the keys fails"
	KeysArePages   Fault = "the endpoint of the keys answers with a page"
	Hangs          Fault = "the token endpoint hangs"
	HangsAtFirst   Fault = "discovery hangs"
	Redirects      Fault = "the token endpoint redirects"
	Pages          Fault = "every answer is a page"
	OtherDiscovery Fault = "discovery names another issuer"
	OpenAddress    Fault = "discovery names an address without TLS"
	OpenKeys       Fault = "discovery names keys without TLS"
)

// Issuer is a running provider.
type Issuer struct {
	URL    string
	Server *httptest.Server
	Now    func() time.Time
	// OnlyPost makes the issuer accept the client's secret in the form only, as some providers do.
	OnlyPost bool
	// Asks makes the issuer show a page with a button before it lets the person in, like a provider
	// without a session. The issuer's page then sends the browser back.
	Asks bool

	t      testing.TB
	key    *rsa.PrivateKey
	other  *rsa.PrivateKey
	mu     gosync.Mutex
	claims map[string]any
	fault  Fault
	codes  map[string]grant
	asked  []url.Values // requests of clients to the authorization endpoint
	tokens int
	found  int
	hang   chan struct{}
}

// grant is a code that was issued and not yet used.
type grant struct {
	client, back, nonce, challenge string
	at                             time.Time
}

// keys are created once, because that takes time.
var keys = gosync.OnceValue(func() [2]*rsa.PrivateKey {
	var out [2]*rsa.PrivateKey
	for i := range out {
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			panic(err)
		}
		out[i] = key
	}
	return out
})

// Start serves an issuer over TLS until the test ends. Server.Client() trusts its certificate.
func Start(t testing.TB, now func() time.Time) *Issuer {
	t.Helper()
	k := keys()
	i := &Issuer{
		t: t, Now: now, key: k[0], other: k[1], codes: map[string]grant{}, claims: map[string]any{},
		hang: make(chan struct{}),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", i.discovery)
	mux.HandleFunc("GET /keys", i.keySet)
	mux.HandleFunc("GET /authorize", i.authorize)
	mux.HandleFunc("POST /authorize", i.authorize)
	mux.HandleFunc("POST /token", i.token)
	i.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if i.is(Pages) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<html>" + strings.Repeat("maintenance ", 1000) + "</html>"))
			return
		}
		mux.ServeHTTP(w, r)
	}))
	i.URL = i.Server.URL
	t.Cleanup(func() {
		close(i.hang)
		i.Server.Close()
	})
	return i
}

// Person sets who logs in from now on: the claims of the token in addition to those of the
// protocol.
func (i *Issuer) Person(claims map[string]any) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.claims = maps.Clone(claims)
}

// Fault sets what the issuer does wrongly; "" means nothing.
func (i *Issuer) Fault(f Fault) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.fault = f
}

// Asked returns the requests to the authorization endpoint so far.
func (i *Issuer) Asked() []url.Values {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.asked)
}

// Found returns how often the discovery document was requested.
func (i *Issuer) Found() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.found
}

// Tokens returns how often the token endpoint was called.
func (i *Issuer) Tokens() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.tokens
}

func (i *Issuer) is(f Fault) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.fault == f
}

func (i *Issuer) answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		i.t.Error(err)
	}
}

func (i *Issuer) discovery(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	i.found++
	i.mu.Unlock()
	if i.is(HangsAtFirst) {
		i.wait(r)
		return
	}
	issuer, token, keySet, method := i.URL, i.URL+"/token", i.URL+"/keys", "client_secret_basic"
	if i.is(OtherDiscovery) {
		issuer = "https://elsewhere.example"
	}
	if i.is(OpenAddress) {
		token = "http://127.0.0.1/token"
	}
	if i.is(OpenKeys) {
		keySet = "http://127.0.0.1/keys"
	}
	if i.OnlyPost {
		method = "client_secret_post"
	}
	i.answer(w, http.StatusOK, map[string]any{
		"issuer": issuer, "authorization_endpoint": i.URL + "/authorize", "token_endpoint": token, "jwks_uri": keySet,
		"response_types_supported": []string{"code"},
		"subject_types_supported":  []string{"public"}, "id_token_signing_alg_values_supported": []string{"RS256"},
		"token_endpoint_auth_methods_supported": []string{method},
		"code_challenge_methods_supported":      []string{"S256"},
	})
}

var b64 = base64.RawURLEncoding

func (i *Issuer) keySet(w http.ResponseWriter, _ *http.Request) {
	if i.is(KeysFail) {
		i.answer(w, http.StatusServiceUnavailable, map[string]string{"error": "temporarily_unavailable"})
		return
	}
	if i.is(KeysArePages) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<html>maintenance</html>"))
		return
	}
	// What nobody understands stands beside it, as at real issuers.
	i.answer(w, http.StatusOK, map[string]any{"keys": []any{map[string]any{
		"kty": "EC", "crv": "secp256k1", "kid": "another", "x": "AQ", "y": "AQ",
	}, map[string]any{
		"kty": "RSA", "use": "sig", "alg": "RS256", "kid": "one", "n": b64.EncodeToString(i.key.N.Bytes()),
		"e": b64.EncodeToString(big.NewInt(int64(i.key.E)).Bytes()),
	}}})
}

// authorize lets the person in, without asking or after it, and sends the browser back with a code.
// A request that is not as it must be gets an error page, and the test fails.
func (i *Issuer) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	i.mu.Lock()
	i.asked = append(i.asked, q)
	i.mu.Unlock()
	back, err := url.Parse(q.Get("redirect_uri"))
	switch {
	case err != nil, back.Path != "/login/openid/back", q.Get("client_id") != ClientID,
		q.Get("response_type") != "code", !slices.Contains(strings.Fields(q.Get("scope")), "openid"),
		len(q.Get("state")) < 22, len(q.Get("nonce")) < 22, q.Get("code_challenge_method") != "S256",
		len(q.Get("code_challenge")) != 43:
		i.t.Errorf("the request for a code is not as it must be: %v", q)
		http.Error(w, "invalid_request", http.StatusBadRequest)
		return
	}
	if i.Asks && r.Method == http.MethodGet {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		// to the same address
		_, _ = w.Write([]byte("<!doctype html><title>Conta</title><form method=post><button>Sou eu</button></form>"))
		return
	}
	answer := url.Values{"state": {q.Get("state")}, "iss": {i.URL}}
	if i.is(Denies) {
		answer.Set("error", "access_denied")
		answer.Set("error_description", "<script>alert(1)</script>")
	} else {
		code := rand.Text()
		i.mu.Lock()
		i.codes[code] = grant{
			q.Get("client_id"), q.Get("redirect_uri"), q.Get("nonce"),
			q.Get("code_challenge"), i.Now(),
		}
		i.mu.Unlock()
		answer.Set("code", code)
	}
	back.RawQuery = answer.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

// token accepts a code once, from the client to which it was issued, with the verifier of its
// challenge.
func (i *Issuer) token(w http.ResponseWriter, r *http.Request) {
	refuse := func(status int, code string) { i.answer(w, status, map[string]string{"error": code}) }
	i.mu.Lock()
	i.tokens++
	i.mu.Unlock()
	// Also before it hangs: until the body is read, the server does not notice that the client has
	// gone.
	if err := r.ParseForm(); err != nil {
		refuse(http.StatusBadRequest, "invalid_request")
		return
	}
	switch {
	case i.is(Fails):
		refuse(http.StatusInternalServerError, "server_error")
		return
	case i.is(Redirects):
		http.Redirect(w, r, "https://elsewhere.example/token", http.StatusTemporaryRedirect)
		return
	case i.is(Hangs):
		i.wait(r)
		return
	}
	id, secret, basic := r.BasicAuth()
	if i.OnlyPost {
		id, secret = r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	}
	if basic == i.OnlyPost || id != ClientID || subtle.ConstantTimeCompare([]byte(secret), []byte(Secret)) != 1 {
		refuse(http.StatusUnauthorized, "invalid_client")
		return
	}
	i.mu.Lock()
	g, ok := i.codes[r.PostForm.Get("code")]
	delete(i.codes, r.PostForm.Get("code"))
	claims, fault := maps.Clone(i.claims), i.fault
	i.mu.Unlock()
	sum := sha256.Sum256([]byte(r.PostForm.Get("code_verifier")))
	if !ok || g.client != id || g.back != r.PostForm.Get("redirect_uri") || b64.EncodeToString(sum[:]) != g.challenge ||
		r.PostForm.Get("grant_type") != "authorization_code" || i.Now().Sub(g.at) > time.Minute {
		refuse(http.StatusBadRequest, "invalid_grant")
		return
	}
	answer := map[string]any{"access_token": rand.Text(), "token_type": "Bearer", "expires_in": 300}
	if fault != NoToken {
		answer["id_token"] = i.sign(i.tokenOf(claims, g, fault), fault)
	}
	i.answer(w, http.StatusOK, answer)
}

// wait keeps a client waiting until it disconnects or the test ends.
func (i *Issuer) wait(r *http.Request) {
	select {
	case <-i.hang:
	case <-r.Context().Done():
	}
}

func (i *Issuer) tokenOf(claims map[string]any, g grant, fault Fault) map[string]any {
	now := i.Now()
	out := map[string]any{
		"iss": i.URL, "aud": ClientID, "iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix(),
		"nonce": g.nonce, "auth_time": now.Unix(),
	}
	maps.Copy(out, claims)
	switch fault {
	case WrongNonce:
		out["nonce"] = "another"
	case NoNonce:
		delete(out, "nonce")
	case Expired:
		out["iat"], out["exp"] = now.Add(-time.Hour).Unix(), now.Add(-time.Second).Unix()
	case FromTheFuture:
		out["iat"], out["exp"] = now.Add(time.Hour).Unix(), now.Add(2*time.Hour).Unix()
	case WrongAudience:
		out["aud"] = []string{"another"}
	case OtherParty:
		out["aud"], out["azp"] = []string{ClientID, "another"}, "another"
	case PartyList:
		out["azp"] = []string{ClientID}
	case NoTime:
		delete(out, "iat")
	case WrongIssuer:
		out["iss"] = "https://elsewhere.example"
	case NoSubject:
		delete(out, "sub")
	case NoProof:
		delete(out, "auth_time")
	case OldProof:
		out["auth_time"] = now.Add(-time.Hour).Unix()
	}
	return out
}

func (i *Issuer) sign(claims map[string]any, fault Fault) string {
	head := map[string]string{"alg": "RS256", "kid": "one", "typ": "JWT"}
	switch fault {
	case Unsigned:
		head["alg"] = "none"
	case SharedKey:
		head["alg"] = "HS256"
	}
	part := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			i.t.Error(err)
		}
		return b64.EncodeToString(text)
	}
	text := part(head) + "." + part(claims)
	sum := sha256.Sum256([]byte(text))
	key := i.key
	switch fault {
	case Unsigned:
		return text + "."
	case SharedKey:
		return text + "." + b64.EncodeToString(hmacOf(text))
	case WrongKey:
		key = i.other
	}
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	if err != nil {
		i.t.Error(err)
	}
	return text + "." + b64.EncodeToString(signature)
}

// hmacOf signs with the client's secret. Only a client that accepts any algorithm would trust it.
func hmacOf(text string) []byte {
	mac := hmac.New(sha256.New, []byte(Secret))
	_, _ = mac.Write([]byte(text)) // never fails
	return mac.Sum(nil)
}
