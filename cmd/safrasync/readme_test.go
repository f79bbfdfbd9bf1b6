package main

import (
	"os"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
)

// The commands of the README, typed one after the other as they stand there, do what they are for. Only
// the service is not started, and of a configuration that init began the one that a person completed is
// used.
func TestTheCommandsOfTheReadmeDoTheirWork(t *testing.T) {
	t.Parallel()
	m := newModern(t)
	must.Do(t, os.Remove(m.env["SAFRASYNC_STATE"])) // the README makes the ledger itself
	must.Do(t, os.RemoveAll(m.path("journal")))
	must.Do(t, os.Mkdir(m.path("backup"), 0o700))
	completed, done := m.file, 0
	for line := range strings.Lines(string(must.Get(os.ReadFile("../../README.md"))(t))) {
		command, ok := strings.CutPrefix(line, "    bin/safrasync ")
		if !ok || strings.HasPrefix(command, "run ") {
			continue
		}
		command, _, _ = strings.Cut(command, " #")
		args := strings.Fields(strings.ReplaceAll(command, "'", "")) // no argument has a blank
		for i, arg := range args {
			if arg == "/backup" || strings.HasSuffix(arg, ".xlsx") {
				args[i] = m.path(strings.TrimPrefix(arg, "/"))
			}
		}
		m.file = completed
		if args[0] == "init" {
			m.file = m.path("begun.yaml")
		}
		m.run(0, args...)
		done++
	}
	if done < 12 {
		t.Errorf("only %d commands were found", done)
	}
}
