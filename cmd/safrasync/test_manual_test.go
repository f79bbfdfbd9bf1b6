package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
)

// The cases of the documentation are right, and run as they are described: without a secret,
// without an ERP.
func TestTheCasesOfTheDocumentationPass(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	app := cli.App{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
		Env: func(string) (string, bool) { return "", false },
	}
	code := execute(t.Context(), &app, []string{"--config", "../../docs/examples/modern.yaml", "test"})
	if code != cli.ExitDone {
		t.Fatalf("exit code %d\n%s\n%s", code, out.String(), errs.String())
	}
	if !strings.Contains(out.String(), "4 casos: 4 certos") {
		t.Errorf("the cases are not those of the documentation:\n%s", out.String())
	}
}
