package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Who is told has a name of its own and a secret that nobody guesses, and nothing is sent in the open.
func TestWhatIsWrongAtEventsIsToldWithItsPlace(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("k", 32)
	env := func(name string) (string, bool) {
		value, ok := map[string]string{
			"KEY": canaryKey, "DSN": canaryDSN, "LONG": long, "SHORT": long[1:],
			"HOOK": "https://erp.example.com/x?token=1",
			"OPEN": "http://erp.example.com/x",
		}[name]
		return value, ok
	}
	words := strings.NewReplacer("SECRET", `secret: "${env:LONG}"`, "URL", `url: "https://erp.example.com/x"`)
	for _, tt := range []struct{ name, events, want string }{
		{"nothing", `[{name: erp, URL, SECRET}]`, ""},
		{
			"all", `[{name: erp, url: "${env:HOOK}", SECRET, kinds: [row.accepted], jobs: [contracts], timeout: 5s}, {name: bi, URL, SECRET}]`,
			"",
		},
		{"a private address", `[{name: erp, url: "http://10.0.0.5/x", SECRET}]`, ""},
		{"no list", `{name: erp}`, "events: must be a list"},
		{"an empty list", `[]`, "events: must be a list"},
		{"no address", `[{name: erp, SECRET}]`, "events[0].url: is required"},
		{"no secret", `[{name: erp, URL}]`, "events[0].secret: is required"},
		{"no name", `[{URL, SECRET}]`, "events[0].name: is required"},
		{"one name twice", `[{name: erp, URL, SECRET}, {name: erp, URL, SECRET}]`, "events[1].name: stands twice"},
		{
			"a secret in the file", `[{name: erp, URL, secret: ` + long + `}]`,
			"events[0].secret: must not stand in the file",
		},
		{"a short secret", `[{name: erp, URL, secret: "${env:SHORT}"}]`, "events[0].secret: must be at least 32"},
		{"in the open", `[{name: erp, url: "${env:OPEN}", SECRET}]`, "events[0].url: must begin with https://"},
		{"no address at all", `[{name: erp, url: "erp", SECRET}]`, "events[0].url: does not resolve"},
		{
			"a secret in the address", `[{name: erp, url: "https://erp.example.com/x?token=1", SECRET}]`,
			"events[0].url: has a part behind ?",
		},
		{
			"another kind", `[{name: erp, URL, SECRET, kinds: [row.acepted]}]`,
			"events[0].kinds[0]: unknown event `row.acepted`; did you mean `row.accepted`?",
		},
		{"another job", `[{name: erp, URL, SECRET, jobs: [contract]}]`, "events[0].jobs[0]: unknown job `contract`"},
		{"a time of nothing", `[{name: erp, URL, SECRET, timeout: 1ms}]`, "events[0].timeout: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, problem := loadTextWith(t, edited(t, "jobs:", "events: "+words.Replace(tt.events)+"\njobs:"), env)
			if tt.want != "" {
				if !strings.Contains(problem, tt.want) || strings.Contains(problem, long[1:]) {
					t.Errorf("the fault is %s, want %s", problem, tt.want)
				}
				return
			}
			if problem != "" {
				t.Fatal(problem)
			}
			shown := c.Show()
			if strings.Contains(shown, long) || strings.Contains(shown, "token=1") {
				t.Errorf("what is shown tells a secret:\n%s", shown)
			}
			again, problem := loadTextWith(t, shown, env)
			if problem != "" {
				t.Fatalf("what is shown does not load: %s\n%s", problem, shown)
			}
			if diff := cmp.Diff(c.Events, again.Events, cmp.AllowUnexported(Secret{})); diff != "" {
				t.Errorf("what is shown means something else (-want +got):\n%s", diff)
			}
		})
	}
}
