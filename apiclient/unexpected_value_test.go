package apiclient_test

import (
	"testing"

	"github.com/safrasync/safrasync/apiclient"
)

func TestChapter7_403_TheUnknownEnumerationValueIsRead(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		status int
		body   string
		value  string
		ok     bool
	}{
		"text":                {403, "Unexpected value: XX", "XX", true},
		"JSON string":         {403, `"Unexpected value: XX"`, "XX", true},
		"BOM and blanks":      {403, "\xef\xbb\xbf Unexpected value: XX\r\n", "XX", true},
		"no value":            {403, "Unexpected value:", "", true},
		"a document":          {403, "Unexpected value: 529.982.247-25", "[document]", true},
		"another text":        {403, "Forbidden", "", false},
		"another status":      {400, "Unexpected value: XX", "", false},
		"a success":           {200, "Unexpected value: XX", "", false},
		"a message":           {403, `{"messages":["Unexpected value: XX"]}`, "", false},
		"a page":              {403, "<p>Unexpected value: XX</p>", "", false},
		"in the middle of it": {403, "Error. Unexpected value: XX", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, _, err := submit(t, always(tc.status, tc.body))
			if err == nil {
				t.Error("no error")
			}
			if value, ok := a.UnexpectedValue(); value != tc.value || ok != tc.ok {
				t.Errorf("UnexpectedValue() = %q, %v; want %q, %v", value, ok, tc.value, tc.ok)
			}
			want := apiclient.NotCreated
			switch {
			case tc.status == 200:
				want = apiclient.CreatedIDUnknown
			case !tc.ok && tc.status == 403 && tc.body[0] != '{': // text that the document does not show
				want = apiclient.Unknown
			}
			if a.Known != want {
				t.Errorf("Known = %v, want %v", a.Known, want)
			}
		})
	}
}
