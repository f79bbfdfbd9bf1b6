package setup

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
)

// asker asks a person on a terminal; without a terminal it asks nobody.
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

// unless returns value if it is not empty; otherwise it asks and returns the answer. It returns ""
// if nobody can be asked, or nothing is answered.
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
