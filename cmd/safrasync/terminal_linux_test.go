package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/must"
)

// terminal is a pseudo-terminal: the program sits at one end, the test is the person at the other.
type terminal struct {
	person, program *os.File
	read            sync.WaitGroup
	seen            strings.Builder // of watch, until read is done
	asked           chan struct{}   // closed when the question is on the screen
}

func newTerminal(t *testing.T, question string) *terminal {
	t.Helper()
	person := must.Get(os.OpenFile("/dev/ptmx", os.O_RDWR, 0))(t)
	fd := int(person.Fd())
	must.Do(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	number := must.Get(unix.IoctlGetInt(fd, unix.TIOCGPTN))(t)
	program := must.Get(os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0))(t)
	term := &terminal{person: person, program: program, asked: make(chan struct{})}
	term.read.Go(func() { term.watch(question) })
	t.Cleanup(func() {
		_ = term.screen()
		_ = person.Close()
	})
	return term
}

func (term *terminal) watch(question string) {
	buffer := make([]byte, 4096)
	asked := false
	for {
		n, err := term.person.Read(buffer)
		term.seen.Write(buffer[:n])
		if !asked && strings.Contains(term.seen.String(), question) {
			asked = true
			close(term.asked)
		}
		if err != nil {
			return
		}
	}
}

// screen is what the person has seen when the program is over.
func (term *terminal) screen() string {
	_ = term.program.Close() // the last of the program's end: the person's reading ends with it
	term.read.Wait()
	return term.seen.String()
}

// askAt runs a command that asks at a terminal; answer is called when the question is there.
func askAt(ctx context.Context, t *testing.T, b *bench, term *terminal, answer func(), args ...string) int {
	t.Helper()
	app := cli.App{Stdin: term.program, Stdout: io.Discard, Stderr: term.program}
	done := make(chan int, 1)
	go func() { done <- b.execute(ctx, &app, args...) }()
	select {
	case <-term.asked:
		answer()
	case code := <-done:
		t.Fatalf("it ended with %d before it asked:\n%s", code, term.screen())
	}
	return <-done
}

var createByHand = []string{
	"api", "webhooks", "create", "--webhook-event", "CREATE_FARM", "--url",
	"https://coop.example/hook",
}

func TestAtATerminalACallByHandIsAskedFor(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]struct{ code, posts int }{
		"s\n": {cli.ExitDone, 1}, "Sim\n": {cli.ExitDone, 1}, "y\n": {cli.ExitDone, 1},
		"n\n": {cli.ExitUsage, 0}, "\n": {cli.ExitUsage, 0},
		"simm\n": {cli.ExitUsage, 0},
		"\x04":   {cli.ExitUsage, 0}, // Ctrl+D
	} {
		b := setUpBench(t, sandbox.Options{})
		term := newTerminal(t, "Confirma? [s/N] ")
		code := askAt(t.Context(), t, b, term, func() {
			if got := len(b.box.CreatedOf(sandbox.ResourceWebhooks)); got != 0 {
				t.Errorf("%q: it was sent before it was asked for", answer)
			}
			if _, err := io.WriteString(term.person, answer); err != nil {
				t.Error(err)
			}
		}, createByHand...)
		if got := len(b.box.CreatedOf(sandbox.ResourceWebhooks)); code != want.code || got != want.posts {
			t.Errorf("%q: exit code %d and %d webhooks, want %d and %d:\n%s", answer, code, got, want.code, want.posts,
				term.screen())
		}
		if screen := term.screen(); !strings.Contains(screen, "Seria enviado: POST") || want.posts == 0 &&
			!strings.Contains(screen, "Nada foi feito.") {
			t.Errorf("%q: the screen shows\n%s", answer, screen)
		}
	}
}

// F160: of many rows the number is typed.
func TestF160ManyRowsTakeTheirNumberAtATerminal(t *testing.T) {
	t.Parallel()
	b := setUpBench(t, sandbox.Options{})
	many := `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
		INSERT INTO contrato SELECT filial, 100000 + i, i, produtor, loja, usuario, produto, local, safra, um, tipo,
			emissao, carteira, preco, inicio, fim, modalidade, pagto, forma, situacao
		FROM contrato, n WHERE num = '000003';`
	b.sql("erp.db", many)
	b.run(cli.ExitDone, "sync")
	for _, c := range []struct {
		answer string
		code   int
	}{{"s\n", cli.ExitUsage}, {"60\n", cli.ExitUsage}, {"61\n", cli.ExitDone}} {
		term := newTerminal(t, "São 61 linhas. Digite o número para confirmar: ")
		code := askAt(t.Context(), t, b, term, func() {
			if _, err := io.WriteString(term.person, c.answer); err != nil {
				t.Error(err)
			}
		}, "dismiss", "contracts", "--state", "invalid", "--reason", "lote de teste")
		if code != c.code {
			t.Errorf("%q: exit code %d, want %d:\n%s", c.answer, code, c.code, term.screen())
		}
	}
	if out, _ := b.run(cli.ExitDone, "rows", "--state", "dismissed", "--json"); strings.Count(out,
		"\n") != 61 {
		t.Errorf("%d rows are dismissed", strings.Count(out, "\n"))
	}
}

func TestCtrlCEndsTheQuestionAndNothingIsSent(t *testing.T) {
	t.Parallel()
	b := setUpBench(t, sandbox.Options{})
	term := newTerminal(t, "Confirma? [s/N] ")
	ctx, signal := context.WithCancel(t.Context())
	defer signal()
	code := askAt(ctx, t, b, term, signal, createByHand...)
	if _, err := io.WriteString(term.person, "n\n"); err != nil { // ends the reading that nobody waits for any more
		t.Error(err)
	}
	if got := len(b.box.CreatedOf(sandbox.ResourceWebhooks)); code != cli.ExitFailed || got != 0 {
		t.Errorf("exit code %d, %d webhooks; want %d and none:\n%s", code, got, cli.ExitFailed, term.screen())
	}
}
