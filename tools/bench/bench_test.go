package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/safrasync/safrasync/internal/must"
)

// TestMain also plays the roles of a measurement, for which this program starts itself.
func TestMain(m *testing.M) {
	if os.Getenv(roleEnv) == "" {
		goleak.VerifyTestMain(m)
		return
	}
	if err := run(context.Background(), os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A short measurement of everything except the yardsticks in separate modules, so that a
// measurement works when somebody needs figures.
func TestAShortMeasurementAgreesWithTheAPI(t *testing.T) {
	t.Chdir("..")
	dir := t.TempDir()
	binary, page, lines := filepath.Join(dir, "safrasync"), filepath.Join(dir, "page.md"), filepath.Join(dir, "lines")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-o", binary,
		"./cmd/safrasync")
	cmd.Dir = ".."
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	must.Do(t, os.WriteFile(page, []byte("before\n"+tableBegins+"\nold\n"+tableEnds+"\nafter\n"), 0o600))
	var out bytes.Buffer
	err := run(t.Context(), &out, []string{
		"-binary", binary, "-dir", t.TempDir(), "-rows", "200", "-reps", "1", "-small", "-json", lines, "-table", page,
		"-only", "0s,sqlite,postgres,script,send,fsync,kill,sweep,growth,profile",
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for _, want := range []string{
		"| 0 ms | limit |", "| 0 ms | safrasync postgres |", "| 0 ms | script |", "| `kill -9` | script |",
		"| sweep | 200 | safrasync postgres |", "| 200 | safrasync sqlite |",
		"| 0 ms, flush +2 ms | safrasync sqlite |", "safrasync sqlite, latency 0s, 200 rows", "sync.(*Engine).Sync",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the tables lack %q:\n%s", want, out.String())
		}
	}
	first := must.Get(os.ReadFile(page))(t)
	if text := string(first); !strings.HasPrefix(text, "before\n") || !strings.HasSuffix(text, "\nafter\n") ||
		strings.Contains(text, "old") {
		t.Errorf("the page is not what it was around the table:\n%s", text)
	}
	if text, err := os.ReadFile(lines); err != nil || bytes.Count(text, []byte("\n")) < 10 {
		t.Errorf("the lines of JSON: %v\n%s", err, text)
	}
}

func TestTheJudgeFindsWhatDoesNotAgree(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		rows map[int32][]string
		book map[int32]entry
		want agreement
	}{
		"all is well": {
			map[int32][]string{1: {"a"}},
			map[int32]entry{1: {"accepted", "a"}},
			agreement{},
		},
		"never sent":              {nil, map[int32]entry{1: {"pending", ""}}, agreement{Lost: 1, Wrong: 1}},
		"accepted and never sent": {nil, map[int32]entry{1: {"accepted", "a"}}, agreement{Lost: 1, Wrong: 1}},
		"sent twice": {
			map[int32][]string{1: {"a", "b"}},
			map[int32]entry{1: {"accepted", "b"}},
			agreement{Doubled: 1},
		},
		"another id": {
			map[int32][]string{1: {"a"}},
			map[int32]entry{1: {"accepted", "b"}},
			agreement{Wrong: 1},
		},
		"sent and not known": {map[int32][]string{1: {"a"}}, map[int32]entry{}, agreement{Wrong: 1}},
		"sent and in doubt": {
			map[int32][]string{1: {"a"}},
			map[int32]entry{1: {"in_doubt", ""}},
			agreement{InDoubt: 1},
		},
		"not sent and in doubt":       {nil, map[int32]entry{1: {"sending", ""}}, agreement{InDoubt: 1}},
		"of the limit without a book": {map[int32][]string{1: {"a"}}, nil, agreement{}},
		"lost by one without a book":  {nil, nil, agreement{Lost: 1}},
		"a row outside does not count": {
			map[int32][]string{1: {"a"}, 2: {"b", "c"}},
			map[int32]entry{1: {"accepted", "a"}},
			agreement{},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := judge(1, 1, seen{rows: test.rows}, test.book)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("judge (-want +got):\n%s", diff)
			}
			if wrong := test.want.Lost+test.want.Doubled+test.want.Wrong > 0; (got.err("x") != nil) != wrong {
				t.Errorf("err = %v", got.err("x"))
			}
		})
	}
}

func TestEntriesAreReadFromTheListOfRows(t *testing.T) {
	t.Parallel()
	got, err := readEntries(bufio.NewScanner(
		strings.NewReader(`{"key":"01|T00000007|1","state":"accepted","remote_id":"x"}` + "\n" +
			`{"key":"02|T00000012|1","state":"pending","remote_id":null}`)))
	want := map[int32]entry{7: {"accepted", "x"}, 12: {"pending", ""}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(entry{})); err != nil || diff != "" {
		t.Errorf("readEntries: %v (-want +got):\n%s", err, diff)
	}
	if _, err := readEntries(bufio.NewScanner(strings.NewReader(`{"key":"7"}`))); err == nil {
		t.Error("a key of another table was taken")
	}
}
