package sandbox

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
)

// inspectPrefix is the prefix of the sandbox's own addresses. Nothing below it counts as a request or
// meets a fault, and no key is required.
const inspectPrefix = "/_sandbox"

// maxCommandBytes bounds a command's body, such as an event's payload or a list of faults.
const maxCommandBytes = 1 << 20

// inspected shows what happened and takes commands:
//
//	GET      /_sandbox/report   [Report] as JSON
//	GET, PUT /_sandbox/faults   {"faults":["lost-after@3"]}, or one fault a line
//	GET, PUT /_sandbox/modules  {"not_contracted":["financial"]}, or one module a line
//	PUT      /_sandbox/key      {"api_key":"…"}
//	GET, POST /_sandbox/events  {"webhook_event":"CREATE_FARM","payload":{…}}; GET lists the
//	                            deliveries
//	POST     /_sandbox/world    {"kind":"wallets","id":"…","known":true}, or
//	         {"wallet_id":"…","producer_id":"…","linked":true}
func (s *Server) inspected(r *http.Request) *answer {
	// Foreign web pages in a browser on this host could reach a loopback address by a name of their own
	// (detected by Host), or send a command without reading the answer (detected by Origin).
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = strings.Trim(r.Host, "[]")
	}
	origin := r.Header.Get("Origin")
	if !isLoopback(host) || origin != "" && origin != "http://"+r.Host {
		return trouble(http.StatusForbidden,
			errors.New("only programs and pages of this host may look in here: use a loopback address"))
	}
	commands := map[string]map[string]func(*http.Request) *answer{
		"/report":  {http.MethodGet: func(*http.Request) *answer { return jsonAnswer(http.StatusOK, s.Report()) }},
		"/faults":  {http.MethodGet: s.showFaults, http.MethodPut: s.putFaults},
		"/modules": {http.MethodGet: s.showModules, http.MethodPut: s.putModules},
		"/key":     {http.MethodPut: s.putKey},
		"/events":  {http.MethodGet: s.showDeliveries, http.MethodPost: s.postEvent},
		"/world":   {http.MethodPost: s.postWorld},
	}
	verbs, ok := commands[strings.TrimPrefix(r.URL.Path, inspectPrefix)]
	if !ok {
		return trouble(http.StatusNotFound, errors.New("not here; begin at "+inspectPrefix+"/report"))
	}
	command, ok := verbs[r.Method]
	if !ok {
		return trouble(http.StatusMethodNotAllowed, errors.New(r.Method+" is not for this address"))
	}
	return command(r)
}

func trouble(status int, err error) *answer {
	return jsonAnswer(status, map[string]string{"error": err.Error()})
}

// readCommand reads a command's body: JSON into value, or, if lines is not nil, text with one entry
// per line. This keeps a command easy to type: `curl -X PUT -d 'lost-after@3' …`.
func readCommand(r *http.Request, value any, lines *[]string) error {
	data, err := io.ReadAll(io.LimitReader(r.Body, maxCommandBytes+1))
	if err != nil {
		return err
	}
	if len(data) > maxCommandBytes {
		return errors.New("the command is too long")
	}
	text := strings.TrimSpace(string(data))
	if lines != nil && !strings.HasPrefix(text, "{") {
		for line := range strings.Lines(text) {
			line = strings.TrimRight(line, "\r\n")
			if line != "" {
				*lines = append(*lines, line)
			}
		}
		return nil
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(value); err != nil {
		return err
	}
	if dec.More() {
		return errors.New("more than one JSON value")
	}
	return nil
}

type faultsCommand struct {
	Faults []string `json:"faults"`
	Seed   int64    `json:"seed,omitempty"` // shown only
}

func (s *Server) showFaults(*http.Request) *answer {
	return jsonAnswer(http.StatusOK, faultsCommand{faultTexts(s.Faults()), s.seed})
}

func (s *Server) putFaults(r *http.Request) *answer {
	var c faultsCommand
	if err := readCommand(r, &c, &c.Faults); err != nil {
		return trouble(http.StatusBadRequest, err)
	}
	faults, err := ParseFaults(c.Faults)
	if err != nil {
		return trouble(http.StatusBadRequest, err)
	}
	s.SetFaults(faults...)
	return s.showFaults(r)
}

func faultTexts(faults []Disturbance) []string {
	texts := make([]string, len(faults))
	for i, f := range faults {
		texts[i] = f.String()
	}
	return texts
}

type modulesCommand struct {
	NotContracted []string `json:"not_contracted"`
}

func (s *Server) showModules(*http.Request) *answer {
	c := modulesCommand{[]string{}}
	for _, m := range s.NotContracted() {
		c.NotContracted = append(c.NotContracted, string(m))
	}
	return jsonAnswer(http.StatusOK, c)
}

func (s *Server) putModules(r *http.Request) *answer {
	var c modulesCommand
	if err := readCommand(r, &c, &c.NotContracted); err != nil {
		return trouble(http.StatusBadRequest, err)
	}
	modules, err := ParseModules(c.NotContracted)
	if err != nil {
		return trouble(http.StatusBadRequest, err)
	}
	s.SetNotContracted(modules...)
	return s.showModules(r)
}

func (s *Server) putKey(r *http.Request) *answer {
	var c struct {
		Key string `json:"api_key"`
	}
	if err := readCommand(r, &c, nil); err != nil {
		return trouble(http.StatusBadRequest, err)
	}
	s.SetAPIKey(c.Key)
	return &answer{status: http.StatusNoContent, header: http.Header{}}
}

func (s *Server) showDeliveries(*http.Request) *answer {
	return jsonAnswer(http.StatusOK, s.Deliveries())
}

func (s *Server) postEvent(r *http.Request) *answer {
	var c struct {
		Event   string          `json:"webhook_event"`
		Payload json.RawMessage `json:"payload"`
	}
	if err := readCommand(r, &c, nil); err != nil {
		return trouble(http.StatusBadRequest, err)
	}
	n, err := s.Send(c.Event, c.Payload)
	if err != nil {
		return trouble(http.StatusBadRequest, err)
	}
	return jsonAnswer(http.StatusAccepted, map[string]int{"sent_to": n})
}

func (s *Server) postWorld(r *http.Request) *answer {
	var c struct {
		Kind     RegistrationKind `json:"kind"`
		ID       string           `json:"id"`
		Known    *bool            `json:"known"`
		Document string           `json:"document"`
		Wallet   string           `json:"wallet_id"`
		Producer string           `json:"producer_id"`
		Linked   *bool            `json:"linked"`
	}
	if err := readCommand(r, &c, nil); err != nil {
		return trouble(http.StatusBadRequest, err)
	}
	_, kind := idNames[c.Kind]
	switch {
	case kind && c.ID != "" && c.Known != nil && c.Linked == nil:
		if c.Kind == Producers && c.Document != "" && *c.Known {
			s.World.KnowProducer(c.ID, c.Document)
			break
		}
		s.World.set(c.Kind, c.ID, *c.Known)
	case c.Kind == "" && c.Wallet != "" && c.Producer != "" && c.Linked != nil:
		s.World.setLink(c.Wallet, c.Producer, *c.Linked)
	default:
		return trouble(http.StatusBadRequest, errors.New(
			`want {"kind":"wallets","id":"…","known":true} with a list of a world file as kind, or {"wallet_id":"…","producer_id":"…","linked":true}`))
	}
	return &answer{status: http.StatusNoContent, header: http.Header{}}
}
