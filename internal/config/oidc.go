package config

import (
	"net/url"
	"strings"

	"github.com/safrasync/safrasync/console/auth"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/trade"
)

// OIDCConfig is the OpenID Connect provider with which people may log in to the console, beside
// those who have a password there.
type OIDCConfig struct {
	Issuer       string            `yaml:"issuer"`        // required; exactly as the provider writes it
	ClientID     string            `yaml:"client_id"`     // required
	ClientSecret Secret            `yaml:"client_secret"` // required
	RolesClaim   string            `yaml:"roles_claim"`   // claim that names groups or roles
	Roles        map[string]string `yaml:"roles"`         // required; role by group or role of the claim
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
	for name, text := range map[string]string{"client_id": o.ClientID, "roles_claim": o.RolesClaim} {
		if strings.ContainsAny(text, "\r\n") || len([]rune(text)) > 100 {
			d.Fault(at+"."+name, "must be one line of at most 100 characters")
		}
	}
	for _, name := range SortedKeys(o.Roles) {
		if _, ok := RoleNamed(o.Roles[name]); !ok {
			d.Fault(joinPath(at+".roles", name),
				"must be reader (leitura), accountant (contabilidade) or administrator (administração)")
		}
	}
	if c.Console.Listen == "" {
		d.Fault(at, "needs console.listen: nobody logs in to a console that is not served")
	}
}

// RoleNamed returns a role by its name in English or Portuguese. It returns false for any other
// text.
func RoleNamed(text string) (trade.Role, bool) {
	for _, role := range trade.Roles {
		if strings.EqualFold(text, string(role)) ||
			strings.EqualFold(text, i18n.CLI.Text(i18n.Portuguese, "role."+string(role))) {
			return role, true
		}
	}
	return trade.Administrator, strings.EqualFold(text, "administracao")
}

// OpenID returns the login with the provider, which people know by its host name; nil if none is
// configured. It sends no request.
func (c *Config) OpenID() (*auth.OpenID, error) {
	o := c.Console.OIDC
	if o == nil {
		return nil, nil //nolint:nilnil // no provider is no error
	}
	issuer, err := url.Parse(o.Issuer)
	if err != nil {
		return nil, err
	}
	roots, err := RootsOf(c.API.CAFile)
	if err != nil {
		return nil, err
	}
	options := auth.OpenIDOptions{
		Issuer: o.Issuer, ClientID: o.ClientID, Secret: o.ClientSecret.Reveal(), Label: issuer.Hostname(),
		Roots: roots, Claim: o.RolesClaim, Roles: map[string]trade.Role{},
	}
	for name, text := range o.Roles {
		if role, ok := RoleNamed(text); ok {
			options.Roles[name] = role
		}
	}
	return auth.NewOpenID(options), nil
}
