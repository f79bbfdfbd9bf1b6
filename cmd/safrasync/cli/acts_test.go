package cli

import (
	"os"
	"os/user"
	"path/filepath"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
)

// runuser and sudo change the user, and the audit would name the service's for everybody's acts.
func TestTheAuditNamesWhoLoggedIn(t *testing.T) {
	t.Parallel()
	self := must.Get(user.Current())(t)
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "loginuid")
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	for _, c := range []struct{ sudo, loginuid, want string }{
		{"", file("4294967295"), ""},                     // of a service, or in a container
		{"ana", file("4294967295\n"), "ana"},             // sudo
		{"ana", filepath.Join(t.TempDir(), "no"), "ana"}, // a kernel without the audit
		{"", file(self.Uid), self.Username},              // a login, then runuser
		// the variable is anybody's to set, the login is the kernel's
		{"bia", file(self.Uid + "\n"), self.Username},
		{"", file("3999999999"), "uid 3999999999"},        // a login that is gone
		{"", file("nobody knows"), ""},                    //
		{"  ", filepath.Join(t.TempDir(), "nowhere"), ""}, //
	} {
		env := func(name string) (string, bool) { return c.sudo, name == "SUDO_USER" && c.sudo != "" }
		if got := loginName(env, c.loginuid); got != c.want {
			t.Errorf("SUDO_USER=%q, %s: %q, want %q", c.sudo, c.loginuid, got, c.want)
		}
	}
	for _, c := range []struct{ login, user, as, who, from string }{
		{"", "ana", "", "ana", "ana@srv"},
		{"ana", "ana", "", "ana", "ana@srv"},
		{"ana", "safrasync", "", "ana", "ana (safrasync)@srv"},
		{"ana", "safrasync", "Maria", "Maria", "--as: ana (safrasync)@srv"},
		{"ana", "safrasync", "ana", "ana", "ana (safrasync)@srv"},
		{"", "safrasync", " Maria ", "Maria", "--as: safrasync@srv"},
	} {
		if who, from := whoFrom(c.login, c.user, "srv", c.as); who != c.who || from != c.from {
			t.Errorf("%+v: %q, %q", c, who, from)
		}
	}
}

// One person does not become two by a variable: for a second consent the account counts, too.
func TestTheVariableOfSudoMakesNoSecondPerson(t *testing.T) {
	t.Parallel()
	as := func(sudo string) string {
		a := &App{Env: func(string) (string, bool) { return sudo, true }}
		return a.Person(ActFlags{}).Account
	}
	if ana, bia := as("ana"), as("bia"); ana != bia || ana == "" {
		t.Errorf("one process is %q and %q", ana, bia)
	}
}
