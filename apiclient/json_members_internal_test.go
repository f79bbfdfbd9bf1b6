package apiclient

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

type member struct {
	Key   string
	Value string
}

func membersOf(t testing.TB, doc string) []member {
	t.Helper()
	var out []member
	if err := eachMember([]byte(doc), func(key string,
		value json.RawMessage,
	) {
		out = append(out, member{key, string(value)})
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

// The members of a document are those that encoding/json finds, value by value, doubles included.
func TestMembersAreThoseOfEncodingJSON(t *testing.T) {
	t.Parallel()
	value := rapid.SampledFrom([]string{
		`1`, `-0.5e+3`, `true`, `null`, `""`, `"a\"},{\\"`, `"é\u00e9\\\\"`, `[]`, `{}`, `[1, "]", {"a": [","]}]`,
		`{"b":{"c":"}"},"d":[]}`, "[ 1 ,\n2 ]", `"\ud800"`, "\"\xff\"",
	})
	name := rapid.SampledFrom([]string{
		`"id"`, `"ID"`, `""`, `"a\"b"`, `"\u0069d"`, `"chave é"`, "\"\xff\"",
		`"a,b:{}"`,
	})
	blank := rapid.SampledFrom([]string{"", " ", "\n\t", "\r\n "})
	rapid.Check(t, func(rt *rapid.T) {
		doc := blank.Draw(rt, "before") + "{" + blank.Draw(rt, "open")
		for i := range rapid.IntRange(0, 5).Draw(rt, "members") {
			if i > 0 {
				doc += "," + blank.Draw(rt, "comma")
			}
			doc += name.Draw(rt, "name") + blank.Draw(rt, "colon") + ":" + blank.Draw(rt, "value") +
				value.Draw(rt, "is") + blank.Draw(rt, "end")
		}
		doc += "}" + blank.Draw(rt, "after")
		if !json.Valid([]byte(doc)) {
			rt.Fatalf("the test made a document that is none: %q", doc)
		}
		var want []member
		dec := json.NewDecoder(bytes.NewReader([]byte(doc)))
		if _, err := dec.Token(); err != nil {
			rt.Fatal(err)
		}
		for dec.More() {
			key, err := dec.Token()
			var v json.RawMessage
			if err == nil {
				err = dec.Decode(&v)
			}
			if err != nil {
				rt.Fatal(err)
			}
			want = append(want, member{key.(string), string(v)})
		}
		if diff := cmp.Diff(want, membersOf(t, doc)); diff != "" {
			rt.Errorf("%q: members (-encoding/json +ours)\n%s", doc, diff)
		}
	})
}

func TestWhatIsNoObjectHasNoMembers(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{``, ` `, `[]`, `"{}"`, `1`, `null`} {
		if err := eachMember([]byte(doc),
			func(string, json.RawMessage) { t.Errorf("%s has a member", doc) }); err == nil {
			t.Errorf("%q passed for an object", doc)
		}
	}
}
