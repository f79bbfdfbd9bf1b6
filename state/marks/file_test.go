package marks_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/marks"
)

var owner = json.RawMessage(`{"instance":"i"}`)

func begin(t *testing.T) (*marks.File, string) {
	t.Helper()
	path := marks.Path(t.TempDir(), "i")
	f := must.Get(marks.Use(path, owner))(t)
	t.Cleanup(func() { _ = f.Close() })
	return f, path
}

func read(t *testing.T, path string) marks.Reading {
	t.Helper()
	return must.Get(marks.Read(path))(t)
}

// What was noted is read again by others while the file is open, as after the process was killed.
func TestWhatWasNotedIsRead(t *testing.T) {
	t.Parallel()
	f, path := begin(t)
	for i := range 4 {
		must.Do(t, f.Sent(fmt.Sprint("attempt-", i)))
	}
	answers := map[string]marks.Answer{
		"attempt-1": {Outcome: marks.Created, ID: "5ca0a710-0000-4000-8000-000000000001", Status: 201},
		"attempt-2": {Outcome: marks.NotCreated, Status: 400},
		"attempt-3": {Outcome: marks.Created, ID: strings.Repeat("x", 500), Status: 201}, // too long to be noted
		"attempt-4": {Outcome: marks.NotSent},                                            // given up before
	}
	for request, a := range answers {
		must.Do(t, f.Answered(request, a))
	}
	one, two, four := answers["attempt-1"], answers["attempt-2"], answers["attempt-4"]
	want := marks.Reading{Owner: owner, Marks: map[string]marks.Mark{
		"attempt-0": {}, "attempt-1": {&one},
		"attempt-2": {&two}, "attempt-3": {}, "attempt-4": {&four},
	}}
	if d := cmp.Diff(want, read(t, path)); d != "" {
		t.Fatal(d)
	}
	f.Settled([]string{"attempt-0", "attempt-1", "attempt-8"}, 1)
	if err := f.Sent("attempt-5"); err != nil { // takes a place that is free
		t.Fatal(err)
	}
	got := read(t, path)
	if _, there := got.Marks["attempt-5"]; !there || len(got.Marks) != 5 {
		t.Errorf("after a place was taken again: %+v", got)
	}
}

// A file that has nothing to say is gone with its process; one that has stays.
func TestAFileWithOpenRequestsStays(t *testing.T) {
	t.Parallel()
	for _, open := range []bool{false, true} {
		f, path := begin(t)
		must.Do(t, f.Sent("a"))
		if !open {
			f.Settled([]string{"a"}, 1)
		}
		must.Do(t, f.Close())
		if _, err := os.Stat(path); (err == nil) != open {
			t.Errorf("open requests %v: %v", open, err)
		}
	}
}

// Two users of one process share a file: what the first has noted is not forgotten when the second
// comes, or when it comes back.
func TestOneProcessHasOneFile(t *testing.T) {
	t.Parallel()
	path := marks.Path(t.TempDir(), "i")
	var files []*marks.File
	for i := range 3 {
		f := must.Get(marks.Use(path, owner))(t)
		must.Do(t, f.Sent(fmt.Sprint(i)))
		if i == 1 {
			for _, f := range []*marks.File{f, files[0]} { // nobody uses it for a moment
				must.Do(t, f.Close())
			}
		}
		files = append(files, f)
	}
	if r := read(t, path); len(r.Marks) != 3 {
		t.Errorf("%+v", r.Marks)
	}
	files[2].Settled([]string{"0", "1", "2"}, 1)
	must.Do(t, files[2].Close())
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Error("the file stays", err)
	}
}

// A process that runs is never taken for one that has ended; one that was killed is.
func TestAProcessThatRunsHasNotEnded(t *testing.T) {
	t.Parallel()
	path := marks.Path(t.TempDir(), "child")
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), "MARKS_CHILD="+path)
	out := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	must.Get(out.Read(make([]byte, 1)))(t)
	if r := read(t, path); r.Ended || len(r.Marks) != 1 {
		t.Errorf("while it runs: %+v", r)
	}
	must.Do(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
	other := must.Get(os.Open(path))(t)
	defer func() { _ = other.Close() }()
	if err := syscall.Flock(int(other.Fd()), syscall.LOCK_SH); err != nil { // somebody else looks at the same moment
		t.Fatal(err)
	}
	if r := read(t, path); !r.Ended || len(r.Marks) != 1 {
		t.Errorf("after it was killed: %+v", r)
	}
	data := must.Get(os.ReadFile(path))(t)
	must.Do(t, os.WriteFile(path+".copy", data, 0o600))
	if r := read(t, path+".copy"); r.Ended {
		t.Error("a copy is taken for the file that was written on")
	}
}

func TestMain(m *testing.M) {
	if path := os.Getenv("MARKS_CHILD"); path != "" {
		f, err := marks.Use(path, owner)
		if err == nil {
			err = f.Sent("a")
		}
		if err != nil {
			panic(err)
		}
		fmt.Println("ready")
		select {}
	}
	os.Exit(m.Run())
}

// Any damage of a slot, and any end of the file, is noticed: nothing is then said of requests that
// are not found.
func TestDamageIsNoticed(t *testing.T) {
	t.Parallel()
	f, path := begin(t)
	for _, name := range []string{"one", "two", "three"} {
		must.Do(t, f.Sent(name))
	}
	sound := must.Get(os.ReadFile(path))(t)
	for at := 4096; at < len(sound); at++ {
		bad := append([]byte(nil), sound...)
		bad[at] ^= 0x40
		must.Do(t, os.WriteFile(path, bad, 0o600))
		if r := read(t, path); !r.Torn || len(r.Marks) != 2 {
			t.Fatalf("byte %d changed: %+v", at, r)
		}
	}
	for size := 4097; size < len(sound); size += 7 {
		must.Do(t, os.WriteFile(path, sound[:size], 0o600))
		if r := read(t, path); r.Torn != ((size-4096)%256 != 0) {
			t.Fatalf("cut at %d: %+v", size, r)
		}
	}
	for _, head := range []string{"", "no json\n", strings.Repeat("x", 5000)} {
		must.Do(t, os.WriteFile(path, []byte(head), 0o600))
		if _, err := marks.Read(path); err == nil {
			t.Errorf("a file that begins with %.10q was read", head)
		}
	}
}

// A file whose last slots are lost altogether reads as sound: that can only be when the kernel is
// gone too, and then nobody believes the file.
func TestManyAtOnceEachHaveTheirPlace(t *testing.T) {
	t.Parallel()
	f, path := begin(t)
	var wg sync.WaitGroup
	for g := range 16 {
		wg.Go(func() {
			for i := range 50 {
				name := fmt.Sprintf("%d/%d", g, i)
				if err := f.Sent(name); err != nil {
					t.Error(err)
				}
				if err := f.Answered(name,
					marks.Answer{Outcome: marks.Created, ID: "id " + name, Status: 201}); err != nil {
					t.Error(err)
				}
				if i < 49 {
					f.Settled([]string{name}, 1)
				}
			}
		})
	}
	wg.Wait()
	r := read(t, path)
	for g := range 16 {
		name := fmt.Sprintf("%d/49", g)
		if m := r.Marks[name]; m.Answer == nil || m.Answer.ID != "id "+name {
			t.Errorf("%s: %+v", name, m)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Size() > 4096+16*256 {
		t.Errorf("the file grows: %v %v", info.Size(), err)
	}
}

func TestNamesThatDoNotFitAreRefused(t *testing.T) {
	t.Parallel()
	f, _ := begin(t)
	for _, name := range []string{"", strings.Repeat("n", 65)} {
		if err := f.Sent(name); err == nil {
			t.Errorf("%q was taken", name)
		}
	}
	if _, err := marks.Use(marks.Path(t.TempDir(), "x"),
		json.RawMessage(`"`+strings.Repeat("o", 4096)+`"`)); err == nil {
		t.Error("a head that does not fit was taken")
	}
}
