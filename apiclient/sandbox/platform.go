package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// What happens on the platform itself, beside the API: people type records there, change and delete them. None of it is kept in the state file.

const (
	eventUpdateCommitment = "UPDATE_ORDER_COMMITMENT"
	eventDeleteCommitment = "DELETE_ORDER_COMMITMENT"
)

var errNoCommitment = errors.New("there is no such order commitment")

// TypeCommitment makes an order commitment by hand, at a time, and sends its event; fields is the body of chapter 2.1. It is not among [Server.Created]. It returns the id.
func (s *Server) TypeCommitment(fields json.RawMessage, at time.Time) (string, error) {
	rq := &request{body: fields, http: &http.Request{Header: http.Header{}}}
	v, refusal := rq.readBody(orderCommitmentFields)
	if refusal != nil {
		return "", fmt.Errorf("no order commitment: %s", refusal.body)
	}
	id := uuid.NewString()
	s.mu.Lock()
	s.byID[recordKey{ResourceOrderCommitments, id}] = v
	s.typed[id] = at
	s.mu.Unlock()
	s.emit(eventCreateCommitment, s.shownCommitment(id, v))
	return id, nil
}

// ChangeCommitment changes fields of an order commitment, as a person does on the platform, and sends its event. Texts and numbers are as in chapter 2.1.
func (s *Server) ChangeCommitment(id string, fields map[string]any) error {
	v, ok := s.find(ResourceOrderCommitments, id)
	if !ok {
		return errNoCommitment
	}
	body := map[string]any{}
	if err := json.Unmarshal(v.echo(id, orderCommitmentFields), &body); err != nil {
		return err
	}
	delete(body, "id")
	for name, value := range fields {
		body[name] = value
	}
	rq := &request{body: encode(body), http: &http.Request{Header: http.Header{}}}
	changed, refusal := rq.readBody(orderCommitmentFields)
	if refusal != nil {
		return fmt.Errorf("no order commitment: %s", refusal.body)
	}
	s.mu.Lock()
	s.byID[recordKey{ResourceOrderCommitments, strings.ToLower(id)}] = changed
	s.mu.Unlock()
	s.emit(eventUpdateCommitment, s.shownCommitment(id, changed))
	return nil
}

// DeleteCommitment deletes an order commitment, as a person does on the platform, and sends its event. It is still among [Server.Created]: it was made.
func (s *Server) DeleteCommitment(id string) error {
	v, ok := s.find(ResourceOrderCommitments, id)
	if !ok {
		return errNoCommitment
	}
	payload := s.shownCommitment(id, v)
	s.mu.Lock()
	delete(s.byID, recordKey{ResourceOrderCommitments, strings.ToLower(id)})
	s.mu.Unlock()
	s.emit(eventDeleteCommitment, payload)
	return nil
}

// shownCommitment is an order commitment as retrieval and events show it: with the time at which it was made where [Options.ShowTimes] is set, which the document does not tell.
func (s *Server) shownCommitment(id string, v values) json.RawMessage {
	out := v.echo(id, orderCommitmentFields)
	if !s.opts.ShowTimes {
		return out
	}
	at, ok := s.madeAt(id)
	if !ok {
		return out
	}
	return append(append(append(out[:len(out)-1], `,"created_at":`...), encode(at.UTC().Format(time.RFC3339Nano))...), '}')
}

func (s *Server) madeAt(id string) (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, ok := s.typed[id]; ok {
		return at, true
	}
	i := slices.IndexFunc(s.records, func(r Record) bool { return r.ID == id })
	if i < 0 {
		return time.Time{}, false
	}
	return s.records[i].At, true
}
