package cli

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"os/user"
	"strconv"
	"strings"

	"github.com/safrasync/safrasync/trade"
)

// Person returns the person who orders an act on the command line.
func (a *App) Person(f ActFlags) trade.Person {
	account := "?"
	if u, err := user.Current(); err == nil {
		account = u.Username
	}
	const file = "/proc/self/loginuid"
	login := loginName(a.Env, file)
	known := loginName(func(string) (string, bool) { return "", false }, file) // what the user cannot forge
	who, from := whoFrom(login, account, ThisHost(), f.As)
	return trade.Person{
		Name: who, From: from, Reason: strings.TrimSpace(f.Reason), Account: cmp.Or(known, account),
		Role: trade.Administrator, // who may open the ledger's files may do everything
	}
}

// loginName returns the name of the person who logged in, which runuser and sudo hide: the kernel's
// login of the process or, without one (a container, a service), the user of sudo, which anyone can
// set. It returns "" if neither is known.
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

// whoFrom returns the name to record for an act, and its origin: "ana (safrasync)@host" is ana, who
// acted as safrasync. A name given with --as is only a claim, and is marked as such.
func whoFrom(login, account, host, as string) (who, from string) {
	who, from = account, account+"@"+host
	if login != "" && login != account {
		who, from = login, login+" ("+account+")@"+host
	}
	as = strings.TrimSpace(as)
	if as != "" && as != who {
		who, from = as, "--as: "+from
	}
	return who, from
}

// ThisHost returns the name of this host, or "?".
func ThisHost() string {
	host, err := os.Hostname()
	if err != nil {
		return "?"
	}
	return host
}

// ProgramRecord returns the audit record of an act that no person ordered. Its act is scheduled
// retention, unless the caller replaces it.
func ProgramRecord() trade.AuditRecord {
	return trade.AuditRecord{
		Who: "safrasync", From: fmt.Sprintf("pid %d@%s", os.Getpid(), ThisHost()),
		Act: trade.ActRetention, Target: "ledger", Reason: "retention.schedule",
	}
}
