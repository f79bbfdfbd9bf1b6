package cli

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"os/user"
	"strconv"
	"strings"

	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// Person is who orders an act at the command line.
func (a *App) Person(f ActFlags) acts.Person {
	account := "?"
	if u, err := user.Current(); err == nil {
		account = u.Username
	}
	const file = "/proc/self/loginuid"
	login := loginName(a.Env, file)
	known := loginName(func(string) (string, bool) { return "", false }, file) // what nobody can set
	who, from := whoFrom(login, account, ThisHost(), f.As)
	return acts.Person{
		Name: who, From: from, Reason: strings.TrimSpace(f.Reason), Account: cmp.Or(known, account),
	}
}

// loginName is who logged in, where runuser or sudo hide it: the kernel's login of the process, and
// without one (a container, a service) the user of sudo, which is anybody's to set. "" where
// neither is known.
func loginName(env func(string) (string, bool), file string) string {
	text, err := os.ReadFile(file)
	id := strings.TrimSpace(string(text))
	if n, parseErr := strconv.ParseUint(id, 10, 32); err == nil && parseErr == nil && n != math.MaxUint32 {
		if u, err := user.LookupId(id); err == nil {
			return u.Username
		}
		return "uid " + id
	}
	name, _ := env("SUDO_USER")
	return strings.TrimSpace(name)
}

// whoFrom is who an act is recorded of, and from where: "ana (safrasync)@host" is ana, who acted as
// safrasync. A name that was given with --as is what somebody says, and is marked so.
func whoFrom(login, account, host, as string) (who, from string) {
	who, from = account, account+"@"+host
	if login != "" && login != account {
		who, from = login, login+" ("+account+")@"+host
	}
	if as = strings.TrimSpace(as); as != "" && as != who {
		who, from = as, "--as: "+from
	}
	return who, from
}

// ThisHost is the name of this host.
func ThisHost() string {
	host, err := os.Hostname()
	if err != nil {
		return "?"
	}
	return host
}

// ByTheProgram signs what no person ordered.
func ByTheProgram() trade.AuditRecord {
	return trade.AuditRecord{
		Who: "safrasync", From: fmt.Sprintf("pid %d@%s", os.Getpid(), ThisHost()),
		Act: state.ActRetention, Target: "ledger", Reason: "retention.schedule",
	}
}
