package sandbox

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/safrasync/safrasync/internal/phrase"
)

// This file is what people do on the platform itself, outside the API: they type, change and delete
// records.

const (
	eventUpdateCommitment = "UPDATE_ORDER_COMMITMENT"
	eventDeleteCommitment = "DELETE_ORDER_COMMITMENT"
)

var errNoCommitment = errors.New("there is no such order commitment")

// TypeCommitment creates an order commitment as a person on the platform does, with at as its
// creation time, sends its event, and returns the id. fields is the body of chapter 2.1. The
// commitment is not part of [Server.Created].
func (s *Server) TypeCommitment(fields json.RawMessage, at time.Time) (string, error) {
	rq := &request{body: fields, http: &http.Request{Header: http.Header{}}}
	v, refusal := rq.readBody(orderCommitmentFields)
	if refusal != nil {
		return "", phrase.Errorf("no order commitment: %s", refusal.body)
	}
	id := uuid.NewString()
	s.mu.Lock()
	s.byID[recordKey{ResourceOrderCommitments, id}] = v
	s.typed[id] = at
	s.mu.Unlock()
	s.emit(eventCreateCommitment, s.shownCommitment(id, v))
	return id, nil
}

// ChangeCommitment changes fields of an order commitment, as a person does on the platform, and
// sends its event. Texts and numbers are as in chapter 2.1.
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
	maps.Copy(body, fields)
	rq := &request{body: encode(body), http: &http.Request{Header: http.Header{}}}
	changed, refusal := rq.readBody(orderCommitmentFields)
	if refusal != nil {
		return phrase.Errorf("no order commitment: %s", refusal.body)
	}
	s.mu.Lock()
	s.byID[recordKey{ResourceOrderCommitments, strings.ToLower(id)}] = changed
	s.mu.Unlock()
	s.emit(eventUpdateCommitment, s.shownCommitment(id, changed))
	return nil
}

// DeleteCommitment deletes an order commitment, as a person does on the platform, and sends its
// event. It stays in [Server.Created], because it was created.
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

// shownCommitment returns an order commitment as retrieval and events show it. With
// [Options.ShowTimes] it includes the time of creation; the document does not state whether the
// platform does.
func (s *Server) shownCommitment(id string, v values) json.RawMessage {
	out := v.echo(id, orderCommitmentFields)
	if !s.opts.ShowTimes {
		return out
	}
	at, ok := s.madeAt(id)
	if !ok {
		return out
	}
	return append(append(append(out[:len(out)-1], `,"created_at":`...), encode(at.UTC().Format(time.RFC3339Nano))...),
		'}')
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

// getProducer looks a producer up by CPF or CNPJ, with or without punctuation. The document does
// not show the fields of the answer; these two are the least that a client needs.
func (s *Server) getProducer(rq *request) *answer {
	document := rq.params["social_identity"]
	id, ok := s.World.ProducerByDocument(document)
	if !ok {
		return messages(http.StatusNotFound, keyProducerNotFound)
	}
	bare, _ := bareDocument(document)
	return jsonAnswer(http.StatusOK, map[string]string{"id": id, "social_identity": bare})
}

// Module is a part of the API that a cooperative contracts (chapter 5, rule 4).
type Module string

// The modules, named as the areas of chapter 1. The document does not state which routes belong to
// which module. Here, endpoints 1 to 4 belong to the first, 5 to 8 to the second and 9 to 13 to the
// third.
const (
	Commercial Module = "commercial"
	Financial  Module = "financial"
	Webhooks   Module = "webhooks"
)

// ParseModules parses names of modules.
func ParseModules(names []string) ([]Module, error) {
	all := []Module{Commercial, Financial, Webhooks}
	modules := make([]Module, 0, len(names))
	for _, name := range names {
		if !slices.Contains(all, Module(name)) {
			return nil, phrase.Errorf("%q is no module; known are %s, %s, %s", name, Commercial, Financial, Webhooks)
		}
		modules = append(modules, Module(name))
	}
	slices.Sort(modules)
	return slices.Compact(modules), nil
}

// SetNotContracted replaces the modules whose routes answer 403 message.module.not-contracted from
// now on; without arguments all are contracted.
func (s *Server) SetNotContracted(modules ...Module) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.missing = slices.Clone(modules)
}

// NotContracted returns the modules set by SetNotContracted or [Options.NotContracted].
func (s *Server) NotContracted() []Module {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.missing)
}
