//go:build seccomp

package marks_test

import (
	"fmt"
	"slices"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/sickdisk"
	"github.com/safrasync/safrasync/state/marks"
)

// F047, F048: each system call on the file of a process fails, alone or with all after it: what may
// leave is noted, what is read was written, and a file of which that is not certain is believed in
// nothing.
func TestF048EverySystemCallOnTheNotesFails(t *testing.T) {
	disk := sickdisk.Own(t)
	if disk == nil {
		return
	}
	failed := 0
	for _, errno := range []syscall.Errno{syscall.EIO, syscall.ENOSPC} {
		for _, lasting := range []bool{false, true} {
			// Two requests and an answer are noted, and that is read, while a call fails; then it is read
			// again.
			again := true
			for at := 1; again; at++ {
				plan := sickdisk.Plan{Under: t.TempDir(), At: at, Lasting: lasting, Err: errno}
				path := marks.Path(plan.Under, "i")
				what := fmt.Sprintf("call %d fails (%v, lasting %t)", plan.At, plan.Err, plan.Lasting)
				left := map[string]marks.Mark{} // what left, with the answers of which the note was said to be made
				a := marks.Answer{Outcome: marks.Created, ID: "5ca0a710-0000-4000-8000-000000000001", Status: 201}
				disk.Arm(plan)
				f, useErr := marks.Use(path, owner)
				if useErr == nil {
					for _, request := range []string{"one", "two"} {
						if f.Sent(request) == nil {
							left[request] = marks.Mark{}
						}
					}
					if _, sent := left["one"]; sent && f.Answered("one", a) == nil {
						left["one"] = marks.Mark{Answer: &a}
					}
				}
				sick, readErr := marks.Read(path)
				found, pathsErr := marks.Paths(plan.Under)
				hit := must.Get(disk.Disarm())(t)
				if hit == "" {
					again = false
				} else {
					failed++
				}
				if useErr != nil {
					if f, err := marks.Use(path, owner); err != nil { // the next try gets there
						t.Fatalf("%s (%s): %v, and afterwards: %v", what, hit, useErr, err)
					} else if err := f.Close(); err != nil {
						t.Fatal(err)
					}
					continue
				}
				sound := read(t, path)
				for request, mark := range left {
					got, noted := sound.Marks[request]
					if !noted && !sound.Torn || mark.Answer != nil && !cmp.Equal(got, mark) {
						t.Errorf("%s (%s): %s left, and its note is %+v", what, hit, request, got)
					}
				}
				if readErr == nil && !slices.Equal(names(sick), names(sound)) {
					t.Errorf("%s (%s): what was read meanwhile: %v, of %v", what, hit, names(sick), names(sound))
				}
				if pathsErr == nil && len(found) != 1 {
					t.Errorf("%s (%s): the files are %v", what, hit, found)
				}
				if sound.Ended || sick.Ended {
					t.Errorf("%s (%s): a process that runs counts as one that has ended", what, hit)
				}
				f.Settled([]string{"one", "two"}, 1)
				must.Do(t, f.Close())
			}
		}
	}
	t.Logf("%d calls failed", failed)
}

func names(r marks.Reading) []string {
	var out []string
	for request := range r.Marks {
		out = append(out, request)
	}
	slices.Sort(out)
	return out
}
