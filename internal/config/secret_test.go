package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/safrasync/safrasync/internal/must"
)

func TestNoWayToPrintASecretTellsIt(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, goodConfig)
	var log bytes.Buffer
	core := zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), zapcore.AddSync(&log),
		zapcore.DebugLevel)
	zap.New(core).Info("x", zap.Any("key", c.API.APIKey), zap.Any("api", c.API), zap.Any("config", c),
		zap.Reflect("erp", c.ERP))
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "key", c.API.APIKey, "api", c.API, "config", c)
	for _, v := range []any{c.API.APIKey, c.API, &c.API, c.ERP, *c, c, []any{c.ERP.DSN}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			fmt.Fprintf(&log, verb, v)
		}
		if text, err := json.Marshal(v); err == nil {
			log.Write(text)
		}
		if text, err := yaml.Marshal(v); err == nil {
			log.Write(text)
		}
	}
	log.WriteString(c.Show())
	for _, canary := range []string{canaryKey, "canary-password", fmt.Sprintf("%x", canaryKey)} {
		if strings.Contains(log.String(), canary) {
			t.Errorf("%q is told", canary)
		}
	}
}

// Whatever is wrong with a file, the message shows lines of it: never a secret that somebody wrote
// there.
func TestAFaultNeverShowsASecretThatStandsInTheFile(t *testing.T) {
	t.Parallel()
	const canary = "s3cr3t-canary"
	for _, text := range []string{
		edited(t, "${env:KEY}", canary),
		edited(t, "${env:KEY}", `"`+canary+`"`),
		edited(t, "${env:KEY}", canary+" # "+canary),
		edited(t, "${env:KEY}", "|\n    "+canary),
		edited(t, "${env:KEY}", ">-\n    "+canary+"\n    "+canary),
		edited(t, "${env:KEY}", "\n    "+canary),
		edited(t, "${env:KEY}", "["+canary+"]"),
		edited(t, "${env:KEY}", "{a: "+canary+"}"),
		edited(t, "${env:KEY}", "${env:KEY}"+canary+"\n  timeout: x"),
		edited(t, "${env:KEY}", "${"+canary+"}"),
		edited(t, "${env:KEY}", "${"+canary),
		edited(t, "${env:KEY}", `"`+canary),
		edited(t, "${env:KEY}", "'"+canary),
		edited(t, "${env:KEY}", "*"+canary),
		edited(t, "${env:KEY}", "&"+canary),
		edited(t, "${env:KEY}", "!"+canary),
		edited(t, "${env:KEY}", "@"+canary),
		edited(t, "${env:KEY}", "${env:KEY}\n  timeout: x # "+canary),
		edited(t, "${env:KEY}", "${env:KEY}\n  # "+canary+"\n  timeout: x"),
		edited(t, "${env:KEY}", "${env:KEY}\n  base_urls: https://u:"+canary+"@h"),
		edited(t, "api_key: ${env:KEY}", "api-key: "+canary),
		edited(t, "  api_key: ${env:KEY}", "api_key: "+canary),
		edited(t, "  api_key: ${env:KEY}", "\tapi_key: "+canary),
		edited(t, "  api_key: ${env:KEY}", " api_key: "+canary),
		edited(t, "api_key: ${env:KEY}", "key: "+canary),
		edited(t, "api_key: ${env:KEY}", "? api_key\n  : "+canary),
		edited(t, "api_key: ${env:KEY}", `"api_key" : `+canary),
		edited(t, "api_key: ${env:KEY}", "api_key:"+canary),
		edited(t, "api_key: ${env:KEY}", "api_key: "+canary+"\n  api_key: "+canary),
		edited(t, "https://api.example.com/", "https://user:"+canary+"@api.example.com"),
		edited(t, "https://api.example.com/", "https://api.example.com?key="+canary),
		edited(t, "https://api.example.com/", "https://api.example.com#"+canary),
		edited(t, "https://api.example.com/", "ht tp://"+canary),
		edited(t, "https://api.example.com/", "https://%zz"+canary),
		edited(t, "${env:DSN}", "postgres://u:"+canary+"@h/d"),
		edited(t, "${env:DSN}", "host=h password="+canary),
		edited(t, "${env:DSN}", "host=h password = '"+canary+" x'"),
		edited(t, "${env:DSN}", "postgres://h/d?sslpassword="+canary),
		edited(t, "${env:DSN}", "postgres://u:${env:KEY}"+canary+"@h/d"),
		edited(t, "jobs:", "state: {driver: postgres, dsn: 'postgres://u:"+canary+"@h/d'}\njobs:"),
		edited(t, "jobs:", "state:\n  driver: "+canary+"\njobs:") + "x",
		edited(t, "jobs:", "api_key: "+canary+"\njobs:"),
		edited(t, "jobs:", "keys:\n  - "+canary+"\njobs:"),
		"api_key: " + canary + "\n" + goodConfig,
		"{api: {api_key: " + canary + ", tiemout: 5s}}",
		canary,
		"- " + canary,
	} {
		c, problem := loadText(t, text)
		if c != nil {
			t.Errorf("this loads:\n%s", text)
		}
		if strings.Contains(problem, canary) && !strings.Contains(text, "driver: "+canary) {
			t.Errorf("the message tells the secret:\n%s", problem)
		}
		if strings.Contains(problem, canaryKey) || strings.Contains(problem, "canary-password") {
			t.Errorf("the message tells what a reference resolves to:\n%s", problem)
		}
	}
}

func TestADSNWithoutAPasswordMayStandInTheFile(t *testing.T) {
	t.Parallel()
	for _, dsn := range []string{
		"postgres://reader@erp.local:5432/coop?sslmode=verify-full", "host=/run/postgresql dbname=coop",
		"/var/lib/erp.db", "file:erp.db?mode=ro",
		"postgres://reader:${env:KEY}@erp.local/coop", "host=h user=u password=${env:KEY} sslmode=require",
		"host=h password='${env:KEY}'", "postgres://h/d?passfile=${env:KEY}",
	} {
		c := mustLoad(t, edited(t, "${env:DSN}", dsn))
		if got, want := c.ERP.DSN.Reveal(), strings.ReplaceAll(dsn, "${env:KEY}", canaryKey); got != want {
			t.Errorf("dsn = %q, want %q", got, want)
		}
		checkShow(t, c)
	}
}

func TestSecretFilesAreReadOnlyWhenNobodyElseCanReadThem(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, content string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(path, []byte(content), 0o600))
		if err := os.Chmod(path, mode); err != nil { // WriteFile's mode passes through the umask
			t.Fatal(err)
		}
		return path
	}
	must.Do(t, os.Mkdir(filepath.Join(dir, "credentials"), 0o700))
	good := write("good", "from-file\r\n", 0o400)
	open := write("open", "x", 0o640)
	credential := write("credentials/key", "credential\n", 0o444)
	write("both", "of the folder", 0o600)
	write("credentials/both", "of systemd", 0o444)
	write("credentials/secrets_key", "of a folder of systemd's", 0o444)
	blank, two, large := write("blank", "\n", 0o600), write("two", "a\nb\n", 0o600),
		write("large", strings.Repeat("x", 65<<10), 0o600)
	r := secretResolver{base: filepath.Join(dir, "config.yaml"), env: func(name string) (string, bool) {
		return filepath.Join(dir, "credentials"), name == "CREDENTIALS_DIRECTORY"
	}}
	for _, tt := range []struct{ text, want, problem string }{
		{text: "${file:" + good + "}", want: "from-file"},
		{text: "${file:good}", want: "from-file"},
		{text: "a ${file:good} b", want: "a from-file b"},
		{text: "${file:" + credential + "}", want: "credential"},
		{text: "${file:key}", want: "credential"},
		{text: "${file:both}", want: "of systemd"},
		{text: "${file:./both}", want: "of systemd"},
		{text: "${file:" + filepath.Join(dir, "both") + "}", want: "of the folder"},
		{text: "${file:secrets/key}", want: "of a folder of systemd's"},
		{text: "${file:" + open + "}", problem: "the file " + open +
			" may be read by others than its owner (mode 0640); run: chmod 600 " + open},
		{
			text:    "${file:credentials/../open}",
			problem: "the file credentials/../open may be read by others than its owner (mode 0640); run: chmod 600 credentials/../open",
		},
		{text: "${file:" + blank + "}", problem: "the file " + blank + " is empty"},
		{
			text:    "${file:" + two + "}",
			problem: "has more than one line after its references were replaced; a secret is one line",
		},
		{text: "${file:" + large + "}", problem: "the file " + large + " is larger than 64 KiB, which is no secret"},
		{text: "${file:none}", problem: "the file none cannot be read: no such file or directory"},
		{text: "${file:credentials}", problem: "credentials is no regular file"},
		{text: "${file:}", problem: "has a ${…} that is no reference; references are ${env:NAME} and ${file:PATH}"},
	} {
		got, err := r.resolve(tt.text)
		problem := ""
		if err != nil {
			problem = err.Error()
		}
		if got != tt.want || problem != tt.problem {
			t.Errorf("resolve(%q) = %q, %q, want %q, %q", tt.text, got, problem, tt.want, tt.problem)
		}
	}
}

// The unit of the package names the folder of the secrets:
// LoadCredential=credentials:/etc/safrasync/credentials.
func TestARelativeFileIsTheCredentialOfThatNameWhereThereIsOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, folder := range []string{"etc/credentials", "run"} {
		must.Do(t, os.MkdirAll(filepath.Join(dir, folder), 0o700))
	}
	for name, mode := range map[string]os.FileMode{
		"etc/credentials/api-key": 0o600, "etc/credentials/erp-dsn": 0o600, "etc/plain": 0o600,
		"run/credentials_api-key": 0o440, "run/plain": 0o440, "run/.._plain": 0o440,
	} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(name+"\n"), mode))
	}
	base := filepath.Join(dir, "etc", "config.yaml")
	service := secretResolver{
		base: base,
		env:  func(name string) (string, bool) { return filepath.Join(dir, "run"), name == "CREDENTIALS_DIRECTORY" },
	}
	person := secretResolver{base: base, env: func(string) (string, bool) { return "", false }}
	for _, tt := range []struct{ file, service, person string }{
		{"credentials/api-key", "run/credentials_api-key", "etc/credentials/api-key"},
		{"./credentials//api-key", "run/credentials_api-key", "etc/credentials/api-key"},
		// systemd was not asked for this one
		{"credentials/erp-dsn", "etc/credentials/erp-dsn", "etc/credentials/erp-dsn"},
		{"plain", "run/plain", "etc/plain"},
		{"../etc/plain", "etc/plain", "etc/plain"},
		{filepath.Join(dir, "etc/plain"), "etc/plain", "etc/plain"}, // an absolute file is that file
	} {
		for want, r := range map[string]secretResolver{
			"service " + tt.service: service,
			"person " + tt.person:   person,
		} {
			who, value, _ := strings.Cut(want, " ")
			if got, err := r.resolve("${file:" + tt.file + "}"); err != nil || got != value {
				t.Errorf("%s: ${file:%s} is %q, %v, want %q", who, tt.file, got, err, value)
			}
		}
	}
}

// What is still to be filled in is no secret: an excerpt shows it, and not what stands behind it.
func TestAnExcerptShowsWhatIsToBeFilledIn(t *testing.T) {
	t.Parallel()
	got := maskLines([]string{
		"api:", "  base_url: PREENCHER", `  api_key: "PREENCHER" # old-key`,
		"  proxy: PREENCHER-s3cret", "  other: s3cret",
	})
	want := []string{
		"api:", "  base_url: PREENCHER", `  api_key: "PREENCHER" # …`, "  proxy: [secret]",
		"  other: [secret]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("masked (-want +got):\n%s", diff)
	}
}
