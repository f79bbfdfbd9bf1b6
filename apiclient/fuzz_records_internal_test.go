package apiclient

import (
	"bytes"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

var recordSeeds = []string{
	`{"id":"` + fuzzID + `","delivered_volume":1.5,"delivery_date":"2026-11-20T00:00:00Z","contract_id":5}`,
	`{"id":5,"url":[],"identity":1}`,
	`{"id":"a","id":"b"}`, `{"hmac_secret":"s","basic_authentication":{"a":1},"HMAC_SECRET":"t"}`, `[{"id":"x"}]`,
	`[{},{}]`, `{}`, `[]`, ``, `null`,
	"\xef\xbb\xbf{\"status\":\"S\",\"consent_date\":\"d\"}", "{\"name\":\"\xff\"}", strings.Repeat(`{"id":`, 20000),
	`{"delivered_volume":1e999999999}`,
}

// FuzzRecords checks that no body makes any reader fail or invent: what a reader returns has the
// whole object in Raw, and each text stands in it.
func FuzzRecords(f *testing.F) {
	for _, s := range recordSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		check := func(v any, err error) {
			t.Helper()
			r := reflect.ValueOf(v)
			if err != nil {
				if !r.IsZero() {
					t.Fatalf("%+v beside the error %v", v, err)
				}
				return
			}
			raw, ok := r.FieldByName("Raw").Interface().(json.RawMessage)
			if !ok || !json.Valid(raw) || raw[0] != '{' {
				t.Fatalf("Raw = %q", raw)
			}
			for i := range r.NumField() {
				if n, ok := r.Field(i).Interface().(json.Number); ok && n != "" && !json.Valid([]byte(n)) {
					t.Fatalf("number %q", n)
				}
				if r.Field(i).Kind() == reflect.String && !utf8.ValidString(r.Field(i).String()) {
					t.Fatalf("text %q", r.Field(i).String())
				}
			}
		}
		delivery, err := ReadRecord(trade.Deliveries, body)
		check(delivery, err)
		for field, text := range delivery.Fields {
			if field == "delivery_date" && len(text) != len("2026-11-20") {
				t.Fatalf("date %q", text)
			}
			if field == "delivered_volume" && !json.Valid([]byte(text)) || !utf8.ValidString(text) || text == "" {
				t.Fatalf("%s %q", field, text)
			}
		}
		check(readRecord[Consent](body))
		check(readRecord[CreditScore](body))
		check(readRecord[CreditAnalysis](body))
		check(readOnly[Producer](body))
		hook, err := readWebhook(body)
		check(hook, err)
		if hook.HMACSecret != "" || hook.BasicAuthentication != "" {
			var m map[string]json.RawMessage
			must.Do(t, json.Unmarshal(hook.Raw, &m))
			for _, name := range []string{"hmac_secret", "basic_authentication"} {
				if v := string(m[name]); v != "" && v != "null" && v != `"[secret]"` {
					t.Fatalf("Raw shows %s", name)
				}
			}
		}
	})
}

// FuzzAnyIDReader checks that an id that need not be a UUID is what encoding/json reads there,
// bounded and printable.
func FuzzAnyIDReader(f *testing.F) {
	for _, s := range recordSeeds {
		f.Add([]byte(s))
	}
	if id, err := anyIDFromBody([]byte(`{"id":"0B5F3F6C-58A9-4C50-9D0C-5D0C4BD0A111"}`)); err != nil ||
		id != "0b5f3f6c-58a9-4c50-9d0c-5d0c4bd0a111" {
		f.Errorf("a UUID in capitals is read as %q, %v", id, err)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		id, err := anyIDFromBody(body)
		if err != nil {
			if id != "" {
				t.Fatalf("an id %q beside the error %v", id, err)
			}
			return
		}
		if n := utf8.RuneCountInString(id); n == 0 || n > maxAnyID || hasControl(id) || strings.TrimSpace(id) == "" {
			t.Fatalf("id = %q", id)
		}
		var read map[string]json.RawMessage
		must.Do(t, json.Unmarshal(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")), &read))
		var s string
		if v := read["id"]; json.Unmarshal(v, &s) != nil && string(v) != id || s != "" && !strings.EqualFold(s, id) {
			t.Fatalf("id = %q, encoding/json reads %s", id, v)
		}
	})
}

// FuzzRetryAfter checks that no header makes us wait too short or too long.
func FuzzRetryAfter(f *testing.F) {
	for _, v := range []string{
		"5", "0", "-1", "99999999999999999999", "Sat, 21 Nov 2026 09:00:30 GMT", "",
		"soon", "\x00",
	} {
		f.Add(v, "Sat, 21 Nov 2026 09:00:00 GMT")
	}
	f.Fuzz(func(t *testing.T, v, date string) {
		h := http.Header{"Retry-After": {v}, "Date": {date}}
		if d := retryAfter(h, time.Now()); d < minRetryAfter || d > maxRetryAfter {
			t.Fatalf("retryAfter(%q, %q) = %v", v, date, d)
		}
		if d, ok := askedWait(h, time.Now()); ok && (d < minRetryAfter || d > maxRetryAfter) || !ok && d != 0 {
			t.Fatalf("askedWait(%q, %q) = %v, %v", v, date, d, ok)
		}
	})
}
