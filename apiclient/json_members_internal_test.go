package apiclient

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
)

// The members of a document come in their order, doubles included, each value as it stands there.
func TestMembersAreThoseOfTheDocument(t *testing.T) {
	t.Parallel()
	const doc = " { \"id\" : 1,\r\n" +
		"\"ID\":\"a\\\"},{\\\\\",\"\\u0069d\":[1, \"]\", {\"a\": [\",\"]}] ,\"\":null,\"id\":{ } }\n"
	var got []string
	must.Do(t, eachMember([]byte(doc), func(key string, value json.RawMessage) {
		got = append(got, key+"="+string(value))
	}))
	want := []string{`id=1`, `ID="a\"},{\\"`, `id=[1, "]", {"a": [","]}]`, `=null`, `id={ }`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("members (-want +got)\n%s", diff)
	}
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
