package receiver

import (
	"context"
	"testing"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// A registration that is made while the registrations are being read is found by who waited for
// that reading: the platform may call it at once.
func TestARegistrationThatIsMadeDuringAReadingIsFound(t *testing.T) {
	t.Parallel()
	fresh := NewLogin()
	began, free := make(chan struct{}, 1), make(chan struct{})
	looks := make(chan struct{}, 10)
	clock := time.Now()
	reads := 0
	b := newBook(Setup{
		Now: func() time.Time { looks <- struct{}{}; return clock },
		Webhooks: func(context.Context) ([]trade.Webhook, error) {
			reads++
			if reads > 1 {
				return []trade.Webhook{{ID: "hook", PathHash: HashOf(fresh.Path), LoginHash: HashOf(fresh.Basic())}},
					nil
			}
			began <- struct{}{}
			<-free
			return nil, nil
		},
	})
	guess, found := make(chan bool, 1), make(chan bool, 1)
	go func() { _, ok, _ := b.find(t.Context(), "/a-guess", ""); guess <- ok }()
	<-began
	<-looks
	clock = clock.Add(2 * bookMiss) // the reading takes its time
	go func() { _, ok, _ := b.find(t.Context(), fresh.Path, ""); found <- ok }()
	<-looks // it holds the lock, and waits for the reading from now on
	close(free)
	if !<-found {
		t.Error("a registration that was made during a reading is not found")
	}
	if <-guess {
		t.Error("a guess is a registration")
	}
	b.close()
}
