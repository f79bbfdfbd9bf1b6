package auth

import "testing"

// The list of passwords that everybody tries is searched line by line: the first and the last of it
// count, and no two lines make one.
func TestTheListOfCommonPasswordsIsSearchedByLines(t *testing.T) {
	t.Parallel()
	for password, want := range map[string]bool{
		"123456": true, "password": true, "!qaz2wsx": true, "zzzzzzz1": true, "safrasync": true,
		"zzzzzz1\nzzzzzzz1": false, "\nzzzzzzz1": false, "": false, "correct horse battery": false,
	} {
		if got := isCommon(password); got != want {
			t.Errorf("%q: common %v", password, got)
		}
	}
}
