package main

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/must"
)

func TestAnInterruptedBatchKeepsWhatWasDone(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var asked atomic.Int32
	dir, code, _, messages := consents(ctx, t, func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 2 {
			interrupt() // while the second question is on its way
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "application/json")
		granted(w, r)
	}, []byte("identity,person_type\n52998224725,PF\n11144477735,PF\n52998224725,PF\n"), "--out", "$DIR/out.csv")
	if code != cli.ExitFailed || !strings.Contains(messages, "Interrompido") {
		t.Errorf("exit code %d: %s", code, messages)
	}
	if got := rowsOf(t, filepath.Join(dir, "out.csv")); len(got) != 2 ||
		!strings.Contains(strings.Join(got[1], ";"), "CONSENTED") {
		t.Errorf("rows %q, want the header and the first producer", got)
	}
}

// rowsOf reads a result again.
func rowsOf(t *testing.T, path string) (rows [][]string) {
	t.Helper()
	text := must.Get(os.ReadFile(path))(t)
	for line := range strings.SplitSeq(strings.TrimSuffix(string(text), "\r\n"), "\r\n") {
		rows = append(rows, strings.Split(line, ";"))
	}
	return rows
}
