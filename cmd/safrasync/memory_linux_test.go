package main

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What the start has mapped of the program's file is given back, and the program works on: what it needs is mapped again. (Not parallel: others would map pages meanwhile.)
func TestThePagesOfTheStartAreGivenBack(t *testing.T) {
	pages := func() (sum int) {
		for _, p := range ownPages() {
			n, err := strconv.Atoi(strings.TrimSuffix(p.resident, " kB"))
			if err != nil {
				t.Fatal(err)
			}
			sum += n
		}
		return sum
	}
	before := pages()
	dropStart()
	after := pages()
	t.Logf("%d KiB of the program's file before, %d after", before, after)
	if before == 0 || after > before/2 {
		t.Errorf("%d KiB of the program's file are in memory, %d before", after, before)
	}
	var out, errs bytes.Buffer
	app := App{Stdout: &out, Stderr: &errs, Env: func(string) (string, bool) { return "", false }}
	if code := app.Run(t.Context(), []string{"version"}); code != 0 || !strings.Contains(out.String(), "safrasync") {
		t.Errorf("version afterwards: %d, %q, %q", code, out.String(), errs.String())
	}
}

// Nothing is given back that the file does not hold: what may be written, what was changed before it could no longer be written, also where that is in swap space by now, and what belongs to others.
func TestOnlyPagesThatTheFileHoldsAreGivenBack(t *testing.T) {
	t.Parallel()
	const smaps = `00400000-01866000 r-xp 00000000 fe:00 10027270                           /opt/my programs/safrasync (deleted)
Size:              20888 kB
Rss:                8448 kB
Private_Dirty:         0 kB
Anonymous:             0 kB
Swap:                  0 kB
SwapPss:               0 kB
VmFlags: rd ex mr mw me 
01866000-018e7000 r--p 01466000 fe:00 10027270                           /opt/my programs/safrasync (deleted)
Rss:                 128 kB
Anonymous:             4 kB
Swap:                  0 kB
018e7000-038e7000 r--p 014e7000 fe:00 10027270                           /opt/my programs/safrasync (deleted)
Rss:               13224 kB
Anonymous:             0 kB
Swap:                  0 kB
038e7000-038f7000 r--p 034e7000 fe:00 10027270                           /opt/my programs/safrasync (deleted)
Rss:                   0 kB
Anonymous:             0 kB
Swap:                  8 kB
038f7000-03a7e000 rw-p 034e7000 fe:00 10027270                           /opt/my programs/safrasync (deleted)
Rss:                 988 kB
Anonymous:             0 kB
Swap:                  0 kB
03a7e000-03a7f000 r--s 034e7000 fe:00 10027270                           /opt/my programs/safrasync (deleted)
Rss:                   4 kB
Anonymous:             0 kB
Swap:                  0 kB
03a7f000-05ad6000 rw-p 00000000 00:00 0 
Rss:                 400 kB
Anonymous:             0 kB
Swap:                  0 kB
7f0000000000-7f0000021000 r--p 00000000 fe:00 77                         /usr/lib/libc.so.6
Rss:                 100 kB
Anonymous:             0 kB
Swap:                  0 kB
`
	want := []pageRange{{0x400000, 0x1866000, "8448 kB"}, {0x18e7000, 0x38e7000, "13224 kB"}}
	got := unchanged(strings.NewReader(smaps), "/opt/my programs/safrasync (deleted)")
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(pageRange{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
