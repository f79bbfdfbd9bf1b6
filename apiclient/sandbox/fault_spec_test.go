package sandbox_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/safrasync/safrasync/apiclient/sandbox"
)

func TestParseFaultFillsTheFault(t *testing.T) {
	t.Parallel()
	tests := map[string]sandbox.Disturbance{
		"lost-after,reset@2-5%12.5":  {Do: sandbox.Lose, Commit: true, Reset: true, First: 2, Last: 5, Percent: 12.5},
		"get:lost-before@7-":         {Do: sandbox.Lose, Gets: true, First: 7},
		"cut,late=2s,slow=1m":        {Do: sandbox.Cut, Late: 2 * time.Second, Slow: time.Minute},
		"slow=500ms":                 {Slow: 500 * time.Millisecond},
		"status=401,commit,empty":    {Do: sandbox.Reply, Status: 401, Commit: true},
		"hang,commit":                {Do: sandbox.Hang, Commit: true},
		"any:garbled@2":              {Do: sandbox.Garble, Any: true, First: 2, Last: 2},
		"deliveries:twice":           {Do: sandbox.Twice, Resource: "deliveries"},
		"get:consent:slow=1s":        {Slow: time.Second, Gets: true, Resource: "consent"},
		"change:webhooks:lost-after": {Do: sandbox.Lose, Commit: true, Changes: true, Resource: "webhooks"},
	}
	for spec, want := range tests {
		f, err := sandbox.ParseFault(spec)
		if err != nil {
			t.Error(err)
			continue
		}
		if diff := cmp.Diff(want, f, cmpopts.IgnoreUnexported(sandbox.Disturbance{})); diff != "" {
			t.Errorf("ParseFault(%s) (-want +got):\n%s", spec, diff)
		}
		if f.String() != spec {
			t.Errorf("String = %q, want %q", f, spec)
		}
	}
}

func TestParseFaultRefusesWithHelp(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"":                         `"" is no action; known are again, body, cut`,
		"lost":                     `"lost" is no action`,
		"Module":                   `"Module" is no action`,
		"put:module":               `"put:module" is no action`,
		"commit":                   `"commit" is no action`,
		"status":                   `"status" needs a value, as in status=503`,
		"status=":                  `"status" needs a value`,
		"status=abc":               "status: want a status from 200 to 999",
		"status=199":               "status: want a status from 200 to 999",
		"status=1000":              "status: want a status from 200 to 999",
		"status=+503":              "status: want a status from 200 to 999",
		"module=1":                 `"module" takes no value`,
		"module,commit":            `"commit" cannot follow "module"; allowed are slow`,
		"lost-before,commit":       `"commit" cannot follow "lost-before"; allowed are reset, slow`,
		"lost-before,late=1s":      `"late" cannot follow "lost-before"`,
		"status=503,late=1s":       "late= delays an execution; add commit",
		"status=503,commit,commit": `"commit" stands twice`,
		"slow=1s,slow=2s":          `"slow" stands twice`,
		"status=503,":              `"" cannot follow "status"`,
		"status=503, commit":       "blanks are allowed in body= only",
		" module":                  "blanks are allowed in body= only",
		"status=401,empty,body=x":  "empty does not go with body=",
		"status=204,body=x":        "status 204 has no body",
		"throttle":                 `"throttle" needs a value, as in throttle=2s`,
		"throttle=1500ms":          "want whole seconds",
		"throttle=2":               "want whole seconds",
		"slow=5":                   "slow: want a duration above 0",
		"slow=-5s":                 "slow: want a duration above 0",
		"redirect=":                `"redirect" needs a value`,
		"redirect=login":           "redirect: want an absolute URL",
		"module@":                  "@: want @N, @N- or @N-M",
		"module@0":                 "@0: want @N",
		"module@-3":                "@-3: want @N",
		"module@x":                 "@x: want @N",
		"module@4-2":               "@4-2: want @N",
		"module@1-2-3":             "@1-2-3: want @N",
		"module@1@2":               `"@" stands twice`,
		"module%":                  "%: want a number above 0 to 100",
		"module%0":                 "%0: want a number",
		"module%101":               "%101: want a number",
		"module%NaN":               "%NaN: want a number",
		"module%10%20":             `"%" stands twice`,
		"status=503@2,commit":      "@2,commit: want @N",
		"get:noid":                 "cannot stand behind get:",
		"get:status=500,commit":    "cannot stand behind get:",
		"get:get:module":           `"get:module" is no action`,
		"cats:module":              `"cats:module" is no action`,
		"deliveries:get:module":    `"get:module" is no action`,
		"change:twice":             "cannot stand behind get:, change: or any:",
		"any:lost-after":           "cannot stand behind get: or any:",
		"unavailable=1.5s":         "want whole seconds",
		"hang,reset":               `"reset" cannot follow "hang"; allowed are commit, late, slow`,
	}
	for spec, want := range tests {
		_, err := sandbox.ParseFaults([]string{"module", spec})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "fault ") {
			t.Errorf("ParseFaults(%q) = %v, want %q", spec, err, want)
		}
	}
}

func FuzzParseFaultNeverPanicsAndNeverExecutesAGet(f *testing.F) {
	for _, seed := range []string{
		"lost-after", "get:status=401,empty@2-%5", "status=201,commit@3,body=@x",
		"slow=1s,late=2s", "@", "%", ",body=",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		fault, err := sandbox.ParseFault(spec)
		if err != nil {
			return
		}
		if (fault.Gets || fault.Any) && fault.Commit || fault.Last > 0 && fault.Last < fault.First || fault.Slow < 0 ||
			fault.Late < 0 {
			t.Errorf("ParseFault(%q) = %+v", spec, fault)
		}
		if fault.String() != spec {
			t.Errorf("String = %q, want %q", fault, spec)
		}
	})
}
