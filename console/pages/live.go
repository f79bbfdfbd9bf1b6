package pages

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/safrasync/safrasync/console/view"
	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/office"
)

// The live part of the first page (server-sent events). Without JavaScript the page reloads
// instead.
const (
	streamsMost = 64
	streamsEach = 4           // for one person
	streamStep  = time.Second // at most one event in this time
	// interval of the heartbeat, at which the login is also checked
	streamBeat = 20 * time.Second
)

// streams counts the open streams for each person.
type streams struct {
	mu  sync.Mutex
	all int
	of  map[int64]int
}

// liveShown is the progress of a job; without a phase it does not run in this process.
type liveShown struct {
	office.Progress
	Ready time.Time // when all is sent, at its speed until now; zero: not known yet
}

// paceLeast is how long a job must send before its speed counts.
const paceLeast = 3 * time.Second

// live is what the jobs do now, as a page shows it.
type live struct {
	Jobs []liveShown // all of them
	Turn string      // for the stream: what began and ended before the page was made
}

// Running reports whether a job runs.
func (l live) Running() bool {
	return slices.ContainsFunc(l.Jobs, func(s liveShown) bool { return s.Phase != "" })
}

// of returns what is shown of a running job; nil if it does not run.
func (l live) of(job string) *liveShown {
	i := slices.IndexFunc(l.Jobs, func(s liveShown) bool { return s.Job == job && s.Phase != "" })
	if i < 0 {
		return nil
	}
	return &l.Jobs[i]
}

// liveNow returns what the jobs do now.
func (p *Pages) liveNow(q *web.Request) live {
	running := p.office.Progress()
	out := live{Turn: running.Turn}
	for _, job := range p.office.Jobs() {
		shown := liveShown{Progress: office.Progress{Job: job.Name}}
		for _, now := range running.Jobs {
			if now.Job == job.Name {
				shown = liveOf(now, q.Site.Now())
			}
		}
		out.Jobs = append(out.Jobs, shown)
	}
	return out
}

// liveOf computes when a job is ready.
func liveOf(p office.Progress, now time.Time) liveShown {
	out := liveShown{Progress: p}
	took, done := now.Sub(p.Pace.Since), p.Done-p.Pace.Done
	if !p.Pace.Since.IsZero() && took >= paceLeast && done > 0 && p.Total > p.Done {
		out.Ready = now.Add(took / time.Duration(done) * time.Duration(p.Total-p.Done))
	}
	return out
}

// showLive sends the progress of the runs as it changes, until the browser disconnects, the login
// ends, or the console closes.
func (p *Pages) showLive(q *web.Request) error {
	if q.Method == http.MethodHead {
		q.Answered = true
		return nil
	}
	user := q.Login.User.ID
	s := &p.streams
	s.mu.Lock()
	free := s.all < streamsMost && s.of[user] < streamsEach
	if free {
		if s.of == nil {
			s.of = map[int64]int{}
		}
		s.all++
		s.of[user]++
	}
	s.mu.Unlock()
	if !free {
		return web.ErrBusy
	}
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all--
		s.of[user]--
		if s.of[user] == 0 {
			delete(s.of, user)
		}
	}()
	answer := http.NewResponseController(q.Writer)
	h := q.Writer.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("X-Accel-Buffering", "no")
	q.Answered = true
	turn := q.URL.Query().Get("turn")
	beats, stop := p.beats()
	defer stop()
	for {
		now := p.office.Progress()
		var b bytes.Buffer
		f := view.Frame{Voice: q.Voice(), Page: "home", Now: q.Site.Now(), Data: &homePage{Live: p.liveNow(q)}}
		f.Titles = p.Titles(q.Lang)
		if err := view.Part(&b, "live", f); err != nil {
			return err
		}
		event := "event: progress\ndata: " + strings.Join(strings.Split(strings.TrimSpace(b.String()), "\n"),
			"\ndata: ") + "\n\n"
		if turn != "" && turn != now.Turn { // also if it was before the page was connected
			event += "event: settled\ndata: .\n\n" // a run began or ended: what the page says has changed
		}
		turn = now.Turn
		_ = answer.SetWriteDeadline(time.Now().Add(streamBeat))
		if _, err := fmt.Fprint(q.Writer, event); err != nil {
			return nil //nolint:nilerr // the browser has gone
		}
		if err := answer.Flush(); err != nil {
			return nil //nolint:nilerr // the browser has gone
		}
		select {
		case <-q.Context().Done():
			return nil
		case <-q.Ending:
			return nil
		case <-time.After(streamStep):
		}
		select {
		case <-q.Context().Done():
			return nil
		case <-q.Ending:
			return nil
		case <-now.Changed:
		case <-beats:
			if p.sessions.Identify(q) != nil || q.Login == nil {
				return nil
			}
		}
	}
}
