package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

const (
	canaryKey = "canary-key-7f3a"
	canaryDSN = "postgres://reader:canary-password-91bc@erp.local/coop"
)

// goodConfig has every required key and nothing else.
const goodConfig = `api:
  base_url: https://api.example.com/
  api_key: ${env:KEY}
erp:
  driver: postgres
  dsn: ${env:DSN}
jobs:
  contracts:
    sends: order_commitments
    query: SELECT * FROM c
    key: [filial, num]
    fields:
      amount: quantidade
      producer_id: {column: [cod, loja], ref: producers}
      issuer_id: {column: usuario, ref: users}
      product: {column: produto, values: {"001": SOJA}}
      delivery_place_id: local_uuid
      haverst: safra
      unit_of_measurement: {const: SC}
      order_type: {const: A_FIXAR}
      order_date: emissao
      wallet_id: {column: carteira, ref: wallets}
`

func testEnv(name string) (string, bool) {
	value, ok := map[string]string{
		"KEY": canaryKey, "DSN": canaryDSN, "BLANK": "", "TWO_LINES": "a\nb",
		"BAD_HEADER": " key",
	}[name]
	return value, ok
}

// loadText loads a text as a file; errors name it config.yaml.
func loadText(t testing.TB, text string) (*Config, string) {
	t.Helper()
	return loadTextWith(t, text, testEnv)
}

func loadTextWith(t testing.TB, text string, env func(string) (string, bool)) (*Config, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	c, err := Load(path, env)
	if err != nil {
		var wrong *Error
		if !errors.As(err, &wrong) {
			t.Fatalf("LoadConfig gave %T, want *ConfigError: %v", err, err)
		}
		for _, f := range wrong.Faults {
			if form, told := i18n.SentenceForm(i18n.Portuguese, f.Text.Key()); !told {
				t.Errorf("%q is not told in Portuguese", form)
			}
		}
		return nil, strings.ReplaceAll(err.Error(), path, "config.yaml")
	}
	return c, ""
}

// edited replaces one part of goodConfig.
func edited(t testing.TB, old, replacement string) string {
	t.Helper()
	if strings.Count(goodConfig, old) != 1 {
		t.Fatalf("%q does not stand once in goodConfig", old)
	}
	return strings.Replace(goodConfig, old, replacement, 1)
}

func mustLoad(t testing.TB, text string) *Config {
	t.Helper()
	c, problem := loadText(t, text)
	if problem != "" {
		t.Fatal(problem)
	}
	return c
}

func TestASmallConfigurationGetsTheDefaults(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, goodConfig)
	if got, want := c.API.APIKey.Reveal(), canaryKey; got != want {
		t.Errorf("api_key = %q, want %q", got, want)
	}
	if got, want := c.API.BaseURL, "https://api.example.com"; got != want {
		t.Errorf("base_url = %q, want %q", got, want)
	}
	if got, want := c.State.DSN.Reveal(), "/var/lib/safrasync/state.db"; got != want {
		t.Errorf("state.dsn = %q, want %q", got, want)
	}
	if got, want := c.Zone().String(), "America/Sao_Paulo"; got != want {
		t.Errorf("zone = %q, want %q", got, want)
	}
	if got, want := c.ERP.StatementTimeout, time.Minute; got != want {
		t.Errorf("statement_timeout = %v, want %v", got, want)
	}
	limits := run.Limits{
		MaxInFlight: 8, RateLimit: 20, StopAfterUnknown: 3, Quarantine: 15 * time.Minute,
		Timeout: 2 * time.Minute,
	}
	if diff := cmp.Diff(limits, c.Limits()); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
	sc, aFixar := "SC", "A_FIXAR"
	want := []mapping.JobSpec{{
		Name: "contracts", Sends: trade.OrderCommitments, Schedule: "*/10 * * * *", Query: "SELECT * FROM c",
		Key:      []string{"filial", "num"},
		Lookback: 2 * time.Hour, Sweep: "0 3 * * *",
		Checks: trade.Checks{
			Amount: trade.Refuse, Price: trade.Refuse, Volume: trade.Refuse, DateOrder: trade.Refuse,
			DateWindow: trade.Refuse, CAR: trade.Refuse,
		},
		Twin: mapping.TwinCheck{Mode: trade.Warning, Near: trade.Warning, Days: 30},
		Fields: map[string]mapping.FieldSpec{
			"amount":              {Columns: []string{"quantidade"}},
			"producer_id":         {Columns: []string{"cod", "loja"}, Ref: "producers"},
			"issuer_id":           {Columns: []string{"usuario"}, Ref: "users"},
			"product":             {Columns: []string{"produto"}, Values: map[string]string{"001": "SOJA"}},
			"delivery_place_id":   {Columns: []string{"local_uuid"}},
			"haverst":             {Columns: []string{"safra"}},
			"unit_of_measurement": {Const: &sc},
			"order_type":          {Const: &aFixar},
			"order_date":          {Columns: []string{"emissao"}},
			"wallet_id":           {Columns: []string{"carteira"}, Ref: "wallets"},
		},
	}}
	if diff := cmp.Diff(want, c.JobSpecs()); diff != "" {
		t.Errorf("jobs (-want +got):\n%s", diff)
	}
}

func TestJobsKeepTheOrderOfTheFile(t *testing.T) {
	t.Parallel()
	_, job, _ := strings.Cut(goodConfig, "  contracts:\n")
	c := mustLoad(t, goodConfig+"  beta:\n"+job+"  alpha:\n"+job)
	var names []string
	for _, spec := range c.JobSpecs() {
		names = append(names, spec.Name)
	}
	if diff := cmp.Diff([]string{"contracts", "beta", "alpha"}, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// F164: what YAML readers take for a number, a bool or null is, in this file, the text that
// somebody wrote.
func TestF164DataKeepsTheTextOfTheFile(t *testing.T) {
	t.Parallel()
	text := edited(t, `haverst: safra`, `haverst:
        column: 010
        values: {001: 2025/2026, NO: 1_000, null: 0x1F, ~: 1.50, true: yes, 1e3: '', "a: b": .inf, -1: 2026-01-01}
        default: 007
        empty: [00000000, NO, null, 0.0, ~, "", 0o17]`)
	spec := mustLoad(t, text).JobSpecs()[0].Fields["haverst"]
	seven := "007"
	want := mapping.FieldSpec{
		Columns: []string{"010"}, Default: &seven, Empty: []string{"00000000", "NO", "null", "0.0", "~", "", "0o17"},
		Values: map[string]string{
			"001": "2025/2026", "NO": "1_000", "null": "0x1F", "~": "1.50", "true": "yes", "1e3": "", "a: b": ".inf",
			"-1": "2026-01-01",
		},
	}
	if diff := cmp.Diff(want, spec); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, text := range []string{"NO", "null", "010", "~", "1.0"} {
		c := mustLoad(t, edited(t, "haverst: safra", "haverst: {const: "+text+"}"))
		if got := c.JobSpecs()[0].Fields["haverst"].Const; *got != text {
			t.Errorf("const: %s was read as %q", text, *got)
		}
	}
}

func TestAByteOrderMarkAndLineEndsOfWindowsAreRead(t *testing.T) {
	t.Parallel()
	windows := mustLoad(t, "\xef\xbb\xbf"+strings.ReplaceAll(goodConfig, "\n", "\r\n"))
	if diff := cmp.Diff(mustLoad(t, goodConfig).JobSpecs(), windows.JobSpecs()); diff != "" {
		t.Errorf("(-unix +windows):\n%s", diff)
	}
}

func TestDurationsTakeDays(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "2h": 2 * time.Hour, "1d": 24 * time.Hour, "1d12h30m": 36*time.Hour + 30*time.Minute,
		"0s": 0, "1.5h": 90 * time.Minute,
	} {
		if got, err := parseConfigDuration(text); err != nil || got != want {
			t.Errorf("parseConfigDuration(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "5", "-1h", "1h-5m", "1w", "d", "99999d", "999999999h", "1d1d", "1h ", "∞"} {
		if got, err := parseConfigDuration(text); err == nil {
			t.Errorf("parseConfigDuration(%q) = %v, want an error", text, got)
		}
	}
}

func TestAnUnsetQuarantineFollowsALongTimeout(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, edited(t, "  api_key", "  timeout: 10m\n  api_key"))
	if got, want := c.Limits().Quarantine, 20*time.Minute+40*time.Second; got != want {
		t.Errorf("quarantine = %v, want %v (I14)", got, want)
	}
}

func TestFindConfigTakesTheFirstPlaceAndNamesBothWhenNoneExists(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, second := filepath.Join(dir, "etc", "config.yaml"), filepath.Join(dir, "config.yaml")
	places := []string{first, second}
	_, err := findConfig("", places)
	want := "no configuration: neither " + first + " nor " + second +
		" exists; start from config.example.yaml, which explains every key, or name a file with --config FILE"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		t.Error("the error is not fs.ErrNotExist")
	}
	for _, place := range []string{second, first} {
		must.Do(t, os.MkdirAll(filepath.Dir(place), 0o700))
		must.Do(t, os.WriteFile(place, nil, 0o600))
		if got, err := findConfig("", places); err != nil || got != place {
			t.Errorf("findConfig = %q, %v, want %q", got, err, place)
		}
	}
	if got, err := findConfig("my.yaml", places); err != nil || got != "my.yaml" {
		t.Errorf("findConfig with --config = %q, %v", got, err)
	}
}

func TestAnnotateGivesTheEnginesFaultsTheirLines(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, goodConfig)
	plain := errors.New("the database is gone")
	if got := c.Annotate(plain); got != plain { //nolint:errorlint // the same error must come back
		t.Errorf("an error without a place became %v", got)
	}
	err := errors.Join(
		&mapping.SpecError{
			Path: "jobs.contracts.fields.wallet_id.column", Text: phrase.New("column carteira is not in the query"),
		},
		&mapping.SpecError{Path: "jobs.contracts.changed_at", Text: phrase.New("is missing")},
		&mapping.SpecError{Path: "jobs.contracts.key[1]", Text: phrase.New("column num is not in the query")},
	)
	got := strings.ReplaceAll(c.Annotate(err).Error(), c.source.Name, "config.yaml")
	want := `config.yaml:8:3: jobs.contracts.changed_at: is missing
     7 | jobs:
>    8 |   contracts:
           ^
config.yaml:11:19: jobs.contracts.key[1]: column num is not in the query
    10 |     query: SELECT * FROM c
>   11 |     key: [filial, num]
                           ^
config.yaml:22:27: jobs.contracts.fields.wallet_id.column: column carteira is not in the query
    21 |       order_date: emissao
>   22 |       wallet_id: {column: carteira, ref: wallets}
                                   ^`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTheExampleLoadsStrictlyAndHasEveryKey(t *testing.T) {
	t.Parallel()
	env := func(string) (string, bool) { return strings.Repeat("value", 8), true }
	if _, err := Load("../../config.example.yaml", env); err != nil {
		t.Fatalf("config.example.yaml: %v", err)
	}
	raw := must.Get(os.ReadFile("../../config.example.yaml"))(t)
	if n := strings.Count(string(raw), "\n"); n > 300 {
		t.Errorf("config.example.yaml has %d lines, want 300 at most", n)
	}
	// the optional keys too, with what stands in them
	text := regexp.MustCompile(`(?m)^(\s*)#((?:  +)?[a-z_]+:(?: |$))`).ReplaceAllString(string(raw), "$1$2")
	path := filepath.Join(t.TempDir(), "config.yaml")
	ca := filepath.Join(filepath.Dir(path), "ca.pem")
	certificate, _ := must.Certificate(t)
	must.Do(t, os.WriteFile(ca, certificate, 0o600))
	text = strings.ReplaceAll(text, "/etc/safrasync/ca.pem", ca)
	// of the key only its rights are looked at
	text = strings.NewReplacer("/etc/safrasync/events.crt", ca, "/etc/safrasync/events.key", path,
		"/etc/safrasync/http.crt", ca, "/etc/safrasync/http.key", path,
		"/etc/safrasync/icp-brasil.pem", ca).Replace(text)
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	c, err := Load(path, env)
	if err != nil {
		t.Fatalf("config.example.yaml with its optional keys: %v", err)
	}
	var seen []string
	// in place of the ref that producer_id has, so that only the comment can show it
	if strings.Contains(text, "#   lookup   producer_by_document: ") {
		seen = append(seen, "jobs.contracts.fields.producer_id.lookup")
	}
	for _, key := range []string{"chat", "key"} { // each for a form of its own
		if strings.Contains(text, "(`"+key+": ") {
			seen = append(seen, "alerts.webhook."+key)
		}
	}
	for path := range c.index {
		seen = append(seen, path)
	}
	for job, kind := range map[string]trade.Kind{
		"contracts": trade.OrderCommitments, "deliveries": trade.Deliveries,
		"traceability": trade.Traceability,
	} {
		for _, rule := range trade.Rules(kind) {
			if !slices.Contains(seen, "jobs."+job+".fields."+rule.Field) {
				t.Errorf("config.example.yaml does not show the field %s of %s", rule.Field, job)
			}
		}
	}
	for where, typ := range map[string]reflect.Type{
		``: reflect.TypeFor[Config](), `api\.`: reflect.TypeFor[APIConfig](), `erp\.`: reflect.TypeFor[ERPConfig](),
		`state\.`:           reflect.TypeFor[StateConfig](),
		`references\.\w+\.`: reflect.TypeFor[ReferenceConfig](), `checks\.`: reflect.TypeFor[ChecksConfig](),
		`jobs\.\w+\.`: reflect.TypeFor[JobConfig](),
		`alerts\.`:    reflect.TypeFor[AlertsConfig](), `alerts\.email\.`: reflect.TypeFor[EmailConfig](),
		`alerts\.webhook\.`: reflect.TypeFor[WebhookConfig](),
		`console\.`:         reflect.TypeFor[ConsoleConfig](), `console\.oidc\.`: reflect.TypeFor[OIDCConfig](),
		`report\.`: reflect.TypeFor[ReportConfig](), `metrics\.`: reflect.TypeFor[MetricsConfig](),
		`webhooks\.`: reflect.TypeFor[WebhooksConfig](), `http_api\.`: reflect.TypeFor[HTTPAPIConfig](),
		`http_api\.tokens\[\d+\]\.`: reflect.TypeFor[TokenConfig](),
		`retention\.`:               reflect.TypeFor[RetentionConfig](),
		`jobs\.\w+\.most\.`:         reflect.TypeFor[MostConfig](),
		`jobs\.\w+\.cancelled\.`:    reflect.TypeFor[mapping.CancelledSpec](),
		`jobs\.\w+\.fields\.\w+\.`:  reflect.TypeFor[FieldConfig](),
	} {
		keys, _ := configKeys(typ)
		for _, key := range keys {
			form := regexp.MustCompile(`^` + where + key + `$`)
			if !slices.ContainsFunc(seen, form.MatchString) {
				t.Errorf("config.example.yaml does not show %s%s", where, key)
			}
		}
	}
}

func TestTheSampleConfigurationLoads(t *testing.T) {
	t.Parallel()
	env := func(name string) (string, bool) {
		value, ok := map[string]string{
			"SAFRASYNC_BASE_URL": "http://127.0.0.1:8080", "SAFRASYNC_API_KEY": "k",
			"SAFRASYNC_ERP_DSN": "postgres:///coop", "SAFRASYNC_STATE": "/tmp/coop.db",
		}[name]
		return value, ok
	}
	c := must.Get(Load("../../docs/examples/modern.yaml", env))(t)
	if got := len(c.JobSpecs()[0].Fields); got != len(trade.Rules(trade.OrderCommitments)) {
		t.Errorf("it maps %d fields of %d", got, len(trade.Rules(trade.OrderCommitments)))
	}
	var kinds []string
	for _, r := range c.ReferenceSpecs() {
		kinds = append(kinds, r.Kind)
	}
	if diff := cmp.Diff([]string{"producers", "users", "wallets", "delivery_places", "farms"}, kinds); diff != "" {
		t.Errorf("references (-want +got):\n%s", diff)
	}
}

func TestShowLoadsAgainAndMeansTheSame(t *testing.T) {
	t.Parallel()
	raw := must.Get(os.ReadFile("../../config.example.yaml"))(t)
	text := strings.NewReplacer("SAFRASYNC_API_KEY", "KEY", "SAFRASYNC_ERP_DSN", "DSN").Replace(string(raw))
	for _, text := range []string{
		goodConfig, text,
		edited(t, "haverst: safra", "haverst: {column: s, default: NO, values: {NO: '', 01: \"a\\tb\"}}"),
	} {
		checkShow(t, mustLoad(t, text))
	}
}

func checkShow(t testing.TB, c *Config) {
	t.Helper()
	shown := c.Show()
	if strings.Contains(shown, canaryKey) || strings.Contains(shown, "canary-password") {
		t.Fatalf("Show tells a secret:\n%s", shown)
	}
	again, problem := loadText(t, shown)
	if problem != "" {
		t.Fatalf("what Show gives does not load: %s\n%s", problem, shown)
	}
	if diff := cmp.Diff(c.JobSpecs(), again.JobSpecs()); diff != "" {
		t.Fatalf("what Show gives has other jobs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(c.ReferenceSpecs(), again.ReferenceSpecs()); diff != "" {
		t.Fatalf("what Show gives has other references (-want +got):\n%s", diff)
	}
	if c.Limits() != again.Limits() || c.API.APIKey != again.API.APIKey || c.ERP != again.ERP ||
		c.State != again.State || c.Checks != again.Checks {
		t.Fatalf("what Show gives has other settings:\n%s", shown)
	}
}
