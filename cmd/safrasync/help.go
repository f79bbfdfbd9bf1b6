package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/phrase"
)

// groupExample is the command of each group whose example stands beside its title.
var groupExample = map[string]string{
	"setup": "check", "run": "sync", "look": "why", "decide": "retry", "ledger": "backup",
}

// addGroup adds commands under a heading of the help.
func addGroup(a *cli.App, root *cobra.Command, id string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: id, Title: a.Text("group." + id)})
	for _, cmd := range commands {
		cmd.GroupID = id
		root.AddCommand(cmd)
	}
}

// flagFault returns an error of the library as a sentence.
func flagFault(err error) error {
	var unknown *pflag.NotExistError
	var lacking *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	var misspelled *pflag.InvalidSyntaxError
	switch {
	case errors.As(err, &unknown):
		if in := unknown.GetSpecifiedShortnames(); in != "" {
			return phrase.New("unknown shorthand flag: '%.1s' in -%s", unknown.GetSpecifiedName(), in)
		}
		return phrase.New("unknown flag: --%s", unknown.GetSpecifiedName())
	case errors.As(err, &lacking):
		if in := lacking.GetSpecifiedShortnames(); in != "" {
			return phrase.New("flag needs an argument: '%.1s' in -%s", lacking.GetSpecifiedName(), in)
		}
		return phrase.New("flag needs an argument: --%s", lacking.GetSpecifiedName())
	case errors.As(err, &misspelled):
		return phrase.New("bad flag syntax: %s", misspelled.GetSpecifiedFlag())
	case errors.As(err, &invalid):
		wants := invalid.Unwrap()
		switch invalid.GetFlag().Value.Type() {
		case "bool":
			wants = phrase.New("true or false is wanted")
		case "int", "int64", "uint64":
			wants = phrase.New("a whole number is wanted")
			if errors.Is(invalid, strconv.ErrRange) {
				wants = phrase.New("it is too large")
			}
		case "duration":
			wants = phrase.New("a duration is wanted, as in 300ms")
		}
		return phrase.New("invalid argument %q for --%s: %w", invalid.GetValue(), invalid.GetFlag().Name, wants)
	}
	return err
}

// translateExamples sets the examples of a command and its sub-commands in the person's language.
func translateExamples(a *cli.App, cmd *cobra.Command) {
	path := strings.TrimPrefix(cmd.CommandPath(), "safrasync ")
	if shell, is := strings.CutPrefix(path, "completion"); is {
		cmd.Short, cmd.Long = a.Text("write the shell script that completes commands, jobs, states and keys"), ""
		if shell == "" {
			shell = " bash"
		}
		cmd.Example = "safrasync completion" + shell
	} else {
		key := strings.NewReplacer(" ", "_", "-", "_").Replace(path)
		cmd.Example = i18n.CLI.Find(a.Lang(), "example."+key)
	}
	for _, sub := range cmd.Commands() {
		translateExamples(a, sub)
	}
}

// translateFlags translates the help of the flags of a command and its sub-commands. Only calls that
// print flags need it, so no other call pays for it.
func translateFlags(a *cli.App, cmd *cobra.Command) {
	told := func(f *pflag.Flag) { f.Usage = a.Voice().Said(f.Usage) }
	cmd.Flags().VisitAll(told)
	cmd.PersistentFlags().VisitAll(told)
	for _, sub := range cmd.Commands() {
		translateFlags(a, sub)
	}
}

// usage returns how a command is called, with its sub-commands in their groups.
func usage(a *cli.App, cmd *cobra.Command) string {
	var b strings.Builder
	head := func(key i18n.Key) { b.WriteString("\n" + a.Text(key) + ":\n") }
	b.WriteString(a.Text("Usage") + ":\n")
	if cmd.Runnable() {
		b.WriteString("  " + cmd.UseLine() + "\n")
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("  " + cmd.CommandPath() + " " + a.Text("COMMAND") + "\n")
	}
	if cmd.HasExample() {
		head("Example")
		b.WriteString("  " + strings.ReplaceAll(cmd.Example, "\n", "\n  ") + "\n")
	}
	listed := func(group, title string) {
		for _, sub := range cmd.Commands() {
			if sub.GroupID != group || !sub.IsAvailableCommand() {
				continue
			}
			if title != "" {
				b.WriteString("\n" + title + ":\n")
				title = ""
			}
			fmt.Fprintf(&b, "  %-*s %s\n", max(sub.NamePadding(), 13), sub.Name(), sub.Short)
		}
	}
	for _, g := range cmd.Groups() {
		title := g.Title
		if shown, _, _ := cmd.Find([]string{groupExample[g.ID]}); !shown.Hidden {
			title = a.Text("%s, e.g. %s", title, shown.Example)
		}
		listed(g.ID, title)
	}
	listed("", a.Text("Commands"))
	if cmd.Parent() == nil {
		fmt.Fprintf(&b, "\n%s:\n  %-13s %s\n", a.Text("Other pages"), "help decide", a.Text("retry, resend, resync or release: which one?"))
	}
	if cmd.HasAvailableLocalFlags() {
		head("Flags")
		b.WriteString(flagUsages(a, cmd.LocalFlags()))
	}
	if cmd.HasAvailableInheritedFlags() {
		head("Global flags")
		b.WriteString(flagUsages(a, cmd.InheritedFlags()))
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("\n" + fmt.Sprintf(a.Text(`Use "%s COMMAND --help" for more about a command.`), cmd.CommandPath()) + "\n")
	}
	return b.String()
}

// flagUsages returns the list of flags, with the library's word for a default translated.
func flagUsages(a *cli.App, flags *pflag.FlagSet) string {
	return strings.ReplaceAll(flags.FlagUsages(), "(default ", "("+a.Text("default:")+" ")
}
