package packagetest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
)

// vuln runs .ci/vuln with a database, and returns what it says and its exit code.
func vuln(t *testing.T, db string, packages ...string) (said string, code int) {
	t.Helper()
	cmd := exec.Command(repository+"/.ci/vuln", packages...)
	cmd.Env = append(os.Environ(), "VULNDB="+db, "GOFLAGS=")
	asCaller(cmd)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// A database that cannot be reached is no good news.
func TestVulnerabilitiesThatCannotBeReadAreAFailure(t *testing.T) {
	t.Parallel()
	for _, db := range []string{"https://127.0.0.1:1", "file://" + t.TempDir()} {
		if said, code := vuln(t, db, "./trade"); code != 1 || !strings.Contains(said, db+" cannot be read, so nothing was checked") {
			t.Errorf("exit code %d: %s", code, said)
		}
	}
}

// A known vulnerability of a function that the program calls is found. (It takes long: all code is
// read with that of Go itself.)
func TestAVulnerabilityThatTheProgramCallsIsFound(t *testing.T) {
	t.Parallel()
	if os.Getenv("SAFRASYNC_TEST_LONG") == "" {
		t.Log("only in the long tests")
		return
	}
	dir := t.TempDir()
	must.Do(t, os.Chmod(dir, 0o755))
	must.Do(t, os.Mkdir(filepath.Join(dir, "index"), 0o755), os.Mkdir(filepath.Join(dir, "ID"), 0o755))
	for name, text := range map[string]string{
		"index/db.json": `{"modified":"2026-01-01T00:00:00Z"}`,
		"index/modules.json": `[{"path":"github.com/shopspring/decimal",
			"vulns":[{"id":"GO-2026-0001","modified":"2026-01-01T00:00:00Z"}]}]`,
		"ID/GO-2026-0001.json": `{"schema_version":"1.3.1","id":"GO-2026-0001","modified":"2026-01-01T00:00:00Z",
			"published":"2026-01-01T00:00:00Z","summary":"planted","details":"planted",
			"database_specific":{"url":"https://pkg.go.dev/vuln/GO-2026-0001"},"affected":[{
			"package":{"name":"github.com/shopspring/decimal","ecosystem":"Go"},
			"ranges":[{"type":"SEMVER","events":[{"introduced":"0"}]}],
			"ecosystem_specific":{"imports":[{"path":"github.com/shopspring/decimal","symbols":["NewFromString"]}]}}]}`,
	} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	if said, code := vuln(t, "file://"+dir, "./trade"); code != 3 || !strings.Contains(said, "GO-2026-0001") {
		t.Errorf("exit code %d: %s", code, said)
	}
}
