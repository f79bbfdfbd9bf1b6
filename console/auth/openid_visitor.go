package auth

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/trade"
)

// visitor is a person as the issuer describes them.
type visitor struct {
	Subject  string
	Email    string
	Name     string
	login    string // preferred_username
	verified bool   // the issuer has verified the address
	Role     trade.Role
	at       time.Time // when the person last authenticated there; zero: unknown
}

// refusal is an invalid answer of the issuer; nobody is logged in with it. cause is one of a few,
// for the audit; err is for the log.
type refusal struct {
	cause string
	err   error // nil: there are no details
}

func (r *refusal) Error() string {
	text := "the answer of the issuer is refused: " + r.cause
	if r.err != nil {
		text += ": " + r.err.Error()
	}
	return text
}

// visitor exchanges the code at the issuer, in a conversation that talk began, and checks
// everything in the answer. With a refusal it also returns the person whom a genuine token names,
// for the audit only.
func (o *OpenID) visitor(ctx context.Context, f flow, code, back string, now time.Time) (v visitor, err error) {
	p, err := o.provider(ctx, now)
	if err != nil {
		return v, err
	}
	token, err := o.oauth(p, back).Exchange(ctx, code, oauth2.VerifierOption(f.part("verifier")))
	if err != nil {
		if answer, ok := errors.AsType[*oauth2.RetrieveError](err); ok && answer.Response != nil {
			status := answer.Response.StatusCode
			said := phrase.Errorf("status %d, %s", status, oneWord(answer.ErrorCode)) // its description is any text
			if status < http.StatusInternalServerError {
				return v, &refusal{"the code is not taken", said}
			}
			err = said
		}
		return v, phrase.Errorf("the issuer %s: %w", o.Issuer, brief(err))
	}
	raw, _ := token.Extra("id_token").(string)
	if raw == "" {
		return v, &refusal{"there is no id_token", nil}
	}
	id, err := p.VerifierContext(ctx, &oidc.Config{
		ClientID: o.ClientID,
		Now:      func() time.Time { return now },
	}).Verify(ctx, raw)
	if err != nil && strings.Contains(err.Error(), "fetching keys ") { // the library offers the cause as text only
		return v, phrase.Errorf("the keys of the issuer %s: %w", o.Issuer, brief(err))
	}
	if err != nil {
		cause := "the token is not valid"
		if expired := (*oidc.TokenExpiredError)(nil); errors.As(err, &expired) {
			cause = "the token has expired"
		}
		return v, &refusal{cause, brief(err)}
	}
	claims := map[string]any{}
	if err := id.Claims(&claims); err != nil {
		return v, &refusal{"the token cannot be read", brief(err)}
	}
	if id.Subject == "" || len(id.Subject) > 255 {
		return v, &refusal{"the token names nobody", nil}
	}
	v.Subject = id.Subject
	party, isText := claims["azp"].(string)
	_, says := claims["azp"]
	switch {
	case subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(f.part("nonce"))) != 1:
		return v, &refusal{"the nonce is another one", nil}
	case says != isText, isText && party != o.ClientID, !isText && len(id.Audience) > 1:
		return v, &refusal{"the token was made for another client", nil}
	case claims["iat"] == nil:
		return v, &refusal{"the token does not say when it was issued", nil}
	case id.IssuedAt.After(now.Add(clockSkew)):
		return v, &refusal{"the token was issued later than our clock says", nil}
	}
	for _, name := range named(claims, o.Claim) { // the highest of the roles
		if role, ok := o.Roles[name]; ok && (v.Role == "" || role.May(v.Role)) {
			v.Role = role
		}
	}
	v.Email, _ = claims["email"].(string)
	v.Name, _ = claims["name"].(string)
	v.login, _ = claims["preferred_username"].(string)
	switch is := claims["email_verified"].(type) {
	case bool:
		v.verified = is
	case string:
		v.verified = is == "true"
	}
	if at, ok := claims["auth_time"].(float64); ok && at > 0 && at < 1<<40 {
		v.at = time.Unix(int64(at), 0)
	}
	return v, nil
}

// named returns the texts of a claim: of the claim with this name, or of that to which a path of
// names leads.
func named(claims map[string]any, claim string) []string {
	value, ok := claims[claim]
	for at, rest := claims, claim; !ok; {
		name, more, deeper := strings.Cut(rest, ".")
		if !deeper {
			value = at[name]
			break
		}
		inside, is := at[name].(map[string]any)
		if !is {
			return nil
		}
		at, rest = inside, more
	}
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, one := range v {
			if text, is := one.(string); is {
				out = append(out, text)
			}
		}
		return out
	}
	return nil
}

// arguments returns texts as arguments of a command line, safe even if they look like options,
// because somebody will copy the line.
func arguments(texts ...string) string {
	words := make([]string, 0, len(texts)+1)
	if slices.ContainsFunc(texts, func(text string) bool { return strings.HasPrefix(text, "-") }) {
		words = append(words, "--")
	}
	for _, text := range texts {
		const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._@-"
		if text == "" || strings.Trim(text, plain) != "" {
			text = "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
		}
		words = append(words, text)
	}
	return strings.Join(words, " ")
}

// detail returns the audit's detail about the person.
func (v visitor) detail(issuer, fault string) string {
	text, _ := json.Marshal(v.claims(issuer, fault)) // texts only: it never fails
	return string(text)
}

// claims is what the issuer said of the person, and what is wrong with it, for the audit.
func (v visitor) claims(issuer, fault string) any {
	return struct {
		Issuer  string     `json:"issuer"`
		Subject string     `json:"subject,omitempty"`
		Email   string     `json:"email,omitempty"`
		Name    string     `json:"name,omitempty"`
		Role    trade.Role `json:"role,omitempty"`
		Fault   string     `json:"fault,omitempty"`
	}{issuer, v.Subject, v.Email, v.Name, v.Role, fault}
}
