package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/safrasync/safrasync/console/auth"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/trade"
)

// userFlags are those of what changes a user.
type userFlags struct {
	actFlags
	role  string
	stdin bool
}

func newUsersCommand(a *App) *cobra.Command {
	group := a.group("users", "help.users")
	list := a.command("list", "help.users_list", exactly(0),
		func(cmd *cobra.Command, _ []string) error { return a.listUsers(cmd.Context()) })
	group.AddCommand(list)
	change := func(use string, help i18n.Key, args int, do func(ctx context.Context, args []string, f userFlags) error,
		flags ...func(*cobra.Command, *userFlags),
	) {
		var f userFlags
		cmd := a.command(use, help, exactly(args),
			func(cmd *cobra.Command, args []string) error { return do(cmd.Context(), args, f) })
		cmd.Flags().StringVar(&f.reason, "reason", "", "why, `TEXT` for the audit")
		cmd.Flags().StringVar(&f.as, "as", "",
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
		cmd.Flags().StringVar(&f.role, "role", string(trade.Reader), "`ROLE`: "+listed(trade.Roles))
		completes(cmd, "role", trade.Roles)
	}
	change("add NAME", "help.users_add", 1, a.addUser, role, password)
	change("password NAME", "help.users_password", 1, a.setPassword, password)
	change("role NAME ROLE", "help.users_role", 2, a.setRole)
	change("disable NAME", "help.users_disable", 1, func(ctx context.Context, args []string, f userFlags) error {
		return a.changeUser(ctx, args[0], f, "user disable",
			func(u *trade.User) error { u.Disabled = true; return nil })
	})
	change("enable NAME", "help.users_enable", 1, func(ctx context.Context, args []string, f userFlags) error {
		return a.changeUser(ctx, args[0], f, "user enable",
			func(u *trade.User) error { u.Disabled = false; return nil })
	})
	change("end NAME", "help.users_end", 1, func(ctx context.Context, args []string, f userFlags) error {
		return a.changeUser(ctx, args[0], f, "user end", func(*trade.User) error { return nil })
	})
	change("link NAME SUBJECT", "help.users_link", 2, a.linkUser)
	return group
}

// userJSON is one line of `users list --json`.
type userJSON struct {
	Name       string     `json:"name"`
	Role       trade.Role `json:"role"`
	Disabled   bool       `json:"disabled"`
	CreatedAt  time.Time  `json:"created_at"`
	PasswordAt time.Time  `json:"password_at"`
	Issuer     string     `json:"issuer"` // "" = a password of this ledger
	Subject    string     `json:"subject"`
}

func (a *App) listUsers(ctx context.Context) error {
	store, err := a.openLedger(ctx, toRead)
	if err != nil {
		return err
	}
	users, err := store.Users(ctx)
	if err != nil {
		return err
	}
	if a.asJSON {
		for _, u := range users {
			if err := a.printJSON(userJSON{
				u.Name, u.Role, u.Disabled, u.CreatedAt, u.PasswordAt, u.Issuer,
				u.Subject,
			}); err != nil {
				return err
			}
		}
		return nil
	}
	if len(users) == 0 {
		a.tell("users.nobody")
		return nil
	}
	v := a.voice()
	rows := [][]string{{
		a.text("users.head_name"), a.text("users.head_role"), a.text("users.head_state"),
		a.text("users.head_since"),
	}}
	for _, u := range users {
		standing := i18n.Key("users.active")
		if u.Disabled {
			standing = "users.disabled"
		}
		comes := ""
		if u.Issuer != "" {
			comes = a.text("users.comes", u.Issuer)
		}
		rows = append(rows, []string{
			printable(u.Name), v.text(i18n.Key("role." + string(u.Role))),
			a.text(standing) + comes, v.moment(u.CreatedAt),
		})
	}
	a.printColumns(rows)
	return nil
}

// printColumns writes lines whose columns stand below each other.
func (a *App) printColumns(rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, text := range row {
			widths[i] = max(widths[i], len([]rune(text)))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, text := range row {
			line.WriteString(text + strings.Repeat(" ", widths[i]-len([]rune(text))+2))
		}
		a.line(strings.TrimRight(line.String(), " "))
	}
}

func (a *App) addUser(ctx context.Context, args []string, f userFlags) error {
	role, err := a.roleOf(f.role)
	if err != nil {
		return err
	}
	name := auth.NewUserName(args[0])
	if name == "" {
		return a.usage("users.no_name")
	}
	store, err := a.openLedger(ctx, toWrite)
	if err != nil {
		return err
	}
	if _, err := store.User(ctx, name); err == nil {
		return errors.New(a.text("users.taken", name))
	} else if !errors.Is(err, trade.ErrNobody) {
		return err
	}
	hash, err := a.readPassword(name, f)
	if err != nil {
		return err
	}
	record, err := a.audit(f.actFlags, "user add", name, map[string]trade.Role{"role": role})
	if err != nil {
		return err
	}
	err = store.AddUser(ctx, trade.User{Name: name, Role: role, Password: hash}, record)
	if errors.Is(err, trade.ErrTaken) {
		return errors.New(a.text("users.taken", name))
	}
	if err == nil {
		a.tell("users.done", name)
	}
	return err
}

func (a *App) setRole(ctx context.Context, args []string, f userFlags) error {
	role, err := a.roleOf(args[1])
	if err != nil {
		return err
	}
	return a.changeUser(ctx, args[0], f, "user role", func(u *trade.User) error { u.Role = role; return a.here(*u) })
}

// here refuses what an issuer would set again, or nobody would ever type.
func (a *App) here(u trade.User) error {
	if u.Issuer == "" {
		return nil
	}
	return errors.New(a.text("users.elsewhere", u.Name, u.Issuer))
}

// subjectMost is how long the name may be by which an issuer knows a person: OpenID Connect allows
// no more.
const subjectMost = 255

// linkUser makes a user the one whom the issuer of the configuration names. It is the only way in
// which somebody gets a name that was there before.
func (a *App) linkUser(ctx context.Context, args []string, f userFlags) error {
	config, err := a.loadConfig()
	if err != nil {
		return err
	}
	if config.Console.OIDC == nil {
		return a.usage("users.no_issuer")
	}
	subject := strings.TrimSpace(args[1])
	if subject == "" || len(subject) > subjectMost {
		return a.usage("users.no_subject")
	}
	err = a.changeUser(ctx, args[0], f, "user link", func(u *trade.User) error {
		u.Issuer, u.Subject, u.Password = config.Console.OIDC.Issuer, subject, ""
		return nil
	})
	if errors.Is(err, trade.ErrTaken) {
		return errors.New(a.text("users.linked", subject))
	}
	return err
}

// setPassword gives a user a password of this ledger. Who came by an issuer comes by that no more:
// it is the way back from link.
func (a *App) setPassword(ctx context.Context, args []string, f userFlags) error {
	return a.changeUser(ctx, args[0], f, "user password", func(u *trade.User) (err error) {
		u.Password, err = a.readPassword(u.Name, f)
		u.PasswordAt, u.Issuer, u.Subject = now(), "", ""
		return err
	})
}

// changeUser changes a user, whose sessions end.
func (a *App) changeUser(ctx context.Context, name string, f userFlags, act string,
	change func(*trade.User) error,
) error {
	name = auth.UserName(name)
	store, err := a.openLedger(ctx, toWrite)
	if err != nil {
		return err
	}
	user, err := store.User(ctx, name)
	if errors.Is(err, trade.ErrNobody) {
		return errors.New(a.text("users.unknown", name))
	}
	if err != nil {
		return err
	}
	before := user
	if err := change(&user); err != nil {
		return err
	}
	view := func(u trade.User) map[string]any {
		out := map[string]any{"role": u.Role, "disabled": u.Disabled}
		if u.Issuer != "" {
			out["issuer"], out["subject"] = u.Issuer, u.Subject
		}
		return out
	}
	record, err := a.audit(f.actFlags, act, name, map[string]any{"before": view(before), "after": view(user)})
	if err != nil {
		return err
	}
	done, err := store.ChangeUser(ctx, user, record)
	switch {
	case errors.Is(err, trade.ErrLastAdministrator):
		return errors.New(a.text("users.last"))
	case err != nil:
		return err
	case !done:
		return errors.New(a.text("users.moved", name))
	}
	a.tell("users.done", name)
	return nil
}

// roleOf reads a role by its name, in English or Portuguese.
func (a *App) roleOf(text string) (trade.Role, error) {
	if role, ok := roleNamed(text); ok {
		return role, nil
	}
	return "", a.usage("users.no_role", text)
}

// readPassword asks for a password without showing it, or takes the first line of standard input.
// It gives what is stored of it.
func (a *App) readPassword(name string, f userFlags) (string, error) {
	var password string
	if f.stdin {
		line, err := bufio.NewReader(io.LimitReader(a.Stdin, 4096)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		password = strings.TrimRight(line, "\r\n")
	} else {
		file, ok := a.Stdin.(*os.File)
		if !ok || !isTerminal(a.Stdin) {
			return "", a.usage("users.no_asking")
		}
		var again string
		if err := errors.Join(a.askSecret(file, "users.ask", &password),
			a.askSecret(file, "users.ask_again", &again)); err != nil {
			return "", err
		}
		if password != again {
			return "", errors.New(a.text("users.differ"))
		}
	}
	if fault := auth.PasswordFault(password, name); fault != "" {
		return "", errors.New(a.text(i18n.Key(fault)))
	}
	return auth.HashPassword(password), nil
}

func (a *App) askSecret(file *os.File, question i18n.Key, answer *string) error {
	_, _ = io.WriteString(a.Stderr, a.text(question))
	text, err := term.ReadPassword(int(file.Fd()))
	_, _ = io.WriteString(a.Stderr, "\n")
	*answer = string(text)
	return err
}
