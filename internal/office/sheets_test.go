package office

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/safrasync/safrasync/trade"
)

// One file of decisions is read at a time. Who comes meanwhile waits a little, and its file is not
// read once nobody waits for it.
func TestOneFileOfDecisionsIsReadAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := New(Deps{})
		first, given := io.Pipe()
		done := make(chan error)
		go func() {
			_, _, err := r.readSheet(t.Context(), first, trade.English)
			done <- err
		}()
		synctest.Wait() // it is being read
		second := strings.NewReader("a;b\n")
		if _, _, err := r.readSheet(t.Context(), second, trade.English); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the second file beside the first: %v", err)
		}
		if second.Len() != 4 {
			t.Error("the second file was read beside the first")
		}
		_ = given.Close()
		if err := <-done; err == nil || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the first file, which is empty: %v", err)
		}
		if _, _, err := r.readSheet(t.Context(), second, trade.English); err == nil ||
			errors.Is(err, context.DeadlineExceeded) || second.Len() > 0 {
			t.Errorf("the second file after the first: %v", err)
		}
	})
}
