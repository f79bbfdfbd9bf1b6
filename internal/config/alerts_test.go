package config

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const canaryWebhook = "https://hooks.example.com/services/canary-webhook-11e2"

// withAlerts is goodConfig with a section alerts.
func withAlerts(section string) string {
	return strings.Replace(goodConfig, "jobs:\n", "alerts:\n"+section+"\njobs:\n", 1)
}

// loadAlerts loads it, with the secrets that its references name.
func loadAlerts(t testing.TB, section string) (*Config, string) {
	t.Helper()
	return loadTextWith(t, withAlerts(section), func(name string) (string, bool) {
		if value, ok := map[string]string{
			"HOOK": canaryWebhook, "HTTP": "http://hooks.example.com/x",
			"SMTP": "canary-smtp-52d1", "LAN": "http://192.168.7.9:3001/api/push/canary-11e2",
		}[name]; ok {
			return value, true
		}
		return testEnv(name)
	})
}

func TestF164AlertsThatCannotWorkAreTold(t *testing.T) {
	t.Parallel()
	const mail = `server: "smtp.example.com:587", from: s@example.com, to: [a@example.com]`
	for section, want := range map[string]string{
		`  email: {}`: "alerts.email.from: is required and missing",
		`  email: {server: smtp.example.com, from: s@example.com, to: [a@example.com]}`: "alerts.email.server: must be a host and a port, as in smtp.example.com:587",
		`  email: {` + mail +
			`, user: s}`: "alerts.email.password: is required and missing",
		`  email: {` + mail +
			`, user: s, password: canary-plain}`: "alerts.email.password: must not stand in the file",
		`  email: {` + mail +
			`, security: ssl}`: "alerts.email.security: must be starttls, tls or none",
		`  email: {` + mail +
			`, security: none}`: "alerts.email.security: none is for a server on this host only",
		`  email: {` + mail +
			`, ca_file: /nowhere.pem}`: "unknown key `ca_file`",
		`  email: {server: "h:25", from: s@example.com, to: [a@example.com, a@example.com]}`: "alerts.email.to: number 2 is in the list already",
		`  email: {server: "h:25", from: s@example.com, to: [a@example.com, Ana canary]}`:    "alerts.email.to: number 2 is not an address",
		`  email: {server: "h:25", from: nobody, to: [a@example.com]}`:                       "alerts.email.from: is not an address",
		`  email: {server: "h:25", from: s@example.com, to: []}`:                             "alerts.email.to: must be a list with at least one value",
		`  webhook: {url: "https://hooks.example.com/services/canary-webhook-11e2"}`:         "alerts.webhook.url: must not stand in the file",
		`  webhook: {url: "${env:HTTP}"}`:                                                    "alerts.webhook.url: must begin with https://",
		`  webhook: {url: "${env:KEY}"}`:                                                     "alerts.webhook.url: does not resolve to an address",
		`  webhook: {url: "${env:HOOK}", form: discord}`:                                     "alerts.webhook.form: must be slack, teams, telegram, pagerduty or json",
		`  webhook: {url: "${env:HOOK}", form: telegram}`:                                    "alerts.webhook.chat: is required and missing",
		`  webhook: {url: "${env:HOOK}", chat: "-1"}`:                                        "alerts.webhook.chat: is for form: telegram only",
		`  webhook: {url: "${env:HOOK}", form: pagerduty}`:                                   "alerts.webhook.key: is required and missing",
		`  webhook: {url: "${env:HOOK}", form: pagerduty, key: canary-key}`:                  "alerts.webhook.key: must not stand in the file",
		`  webhook: {url: "${env:HOOK}", key: "${env:KEY}"}`:                                 "alerts.webhook.key: is for form: pagerduty only",
		`  webhook: {url: "${env:HTTP}", form: json}`:                                        "alerts.webhook.url: must begin with https://; http:// is for this host and for private addresses",
		`  webhook: {form: teams}`:                                                           "alerts.webhook.url: is required and missing",
		`  heartbeat: "https://hc.example.com/canary-11e2"`:                                  "alerts.heartbeat: must not stand in the file, because",
		`  heartbeat: "${env:HTTP}"`:                                                         "alerts.heartbeat: must begin with https://; http:// is for this host and for private addresses",
		`  heartbeat: "${env:KEY}"`:                                                          "alerts.heartbeat: does not resolve to an address",
		`  hearbeat: "${env:HOOK}"`:                                                          "unknown key `hearbeat`; did you mean `heartbeat`?",
		`  rejected_above: -1`:                                                               "alerts.rejected_above: must be a whole number",
		`  backup_older: 2`:                                                                  "alerts.backup_older: must be a time with its unit",
		`  nothing_new: 500d`:                                                                "alerts.nothing_new: must be from 0s to 365d",
		`  digest: every morning`:                                                            "; or write off",
		`  digets: off`:                                                                      "unknown key `digets`; did you mean `digest`?",
	} {
		_, problem := loadAlerts(t, section)
		if !strings.Contains(problem, want) {
			t.Errorf("%s\n gives %q\n want %q", section, problem, want)
		}
		if strings.Contains(problem, "canary") {
			t.Errorf("%s: the fault tells a secret: %s", section, problem)
		}
	}
}

func TestAlertsHaveDefaultsAndShowNoSecret(t *testing.T) {
	t.Parallel()
	c, problem := loadAlerts(t, `  email: {server: "smtp.example.com:587", user: s, password: "${env:SMTP}", from: s@example.com, to: [a@example.com]}
  webhook: {url: "${env:HOOK}", form: teams}
  heartbeat: "${env:LAN}"`)
	if problem != "" {
		t.Fatal(problem)
	}
	a := c.Alerts
	if a.Email.Security != "starttls" || a.RejectedAbove != 20 || a.Digest != "0 7 * * 1-5" || c.Jobs[0].NothingNew != 72*time.Hour {
		t.Errorf("defaults: %+v, %+v", a, a.Email)
	}
	if a.Email.Password.Reveal() != "canary-smtp-52d1" || a.Webhook.URL.Reveal() != canaryWebhook ||
		!strings.HasPrefix(a.Heartbeat.Reveal(), "http://192.168.") {
		t.Error("the references were not resolved")
	}
	shown := c.Show() + fmt.Sprintf("%v %+v %#v", c, a.Email.Password, a.Webhook.URL)
	if strings.Contains(shown, "canary-") {
		t.Errorf("a secret is shown:\n%s", shown)
	}
	for _, want := range []string{
		`password: "${env:SMTP}"`, `url: "${env:HOOK}"`, `heartbeat: "${env:LAN}"`, `digest: "0 7 * * 1-5"`,
		"nothing_new: 72h",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("config show lacks %s:\n%s", want, shown)
		}
	}
	again, problem := loadTextWith(t, c.Show(), func(name string) (string, bool) {
		value, ok := map[string]string{
			"HOOK": canaryWebhook, "LAN": canaryWebhook, "SMTP": "x", "KEY": canaryKey, "DSN": canaryDSN,
		}[name]
		return value, ok
	})
	if problem != "" || again.Show() != c.Show() {
		t.Errorf("what is shown does not load again: %s", problem)
	}
}

func TestAJobMayHaveItsOwnLimitForNothingNew(t *testing.T) {
	t.Parallel()
	text := strings.Replace(withAlerts("  nothing_new: 1d"), "    key: [filial, num]",
		"    key: [filial, num]\n    nothing_new: 0s", 1)
	if c := mustLoad(t, text); c.Jobs[0].NothingNew != 0 {
		t.Errorf("nothing_new = %v, want never", c.Jobs[0].NothingNew)
	}
	if c := mustLoad(t, withAlerts("  nothing_new: 1d")); c.Jobs[0].NothingNew != 24*time.Hour {
		t.Errorf("nothing_new = %v, want that of alerts", c.Jobs[0].NothingNew)
	}
}

// The address of the console goes into messages, so it holds nothing that is secret or that a page's
// address cannot follow.
func TestAPublicAddressOfTheConsoleIsChecked(t *testing.T) {
	t.Parallel()
	with := func(address string) string {
		return strings.Replace(goodConfig, "jobs:\n", "console: {public_url: \""+address+"\"}\njobs:\n", 1)
	}
	if got := mustLoad(t, with("https://a.example/")).Console.PublicURL; got != "https://a.example" {
		t.Errorf("public_url = %q", got)
	}
	for address, want := range map[string]string{
		"safrasync.coop.example": "console.public_url: must be an address",
		"http://a.example":       "must begin with https://",
		"https://a:b@c.example":  "must not hold a user or password", "https://a.example/?x=1": "must not have a query",
	} {
		if _, problem := loadTextWith(t, with(address), testEnv); !strings.Contains(problem, want) {
			t.Errorf("%s gives %q, want %q", address, problem, want)
		}
	}
}
