package setup

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// asker asks a person on a terminal; without a terminal it asks nobody.
type asker struct {
	terminal bool
	in       *bufio.Reader
	out      io.Writer
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
