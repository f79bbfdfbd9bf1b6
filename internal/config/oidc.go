package config

import (
	"crypto/x509"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/console/auth"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/trade"
)

// OIDCConfig is the OpenID Connect provider with which people may log in to the console, beside
// those who have a password there.
type OIDCConfig struct {
	Issuer       string            `yaml:"issuer"`        // required; exactly as the provider writes it
	ClientID     string            `yaml:"client_id"`     // required
	ClientSecret Secret            `yaml:"client_secret"` // required
	Label        string            `yaml:"label"`         // the provider's name for people
	Scopes       []string          `yaml:"scopes"`        // in addition to openid
	RolesClaim   string            `yaml:"roles_claim"`   // claim that names groups or roles
	Roles        map[string]string `yaml:"roles"`         // required; role by group or role of the claim
	CAFile       string            `yaml:"ca_file"`       // optional
	Proxy        string            `yaml:"proxy"`         // optional
}

func defaultOIDC() *OIDCConfig {
	return &OIDCConfig{Label: "OpenID", Scopes: []string{"profile", "email"}, RolesClaim: "groups"}
}

func (c *Config) checkOIDC(d *Decoder) {
	o := c.Console.OIDC
	if o == nil {
		return
	}
	const at = "console.oidc"
	d.Require(at, map[string]bool{
		"issuer": o.Issuer == "", "client_id": o.ClientID == "",
		"client_secret": o.ClientSecret.IsZero(), "roles": len(o.Roles) == 0,
	})
	if o.Issuer != "" && !d.faulty(at+".issuer") {
		u, err := url.Parse(o.Issuer)
		switch {
		case err != nil || u.Opaque != "" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" ||
			u.Fragment != "" || u.Scheme != "https" && u.Scheme != "http":
			d.Fault(at+".issuer",
				"must be the address of the provider as it writes it itself, as in https://login.example.com/realms/coop, without /.well-known")
		case strings.Contains(u.Path, "/.well-known/"):
			d.Fault(at+".issuer", "must end before /.well-known/, which is added to it")
		case u.Scheme == "http" && !IsLoopback(u.Hostname()):
			d.Fault(at+".issuer", "must begin with https://; http:// is for this host only (127.0.0.1, ::1, localhost)")
		}
	}
	if !o.ClientSecret.IsZero() && !reference.MatchString(o.ClientSecret.written) {
		d.Fault(at+".client_secret",
			"must not stand in the file: write ${env:NAME} or ${file:PATH} (and change a secret that others have seen)")
	}
	for name, text := range map[string]string{"label": o.Label, "client_id": o.ClientID, "roles_claim": o.RolesClaim} {
		if strings.ContainsAny(text, "\r\n") || len([]rune(text)) > 100 {
			d.Fault(at+"."+name, "must be one line of at most 100 characters")
		}
	}
	for i, scope := range o.Scopes {
		if strings.ContainsAny(scope, " \"\\\r\n\t") {
			d.Fault(at+".scopes", "number %d is not one scope, as in profile", i+1)
		}
	}
	for _, name := range SortedKeys(o.Roles) {
		if _, ok := RoleNamed(o.Roles[name]); !ok {
			d.Fault(joinPath(at+".roles", name),
				"must be reader (leitura), accountant (contabilidade) or administrator (administração)")
		}
	}
	if o.Proxy != "" {
		switch u, err := url.Parse(o.Proxy); {
		case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
			d.Fault(at+".proxy", "must be an address, as in http://proxy.example.com:3128")
		case u.User != nil:
			d.Fault(at+".proxy",
				"must not have a user and password, which would stand in the file: let the proxy know this host by its address")
		}
	}
	o.CAFile = c.checkCAFile(d, at+".ca_file", o.CAFile)
	if c.Console.Listen == "" {
		d.Fault(at, "needs console.listen: nobody logs in to a console that is not served")
	}
}

// RoleNamed returns a role by its name in English or Portuguese. It returns false for any other
// text.
func RoleNamed(text string) (trade.Role, bool) {
	for _, role := range trade.Roles {
		if strings.EqualFold(text, string(role)) ||
			strings.EqualFold(text, i18n.CLI.Text(i18n.Portuguese, i18n.Key("role."+string(role)))) {
			return role, true
		}
	}
	return trade.Administrator, strings.EqualFold(text, "administracao")
}

// OpenID returns the login with the provider; nil if none is configured. It sends no request.
func (o ConsoleConfig) OpenID() (*auth.OpenID, error) {
	if o.OIDC == nil {
		return nil, nil //nolint:nilnil // no provider is no error
	}
	options := auth.OpenIDOptions{
		Issuer: o.OIDC.Issuer, ClientID: o.OIDC.ClientID, Secret: o.OIDC.ClientSecret.Reveal(), Label: o.OIDC.Label,
		Claim: o.OIDC.RolesClaim, Roles: map[string]trade.Role{},
	}
	options.Scopes = slices.DeleteFunc(slices.Clone(o.OIDC.Scopes), func(s string) bool { return s == "openid" })
	for name, text := range o.OIDC.Roles {
		if role, ok := RoleNamed(text); ok {
			options.Roles[name] = role
		}
	}
	if o.OIDC.CAFile != "" {
		pem, err := os.ReadFile(o.OIDC.CAFile)
		if err != nil {
			return nil, phrase.Errorf("console.oidc.ca_file: %w", err)
		}
		options.Roots = x509.NewCertPool()
		options.Roots.AppendCertsFromPEM(pem)
	}
	if o.OIDC.Proxy != "" {
		var err error
		options.Proxy, err = url.Parse(o.OIDC.Proxy)
		if err != nil {
			return nil, phrase.Errorf("console.oidc.proxy: %w", err)
		}
	}
	return auth.NewOpenID(options), nil
}
