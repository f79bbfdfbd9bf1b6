package connlimit

import (
	"context"
	"sync"
	"time"
)

// Places bounds how many requests are processed at once, in all and for each sender. A sender who
// has its share waits without a place, so that it keeps nobody else out.
type Places struct {
	within time.Duration
	all    chan struct{}
	mu     sync.Mutex
	shares map[string]*share
}

// share is what one sender has of the places.
type share struct {
	taken chan struct{}
	users int // requests that have a place of it, or wait for one
}

// NewPlaces returns so many places. Nobody waits for one longer than within.
func NewPlaces(most int, within time.Duration) *Places {
	return &Places{within: within, all: make(chan struct{}, most), shares: map[string]*share{}}
}

// Enter waits for one of a sender's most places, and then for one of all. The error is that of a
// context that has ended.
func (p *Places) Enter(ctx context.Context, sender string, most int) (leave func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, p.within)
	defer cancel()
	own, forget := p.share(sender, most)
	select {
	case own <- struct{}{}:
	case <-ctx.Done():
		forget()
		return nil, ctx.Err()
	}
	select {
	case p.all <- struct{}{}:
		return sync.OnceFunc(func() { <-p.all; <-own; forget() }), nil
	case <-ctx.Done():
		<-own
		forget()
		return nil, ctx.Err()
	}
}

// share returns the places of a sender, until forget is called.
func (p *Places) share(sender string, most int) (taken chan struct{}, forget func()) {
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
		s.users--
		if s.users == 0 {
			delete(p.shares, sender)
		}
	}
}
