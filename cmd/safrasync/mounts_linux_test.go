package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/safrasync/safrasync/apiclient/sandbox"
)

// mountsRole says to the test binary that it has a mount namespace of its own.
const mountsRole = "SAFRASYNC_TEST_MOUNTS"

// C2, C4: the real program, on file systems that are not there, go away while it works, or come
// back older without a reboot. Whatever happens, each row is on the platform at most once, and the
// program says what it looked for and where, or has rows in doubt.
func TestC4DisksGoAwayAndComeBackOlder(t *testing.T) {
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
			s.run(1, "state", "new")
			s.unmount("journal")
			s.refused(here, "the file does not exist", "mount its disk if that is not mounted",
				"safrasync restore FILE", "safrasync rebuild", "safrasync state new")
			if out := s.run(1, "status"); !strings.Contains(out, here) || !strings.Contains(out, "it is not there") {
				t.Errorf("status says\n%s", out)
			}
			s.mount("ledger")
			s.refused(here, "its journal in "+s.path("journal"), "is gone")
			s.mount("journal")
			if out := s.run(0, "sync"); !strings.Contains(out, "0 new") {
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
			s.must(os.Mkdir(s.path("other"), 0o700))
			s.configure("other")
			s.refused(s.path("other")+"/state.db", "the file does not exist", "correct state.dsn")
			s.must(os.CopyFS(s.path("other"), os.DirFS(s.path("ledger")))) // somebody takes a copy there
			s.refused("which is still there: this is a copy")
			s.once(siteRows)
		},
		// A disk is gone from under the program, with what was on it.
		"detached under load for good": func(t *testing.T, s *site) {
			p := s.begin()
			s.unmount("ledger", "journal")
			s.landed()
			s.must(p.Process.Kill()) // it waits for its ledger, to store what it hears
			<-p.ended
			s.must(os.Rename(s.path("disks"), s.path("gone")), os.MkdirAll(s.path("disks", "ledger"), 0o700),
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
			if <-p.ended; p.err != nil {
				t.Fatalf("%v\n%s", p.err, p.said.String())
			}
			s.comeBack("snapshot", "ledger", "journal")
			s.run(0, "sync")
			s.run(0, "sync", "--sweep")
			s.once(siteRows)
			// the answer to the first may be in the image
			if out := s.run(0, "rows", "--state", "in_doubt", "--json"); strings.Count(out, "\n") < siteRows-1 {
				t.Errorf("in doubt are\n%s", out)
			}
		},
		// The ledger alone, or the journal alone, comes back as it was: before the rows were sent, and
		// while they were in flight.
		"images of one disk at other times": func(t *testing.T, s *site) {
			s.image("before", "ledger", "journal")
			p := s.begin()
			s.image("meanwhile", "ledger", "journal")
			s.must(p.Process.Kill())
			<-p.ended
			s.landed()
			s.run(0, "sync") // in doubt
			s.run(0, "pause", "contracts", "--note", "x")
			s.run(0, "resume", "contracts", "--note", "x")
			s.image("after", "ledger", "journal")
			for _, at := range []string{"before", "meanwhile"} {
				s.comeBack(at, "ledger")
				s.refused("safrasync rebuild")
				s.must(os.RemoveAll(s.path("disks", "ledger.was")))
				s.comeBack("after", "ledger")
				s.must(os.RemoveAll(s.path("disks", "ledger.was")))
				s.comeBack(at, "journal")
				s.refused("records were lost", "safrasync rebuild --new-journal")
				s.must(os.RemoveAll(s.path("disks", "journal.was")))
				s.comeBack("after", "journal")
				s.must(os.RemoveAll(s.path("disks", "journal.was")))
			}
			s.run(0, "sync", "--sweep")
			s.once(siteRows)
		},
		// B9: a service that cannot start because its disk is full says so, and does not promise to go on
		// by itself.
		"B9 full at the start": func(t *testing.T, s *site) {
			s.unmount("ledger")
			s.must(syscall.Mount("tmpfs", s.path("ledger"), "tmpfs", 0, "size=4m"),
				os.CopyFS(s.path("ledger"), os.DirFS(s.path("disks", "ledger"))))
			filler := s.path("ledger", "filler")
			if err := os.WriteFile(filler, make([]byte, 8<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
				t.Fatalf("the disk is not full: %v", err)
			}
			out := s.run(1, "run")
			for _, want := range []string{"free space", "one that could not start has to be started"} {
				if !strings.Contains(out, want) {
					t.Errorf("run does not say %q:\n%s", want, out)
				}
			}
			s.must(os.Remove(filler))
			pass := s.begin()
			s.landed()
			if <-pass.ended; pass.err != nil {
				t.Errorf("with room again: %v\n%s", pass.err, pass.said.String())
			}
			s.once(siteRows)
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

const siteRows = 4 // the first goes alone, and then all others are in flight at once

func newSite(t *testing.T) *site {
	s := &site{
		program: newProgram(t), posts: make(chan int, 100), done: make(chan int, 100), hold: make(chan struct{}),
	}
	s.env = map[string]string{
		"SAFRASYNC_API_KEY": platformCanary, "LANG": "en_US.UTF-8", "LC_ALL": "", "LC_MESSAGES": "",
		"RUNTIME_DIRECTORY": "",
	}
	s.box = startSandbox(t, sandbox.Options{APIKey: platformCanary, Seed: 1, OnPost: func(n int) {
		s.posts <- n
		if n > 1 { // the first of a run goes alone
			<-s.hold
		}
	}, OnExecuted: func(n int, _ sandbox.Record) { s.done <- n }})
	for _, disk := range []string{"ledger", "journal"} {
		s.must(os.MkdirAll(s.path("disks", disk), 0o700), os.MkdirAll(s.path(disk), 0o700))
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
	s.run(0, "state", "new")
	return s
}

// configure names the ledger's folder.
func (s *site) configure(ledger string) {
	s.t.Helper()
	s.file = s.path("config.yaml")
	s.write("config.yaml", fmt.Sprintf(`api:
  base_url: %s
  api_key: ${env:SAFRASYNC_API_KEY}
  rate_limit: 0
  max_in_flight: %d
erp: {driver: sqlite, dsn: %s}
state:
  dsn: %s/state.db
  journal: %s
jobs:
  contracts:
    sends: order_commitments
    query: SELECT num, quantidade FROM contrato
    key: num
    fields:
      amount: quantidade
      producer_id: {const: 1f4c9f0e-3c1b-4f5e-9d5a-0d8b1e6a7c01}
      issuer_id: {const: 1f4c9f0e-3c1b-4f5e-9d5a-0d8b1e6a7c02}
      product: {const: SOJA}
      delivery_place_id: {const: 1f4c9f0e-3c1b-4f5e-9d5a-0d8b1e6a7c03}
      haverst: {const: 2025/2026}
      unit_of_measurement: {const: KG}
      order_type: {const: A_FIXAR}
      order_date: {const: "2026-03-10"}
      wallet_id: {const: 1f4c9f0e-3c1b-4f5e-9d5a-0d8b1e6a7c04}
`, s.box.URL, siteRows, s.path("erp.db"), s.path(ledger), s.path("journal")))
}

func (s *site) must(errs ...error) {
	s.t.Helper()
	for _, err := range errs {
		if err != nil {
			s.t.Fatal(err)
		}
	}
}

// mount puts a disk in its place.
func (s *site) mount(disk string) {
	s.t.Helper()
	s.must(syscall.Mount(s.path("disks", disk), s.path(disk), "", syscall.MS_BIND, ""))
}

// unmount takes a disk away, also from under a program that uses it.
func (s *site) unmount(disks ...string) {
	s.t.Helper()
	for _, disk := range disks {
		s.must(syscall.Unmount(s.path(disk), syscall.MNT_DETACH))
	}
}

// image copies what is on a disk at this moment; comeBack puts it in the disk's place, while
// whoever used the disk before has it still.
func (s *site) image(name string, disks ...string) {
	s.t.Helper()
	for _, disk := range disks {
		s.must(os.CopyFS(s.path(name, disk), os.DirFS(s.path("disks", disk))))
	}
}

func (s *site) comeBack(name string, disks ...string) {
	s.t.Helper()
	for _, disk := range disks {
		s.unmount(disk)
		s.must(os.Rename(s.path("disks", disk), s.path("disks", disk+".was")),
			os.CopyFS(s.path("disks", disk), os.DirFS(s.path(name, disk))))
		s.mount(disk)
	}
}

// run runs a command that ends with a code, and wants texts in what it says.
func (s *site) run(code int, args ...string) string {
	s.t.Helper()
	cmd := s.command(args...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != code {
		s.t.Fatalf("%q ended with %v, want %d:\n%s", args, err, code, out)
	}
	return string(out)
}

// refused runs what could send or write, which must say all of some texts and do nothing.
func (s *site) refused(says ...string) {
	s.t.Helper()
	for _, args := range [][]string{{"sync"}, {"run"}, {"pause", "contracts", "--note", "x"}} {
		out := s.run(1, args...)
		for _, want := range says {
			if !strings.Contains(out, want) {
				s.t.Errorf("%q does not say %q:\n%s", args, want, out)
			}
		}
	}
	s.run(1, "check")
}

// pass is one that was begun.
type pass struct {
	*exec.Cmd
	said  bytes.Buffer
	ended chan struct{}
	err   error
}

// begin starts a pass, and waits until all rows but the first are in flight.
func (s *site) begin() *pass {
	s.t.Helper()
	p := &pass{Cmd: s.command("sync", "--json"), ended: make(chan struct{})}
	p.Stdout, p.Stderr = &p.said, &p.said
	s.must(p.Start())
	go func() {
		p.err = p.Wait()
		close(p.ended)
	}()
	for range siteRows {
		select {
		case <-s.posts:
		case <-p.ended:
			s.t.Fatalf("it ended with %v:\n%s", p.err, p.said.String())
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
	s.run(0, "sync")
	s.once(siteRows)
}
