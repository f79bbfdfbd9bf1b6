package receiver

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// What one sender may do: far more requests than the platform sends, but few guesses.
const (
	senderRate  = 500 // requests a second
	senderBurst = 2000
	guessCost   = 100 // number of requests that a wrong method, path or login counts as
	maxSenders  = 4096
	senderIdle  = 5 * time.Minute
)

// budgets holds the remaining budget of each sender. The number of senders is bounded; new ones
// beyond it share one budget.
type budgets struct {
	mu       sync.Mutex
	by       map[string]*sender
	cleaned  time.Time
	overflow *rate.Limiter
}

type sender struct {
	*rate.Limiter
	seen time.Time
}

func newBudgets() *budgets {
	return &budgets{by: map[string]*sender{}, overflow: rate.NewLimiter(senderRate, senderBurst)}
}

func (b *budgets) of(address string, now time.Time) *rate.Limiter {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s := b.by[address]; s != nil {
		s.seen = now
		return s.Limiter
	}
	if len(b.by) >= maxSenders && now.Sub(b.cleaned) > time.Second {
		b.cleaned = now
		for a, s := range b.by {
			if now.Sub(s.seen) > senderIdle {
				delete(b.by, a)
			}
		}
	}
	if len(b.by) >= maxSenders {
		return b.overflow
	}
	s := &sender{rate.NewLimiter(senderRate, senderBurst), now}
	b.by[address] = s
	return s.Limiter
}
