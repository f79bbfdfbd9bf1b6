package commands

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"testing"
)

func TestInitAsksOnATerminal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	k := &asker{terminal: true, in: bufio.NewReader(strings.NewReader(" sqlite \nlast")), out: &out}
	if got := k.unless("", "Driver?"); got != "sqlite" {
		t.Errorf("the answer is %q", got)
	}
	if got := k.unless("given", "DSN?"); got != "given" {
		t.Errorf("what was given is asked again: %q", got)
	}
	if got := k.unless("", "DSN?"); got != "last" {
		t.Errorf("an answer without a line end is %q", got)
	}
	if got := k.unless("", "More?"); got != "" {
		t.Errorf("after the end of input the answer is %q", got)
	}
	if out.String() != "Driver? DSN? More? " {
		t.Errorf("asked %q", out.String())
	}
	nobody := &asker{in: bufio.NewReader(strings.NewReader("x\n")), out: io.Discard}
	if got := nobody.unless("", "Driver?"); got != "" {
		t.Errorf("without a terminal the answer is %q", got)
	}
}
