package sandbox

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"time"
)

// Action is what a fault does.
type Action int

const (
	// Pass answers in the ordinary way; only Slow and Late act.
	Pass Action = iota
	// Reply gives the fault's own answer instead of the ordinary one.
	Reply
	// Lose closes the connection without an answer.
	Lose
	// Cut sends the header and half of the body of the ordinary answer, then closes the connection.
	Cut
	// Garbage sends bytes that are no HTTP, then closes the connection.
	Garbage
	// Again answers 201 with the newest id given out before and executes nothing, as a cache does.
	Again
	// Twice executes two times and answers once, as a gateway does that repeats requests.
	Twice
)

// Fault is one disturbance and the requests it acts on. [ParseFault] reads it from text; tests may also write it down.
type Fault struct {
	// Do is what happens.
	Do Action
	// Commit executes before Reply, Lose and Garbage. Pass, Cut and Twice always execute.
	Commit bool
	// Status (200 to 999; 0 is 200), Header (may be nil) and Body are the answer of Reply. Content-Length is added.
	Status int
	Header http.Header
	Body   string
	// Reset makes Lose, Cut and Garbage end with a reset (RST) instead of an end of file.
	Reset bool
	// Slow passes between execution and answer. It ends early when the client goes away or the sandbox closes.
	Slow time.Duration
	// Late passes before execution, and does not end when the client goes away.
	Late time.Duration

	// Gets makes the fault act on GETs of known paths; otherwise it acts on creating POSTs.
	Gets bool
	// First and Last are the numbers it acts on, from 1, both included. First 0: from the first on; Last 0: without end.
	First, Last int
	// Percent is the chance of acting on a matching request, above 0 to 100; 0 means always.
	Percent float64

	spec string
}

// String is the text the fault was read from; "fault" for one written in Go.
func (f Fault) String() string {
	if f.spec == "" {
		return "fault"
	}
	return f.spec
}

func (f *Fault) executes() bool {
	switch f.Do {
	case Pass, Cut, Twice:
		return true
	case Again:
	case Reply, Lose, Garbage:
		return f.Commit
	}
	return false
}

// acts says whether the fault acts on the n-th request. The dice are thrown from seed, place in the list and number alone, so that
// concurrency does not change the result.
func (f *Fault) acts(rq *request, seed int64, place int) bool {
	if rq.n == 0 || f.Gets == rq.create {
		return false
	}
	if rq.n < f.First || f.Last > 0 && rq.n > f.Last {
		return false
	}
	if f.Percent == 0 {
		return true
	}
	// Repeatable on purpose.
	dice := rand.New(rand.NewPCG(mix(uint64(seed)+uint64(place)), mix(uint64(rq.n))))
	return dice.Float64()*100 < f.Percent
}

// mix spreads neighbouring numbers (the finaliser of splitmix64), so that seeds 1 and 2 do not give similar dice.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func drawSeed() int64 {
	return int64(rand.Uint64()>>1) | 1 // never 0, which means "draw one"
}

// faultFor picks what happens to the request; never nil.
func (s *Server) faultFor(rq *request) *Fault {
	if rq.route != nil && s.opts.Intercept != nil {
		if f := s.opts.Intercept(rq.forHook(), rq.n); f != nil {
			return f
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.faults {
		if f := s.faults[i]; f.acts(rq, s.seed, i) {
			return &f
		}
	}
	return &Fault{}
}

// bend turns the ordinary answer into the one that goes out, and says which fault is then left to act on the connection. It never turns a
// refusal into a success.
func (s *Server) bend(rq *request, ordinary answer, f *Fault) (answer, *Fault) {
	switch f.Do {
	case Again:
		id, ok := s.newestID()
		if !ok {
			return s.answer(rq), f
		}
		return jsonAnswer(http.StatusCreated, map[string]string{"id": id}), f
	case Reply:
		status := f.Status
		if status == 0 {
			status = http.StatusOK
		}
		refused := ordinary.status >= 300
		if f.Commit && refused && status < 300 {
			return ordinary, f
		}
		header := f.Header.Clone()
		if header == nil {
			header = http.Header{}
		}
		return answer{status: status, header: header, body: []byte(f.Body)}, f
	case Pass, Lose, Cut, Garbage, Twice:
	}
	return ordinary, f
}

func (s *Server) newestID() (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.records) == 0 {
		return "", false
	}
	return s.records[len(s.records)-1].ID, true
}

// statusBody is the body for `status=N`: the document's where it has one for this status.
func statusBody(status int) answer {
	switch status {
	case http.StatusUnauthorized:
		return unauthorized()
	case http.StatusForbidden:
		return newAnswer(status, "application/json", []byte(`{"message":"You cannot consume this service"}`))
	case http.StatusMethodNotAllowed:
		return newAnswer(status, "text/plain; charset=utf-8", []byte("Request method 'POST' is not supported"))
	case http.StatusBadRequest, http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity:
		return messages(status, "message.sandbox.fault")
	case http.StatusInternalServerError:
		return messages(status, keyInternal)
	case http.StatusUnsupportedMediaType, http.StatusNoContent, http.StatusNotModified:
		return answer{status: status}
	case http.StatusTooManyRequests:
		return newAnswer(status, "application/json", []byte(`{"message":"API rate limit exceeded"}`))
	}
	switch {
	case status < 300:
		return newAnswer(status, "application/json", []byte("{}"))
	case status < 400:
		a := answer{status: status, header: http.Header{}}
		a.header.Set("Location", "/login")
		return a
	}
	return gatewayPage(status)
}

// isJSONText tells the Content-Type of a `body=`.
func isJSONText(text string) bool {
	return json.Valid(bytes.TrimSpace([]byte(text)))
}
