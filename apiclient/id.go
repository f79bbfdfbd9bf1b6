package apiclient

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
)

// uuidFromBody reads the id of a created record out of a complete body: one JSON document, an object, exactly one
// top-level "id", and that a UUID, returned in lower case. A second "id", also one in other case, is an error: which of
// two ids is the record's would be a guess, and a wrong one sends deliveries to a stranger's contract.
func uuidFromBody(body []byte) (string, error) {
	doc := bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
	if !json.Valid(doc) {
		return "", errors.New("the status says success but the body is not one JSON document")
	}
	var exact, other int
	var value json.RawMessage
	err := eachMember(doc, func(key string, v json.RawMessage) {
		switch {
		case key == "id":
			exact++
			value = v
		case strings.EqualFold(key, "id"):
			other++
		}
	})
	switch {
	case err != nil:
		return "", errors.New("the status says success but the body is not a JSON object")
	case exact+other > 1:
		return "", errors.New("the status says success but the body has more than one id")
	case exact == 0:
		return "", errors.New("the status says success but the body has no id")
	}
	s, ok := text(value)
	if !ok {
		return "", errors.New("the status says success but the id is not a text")
	}
	id, err := parseUUID(s)
	if err != nil {
		return "", fmt.Errorf("the status says success but the id %w", err)
	}
	return id, nil
}

// parseUUID accepts the 36 characters of a UUID in any case, and nothing else: no braces, no blanks, no "urn:". The nil
// UUID is a default that somebody forgot to set, not an id.
func parseUUID(s string) (string, error) {
	if len(s) != 36 {
		return "", errors.New("is not a UUID (36 characters, 8-4-4-4-12)")
	}
	id, err := uuid.Parse(s)
	if err != nil {
		return "", errors.New("is not a UUID (36 characters, 8-4-4-4-12)")
	}
	if id == uuid.Nil {
		return "", errors.New("is the nil UUID")
	}
	return id.String(), nil
}
