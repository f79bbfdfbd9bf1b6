package apiclient

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

const fuzzID = "0b8f8a4e-3c58-4e0f-9f5c-6a3f0d1c2b3a"

// FuzzIDReader checks that an id is only ever taken from an object that encoding/json reads the
// same way, and that has no second id in any case.
func FuzzIDReader(f *testing.F) {
	for _, s := range []string{
		`{"id":"` + fuzzID + `"}`, "\xef\xbb\xbf{\"id\":\"" + fuzzID + "\"}", `{"id":"` + fuzzID + `","ID":"x"}`,
		`{"id":"` + fuzzID + `","id":"` + fuzzID + `"}`, `{"\u0069d":"` + fuzzID + `"}`,
		`{"a":{"id":"` + fuzzID + `"}}`,
		`[]`, `null`, `{}`, ``, `{"id":5}`, `{"id":"` + fuzzID + `"}x`, strings.Repeat(`{"id":`, 20000), "{\"\xff\":1}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		id, err := uuidFromBody(body)
		if err != nil {
			if id != "" {
				t.Fatalf("an id %q beside the error %v", id, err)
			}
			return
		}
		if canonical, err := parseUUID(id); err != nil || canonical != id {
			t.Fatalf("the id %q is not a lower-case UUID", id)
		}
		var m map[string]any
		must.Do(t, json.Unmarshal(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")), &m))
		ids := 0
		for key := range m {
			if strings.EqualFold(key, "id") {
				ids++
			}
		}
		if s, ok := m["id"].(string); !ok || ids != 1 || !strings.EqualFold(s, id) {
			t.Fatalf("id = %q, encoding/json reads %v with %d ids", id, m["id"], ids)
		}
	})
}

// FuzzErrorBody checks that no body makes the reader fail, that what it returns is bounded and
// printable, and that format (a) is claimed only for what it is.
func FuzzErrorBody(f *testing.F) {
	for _, s := range []string{
		`{"messages":["message.x"]}`, `{"messages":[]}`, `{"messages":[1,null,{}]}`, `{"messages":"x"}`,
		`{"messages":["a"],"messages":["b"]}`,
		`{"timestamp":"t","status":400,"error":"e","message":"message.id.invalid"}`, `{"data":[],"error":{}}`, `"text"`,
		`Unexpected value: X`,
		`<html>`, ``, ` `, `null`, `5`, `[1]`, "\xef\xbb\xbf", "\xff", strings.Repeat("[", 20000),
		`{"messages":["` + strings.Repeat("é", 500) + `"]}`,
	} {
		for _, status := range []int{400, 401, 403, 405, 500, 502} {
			f.Add(status, "application/json", []byte(s))
		}
	}
	f.Fuzz(func(t *testing.T, status int, contentType string, body []byte) {
		r := readForm(status, http.Header{"Content-Type": {contentType}}, body)
		if r.format == FormatNone {
			t.Fatal("no format")
		}
		if len(r.text) > textBytes || !utf8.ValidString(r.text) || hasControl(r.text) {
			t.Fatalf("text = %q", r.text)
		}
		if len(r.messages) > maxMessages {
			t.Fatalf("%d messages", len(r.messages))
		}
		for _, m := range r.messages {
			if len(m) > maxMessageBytes || !utf8.ValidString(m) || hasControl(m) {
				t.Fatalf("message = %q", m)
			}
		}
		if r.format != FormatA {
			return
		}
		var a struct{ Messages []string }
		if err := json.Unmarshal(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")), &a); err != nil ||
			len(a.Messages) != r.count || r.count == 0 {
			t.Fatalf("format a with %d messages; encoding/json: %d, %v", r.count, len(a.Messages), err)
		}
	})
}

// FuzzOrderCommitment checks that no answer makes the tolerant reader fail and that it invents no
// number or date.
func FuzzOrderCommitment(f *testing.F) {
	for _, s := range []string{
		`{"id":"` + fuzzID + `","amount":1.5,"unit_of_measurement":{"code":"SC"},"order_date":"2026-11-20T00:00:00Z"}`,
		`{"amount":"1e5","price":"NaN","order_date":"0000-00-00","payday":[]}`, `{}`, `[]`, ``,
		`{"unit_of_measurement":{"code":{}}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		oc, err := ReadRecord(trade.OrderCommitments, body)
		if err != nil {
			return
		}
		for _, n := range []string{oc.Fields["amount"], oc.Fields["price"]} {
			if n != "" && !json.Valid([]byte(n)) {
				t.Fatalf("number %q", n)
			}
		}
		for _, d := range []string{"order_date", "initial_delivery_date", "end_delivery_date", "payday"} {
			d := oc.Fields[d]
			if d != "" && len(d) != len("2026-11-20") {
				t.Fatalf("date %q", d)
			}
		}
		if !json.Valid(oc.Raw) {
			t.Fatalf("raw %q", oc.Raw)
		}
	})
}
