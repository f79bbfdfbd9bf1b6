package apiclient_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/internal/must"
)

// A key may hold whatever a header can carry; an echo writes it as its own format asks.
const oddKey = `Ca&"n<a>/r\y+k%2Fe=y?7#f:3@a 9'1`

// An echo is in any of the ways in which programs write a text.
func TestAKeyWithTheCharactersOfAURLIsHiddenHoweverItIsEchoed(t *testing.T) {
	t.Parallel()
	var plain bytes.Buffer
	enc := json.NewEncoder(&plain)
	enc.SetEscapeHTML(false)
	must.Do(t, enc.Encode(oddKey))
	unquoted := func(b []byte) string { s := strings.TrimSpace(string(b)); return s[1 : len(s)-1] }
	lower := func(s string) string {
		return regexp.MustCompile(`%[0-9A-F]{2}`).ReplaceAllStringFunc(s, strings.ToLower)
	}
	for name, echo := range map[string]string{
		"as it is":              oddKey,
		"JSON":                  unquoted(plain.Bytes()),
		"JSON for HTML":         unquoted(must.Get(json.Marshal(oddKey))(t)),
		"JSON, slashes escaped": strings.ReplaceAll(unquoted(plain.Bytes()), "/", `\/`),
		"query":                 url.QueryEscape(oddKey),
		"query, small letters":  lower(url.QueryEscape(oddKey)),
		"path":                  url.PathEscape(oddKey),
		"path, small letters":   lower(url.PathEscape(oddKey)),
		"HTML":                  html.EscapeString(oddKey),
		"base64":                base64.StdEncoding.EncodeToString([]byte(oddKey)),
		"base64 without pad":    base64.RawStdEncoding.EncodeToString([]byte(oddKey)),
		"base64 for URLs":       base64.URLEncoding.EncodeToString([]byte(oddKey)),
		"base64 for URLs, bare": base64.RawURLEncoding.EncodeToString([]byte(oddKey)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, answer := range []answerFunc{
				always(401, `<p>`+echo+`</p>`),
				always(403, "Unexpected value: "+echo),
				always(500, `{"messages":["`+echo+`"]}`, "X-Echo: "+echo),
				always(201, `{"echo":"`+echo+`"}`),
				always(302, "", "Location: /login?key="+echo),
			} {
				s := startRaw(t, answer)
				c := newClient(t, apiclient.Settings{BaseURL: s.url(), APIKey: oddKey})
				a, err := c.SubmitOrderCommitment(context.Background(), payload, nil)
				if err == nil {
					t.Fatal("no error")
				}
				for where, seen := range map[string]string{
					"body": string(a.Body), "text": a.Text, "excerpt": a.Excerpt(),
					"messages": strings.Join(a.Messages, "\n"),
					"header":   strings.Join(a.Header["X-Echo"], "\n") + strings.Join(a.Header["Location"], "\n"),
					"error":    err.Error(), "evidence": a.Evidence.Err,
				} {
					if strings.Contains(seen, echo) {
						t.Errorf("status %d: the %s shows the key: %q", a.Status, where, seen)
					}
				}
			}
		})
	}
}

// The credentials of a webhook may be shorter than what is looked for in foreign text: the fields
// that hold them are hidden by their names.
func TestShortCredentialsOfAWebhookAreHiddenInAnEcho(t *testing.T) {
	t.Parallel()
	for _, echo := range []string{
		`{"id":"` + testID + `","basic_authentication":"a:b","hmac_secret":"xyz","url":"https://coop.example/"}`,
		"\xef\xbb\xbf {\"id\":\"" + testID + `","basicAuthentication":"a:b","hmacSecret":"xyz"}`,
		`[{"basic_authentication":"a:b","hmac_secret":"xyz"}]`,
		`{"data":{"basic_authentication":"a:b","hmac_secret":"xyz"}}`,
	} {
		s := startRaw(t, always(201, echo))
		c := s.client(t)
		a, _ := c.CreateWebhook(context.Background(), apiclient.WebhookRequest{
			WebhookEvent: "CREATE_FARM", URL: "https://coop.example/", BasicAuthentication: "a:b",
			HMACSecret: "xyz",
		})
		if strings.Contains(string(a.Body)+a.Text+a.Excerpt(), "a:b") || strings.Contains(string(a.Body), "xyz") {
			t.Errorf("%s: the body kept is %s", echo, a.Body)
		}
	}
}
