package console

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// The live part of the first page (server-sent events). Without JavaScript the page is loaded again
// instead.
const (
	streamsMost = 64
	streamsEach = 4           // of one person
	streamStep  = time.Second // at most one picture of the progress in this time
	// something is sent at least so often, and looked whether the person is still logged in
	streamBeat = 20 * time.Second
)

// streams counts the open streams by person.
type streams struct {
	mu  sync.Mutex
	all int
	of  map[int64]int
}

func (s *streams) enter(user int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all >= streamsMost || s.of[user] >= streamsEach {
		return false
	}
	if s.of == nil {
		s.of = map[int64]int{}
	}
	s.all++
	s.of[user]++
	return true
}

func (s *streams) leave(user int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	if s.of[user]--; s.of[user] == 0 {
		delete(s.of, user)
	}
}

// showLive sends the progress of the runs as it changes, until the browser goes away, the login
// ends, or the console.
func showLive(q *request) error {
	if q.Method == http.MethodHead {
		q.wrote = true
		return nil
	}
	user := q.login.User.ID
	if !q.c.streams.enter(user) {
		return errBusy
	}
	defer q.c.streams.leave(user)
	answer := http.NewResponseController(q.w)
	h := q.w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("X-Accel-Buffering", "no")
	q.wrote = true
	running := -1
	beats, stop := q.c.beats()
	defer stop()
	for {
		live, changed := q.c.Work.Progress()
		var b bytes.Buffer
		f := frame{voice: voice{q.lang, q.c.Zone, q.c.Now()}, Page: "home", Data: &homePage{Live: live}}
		f.Titles = titlesOf(q)
		if err := q.c.pages["home"].ExecuteTemplate(&b, "live", f); err != nil {
			return err
		}
		event := "event: progress\ndata: " + strings.Join(strings.Split(strings.TrimSpace(b.String()), "\n"),
			"\ndata: ") + "\n\n"
		if running >= 0 && len(live) < running {
			event += "event: settled\ndata: .\n\n" // the numbers of the page are others now
		}
		running = len(live)
		_ = answer.SetWriteDeadline(time.Now().Add(streamBeat))
		if _, err := fmt.Fprint(q.w, event); err != nil {
			return nil //nolint:nilerr // the browser has gone
		}
		if err := answer.Flush(); err != nil {
			return nil //nolint:nilerr // the browser has gone
		}
		pause := time.NewTimer(streamStep)
		select {
		case <-q.Context().Done():
			pause.Stop()
			return nil
		case <-q.c.ending.Done():
			pause.Stop()
			return nil
		case <-pause.C:
		}
		select {
		case <-q.Context().Done():
			return nil
		case <-q.c.ending.Done():
			return nil
		case <-changed:
		case <-beats:
			if q.login = nil; q.whoAsks() != nil || q.login == nil {
				return nil
			}
		}
	}
}
