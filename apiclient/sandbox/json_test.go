package sandbox

import (
	"encoding/json"
	"strings"
	"testing"
)

func FuzzParseAcceptsOnlyJSON(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,2.50,"x",true,null,{}]}`, `{"a":1,"a":2}`, `"\ud800"`, "\xff", "1e999", "",
		"[[", "{} {}", "\ufeff{}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := parse(data)
		if err == nil && (n == nil || !json.Valid(data)) {
			t.Errorf("parse accepted %q", data)
		}
		if _, err := ReadWorld(strings.NewReader(string(data))); err == nil && n == nil {
			t.Errorf("ReadWorld accepted %q", data)
		}
	})
}

func TestJSONMayNestToALimit(t *testing.T) {
	t.Parallel()
	nested := func(levels int) []byte { return []byte(strings.Repeat("[", levels) + strings.Repeat("]", levels)) }
	if _, err := parse(nested(10_000)); err != nil {
		t.Error(err)
	}
	if _, err := parse(nested(10_002)); err == nil {
		t.Error("no limit")
	}
}

// The fields of two records must never share memory with what a test gets to see.
func TestACopyOfARecordIsACopy(t *testing.T) {
	t.Parallel()
	r := Record{Body: []byte("{}"), Fields: map[string]any{"a": "b"}, Header: map[string][]string{"A": {"b"}}}
	c := r.clone()
	c.Body[0], c.Fields["a"], c.Header["A"][0] = 'x', "x", "x"
	if string(r.Body) != "{}" || r.Fields["a"] != "b" || r.Header["A"][0] != "b" {
		t.Errorf("the record changed with its copy: %+v", r)
	}
}
