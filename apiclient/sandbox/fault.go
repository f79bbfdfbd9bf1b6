package sandbox

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"
)

// Action is what a fault does.
type Action int

const (
	// Pass answers normally; only Slow and Late act.
	Pass Action = iota
	// Reply sends the fault's own answer instead of the normal one.
	Reply
	// Lose closes the connection without an answer.
	Lose
	// Cut sends the header and half of the body of the normal answer, then closes the connection.
	Cut
	// Garbage sends bytes that are not HTTP, then closes the connection.
	Garbage
	// Again answers 201 with the newest id of an earlier answer and executes nothing, like a cache.
	Again
	// Twice executes the request twice and answers once, like a gateway that repeats requests.
	Twice
	// Hang never answers: the connection stays open until the client gives up or the sandbox
	// closes.
	Hang
	// Garble sends the whole normal answer with an unreadable body.
	Garble
)

// Disturbance is a disturbance and the requests on which it acts. [ParseFault] parses it from text; tests
// may also construct it.
type Disturbance struct {
	// Do is the action.
	Do Action
	// Commit executes the request before Reply, Lose, Garbage and Hang. Pass, Cut, Garble and Twice
	// always execute.
	Commit bool
	// Status (200 to 999; 0 is 200), Header (may be nil) and Body are the answer of Reply.
	// Content-Length is added.
	Status int
	Header http.Header
	Body   string
	// Reset makes Lose, Cut and Garbage end with a reset (RST) instead of an end of file.
	Reset bool
	// Slow is a delay between execution and answer. It ends early when the client goes away or the
	// sandbox closes.
	Slow time.Duration
	// Late is a delay before execution. It does not end when the client goes away.
	Late time.Duration

	// Gets makes the fault act on GETs of known paths, Changes on PUTs and DELETEs, Any on all
	// requests with a known path and method. At most one of them may be set. If none is, the fault
	// acts on creating POSTs.
	Gets, Changes, Any bool
	// Resource is the resource on which it acts, such as ResourceDeliveries; "" means all.
	Resource string
	// First and Last are the first and last number on which it acts. Numbers start at 1 and count
	// the requests on which the fault could act. First 0 means from the beginning, Last 0 without
	// end.
	First, Last int
	// Percent is the chance in percent of acting on a matching request, up to 100; 0 means always.
	Percent float64

	spec string
}

// String returns the text from which the fault was parsed; "fault" for one constructed in Go.
func (f Disturbance) String() string {
	if f.spec == "" {
		return "fault"
	}
	return f.spec
}

func (f *Disturbance) executes() bool {
	switch f.Do {
	case Pass, Cut, Garble, Twice:
		return true
	case Again:
	case Reply, Lose, Garbage, Hang:
		return f.Commit
	}
	return false
}

// Classes of requests, by which faults count.
const (
	classCreate = ""
	classGet    = "get"
	classChange = "change"
	classAny    = "any"
)

// scopeOf returns the name of a sequence of requests: the prefix of a fault that counts by it, such as
// "get:", "deliveries:", or "" for creating POSTs.
func scopeOf(class, resource string) (scope string) {
	for _, part := range []string{class, resource} {
		if part != "" {
			scope += part + ":"
		}
	}
	return scope
}

// acts reports whether the fault, at this place of the list, acts on the request.
func (f *Disturbance) acts(rq *request, seed int64, place int) bool {
	// Each scope has its own numbering.
	class := classCreate
	switch {
	case f.Gets:
		class = classGet
	case f.Changes:
		class = classChange
	case f.Any:
		class = classAny
	}
	n, concerned := rq.numbers[scopeOf(class, f.Resource)]
	return concerned && strikes(n, f.First, f.Last, f.Percent, seed+int64(place))
}

// strikes reports whether a fault with this range and this chance acts on what has the number n. The
// random choice depends on seed (which includes the position in the list) and number only, so that
// concurrency does not change the result.
func strikes(n, first, last int, percent float64, seed int64) bool {
	if n < first || last > 0 && n > last {
		return false
	}
	if percent == 0 {
		return true
	}
	// Reproducible on purpose.
	dice := rand.New(rand.NewPCG(mix(uint64(seed)), mix(uint64(n))))
	return dice.Float64()*100 < percent
}

// mix scatters neighbouring numbers (the finaliser of splitmix64), so that seeds 1 and 2 do not
// lead to similar choices.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// faultFor returns the fault that acts on the request. It never returns nil.
func (s *Server) faultFor(rq *request) *Disturbance {
	if rq.route != nil && s.opts.Intercept != nil {
		r := rq.http.Clone(rq.http.Context()) // whose body a hook can read
		r.Body = io.NopCloser(bytes.NewReader(rq.body))
		if f := s.opts.Intercept(r, rq.n); f != nil {
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
	return &Disturbance{}
}

// applyFault turns the normal answer into the one that is sent. It never turns a refusal into a
// success.
func (s *Server) applyFault(rq *request, ordinary *answer, f *Disturbance) *answer {
	switch f.Do {
	case Again:
		id, ok := s.newestID(rq.route.resource)
		if !ok {
			return s.answer(rq)
		}
		return jsonAnswer(http.StatusCreated, map[string]string{"id": id})
	case Reply:
		status := cmp.Or(f.Status, http.StatusOK)
		refused := ordinary.status >= 300
		if f.Commit && refused && status < 300 {
			return ordinary
		}
		header := f.Header.Clone()
		if header == nil {
			header = http.Header{}
		}
		return &answer{status: status, header: header, body: []byte(f.Body)}
	case Garble: // neither JSON nor UTF-8
		out := bytes.Clone(ordinary.body)
		for i := 1; i < len(out); i += 2 {
			out[i] = 0xff
		}
		ordinary.body = out
	case Pass, Lose, Cut, Garbage, Hang, Twice:
	}
	return ordinary
}

// statusBody returns the answer for `status=N`, with the document's body if it has one for this
// status.
func statusBody(status int) *answer {
	switch status {
	case http.StatusUnauthorized:
		return unauthorized()
	case http.StatusForbidden:
		return jsonText(status, `{"message":"You cannot consume this service"}`)
	case http.StatusMethodNotAllowed:
		return newAnswer(status, "text/plain; charset=utf-8", "Request method 'POST' is not supported")
	case http.StatusBadRequest, http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity:
		return messages(status, "message.sandbox.fault")
	case http.StatusInternalServerError:
		return messages(status, keyInternal)
	case http.StatusUnsupportedMediaType, http.StatusNoContent, http.StatusNotModified:
		return &answer{status: status}
	case http.StatusTooManyRequests:
		return jsonText(status, `{"message":"API rate limit exceeded"}`)
	}
	switch {
	case status < 300:
		return jsonText(status, "{}")
	case status < 400:
		a := &answer{status: status, header: http.Header{}}
		a.header.Set("Location", "/login")
		return a
	}
	return gatewayPage(status)
}

func send(w http.ResponseWriter, a *answer) {
	h := w.Header()
	for name, values := range a.header {
		h[name] = values
	}
	if a.header.Get("Content-Type") == "" {
		h["Content-Type"] = nil // or net/http would guess one
	}
	if a.status != http.StatusNoContent && a.status != http.StatusNotModified {
		h.Set("Content-Length", strconv.Itoa(len(a.body)))
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // a client may have gone away; the outcome is already logged
}

// loseConnection closes the connection without sending a byte. The request must have been read to
// its end, or the kernel would send a reset of its own.
func loseConnection(w http.ResponseWriter, reset bool) { writeRaw(w, nil, reset) }

// writeRaw writes raw bytes and closes the connection, with an end of file or with a reset. If the
// connection cannot be hijacked (HTTP/2, a test's recorder), the request is aborted, which a client
// also sees as a lost answer.
func writeRaw(w http.ResponseWriter, raw []byte, reset bool) {
	hijacker, ok := w.(http.Hijacker)
	if !ok {
		panic(http.ErrAbortHandler)
	}
	conn, _, err := hijacker.Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer func() { _ = conn.Close() }()
	if len(raw) > 0 {
		_, _ = conn.Write(raw)
	}
	if tcp, ok := conn.(*net.TCPConn); ok && reset {
		_ = tcp.SetLinger(0) // closing then discards what is queued and sends RST
	}
}

// EventFault is a disturbance of events, which tests construct.
type EventFault struct {
	// Event is the event on which it acts; "" means all.
	Event string
	// Late is a delay before the event is sent.
	Late time.Duration
	// Again is the number of additional sendings.
	Again int
	// Lost events are never sent. Swapped events wait for a later event, two seconds at most. First
	// events are sent, and answered, before the answer to the request that caused them.
	Lost, Swapped, First bool
	// Forged sends an additional event with a wrong password. Invented sends an additional event
	// with the right password, about a record that does not exist.
	Forged, Invented bool
	// Shape is the shape of the body: "" (as the record), id, nested, list or text; the platform's
	// own shapes are not documented (chapter 6).
	Shape string
	// FirstN and LastN are the first and last number on which it acts. Numbers start at 1 and count
	// the events on which it could act; 0 means no bound. Percent is the chance; 0 means always.
	FirstN, LastN int
	Percent       float64
}

// eventFault returns the fault of an event. The caller holds mu.
func (s *Server) eventFault(event string) EventFault {
	s.eventNumbers[""]++
	s.eventNumbers[event]++
	for i, f := range s.eventFaults {
		concerned := f.Event == "" || f.Event == event
		if concerned && strikes(s.eventNumbers[f.Event], f.FirstN, f.LastN, f.Percent, s.seed+int64(i)+1000) {
			return f
		}
	}
	return EventFault{}
}

// shaped returns the body in the shape of the fault.
func (f *EventFault) shaped(payload json.RawMessage) json.RawMessage {
	var record struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal(payload, &record) // of another form: without an id
	switch f.Shape {
	case "id":
		return encode(map[string]string{"id": record.ID})
	case "nested":
		return encode(map[string]any{"data": map[string]any{"order_commitment": payload}, "version": 1})
	case "list":
		return encode([]json.RawMessage{payload})
	case "text":
		return encode("record " + record.ID + " has changed")
	}
	return payload
}

func inventedPayload() json.RawMessage { return encode(map[string]string{"id": uuid.NewString()}) }
