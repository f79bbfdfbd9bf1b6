package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const program = `package p

func f() error {
	if err := g(); err != nil {
		return err
	}
	if err := g(); err == nil {
		return nil
	}
	if h() {
		return fmt.Errorf("no")
	}
	switch {
	case h():
		return &Error{}
	case errors.Is(err, a):
		k()
	case !errors.Is(err, a):
		k()
	}
	if err := plain(); err != nil { // unreachable: plain data
		return err
	}
	if err := other(); err != nil { // unreachable: so they say
		return err
	}
	return nil
}
`

// The branches are those with an error in their condition or a new one in their return; those of two profiles that ran in either count as executed.
func TestWhatIsAnErrorBranch(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	const p = module + "p/p.go:"
	files := map[string]string{
		"p/p.go": program,
		"a.out":  "mode: atomic\n" + p + "4.29,6.3 1 3\n" + p + "7.29,9.3 1 0\n" + p + "10.9,12.3 1 0\n" + p + "14.11,15.18 1 0\n" + p + "16.26,17.6 1 0\n" + p + "18.27,19.6 1 0\n" + p + "21.33,23.3 1 0\n" + p + "24.33,26.3 1 2\n",
		"b.out":  "mode: set\n" + p + "4.29,6.3 1 0\n" + p + "7.29,9.3 1 0\n" + p + "10.9,12.3 1 0\n" + p + "14.11,15.18 1 1\n" + p + "16.26,17.6 1 0\n" + p + "18.27,19.6 1 0\n" + p + "21.33,23.3 1 0\n" + p + "24.33,26.3 1 0\n",
		"c.out":  "mode: set\n" + p + "4.29,6.3 1 1\n",
		"d.out":  "mode: set\n" + p + "5.29,6.3 1 1\n",
	}
	if err := os.Mkdir("p", 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if err := run(&out, []string{"a.out", "b.out"}, false); err != nil {
		t.Fatal(err)
	}
	want := "p/p.go:10: if h() {\np/p.go:16: case errors.Is(err, a):\np/p.go:24 was executed: if err := other(); err != nil { // unreachable: so they say\n" +
		"p: 3 of 6 error branches were executed (50.0 %), 1 more say why they cannot be, 2 are left\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
	if err := run(&out, []string{"a.out", "b.out"}, true); err == nil || !strings.HasPrefix(err.Error(), "2 error branches have no test and do not say why, 1 were") {
		t.Errorf("with all: %v", err)
	}
	for _, other := range []string{"c.out", "d.out"} {
		for _, both := range [][]string{{"a.out", other}, {other, "a.out"}} {
			if err := run(&out, both, false); err == nil || !strings.Contains(err.Error(), "p/p.go was another one") {
				t.Errorf("%v, of two versions of the source: %v", both, err)
			}
		}
	}
	if err := run(&out, []string{"p/p.go"}, false); err == nil {
		t.Error("a file that is no profile was read")
	}
}
