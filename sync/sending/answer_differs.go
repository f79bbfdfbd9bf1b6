// Whether an answer is that of another request.

package sending

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/safrasync/safrasync/trade"
)

// otherField returns a field of an answer that was sent, and that the answer has with another value;
// "" if there is none. What the answer leaves out, or has in an undocumented form, is ignored.
func otherField(kind trade.Kind, payload json.RawMessage, body []byte) string {
	sent, there := fieldsOf(payload), fieldsOf(body)
	for _, rule := range trade.Rules(kind) {
		a, b := textOf(sent[rule.Field]), textOf(there[rule.Field])
		if rule.Type == trade.Day {
			b, _, _ = strings.Cut(b, "T") // of a timestamp the date as written
		}
		if a != "" && b != "" && !strings.EqualFold(a, b) && !rule.Same(a, b) && !sameID(a, b) {
			return rule.Field
		}
	}
	return ""
}

// fieldsOf returns the fields of a JSON object; none if it is another document.
func fieldsOf(body []byte) (out map[string]any) {
	read := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))))
	read.UseNumber()
	if read.Decode(&out) != nil {
		return nil
	}
	return out
}

// textOf returns a value that is a text, a number, or an object with a code; "" for any other.
func textOf(value any) string {
	switch v := value.(type) {
	case string:
		return strings.TrimSpace(v)
	case json.Number:
		return v.String()
	case map[string]any:
		code, _ := v["code"].(string)
		return code
	}
	return ""
}

func sameID(a, b string) bool {
	idA, errA := trade.ParseID(a)
	idB, errB := trade.ParseID(b)
	return errA == nil && errB == nil && idA == idB
}
