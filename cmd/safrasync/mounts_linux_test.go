package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/internal/throwaway"
)

// mountsRole says to the test binary that it has a mount namespace of its own.
const mountsRole = "SAFRASYNC_TEST_MOUNTS"

// The real program, on file systems that are not there, go away while it works, or come
// back older without a reboot. Whatever happens, each row is on the platform at most once, and the
// program says what it looked for and where, or has rows in doubt.
func TestDisksGoAwayAndComeBackOlder(t *testing.T) {
	if os.Getenv(mountsRole) == "" {
		t.Parallel() // with the other tests here
		args := []string{"unshare", "--mount", "--propagation", "private"}
		if os.Geteuid() != 0 {
			args = append(args, "--map-root-user", "--user")
		}
		self := exec.Command(args[0], append(args[1:], os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")...)
		self.Env = append(os.Environ(), mountsRole+"=1")
		if out, err := self.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	for name, test := range map[string]func(*testing.T, *site){
		"not mounted at boot": func(t *testing.T, s *site) {
			s.sent()
			here := s.path("ledger") + "/state.db"
			s.unmount("ledger")
			s.refused(here, "is empty or gone, but its journal in "+s.path("journal"), "safrasync restore FILE",
				"safrasync rebuild")
			s.must(1, "state", "new")
			s.unmount("journal")
			s.refused(here, "the file does not exist", "mount its disk if that is not mounted",
				"safrasync restore FILE", "safrasync rebuild", "safrasync state new")
			if out := s.must(1, "status"); !strings.Contains(out, here) || !strings.Contains(out, "it is not there") {
				t.Errorf("status says\n%s", out)
			}
			s.mount("ledger")
			s.refused(here, "its journal in "+s.path("journal"), "is gone")
			s.mount("journal")
			if out := s.must(0, "sync"); !strings.Contains(out, "0 new") {
				t.Errorf("with its disks there again:\n%s", out)
			}
			s.once(siteRows)
			for _, disk := range []string{"ledger", "journal"} {
				s.unmount(disk)
				if found, err := os.ReadDir(s.path(disk)); err != nil || len(found) > 0 {
					t.Errorf("in the folder below %s something was begun: %v, %v", disk, found, err)
				}
			}
		},
		"another path while the old ledger stands": func(t *testing.T, s *site) {
			s.sent()
			must.Do(t, os.Mkdir(s.path("other"), 0o700))
			s.configure("other")
			s.refused(s.path("other")+"/state.db", "the file does not exist", "correct state.dsn")
			must.Do(t, os.CopyFS(s.path("other"), os.DirFS(s.path("ledger")))) // somebody takes a copy there
			s.refused("which is still there: this is a copy")
			s.once(siteRows)
		},
		// A disk is gone from under the program, with what was on it.
		"detached under load for good": func(t *testing.T, s *site) {
			p := s.begin()
			s.unmount("ledger", "journal")
			s.landed()
			must.Do(t, p.Cmd.Process.Kill()) // it waits for its ledger, to store what it hears
			<-p.Done
			must.Do(t, os.Rename(s.path("disks"), s.path("gone")), os.MkdirAll(s.path("disks", "ledger"), 0o700),
				os.MkdirAll(s.path("disks", "journal"), 0o700))
			s.mount("ledger")
			s.mount("journal")
			s.refused("the file does not exist", "safrasync state new")
			s.once(siteRows)
		},
		// Both disks come back as they were when all rows were in flight, and the kernel went on: a power
		// cut to the storage, a snapshot. The program had gone on too, heard all answers and ended. What
		// its notes do not have any more proves nothing.
		"an image without a reboot": func(t *testing.T, s *site) {
			p := s.begin()
			s.image("snapshot", "ledger", "journal")
			s.landed()
			if <-p.Done; p.Err != nil {
				t.Fatalf("%v\n%s", p.Err, p.said)
			}
			s.comeBack("snapshot", "ledger", "journal")
			s.must(0, "sync")
			s.must(0, "sync", "--sweep")
			s.once(siteRows)
			// the answer to the first may be in the image
			if out := s.must(0, "rows", "--state", "in_doubt", "--json"); strings.Count(out, "\n") < siteRows-1 {
				t.Errorf("in doubt are\n%s", out)
			}
		},
		// The ledger alone, or the journal alone, comes back as it was: before the rows were sent, and
		// while they were in flight.
		"images of one disk at other times": func(t *testing.T, s *site) {
			s.image("before", "ledger", "journal")
			p := s.begin()
			s.image("meanwhile", "ledger", "journal")
			must.Do(t, p.Cmd.Process.Kill())
			<-p.Done
			s.landed()
			s.must(0, "sync") // in doubt
			s.must(0, "pause", "contracts", "--note", "x")
			s.must(0, "resume", "contracts", "--note", "x")
			s.image("after", "ledger", "journal")
			for _, at := range []string{"before", "meanwhile"} {
				s.comeBack(at, "ledger")
				s.refusedBy([][]string{{"sync"}, {"pause", "contracts", "--note", "x"}}, "safrasync rebuild")
				must.Do(t, os.RemoveAll(s.path("disks", "ledger.was")))
				s.comeBack("after", "ledger")
				must.Do(t, os.RemoveAll(s.path("disks", "ledger.was")))
				s.comeBack(at, "journal")
				s.refused("records were lost", "safrasync rebuild --new-journal")
				must.Do(t, os.RemoveAll(s.path("disks", "journal.was")))
				s.comeBack("after", "journal")
				must.Do(t, os.RemoveAll(s.path("disks", "journal.was")))
			}
			s.must(0, "sync", "--sweep")
			s.once(siteRows)
		},
		// A service that cannot start because its disk is full says so, and does not promise to go on
		// by itself.
		"B9 full at the start": func(t *testing.T, s *site) {
			s.unmount("ledger")
			must.Do(t, syscall.Mount("tmpfs", s.path("ledger"), "tmpfs", 0, "size=4m"),
				os.CopyFS(s.path("ledger"), os.DirFS(s.path("disks", "ledger"))))
			filler := s.path("ledger", "filler")
			if err := os.WriteFile(filler, make([]byte, 8<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
				t.Fatalf("the disk is not full: %v", err)
			}
			out := s.must(1, "run")
			for _, want := range []string{"free space", "one that could not start has to be started"} {
				if !strings.Contains(out, want) {
					t.Errorf("run does not say %q:\n%s", want, out)
				}
			}
			must.Do(t, os.Remove(filler))
			pass := s.begin()
			s.landed()
			if <-pass.Done; pass.Err != nil {
				t.Errorf("with room again: %v\n%s", pass.Err, pass.said)
			}
			s.once(siteRows)
		},
		// A pass whose ledger has no more room ends as soon as its journal has all answers: the next one
		// takes them from there.
		"full while rows are in flight": func(t *testing.T, s *site) {
			s.unmount("ledger")
			must.Do(t, syscall.Mount("tmpfs", s.path("ledger"), "tmpfs", 0, "size=4m"),
				os.CopyFS(s.path("ledger"), os.DirFS(s.path("disks", "ledger"))))
			filler := s.path("ledger", "filler")
			pass := s.begin()
			if err := os.WriteFile(filler, make([]byte, 8<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
				t.Fatalf("the disk is not full: %v", err)
			}
			s.landed()
			<-pass.Done
			said := pass.said.String()
			if pass.Err == nil || !strings.Contains(said, "the journal has the answers") ||
				!strings.Contains(said, "free space on the disk") || strings.Contains(said, "will be in doubt") {
				t.Errorf("%v\n%s", pass.Err, said)
			}
			must.Do(t, os.Remove(filler))
			if err := os.WriteFile(filler, make([]byte, 8<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
				t.Fatalf("the disk is not full: %v", err)
			}
			if out := s.must(1, "sync"); !strings.Contains(out, "free space") {
				t.Errorf("the next pass says\n%s", out)
			}
			must.Do(t, os.Remove(filler))
			if out := s.must(0, "sync"); !strings.Contains(out, "0 rows now in doubt") {
				t.Errorf("with room again:\n%s", out)
			}
			s.once(siteRows)
		},
		"the disk of the ledger's server is full": func(t *testing.T, s *site) {
			server := pgtest.Server(t)
			s.program.configure("testdata/disks.yaml", "$API", s.box.URL, "$ERP", s.path("erp.db"),
				"$LEDGER/state.db", server.Database(t)+"\n  driver: postgres", "$JOURNAL", s.path("journal"))
			s.must(0, "state", "new")
			server.Stop(t)
			data := server.DataDir()
			must.Do(t, exec.Command("cp", "--archive", data, data+".was").Run(),
				syscall.Mount("tmpfs", data, "tmpfs", 0, "size=200m"),
				exec.Command("cp", "--archive", data+".was/.", data).Run())
			server.Start(t)
			s.must(0, "check")
			filler := filepath.Join(data, "filler")
			if err := os.WriteFile(filler, make([]byte, 200<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
				t.Fatalf("the disk is not full: %v", err)
			}
			out := s.must(1, "check")
			if !strings.Contains(out, "No space left on device") ||
				!strings.Contains(out, "free space on the database server") {
				t.Errorf("check says\n%s", out)
			}
			must.Do(t, os.Remove(filler))
			s.must(0, "check")
			server.Stop(t)
			must.Do(t, syscall.Unmount(data, syscall.MNT_DETACH))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newSite(t))
		})
	}
}

// site is a cooperative whose ledger and journal are on disks of their own.
type site struct {
	*program
	box   *sandbox.Running
	posts chan int
	done  chan int      // POSTs that were executed
	hold  chan struct{} // what a POST waits for once it has arrived
}

// The first row goes alone, and then all others are in flight at once, as testdata/disks.yaml has
// it.
const siteRows = 4

func newSite(t *testing.T) *site {
	s := &site{
		program: newProgram(t), posts: make(chan int, 100), done: make(chan int, 100), hold: make(chan struct{}),
	}
	s.env = map[string]string{
		"SAFRASYNC_API_KEY": platformCanary, "LANG": "en_US.UTF-8", "LC_ALL": "", "LC_MESSAGES": "",
	}
	s.box = startSandbox(t, sandbox.Options{APIKey: platformCanary, Seed: 1, OnPost: func(n int) {
		s.posts <- n
		if n > 1 { // the first of a run goes alone
			<-s.hold
		}
	}, OnExecuted: func(n int, _ sandbox.Record) { s.done <- n }})
	for _, disk := range []string{"ledger", "journal"} {
		must.Do(s.t, os.MkdirAll(s.path("disks", disk), 0o700), os.MkdirAll(s.path(disk), 0o700))
		s.mount(disk)
		t.Cleanup(func() { _ = syscall.Unmount(s.path(disk), syscall.MNT_DETACH) })
	}
	s.configure("ledger")
	var rows []string
	for i := range siteRows {
		rows = append(rows, fmt.Sprintf("('%06d', %d)", i+1, 1000+i))
	}
	s.sql("erp.db",
		"CREATE TABLE contrato (num TEXT PRIMARY KEY, quantidade NUMERIC); INSERT INTO contrato VALUES "+
			strings.Join(rows, ", "))
	s.must(0, "state", "new")
	return s
}

// configure names the ledger's folder.
func (s *site) configure(ledger string) {
	s.t.Helper()
	s.program.configure("testdata/disks.yaml", "$API", s.box.URL, "$ERP", s.path("erp.db"), "$LEDGER", s.path(ledger),
		"$JOURNAL", s.path("journal"))
}

// mount puts a disk in its place.
func (s *site) mount(disk string) {
	s.t.Helper()
	must.Do(s.t, syscall.Mount(s.path("disks", disk), s.path(disk), "", syscall.MS_BIND, ""))
}

// unmount takes a disk away, also from under a program that uses it.
func (s *site) unmount(disks ...string) {
	s.t.Helper()
	for _, disk := range disks {
		must.Do(s.t, syscall.Unmount(s.path(disk), syscall.MNT_DETACH))
	}
}

// image copies what is on a disk at this moment; comeBack puts it in the disk's place, while
// whoever used the disk before has it still.
func (s *site) image(name string, disks ...string) {
	s.t.Helper()
	for _, disk := range disks {
		must.Do(s.t, os.CopyFS(s.path(name, disk), os.DirFS(s.path("disks", disk))))
	}
}

func (s *site) comeBack(name string, disks ...string) {
	s.t.Helper()
	for _, disk := range disks {
		s.unmount(disk)
		must.Do(s.t, os.Rename(s.path("disks", disk), s.path("disks", disk+".was")),
			os.CopyFS(s.path("disks", disk), os.DirFS(s.path(name, disk))))
		s.mount(disk)
	}
}

// refused runs what could send or write, which must say all of some texts and do nothing.
func (s *site) refused(says ...string) {
	s.t.Helper()
	s.refusedBy([][]string{{"sync"}, {"run"}, {"pause", "contracts", "--note", "x"}}, says...)
}

func (s *site) refusedBy(commands [][]string, says ...string) {
	s.t.Helper()
	for _, args := range commands {
		out := s.must(1, args...)
		for _, want := range says {
			if !strings.Contains(out, want) {
				s.t.Errorf("%q does not say %q:\n%s", args, want, out)
			}
		}
	}
	s.must(1, "check")
}

// pass is one that was begun.
type pass struct {
	*throwaway.Process
	said *throwaway.Log
}

// begin starts a pass, and waits until all rows but the first are in flight.
func (s *site) begin() *pass {
	s.t.Helper()
	cmd, said := s.command("sync", "--json"), throwaway.NewLog("")
	cmd.Stdout, cmd.Stderr = said, said
	p := &pass{must.Get(throwaway.Spawn(cmd, syscall.SIGKILL, nil))(s.t), said}
	for range siteRows {
		select {
		case <-s.posts:
		case <-p.Done:
			s.t.Fatalf("it ended with %v:\n%s", p.Err, said)
		}
	}
	return p
}

// landed lets what is in flight be executed.
func (s *site) landed() {
	close(s.hold)
	for range siteRows {
		<-s.done
	}
}

// once is the oracle: so many POSTs were executed, and no two of one contract.
func (s *site) once(want int) {
	s.t.Helper()
	seen := map[string]int{}
	for _, r := range s.box.CreatedOf(sandbox.ResourceOrderCommitments) {
		seen[fmt.Sprint(r.Fields["amount"])]++
	}
	for row, n := range seen {
		if n != 1 {
			s.t.Errorf("the row of %s was sent %d times", row, n)
		}
	}
	if len(seen) != want {
		s.t.Errorf("the platform has %d rows, want %d", len(seen), want)
	}
}

func (s *site) sent() {
	s.t.Helper()
	close(s.hold)
	s.must(0, "sync")
	s.once(siteRows)
}
