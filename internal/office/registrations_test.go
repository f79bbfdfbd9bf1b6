package office

import "testing"

func TestAPlanShowsAnAddressWithoutItsCredentials(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://coop.example/hook":           "https://coop.example/hook",
		"https://ana:pass@coop.example/h?k=v": "https://%2A%2A%2A@coop.example/h?***",
		"https://coop.example:x/":             "?",
	} {
		if got := ShownURL(address); got != want {
			t.Errorf("ShownURL(%q) = %q, want %q", address, got, want)
		}
	}
}
