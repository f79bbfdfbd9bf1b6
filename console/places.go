package console

import (
	"context"
	"sync"

	"github.com/safrasync/safrasync/console/web"
)

// places bounds how many requests are processed at once, in all and for each sender. A sender who
// has its share waits without a place, so that it keeps nobody else out.
type places struct {
	all    chan struct{}
	mu     sync.Mutex
	shares map[string]*share
}

// share is what one sender has of the places.
type share struct {
	taken chan struct{}
	users int // requests that have a place of it, or wait for one
}

func newPlaces(most int) *places {
	return &places{all: make(chan struct{}, most), shares: map[string]*share{}}
}

// enter waits for one of a sender's most places, and then for one of all, but not longer than
// waitAtMost.
func (p *places) enter(ctx context.Context, sender string, most int) (leave func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, waitAtMost)
	defer cancel()
	own, forget := p.share(sender, most)
	select {
	case own <- struct{}{}:
	case <-ctx.Done():
		forget()
		return nil, web.ErrBusy
	}
	select {
	case p.all <- struct{}{}:
		return sync.OnceFunc(func() { <-p.all; <-own; forget() }), nil
	case <-ctx.Done():
		<-own
		forget()
		return nil, web.ErrBusy
	}
}

// share returns the places of a sender, until forget is called.
func (p *places) share(sender string, most int) (taken chan struct{}, forget func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.shares[sender]
	if s == nil {
		s = &share{taken: make(chan struct{}, most)}
		p.shares[sender] = s
	}
	s.users++
	return s.taken, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if s.users--; s.users == 0 {
			delete(p.shares, sender)
		}
	}
}
