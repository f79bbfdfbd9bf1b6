package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The tokens of other programs are references of a length that nobody guesses, each for one
// program;
// without TLS only this host is served.
func TestWhatIsWrongAtHTTPAPIIsToldWithItsPlace(t *testing.T) {
	t.Parallel()
	long, name := strings.Repeat("k", 32), strings.Repeat("botão-de", 8)
	env := func(name string) (string, bool) {
		value, ok := map[string]string{
			"KEY": canaryKey, "DSN": canaryDSN, "LONG": long, "OTHER": long + "2",
			"SHORT": long[1:], "BLANK": long + " 2",
		}[name]
		return value, ok
	}
	words := strings.NewReplacer("LOCAL", `listen: "127.0.0.1:8090"`,
		"[A", `[{name: a, token: "${env:LONG}", scopes: [run]}`)
	for _, tt := range []struct{ name, http, want string }{
		{"nothing", `{LOCAL, tokens: [{name: a, token: "${env:LONG}", scopes: [run, status]}]}`, ""},
		{"nothing in it", `{}`, "http_api: "},
		{"no tokens", `{LOCAL}`, "http_api.tokens: is required and missing"},
		{"tokens that are no list", `{LOCAL, tokens: {a: b}}`, "http_api.tokens: must be a list"},
		{"another key", `{LOCAL, tokens: [{name: a, tokn: x, scopes: [run]}]}`, "did you mean `token`?"},
		{
			"a token in the file", `{LOCAL, tokens: [{name: a, token: ` + long + `, scopes: [run]}]}`,
			"http_api.tokens[0].token: must not stand in the file",
		},
		{
			"a short token", `{LOCAL, tokens: [{name: a, token: "${env:SHORT}", scopes: [run]}]}`,
			"http_api.tokens[0].token: must be at least 32 characters",
		},
		{
			"a blank in a token", `{LOCAL, tokens: [{name: a, token: "${env:BLANK}", scopes: [run]}]}`,
			"http_api.tokens[0].token: must be at least 32 characters of ASCII without blanks",
		},
		{
			"one token for two", `{LOCAL, tokens: [A, {name: b, token: "${env:LONG}", scopes: [run]}]}`,
			"http_api.tokens[1].token: is that of another name",
		},
		{
			"one name for two", `{LOCAL, tokens: [A, {name: a, token: "${env:OTHER}", scopes: [run]}]}`,
			"http_api.tokens[1].name: stands twice",
		},
		{
			"a name with a slash", `{LOCAL, tokens: [{name: a/b, token: "${env:LONG}", scopes: [run]}]}`,
			"http_api.tokens[0].name: must be letters",
		},
		{"the longest name", `{LOCAL, tokens: [{name: ` + name + `, token: "${env:LONG}", scopes: [run]}]}`, ""},
		{
			"a longer name", `{LOCAL, tokens: [{name: ` + name + `s, token: "${env:LONG}", scopes: [run]}]}`,
			"http_api.tokens[0].name: must be letters, digits, dots, hyphens and underscores, 64 at most",
		},
		{
			"another scope", `{LOCAL, tokens: [{name: a, token: "${env:LONG}", scopes: [runs]}]}`,
			"http_api.tokens[0].scopes[0]: unknown scope `runs`; did you mean `run`?",
		},
		{
			"open to others without TLS", `{listen: "0.0.0.0:8090", tokens: [A]}`,
			"http_api.listen: is reached from other hosts, and tokens would travel in the open",
		},
		{
			"no port", `{listen: "127.0.0.1", tokens: [A]}`,
			"http_api.listen: must be an address and a port",
		},
		{
			"half a certificate", `{LOCAL, key_file: x, tokens: [A]}`,
			"http_api.cert_file: and key_file belong together",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, problem := loadTextWith(t, edited(t, "jobs:", "http_api: "+words.Replace(tt.http)+"\njobs:"), env)
			if tt.want != "" {
				if !strings.Contains(problem, tt.want) {
					t.Errorf("the fault is %s, want %s", problem, tt.want)
				}
				if strings.Contains(problem, long[1:]) {
					t.Errorf("the fault tells a token: %s", problem)
				}
				return
			}
			if problem != "" {
				t.Fatal(problem)
			}
			shown := c.Show()
			if strings.Contains(shown, long) {
				t.Errorf("what is shown tells a token:\n%s", shown)
			}
			again, problem := loadTextWith(t, shown, env)
			if problem != "" {
				t.Fatalf("what is shown does not load: %s\n%s", problem, shown)
			}
			diff := cmp.Diff(c.HTTPAPI, again.HTTPAPI, cmp.AllowUnexported(Secret{}))
			if diff != "" {
				t.Errorf("what is shown means something else (-want +got):\n%s", diff)
			}
		})
	}
}
