package sandbox

import (
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits of chapter 8, in characters. A longer value gets 500, because the platform fails when it
// stores it.
const (
	maxURL        = 250
	maxHMACSecret = 120
)

// webhookFields is chapter 2.7. basic_authentication is accepted in any form, and url with any
// scheme, because the document shows no refusal.
var webhookFields = []field{
	{name: "webhook_event", kind: isText, valid: isEvent},
	{name: "url", kind: isText, valid: isURI, odd: oddWebhookURL},
	{name: "basic_authentication", kind: isText, need: never, odd: oddCredentials},
	{name: "hmac_secret", kind: isText, need: never},
}

// Webhook is a registration (chapter 2.7), with its secrets.
type Webhook struct {
	ID  string    `json:"id"`  // UUID in lower case
	At  time.Time `json:"at"`  // of the registration
	URL string    `json:"url"` // as registered
	// Event is one of [Events].
	Event               string `json:"webhook_event"`
	BasicAuthentication string `json:"basic_authentication,omitempty"`
	HMACSecret          string `json:"hmac_secret,omitempty"`
}

// Webhooks returns every registration, in order. They hold secrets.
func (s *Server) Webhooks() []Webhook {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.webhooks)
}

// registerWebhook accepts a second webhook for an event, because the document does not show what
// the platform does then. Both are listed and both get the event; lookup and update refer to the
// newest.
func (s *Server) registerWebhook(rq *request, v values) *answer {
	if tooLong(v) {
		return messages(http.StatusInternalServerError, keyInternal)
	}
	if _, again := s.webhookFor(v.text("webhook_event")); again {
		rq.remark(remarkEventAgain, v.text("webhook_event"))
	}
	id := s.store(rq, v)
	w := Webhook{ID: id, At: s.opts.Now()}
	w.set(v)
	s.mu.Lock()
	s.webhooks = append(s.webhooks, w)
	s.mu.Unlock()
	return jsonAnswer(http.StatusCreated, w.shown())
}

func (s *Server) listWebhooks(*request) *answer {
	list := []shownWebhook{} // an empty array if there is none
	for _, w := range s.Webhooks() {
		list = append(list, w.shown())
	}
	return jsonAnswer(http.StatusOK, list)
}

// getWebhook is a lookup by identifier: an unknown event is "not found", like an event without a
// webhook.
func (s *Server) getWebhook(rq *request) *answer {
	w, ok := s.webhookFor(rq.params["webhook_event"])
	if !ok {
		return messages(http.StatusNotFound, keyWebhookNotFound)
	}
	return jsonAnswer(http.StatusOK, w.shown())
}

// updateWebhook has its own form of 400 (chapter 4). It replaces the whole webhook, like any PUT;
// the document does not state whether an omitted secret is kept. The required fields are those of
// 2.7.
func (s *Server) updateWebhook(rq *request) *answer {
	v, refusal := rq.readBody(webhookFields)
	if refusal != nil {
		if refusal.status == http.StatusBadRequest {
			return s.badRequest("")
		}
		return refusal
	}
	if tooLong(v) {
		return messages(http.StatusInternalServerError, keyInternal)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.newestWebhook(v.text("webhook_event"))
	if i < 0 {
		// The document does not show the body of this 404; that of the other lookups is used.
		return messages(http.StatusNotFound, keyWebhookNotFound)
	}
	w, before := s.webhooks[i], s.webhooks[i]
	w.set(v)
	if before.BasicAuthentication != "" && w.BasicAuthentication == "" {
		rq.remark(remarkCredentialsGone, "basic_authentication")
	}
	if before.HMACSecret != "" && w.HMACSecret == "" {
		rq.remark(remarkCredentialsGone, "hmac_secret")
	}
	s.webhooks[i] = w
	return &answer{status: http.StatusNoContent}
}

func (s *Server) deleteWebhook(rq *request) *answer {
	id, refusal := s.pathID(rq, "id")
	if refusal != nil {
		return refusal
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.webhooks, func(w Webhook) bool { return w.ID == id })
	if i < 0 {
		return messages(http.StatusNotFound, keyWebhookNotFound)
	}
	s.webhooks = slices.Delete(s.webhooks, i, i+1)
	return &answer{status: http.StatusNoContent}
}

func (s *Server) webhookFor(event string) (Webhook, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.newestWebhook(event); i >= 0 {
		return s.webhooks[i], true
	}
	return Webhook{}, false
}

// newestWebhook returns the index of the event's newest registration, or -1 if it has none. The
// caller holds mu.
func (s *Server) newestWebhook(event string) int {
	for i, w := range slices.Backward(s.webhooks) {
		if w.Event == event {
			return i
		}
	}
	return -1
}

func (w *Webhook) set(v values) {
	w.Event, w.URL = v.text("webhook_event"), v.text("url")
	w.BasicAuthentication, w.HMACSecret = v.text("basic_authentication"), v.text("hmac_secret")
}

// shownWebhook is what the API answers. The document does not show its fields. The secrets are left
// out, so that no client relies on reading them back.
type shownWebhook struct {
	ID    string `json:"id"`
	Event string `json:"webhook_event"`
	URL   string `json:"url"`
}

func (w *Webhook) shown() shownWebhook { return shownWebhook{w.ID, w.Event, w.URL} }

func tooLong(v values) bool {
	return utf8.RuneCountInString(v.text("url")) > maxURL ||
		utf8.RuneCountInString(v.text("hmac_secret")) > maxHMACSecret
}

func oddWebhookURL(text string) string {
	if !deliverable(text) {
		return remarkURLScheme
	}
	return ""
}

func oddCredentials(text string) string {
	if user, _, ok := strings.Cut(text, ":"); !ok || user == "" {
		return remarkCredentials
	}
	return ""
}
