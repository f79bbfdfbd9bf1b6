package state

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// The test binary starts itself again as another process: the role and the ledger's path come in
// the environment.
const (
	childRole = "SAFRASYNC_STATE_TEST_ROLE"
	childPath = "SAFRASYNC_STATE_TEST_PATH"
)

// moreRoles are those of tests that need a build tag.
var moreRoles = map[string]func(ctx context.Context, path string) int{}

// child does what its role says, prints one line and, where it holds something, waits for the end
// of its input.
func child(role string) int {
	ctx := context.Background()
	if act := moreRoles[role]; act != nil {
		return act(ctx, os.Getenv(childPath))
	}
	s, err := Open(ctx, sqldb.Options{Begin: true, Driver: sqldb.SQLite, DSN: os.Getenv(childPath)})
	var failure *sqldb.Error
	switch {
	case role == "open" && errors.As(err, &failure):
		fmt.Println(failure.Code)
		return 0
	case err != nil:
		fmt.Println("error", err)
		return 1
	}
	switch role {
	case "open":
		fmt.Println("opened")
		return 0
	case "lease":
		if _, err := s.AcquireLease(ctx, "contracts", sqldb.Self()); err != nil {
			fmt.Println("error", err)
			return 1
		}
		fmt.Println("ready")
	case "race":
		lease, err := s.AcquireLease(ctx, "contracts", sqldb.Self())
		var leased *trade.LeasedError
		switch {
		case errors.As(err, &leased):
			fmt.Println("leased")
		case err != nil:
			fmt.Println("error", err)
			return 1
		default:
			fmt.Println("won", lease.Epoch)
		}
	case "sending":
		lease, err := s.AcquireLease(ctx, "contracts", sqldb.Self())
		if err != nil {
			fmt.Println("error", err)
			return 1
		}
		var in trade.Intent
		in.Entry, err = s.Entry(ctx, "contracts", "a")
		if err == nil {
			in.Attempt = trade.Attempt{
				ID: os.Getenv("SAFRASYNC_STATE_TEST_ATTEMPT"), Payload: in.Entry.Payload,
				PayloadHash: in.Entry.PayloadHash,
			}
			_, err = s.Commit(ctx, lease, trade.Group{At: at, Intents: []trade.Intent{in}})
		}
		if err != nil {
			fmt.Println("error", err)
			return 1
		}
		fmt.Println("ready")
	case "clock": // does what it sees of a doubt of another process's time let a second sending go?
		e, err := s.Entry(ctx, "contracts", "a")
		if err != nil {
			fmt.Println("error", err)
			return 1
		}
		seen, err := s.Watched(ctx, e.ID, sqldb.Self().Boot)
		order := again(e, bootTime())
		order.Resend.Boot = sqldb.Self().Boot
		done, actErr := s.Act(ctx, []trade.Act{order})
		var parent trade.Owner
		if err := errors.Join(err, actErr,
			json.Unmarshal([]byte(os.Getenv("SAFRASYNC_STATE_TEST_OWNER")), &parent)); err != nil {
			fmt.Println("error", err)
			return 1
		}
		fmt.Printf("known %d, goes %t, parent gone %t\n", len(seen), done[0], sqldb.Gone(parent))
		return 0
	case "lock":
		if _, err := s.db.Write.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
			fmt.Println("error", err)
			return 1
		}
		fmt.Println("ready")
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

type process struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
	stdin io.Closer
}

// startChild starts a process of the role as the user, and waits for nothing.
func startChild(t *testing.T, role, path string, user *syscall.Credential, env ...string) *process {
	t.Helper()
	// the file itself is in a folder that other users may not enter
	return startAs(t, exec.CommandContext(context.Background(), "/proc/self/exe"), role, path, user, env...)
}

func startAs(t *testing.T, cmd *exec.Cmd, role, path string, user *syscall.Credential, env ...string) *process {
	t.Helper()
	cmd.Dir = "/"
	cmd.Env = append([]string{childRole + "=" + role, childPath + "=" + path, "HOME=/", "PATH=/usr/bin:/bin"}, env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: user, Pdeathsig: syscall.SIGKILL}
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("starting the test binary as another process: %v", err)
	}
	p := &process{cmd: cmd, lines: bufio.NewScanner(out), stdin: stdin}
	t.Cleanup(func() { p.kill(t) })
	return p
}

// line waits for what the process prints.
func (p *process) line(t *testing.T) string {
	t.Helper()
	if !p.lines.Scan() {
		t.Fatalf("the process ended without a word: %v", p.lines.Err())
	}
	return strings.TrimSpace(p.lines.Text())
}

// kill ends the process with kill -9 and collects it.
func (p *process) kill(t *testing.T) {
	t.Helper()
	if p.cmd.ProcessState != nil {
		return
	}
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("kill: %v", err)
	}
	_ = p.cmd.Wait() // it was killed
}
