package apiclient

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"unicode/utf8"
)

const (
	maxMessages     = 64
	maxMessageBytes = 300
	textBytes       = 300
)

// reading is what readForm finds in a complete, uncompressed body.
type reading struct {
	format   Format
	messages []string // bounded, see Answer.Messages
	count    int      // number of messages before bounding
	text     string
}

// readForm determines in which of the API's forms the body is (chapter 7, Formats). It accepts any
// bytes.
func readForm(status int, h http.Header, body []byte) reading {
	doc := bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
	trimmed := bytes.TrimSpace(doc)
	switch {
	case len(body) == 0:
		return reading{format: FormatEmpty, text: "empty body"}
	case len(trimmed) == 0:
		return reading{format: FormatOther, text: "blank body"}
	case json.Valid(doc):
		if success(status) {
			return reading{format: FormatSuccess}
		}
		switch trimmed[0] {
		case '{':
			// Only the top-level members that decide the form matter. doubled: one of them appears twice or in
			// another spelling of its case.
			m := map[string]json.RawMessage{}
			for _, name := range []string{"messages", "timestamp", "status", "error", "message", "data"} {
				m[name] = nil
			}
			doubled := false
			err := eachMember(trimmed, func(key string, value json.RawMessage) {
				name := strings.ToLower(key)
				before, decides := m[name]
				if !decides {
					return
				}
				doubled = doubled || before != nil || key != name
				m[name] = value
			})
			if err != nil {
				return reading{format: FormatOther, text: "unreadable body"}
			}
			raw := reading{format: FormatD, text: sanitise(trimmed, textBytes)}
			isB := kind(m["timestamp"]) == 's' && kind(m["status"]) == '0' && kind(m["error"]) == 's'
			switch {
			case doubled, m["messages"] != nil && isB:
				return raw // a name appears twice, or both forms at once: trust neither
			case m["messages"] != nil:
				v := m["messages"]
				if kind(v) != '[' {
					return raw
				}
				var raws []json.RawMessage
				if json.Unmarshal(v, &raws) != nil || len(raws) == 0 {
					return raw
				}
				all := make([]string, 0, len(raws))
				for _, r := range raws {
					s, ok := text(r)
					if !ok {
						return raw
					}
					all = append(all, s)
				}
				r := reading{format: FormatA, count: len(all)}
				for _, s := range all[:min(len(all), maxMessages)] {
					r.messages = append(r.messages, cleanMessage(s))
				}
				r.text = sanitise([]byte(strings.Join(r.messages, ", ")), textBytes)
				return r
			case isB && (m["message"] == nil || kind(m["message"]) == 's'):
				r := reading{format: FormatB}
				if s, ok := text(m["message"]); ok && s != "" {
					r.messages, r.count = []string{cleanMessage(s)}, 1
					r.text = sanitise([]byte(s), textBytes)
					return r
				}
				s, _ := text(m["error"])
				r.text = sanitise([]byte(s), textBytes)
				return r
			case status == http.StatusUnauthorized && kind(m["data"]) == '[' && m["error"] != nil:
				return reading{format: FormatGateway401, text: "the gateway refused the key"}
			default:
				return raw
			}
		case '[':
			return reading{format: FormatD, text: sanitise(trimmed, textBytes)}
		case '"':
			var s string
			if json.Unmarshal(trimmed, &s) != nil {
				return reading{format: FormatOther}
			}
			return plainText(status, s)
		default:
			return reading{format: FormatOther, text: sanitise(trimmed, textBytes)}
		}
	case trimmed[0] == '<', strings.Contains(strings.ToLower(h.Get("Content-Type")), "html"):
		return reading{format: FormatHTML, text: "a page of HTML: something between this host and the API answered"}
	case trimmed[0] == '{' || trimmed[0] == '[' || !utf8.Valid(trimmed):
		return reading{format: FormatOther, text: "unreadable body"}
	default:
		return plainText(status, string(trimmed))
	}
}

func plainText(status int, s string) reading {
	f := FormatC
	if success(status) {
		f = FormatOther
	}
	return reading{format: f, text: sanitise([]byte(s), textBytes)}
}

// cleanMessage bounds a message and replaces control characters. Blanks stay, because a key is
// compared exactly.
func cleanMessage(s string) string { return sanitise([]byte(s), maxMessageBytes) }

// kind returns '{', '[', 's' for a string, '0' for an integer, 'x' for anything else, and 0 for an
// empty value.
func kind(v json.RawMessage) byte {
	switch {
	case len(v) == 0:
		return 0
	case v[0] == '{' || v[0] == '[':
		return v[0]
	case v[0] == '"':
		return 's'
	case (v[0] == '-' || v[0] >= '0' && v[0] <= '9') && !bytes.ContainsAny(v, ".eE"):
		return '0'
	default:
		return 'x'
	}
}

func text(v json.RawMessage) (string, bool) {
	if kind(v) != 's' {
		return "", false
	}
	var s string
	return s, json.Unmarshal(v, &s) == nil
}
