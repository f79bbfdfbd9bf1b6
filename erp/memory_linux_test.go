package erp_test

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/erp/erptest"
	"github.com/safrasync/safrasync/internal/must"
)

// SQLite computes a value in this process, not on the Go heap: what the kernel counts is what the
// service manager ends the service for.
func TestACellOfAGigabyteFitsTheMemoryOfTheService(t *testing.T) {
	const child = "SAFRASYNC_TEST_LONG_CELL"
	if os.Getenv(child) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), child+"=1", "GOMEMLIMIT=200MiB")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	s, _ := erptest.SQLite(t, `CREATE TABLE c (k); INSERT INTO c VALUES (1), (2), (3)`)
	rows, result := erptest.Read(t, s, erp.Query{
		SQL: `SELECT k, CASE k WHEN 2 THEN printf('%.*c', 999999000, 'x') ELSE 'curta' END AS obs, 7 AS n,
			printf('%.*c', 999999000, 'y') AS foto FROM c`,
		Key: []string{"k"}, Columns: []string{"obs", "n"},
	}, erp.Window{})
	if len(rows) != 3 || !result.Degraded {
		t.Fatalf("%d rows, read key by key: %v", len(rows), result.Degraded)
	}
	for _, row := range rows {
		want := "curta"
		if erptest.Text(row, "k") == "2" {
			want = "<the database cannot compute this value>"
		}
		if got := erptest.Text(row, "obs"); got != want || erptest.Text(row, "n") != "7" {
			t.Errorf("row %s has %.60s, want %s", erptest.Text(row, "k"), got, want)
		}
	}
	_, peak, _ := strings.Cut(string(must.Get(os.ReadFile("/proc/self/status"))(t)), "VmHWM:")
	kib := must.Get(strconv.Atoi(strings.Fields(peak)[0]))(t)
	if kib > 300<<10 {
		t.Errorf("%d MiB of memory were used", kib>>10)
	}
}
