package sandbox

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
)

// answer is a response: a status, a body, and the headers other than Content-Length.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// Message keys of the document that are used in more than one place (chapter 7).
const (
	keyMalformed = "message.malformed-request"
	keyDuplicate = "message.duplicate.key"
	keyModule    = "message.module.not-contracted"
	keyRefused   = "message.integration.connection.refused"
	keyInternal  = "message.internal.error"

	keyProducerNotFound = "message.producer.not-found"
	// The keys below are not listed; they follow the pattern message.entidade.not-found.
	keyUserNotFound       = "message.user.not-found"
	keyCommitmentNotFound = "message.order-commitment.not-found"
	keyWebhookNotFound    = "message.webhook.not-found"
)

func newAnswer(status int, contentType, body string) *answer {
	h := http.Header{}
	if contentType != "" {
		h.Set("Content-Type", contentType)
	}
	return &answer{status: status, header: h, body: []byte(body)}
}

func jsonAnswer(status int, value any) *answer {
	return jsonText(status, encode(value))
}

func jsonText[T string | []byte](status int, text T) *answer {
	return newAnswer(status, "application/json", string(text))
}

// messages returns an answer in format (a).
func messages(status int, keys ...string) *answer {
	return jsonAnswer(status, struct {
		Messages []string `json:"messages"`
	}{keys})
}

// unexpectedValue returns the 403 for a value outside an enumeration, in format (c).
func unexpectedValue(r *http.Request, value string) *answer {
	return plain(r, http.StatusForbidden, "Unexpected value: "+value)
}

// plain returns an answer in format (c): text, or a JSON string for a client that accepts JSON.
func plain(r *http.Request, status int, text string) *answer {
	if strings.Contains(r.Header.Get("Accept"), "application/json") {
		return jsonAnswer(status, text)
	}
	return newAnswer(status, "text/plain; charset=utf-8", text)
}

// unauthorized returns the gateway's 401 (chapter 5, rule 2).
func unauthorized() *answer {
	return jsonText(http.StatusUnauthorized, `{"data":[],"error":{"message":"Unauthorized"}}`)
}

// gatewayPage returns a page that a proxy in front of the API sends by itself.
func gatewayPage(status int) *answer {
	text := http.StatusText(status)
	return newAnswer(status, "text/html",
		"<html><head><title>"+text+"</title></head><body><h1>"+text+"</h1></body></html>")
}

func loginPage() *answer {
	return newAnswer(http.StatusOK, "text/html; charset=utf-8",
		"<!doctype html><html><head><title>Login</title></head><body><form method=\"post\" action=\"/login\"></form></body></html>")
}

// encode returns value as JSON. It cannot fail: value consists of text and numbers, and raw JSON
// that was parsed before.
func encode(value any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		panic("sandbox: encoding an answer: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
