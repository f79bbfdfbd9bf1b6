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
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// The test binary starts itself again as another process: the role and the ledger's options come in
// the environment.
const (
	childRole    = "SAFRASYNC_STATE_TEST_ROLE"
	childOptions = "SAFRASYNC_STATE_TEST_OPTIONS"
)

// role is what another process does with a ledger that it has opened, and says.
type role = func(ctx context.Context, o sqldb.OpenOptions, s *Store) (says string, err error)

// roles are those of the child processes; tests add theirs.
var roles = map[string]role{
	"open": func(context.Context, sqldb.OpenOptions, *Store) (string, error) { return "opened", nil },
	"lease": func(ctx context.Context, _ sqldb.OpenOptions, s *Store) (string, error) {
		_, err := s.AcquireLease(ctx, "contracts", sqldb.Self())
		return "ready", err
	},
	"race": func(ctx context.Context, _ sqldb.OpenOptions, s *Store) (string, error) {
		lease, err := s.AcquireLease(ctx, "contracts", sqldb.Self())
		var leased *trade.LeasedError
		if errors.As(err, &leased) {
			return "leased", nil
		}
		return fmt.Sprintln("won", lease.Epoch), err
	},
	// does what it sees of a doubt of another process's time let a second sending go?
	"clock": func(ctx context.Context, _ sqldb.OpenOptions, s *Store) (string, error) {
		e, err := s.Entry(ctx, "contracts", "a")
		if err != nil {
			return "", err
		}
		seen, err := s.Watched(ctx, e.ID, sqldb.Self().Boot)
		order := again(e, bootTime())
		order.Resend.Boot = sqldb.Self().Boot
		done, actErr := s.Act(ctx, []trade.Act{order})
		var parent trade.Owner
		if err := errors.Join(err, actErr,
			json.Unmarshal([]byte(os.Getenv("SAFRASYNC_STATE_TEST_OWNER")), &parent)); err != nil {
			return "", err
		}
		return fmt.Sprintf("known %d, goes %t, parent gone %t", len(seen), done[0], sqldb.OwnerEnded(parent)), nil
	},
	"lock": func(ctx context.Context, _ sqldb.OpenOptions, s *Store) (string, error) {
		return "ready", second(s.db.Write.ExecContext(ctx, "BEGIN IMMEDIATE"))
	},
}

func addRole(name string, does role) bool {
	roles[name] = does
	return true
}

// child does what its role says, prints one line and waits for the end of its input.
func child(name string) int {
	var o sqldb.OpenOptions
	mustNot(json.Unmarshal([]byte(os.Getenv(childOptions)), &o))
	var says string
	s, err := Open(context.Background(), o)
	if err == nil {
		says, err = roles[name](context.Background(), o, s)
	}
	var failure *sqldb.Error
	switch {
	case name == "open" && errors.As(err, &failure):
		says = failure.Code
	case err != nil:
		fmt.Println("error", err)
		return 1
	}
	fmt.Println(strings.TrimSpace(says))
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

// mustNot ends a child process that cannot go on.
func mustNot(err error) {
	if err != nil {
		panic(err)
	}
}

// inRole is the environment of a process of the role.
func inRole(t *testing.T, role string, o sqldb.OpenOptions) []string {
	t.Helper()
	return []string{childRole + "=" + role, childOptions + "=" + string(must.Get(json.Marshal(o))(t))}
}

// pending records rows in a child process, and gives an intent of each.
func pending(ctx context.Context, s *Store, keys ...string) (lease trade.Lease, intents []trade.Intent) {
	lease, err := s.AcquireLease(ctx, "contracts", sqldb.Self())
	mustNot(err)
	var page trade.Page
	for _, key := range keys {
		page.New = append(page.New, newEntry(key))
	}
	mustNot(second(s.Record(ctx, lease, page)))
	due, err := s.Due(ctx, "contracts", at, 0, len(keys))
	mustNot(err)
	for _, e := range due {
		intents = append(intents, intentOf(e))
	}
	return lease, intents
}

type process struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
	stdin io.Closer
}

// startChild starts a process of the role as the user, and waits for nothing.
func startChild(t *testing.T, role string, o sqldb.OpenOptions, user *syscall.Credential, env ...string) *process {
	t.Helper()
	// the file itself is in a folder that other users may not enter
	return startAs(t, exec.CommandContext(context.Background(), "/proc/self/exe"), role, o, user, env...)
}

func startAs(t *testing.T, cmd *exec.Cmd, role string, o sqldb.OpenOptions, user *syscall.Credential,
	env ...string,
) *process {
	t.Helper()
	cmd.Dir = "/"
	cmd.Env = slices.Concat(inRole(t, role, o), []string{"HOME=/", "PATH=/usr/bin:/bin"}, env)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: user, Pdeathsig: syscall.SIGKILL}
	cmd.Stderr = os.Stderr
	stdin := must.Get(cmd.StdinPipe())(t)
	out := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
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
