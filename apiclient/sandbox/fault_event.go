package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// EventFault is what goes wrong with events on their way. [ParseEventFault] reads it from text;
// tests may also write it down.
type EventFault struct {
	// Event is the one it acts on; "" is all.
	Event string
	// Late passes before the event is sent.
	Late time.Duration
	// Again is how many times more it is sent.
	Again int
	// Lost is never sent. Swapped waits until a later event was sent, two seconds at most. First is
	// sent, and answered, before the answer to the request that caused it.
	Lost, Swapped, First bool
	// Forged sends another one besides, with a wrong password; Invented one with the right
	// password, of a record that does not exist.
	Forged, Invented bool
	// Shape is how the body looks: "" as the record, id, nested, list or text.
	Shape string
	// FirstN and LastN are the numbers it acts on, from 1, of the events it could act on; 0 is no
	// bound. Percent is the chance, 0 means always.
	FirstN, LastN int
	Percent       float64

	spec string
}

// String is the text the fault was read from; "event fault" for one written in Go.
func (f EventFault) String() string {
	if f.spec == "" {
		return "event fault"
	}
	return f.spec
}

// eventShapes are the bodies that a platform may send: none is documented (chapter 6).
var eventShapes = []string{"id", "nested", "list", "text"}

// ParseEventFaults reads several event faults, in order of precedence.
func ParseEventFaults(specs []string) ([]EventFault, error) {
	return parseAll(specs, ParseEventFault)
}

// ParseEventFault reads one event fault; see the package comment for its grammar.
func ParseEventFault(spec string) (EventFault, error) {
	f := EventFault{spec: spec}
	if err := f.parse(spec); err != nil {
		return EventFault{}, fmt.Errorf("event fault %q: %w", spec, err)
	}
	return f, nil
}

func (f *EventFault) parse(spec string) error {
	rest := spec
	if event, behind, ok := strings.Cut(spec, ":"); ok {
		if !isEvent(event) {
			return fmt.Errorf("%q is no event; known are %s", event, strings.Join(eventNames, ", "))
		}
		f.Event, rest = event, behind
	}
	words, selectors, body := splitSpec(rest)
	if body != "" {
		return errors.New("an event has no body= ; the shapes are shape=" + strings.Join(eventShapes, ", shape="))
	}
	chosen := Fault{} // reads the same selectors
	if err := chosen.setSelectors(selectors); err != nil {
		return err
	}
	f.FirstN, f.LastN, f.Percent = chosen.First, chosen.Last, chosen.Percent
	for _, word := range words {
		if err := f.setWord(word); err != nil {
			return err
		}
	}
	return nil
}

func (f *EventFault) setWord(word string) (err error) {
	name, value, given := strings.Cut(word, "=")
	flags := map[string]*bool{
		"lost": &f.Lost, "swapped": &f.Swapped, "first": &f.First, "forged": &f.Forged,
		"invented": &f.Invented,
	}
	flag := flags[name]
	switch {
	case flag != nil && given:
		return fmt.Errorf("%q takes no value", name)
	case flag != nil:
		*flag = true
	case name == "late":
		f.Late, err = parseDelay(value)
	case name == "again" && !given:
		f.Again = 1
	case name == "again":
		if f.Again, err = strconv.Atoi(value); err != nil || f.Again < 1 || f.Again > 1000 {
			return errors.New("again: want a number from 1 to 1000, as in again=100")
		}
	case name == "shape":
		if f.Shape = value; !slices.Contains(eventShapes, value) {
			return fmt.Errorf("shape=%s: known are %s", value, strings.Join(eventShapes, ", "))
		}
	default:
		return fmt.Errorf(
			"%q is nothing that happens to an event; known are again, first, forged, invented, late, lost, shape, swapped", name)
	}
	return err
}

// acts says whether the fault acts on the n-th event that it could act on.
func (f *EventFault) acts(event string, n int, seed int64, place int) bool {
	if f.Event != "" && f.Event != event || n < f.FirstN || f.LastN > 0 && n > f.LastN {
		return false
	}
	if f.Percent == 0 {
		return true
	}
	dice := rand.New(rand.NewPCG(mix(uint64(seed)+uint64(place)+1000), mix(uint64(n)))) // repeatable on purpose
	return dice.Float64()*100 < f.Percent
}

// eventFault picks what happens to an event. The caller holds mu.
func (s *Server) eventFault(event string) EventFault {
	s.eventNumbers[""]++
	s.eventNumbers[event]++
	for i, f := range s.eventFaults {
		if f.acts(event, s.eventNumbers[f.Event], s.seed, i) {
			return f
		}
	}
	return EventFault{}
}

// shaped is a body in another shape.
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

// inventedPayload is of a record that does not exist.
func inventedPayload() json.RawMessage { return encode(map[string]string{"id": uuid.NewString()}) }
