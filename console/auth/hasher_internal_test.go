package auth

import (
	"testing"
	"testing/synctest"
)

// People of one office, whose browsers are known, log in at the same time in the morning.
func TestAnOfficeLogsInAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHasher()
		hashed := make(chan struct{})
		done := make(chan error)
		for range 6 {
			go func() {
				leave, err := h.enter(t.Context(), "192.0.2.1", true)
				if err == nil {
					<-hashed
					leave()
				}
				done <- err
			}()
		}
		synctest.Wait() // each has a place, or was refused
		close(hashed)
		for range 6 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if len(h.known)+len(h.running) != 0 {
			t.Error("a place was not given back")
		}
	})
}
