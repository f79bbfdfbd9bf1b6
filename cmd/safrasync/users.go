package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/console/auth"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/trade"
)

// userFlags are the flags of commands that change a user.
type userFlags struct {
	cli.ActFlags
	role  string
	stdin bool
}

// userAct changes a user.
type userAct func(ctx context.Context, a *cli.App, args []string, f userFlags) error

func newUsersCommand(a *cli.App) *cobra.Command {
	group := a.Group("users", "the users of the console")
	list := a.Command("list", "list the users of the console", cli.Exactly(0),
		func(ctx context.Context, _ []string) error {
			o, err := a.Office(ctx, cli.ToRead, cli.NoERP)
			if err != nil {
				return err
			}
			users, err := o.Users(ctx)
			if err != nil {
				return err
			}
			if a.AsJSON {
				return cli.PrintEach(a, users)
			}
			if len(users) == 0 {
				a.Tell("There are no users yet. `safrasync users add NAME --role administrator` adds the first administrator.")
				return nil
			}
			v := a.Voice()
			rows := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
			line := func(cells ...string) {
				fmt.Fprintln(rows, strings.Join(trade.Map(cells, words.Printable), "\t"))
			}
			line(a.Text("User"), a.Text("Role"), a.Text("State"), a.Text("Since"))
			for _, u := range users {
				standing := i18n.Key("active")
				if u.Disabled {
					standing = "disabled"
				}
				comes := ""
				if u.Issuer != "" {
					comes = a.Text(" (through %s)", u.Issuer)
				}
				role := v.Text("role." + string(u.Role))
				line(u.Name, role, a.Text(standing)+comes, v.Moment(u.CreatedAt))
			}
			_ = rows.Flush() // an error of the output is found at its own flush
			return nil
		})
	group.AddCommand(list)
	change := func(use string, help i18n.Key, args int, do userAct,
		flags ...func(*cobra.Command, *userFlags),
	) {
		var f userFlags
		cmd := a.Command(use, help, cli.Exactly(args),
			func(ctx context.Context, args []string) error { return do(ctx, a, args, f) })
		cmd.Flags().StringVar(&f.Reason, "reason", "", "why, `TEXT` for the audit")
		cmd.Flags().StringVar(&f.As, "as", "",
			"`NAME` of who orders it, recorded as given beside the account; default: who logged in")
		for _, add := range flags {
			add(cmd, &f)
		}
		group.AddCommand(cmd)
	}
	password := func(cmd *cobra.Command, f *userFlags) {
		cmd.Flags().BoolVar(&f.stdin, "password-stdin", false, "read the password from standard input: its first line")
	}
	role := func(cmd *cobra.Command, f *userFlags) {
		cmd.Flags().StringVar(&f.role, "role", string(trade.Reader), a.Phrase("`ROLE`: %s", cli.Listed(trade.Roles)))
		cli.Completes(a, cmd, "role", trade.Roles)
	}
	change("add NAME", "add a user of the console; the password is asked for at the terminal", 1, addUser, role, password)
	// A user who logged in through an issuer no longer can: it reverses link.
	change("password NAME", "set another password; the user's sessions end, and a user linked to the provider of console.oidc logs in with a password again", 1,
		func(ctx context.Context, a *cli.App, args []string, f userFlags) error {
			return changeUser(ctx, a, args[0], f, "user password", func(u *trade.User) (err error) {
				u.Password, err = readPassword(a, u.Name, f)
				u.PasswordAt, u.Issuer, u.Subject = office.Now(), "", ""
				return err
			})
		}, password)
	change("role NAME ROLE", "change the role to reader, accountant or administrator", 2, setRole)
	change("disable NAME", "disable a user; the user's sessions end immediately", 1, changes("user disable",
		func(u *trade.User) error { u.Disabled = true; return nil }))
	change("enable NAME", "enable a user again", 1, changes("user enable",
		func(u *trade.User) error { u.Disabled = false; return nil }))
	change("end NAME", "end the sessions of a user", 1, changes("user end",
		func(*trade.User) error { return nil }))
	change("link NAME SUBJECT", "link a user to the person whom the provider of console.oidc calls SUBJECT; the password stops working (if SUBJECT starts with -: users link -- NAME SUBJECT)", 2, linkUser)
	return group
}

// changes returns an act that only changes a user.
func changes(act string, change func(*trade.User) error) userAct {
	return func(ctx context.Context, a *cli.App, args []string, f userFlags) error {
		return changeUser(ctx, a, args[0], f, act, change)
	}
}

func addUser(ctx context.Context, a *cli.App, args []string, f userFlags) error {
	role, err := roleOf(a, f.role)
	if err != nil {
		return err
	}
	name := auth.NewUserName(args[0])
	if name == "" {
		return a.Usage("the user's name begins with a letter or digit and has only Latin letters, digits, single blanks and . _ - @, at most 100 characters; root and safrasync are reserved")
	}
	o, err := a.Office(ctx, cli.ToWrite, cli.NoERP)
	if err != nil {
		return err
	}
	if _, err := o.User(ctx, name); err == nil {
		return a.Error("there is already a user %s (names are never reassigned to another person, because of the audit)", name)
	} else if !errors.Is(err, trade.ErrNobody) {
		return err
	}
	hash, err := readPassword(a, name, f)
	if err != nil {
		return err
	}
	err = o.AddUser(ctx, trade.User{Name: name, Role: role, Password: hash}, a.Person(f.ActFlags))
	if errors.Is(err, trade.ErrNameTaken) {
		return a.Error("there is already a user %s (names are never reassigned to another person, because of the audit)", name)
	}
	if err != nil {
		return err
	}
	a.Tell("%s: done", name)
	users, err := o.Users(ctx)
	if err == nil && !slices.ContainsFunc(users, func(u trade.User) bool {
		return u.Role == trade.Administrator && !u.Disabled
	}) {
		a.Tell("There is no administrator yet, and without one the console lets nobody in. Add one with `safrasync users add NAME --role administrator`.")
	}
	return err
}

func setRole(ctx context.Context, a *cli.App, args []string, f userFlags) error {
	role, err := roleOf(a, args[1])
	if err != nil {
		return err
	}
	return changeUser(ctx, a, args[0], f, "user role", func(u *trade.User) error {
		u.Role = role
		if u.Issuer != "" { // each login would overwrite the change
			return a.Error("%s logs in through %s, which assigns the role; `safrasync users password` lets the user log in with a password again", u.Name, u.Issuer)
		}
		return nil
	})
}

// subjectMost is the longest subject that an issuer may have for a person; OpenID Connect allows no
// more.
const subjectMost = 255

// linkUser links a user to a subject of the configured issuer. This is the only way in which
// somebody gets a name that existed before.
func linkUser(ctx context.Context, a *cli.App, args []string, f userFlags) error {
	config, err := a.LoadConfig()
	if err != nil {
		return err
	}
	if config.Console.OIDC == nil {
		return a.Usage("the configuration has no console.oidc")
	}
	subject := strings.TrimSpace(args[1])
	if subject == "" || len(subject) > subjectMost {
		return a.Usage("the provider's code for the person must not be empty or longer than 255 bytes")
	}
	err = changeUser(ctx, a, args[0], f, "user link", func(u *trade.User) error {
		u.Issuer, u.Subject, u.Password = config.Console.OIDC.Issuer, subject, ""
		u.FirstPassword = false
		return nil
	})
	if errors.Is(err, trade.ErrNameTaken) {
		return a.Error("%s is already another user: `safrasync users list --json` shows it", subject)
	}
	return err
}

// changeUser changes a user and ends all sessions of that user.
func changeUser(ctx context.Context, a *cli.App, name string, f userFlags, act string,
	change func(*trade.User) error,
) error {
	name = auth.UserName(name)
	o, err := a.Office(ctx, cli.ToWrite, cli.NoERP)
	if err != nil {
		return err
	}
	before, err := o.User(ctx, name)
	if errors.Is(err, trade.ErrNobody) {
		return a.Error("there is no user %s; `safrasync users list` shows them", name)
	} else if err != nil {
		return err
	}
	after := before
	if err := change(&after); err != nil {
		return err
	}
	done, err := o.ChangeUser(ctx, before, after, act, a.Person(f.ActFlags))
	switch {
	case errors.Is(err, trade.ErrLastAdministrator):
		return a.Error("this is the last administrator: add another one first")
	case err != nil:
		return err
	case !done:
		return a.Error("user %s was changed by someone else just now; repeat", name)
	}
	a.Tell("%s: done", name)
	return nil
}

// roleOf parses the name of a role, in English or Portuguese.
func roleOf(a *cli.App, text string) (trade.Role, error) {
	if role, ok := config.RoleNamed(text); ok {
		return role, nil
	}
	return "", a.Usage("there is no role %q; the roles are reader, accountant and administrator", text)
}

// readPassword asks for a password without showing it, or reads the first line of standard input.
// It returns the hash to store.
func readPassword(a *cli.App, name string, f userFlags) (string, error) {
	var password string
	if f.stdin {
		line, err := bufio.NewReader(io.LimitReader(a.Stdin, 4096)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		password = strings.TrimRight(line, "\r\n")
	} else {
		file, ok := a.Stdin.(*os.File)
		if !ok || !cli.IsTerminal(a.Stdin) {
			return "", a.Usage("there is no terminal to ask for the password: use --password-stdin")
		}
		var again string
		if err := errors.Join(askSecret(a, file, "Password (at least 12 characters; it is not shown): ", &password),
			askSecret(a, file, "Repeat the password: ", &again)); err != nil {
			return "", err
		}
		if password != again {
			return "", a.Error("the two passwords are not the same")
		}
	}
	if fault := auth.PasswordFault(password, name); fault != "" {
		return "", a.Error(fault)
	}
	return auth.HashPassword(password), nil
}

func askSecret(a *cli.App, file *os.File, question i18n.Key, answer *string) error {
	_, _ = io.WriteString(a.Stderr, a.Text(question))
	text, err := term.ReadPassword(int(file.Fd()))
	_, _ = io.WriteString(a.Stderr, "\n")
	*answer = string(text)
	return err
}
