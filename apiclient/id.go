package apiclient

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/safrasync/safrasync/internal/phrase"
)

// uuidFromBody reads the id of a created record from a complete body. The body must be one JSON
// object with exactly one top-level "id", and the id must be a UUID. It is returned in lower case.
func uuidFromBody(body []byte) (string, error) {
	return idFromBody(body, func(v json.RawMessage) (string, error) {
		s, ok := text(v)
		if !ok {
			return "", errors.New("is not a text")
		}
		return parseUUID(s)
	})
}

// anyIDFromBody does the same for records whose id is not documented to be a UUID: deliveries and
// credit scores.
func anyIDFromBody(body []byte) (string, error) { return idFromBody(body, parseAnyID) }

// idFromBody finds the one top-level "id" and passes it to parse. A second "id", in any case, is an
// error: choosing between two ids would be a guess, and a wrong guess sends deliveries to somebody
// else's contract.
func idFromBody(body []byte, parse func(json.RawMessage) (string, error)) (string, error) {
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
	id, err := parse(value)
	if err != nil {
		return "", phrase.Errorf("the status says success but the id %w", err)
	}
	return id, nil
}

// parseUUID accepts the 36 characters of a UUID in any case, and nothing else: no braces, no
// blanks, no "urn:". It refuses the nil UUID, which is an unset default and not an id.
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

// maxAnyID is the maximum length of an id that is not a UUID, in characters.
const maxAnyID = 128

// parseAnyID accepts any text of 1 to 128 characters and any integer. A UUID is returned in lower
// case; everything else unchanged, because only the platform knows whether case matters. It
// refuses a blank text, and a text with a
// control character (a ledger may be unable to store a NUL): such an answer is garbled.
func parseAnyID(v json.RawMessage) (string, error) {
	s, ok := text(v)
	switch {
	case !ok && kind(v) == '0':
		s = string(v)
	case !ok:
		return "", errors.New("is neither a text nor an integer")
	}
	switch {
	case strings.TrimSpace(s) == "":
		return "", errors.New("is empty")
	case utf8.RuneCountInString(s) > maxAnyID:
		return "", phrase.Errorf("is longer than %d characters", maxAnyID)
	case strings.ContainsFunc(s, unicode.IsControl):
		return "", errors.New("contains a control character")
	}
	if id, err := parseUUID(s); err == nil {
		return id, nil
	}
	return s, nil
}

// pathUUID is parseUUID for an id from a caller. Nothing but a UUID ever becomes part of a path.
func pathUUID(name, id string) (string, error) {
	canonical, err := parseUUID(strings.TrimSpace(id))
	if err != nil {
		return "", fmt.Errorf("the %s %w", name, err)
	}
	return canonical, nil
}
