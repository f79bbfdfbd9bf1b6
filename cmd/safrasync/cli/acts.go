package cli

import (
	"bufio"
	"cmp"
	"fmt"
	"math"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// ActFlags are the flags of a person's act.
type ActFlags struct {
	Reason, As string
	Yes        bool
}

// Add adds the flags to a command.
func (f *ActFlags) Add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Reason, "reason", "", "why, `TEXT` for the audit")
	cmd.Flags().StringVar(&f.As, "as", "",
		"`NAME` of who orders it, recorded as given beside the account; default: who logged in")
	cmd.Flags().BoolVar(&f.Yes, "yes", false, "do it without asking")
}

// Confirm asks whether to do the plan that was shown. Without a terminal to ask on, and without
// --yes, it returns an error with exit code 2: the plan was only shown.
func (a *App) Confirm(yes bool) error {
	if yes {
		return nil
	}
	return a.Ask(a.Text("Continue? [y/N] "), func(answer string) bool {
		return slices.Contains([]string{"s", "sim", "y", "yes"}, strings.ToLower(answer))
	})
}

// Ask asks a person on the terminal. Without a terminal it returns an error with exit code 2.
func (a *App) Ask(question string, agrees func(answer string) bool) error {
	if !IsTerminal(a.Stdin) || !IsTerminal(a.Stderr) {
		a.Tell("Nothing was changed: there is no terminal to ask for confirmation, so confirm with --yes.")
		return &ExitError{ExitUsage}
	}
	fmt.Fprint(a.Stderr, question)
	answered := make(chan bool, 1)
	go func() { // a read of a terminal cannot be cancelled: after a signal it ends with the process
		answer, err := bufio.NewReader(a.Stdin).ReadString('\n')
		answered <- err == nil && agrees(strings.TrimSpace(answer))
	}()
	select {
	case yes := <-answered:
		if yes {
			return nil
		}
		a.Tell("Nothing was changed.")
		return &ExitError{ExitUsage}
	case <-a.Ended:
		fmt.Fprintln(a.Stderr)
		a.Tell("Nothing was changed.")
		return ErrFailed
	}
}

// NeedReason refuses an act without a reason.
func (a *App) NeedReason(f ActFlags) error {
	if strings.TrimSpace(f.Reason) == "" {
		return a.Usage("--reason TEXT is missing: it is recorded in the audit")
	}
	return nil
}

// Audit returns the audit record of a person's act.
func (a *App) Audit(f ActFlags, act, target string, detail any) (trade.AuditRecord, error) {
	who := a.Person(f)
	who.Reason = f.Reason // not trimmed
	return who.Record(office.Now(), act, target, detail)
}

// Confirmed asks for confirmation of an act whose plan was shown, and requires a reason. A plan
// that is only shown needs no reason.
func (a *App) Confirmed(f ActFlags) error {
	if f.Yes {
		if err := a.NeedReason(f); err != nil {
			return err
		}
	}
	if err := a.Confirm(f.Yes); err != nil {
		return err
	}
	return a.NeedReason(f)
}

// PrintAsked prints that an act waits for the consent of other people, and who may give it.
func PrintAsked(a *App, ap trade.Approval) error {
	who := a.Text("approval.who." + string(acts.RoleOfApproval(ap)))
	return a.Answer(struct {
		Act      string `json:"act"`
		Target   string `json:"target"`
		Done     bool   `json:"done"`
		Approval int64  `json:"approval"` // id of the approval to give
		Needs    int    `json:"needs"`    // people who must agree, including who ordered it
	}{ap.Act, ap.Target, false, ap.ID, ap.Needs},
		"Nothing has been done yet: this needs %d {person|people}. Request %d is kept until %s.\nWho may approve: %s who has not ordered or approved it; in the console, under Approvals, or with `safrasync approvals approve %d --reason TEXT`.", ap.Needs, ap.ID, a.Voice().Moment(ap.Until), who, ap.ID)
}

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

// CheckJobNames returns a usage error for a job that is not configured. It opens nothing but the configuration.
func (a *App) CheckJobNames(names ...string) error {
	if _, err := a.LoadConfig(); err != nil {
		return err
	}
	have := trade.Map(a.Config.Jobs, func(job config.JobConfig) string { return job.Name })
	for _, name := range names {
		if !slices.Contains(have, name) {
			return a.Usage("there is no job %q; the configuration has %s", name, Listed(have))
		}
	}
	return nil
}

// CheckKey returns a key in the ledger's form. It returns a usage error if no row of the job can
// have the key, because it has too few or too many parts.
func (a *App) CheckKey(job, key string) (string, error) {
	if err := a.CheckJobNames(job); err != nil {
		return "", err
	}
	for _, j := range a.Config.Jobs {
		if parts := strings.Join(j.Key, "|"); j.Name == job && len(mapping.CodeParts(key)) != len(j.Key) {
			return "", a.Usage("the key %q does not match: those of job %s have the form %s", key, job, parts)
		}
	}
	return mapping.CanonicalKey(key), nil
}

// KeysOf converts keys that a person typed to the ledger's form.
func KeysOf(a *App, job string, typed []string) (keys []string, err error) {
	keys = make([]string, len(typed))
	for i, key := range typed {
		keys[i], err = a.CheckKey(job, key)
		if err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// ParseSince parses an age (2h, 7d), a day in the cooperative's zone, or an instant. It returns
// false for any other text.
func ParseSince(since string, now time.Time, zone *time.Location) (time.Time, bool) {
	if days, ok := strings.CutSuffix(since, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 {
			return now.AddDate(0, 0, -n), true
		}
	}
	if age, err := time.ParseDuration(since); err == nil && age >= 0 {
		return now.Add(-age), true
	}
	for _, layout := range []string{time.DateOnly, "02/01/2006", time.RFC3339} {
		if t, err := time.ParseInLocation(layout, since, zone); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
