package setup

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
)

// asker asks a person at a terminal; elsewhere it asks nobody.
type asker struct {
	terminal bool
	in       *bufio.Reader
	out      io.Writer
}

func newAsker(a *cli.App) *asker {
	return &asker{
		terminal: cli.IsTerminal(a.Stdin) && cli.IsTerminal(a.Stderr), in: bufio.NewReader(a.Stdin),
		out: a.Stderr,
	}
}

// unless returns a value that is there already, else the answer to a question; "" where nobody can
// be asked, or nothing is answered.
func (k *asker) unless(value, question string) string {
	if value != "" || !k.terminal {
		return value
	}
	fmt.Fprint(k.out, question+" ")
	answer, err := k.in.ReadString('\n')
	if err != nil && answer == "" {
		return ""
	}
	return strings.TrimSpace(answer)
}
