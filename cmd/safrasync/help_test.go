package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// everyCommand returns the commands in a language, and hands over each that people see.
func everyCommand(lang string, see func(root, cmd *cobra.Command)) *cobra.Command {
	a := &cli.App{
		Stdin: strings.NewReader(""), Stdout: os.Stdout, Stderr: os.Stderr,
		Env:        func(name string) (string, bool) { return lang, name == "LANG" },
		Completing: true,
	}
	root := newRootCommand(a)
	translateFlags(a, root)
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		see(root, cmd)
		for _, sub := range cmd.Commands() {
			if !sub.Hidden {
				walk(sub)
			}
		}
	}
	walk(root)
	return root
}

func TestEachCommandHasAnExampleThatItTakes(t *testing.T) {
	t.Parallel()
	for _, lang := range []string{"pt_BR.UTF-8", "en_US.UTF-8"} {
		examples := 0
		everyCommand(lang, func(root, cmd *cobra.Command) {
			if cmd.HasSubCommands() && cmd.Example == "" || cmd.IsAdditionalHelpTopicCommand() {
				return
			}
			args := wordsOf(strings.TrimPrefix(cmd.Example, "safrasync "))
			found, rest, err := root.Find(args)
			if err != nil || found != cmd {
				t.Errorf("%s: the example %q of %s is one of another command: %v", lang, cmd.Example, cmd.CommandPath(), err)
				return
			}
			if err := cmd.ParseFlags(rest); err != nil {
				t.Errorf("%s: the example %q: %v", lang, cmd.Example, err)
			} else if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
				t.Errorf("%s: the example %q: %v", lang, cmd.Example, err)
			}
			examples++
		})
		if examples < 60 {
			t.Errorf("%s: only %d examples were found", lang, examples)
		}
	}
}

// wordsOf reads a command line with quotes, and without what follows >.
func wordsOf(line string) []string {
	line, _, _ = strings.Cut(line, " > ")
	var out []string
	for i, part := range strings.FieldsFunc(line, func(r rune) bool { return r == '"' || r == '\'' }) {
		if i%2 == 1 {
			out = append(out, part)
			continue
		}
		out = append(out, strings.Fields(part)...)
	}
	return out
}

func TestOneLanguageIsOnAScreen(t *testing.T) {
	t.Parallel()
	english := map[string]string{} // flags' help by the command
	seen := func(into map[string]string) func(_, cmd *cobra.Command) {
		return func(_, cmd *cobra.Command) {
			into[cmd.CommandPath()] = cmd.Short
			cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { into[cmd.CommandPath()+" --"+f.Name] = f.Usage })
		}
	}
	everyCommand("en_US.UTF-8", seen(english))
	portuguese := map[string]string{}
	everyCommand("pt_BR.UTF-8", seen(portuguese))
	for _, name := range slices.Sorted(maps.Keys(english)) {
		same := portuguese[name] == english[name] &&
			!slices.Contains([]string{"`ROLE`: reader, accountant, administrator", "`TYPE`: PF, PJ"}, english[name])
		if same {
			t.Errorf("%s says %q in Portuguese, too", name, english[name])
		}
	}
}

// No flag shows the name of a type of Go, or a default that nobody would give.
func TestFlagsSayWhatTheyTake(t *testing.T) {
	t.Parallel()
	everyCommand("pt_BR.UTF-8", func(_, cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			name, _ := pflag.UnquoteUsage(f)
			if slices.Contains([]string{"string", "strings", "int", "duration"}, name) || f.DefValue == "-1" {
				t.Errorf("%s --%s takes %q, default %q", cmd.CommandPath(), f.Name, name, f.DefValue)
			}
		})
	})
}

func TestHelpShowsTheCommandsInFiveGroups(t *testing.T) {
	t.Parallel()
	var titles []string
	root := everyCommand("pt_BR.UTF-8", func(root, cmd *cobra.Command) {
		if cmd.Parent() == root && cmd.GroupID == "" && !cmd.IsAdditionalHelpTopicCommand() && cmd.Name() != "help" {
			t.Errorf("%s is in no group", cmd.Name())
		}
	})
	for _, g := range root.Groups() {
		titles = append(titles, g.Title)
	}
	var help bytes.Buffer
	root.SetOut(&help)
	root.SetErr(&help)
	must.Do(t, root.Usage())
	for _, g := range root.Groups() {
		example, _, _ := root.Find([]string{groupExample[g.ID]})
		if !strings.Contains(help.String(), g.Title+", p. ex. "+example.Example) || example.GroupID != g.ID {
			t.Errorf("the group %s has no example of its own:\n%s", g.ID, help.String())
		}
	}
	if got := strings.Join(titles, ", "); got != "Preparar, Executar, Consultar, Decidir, Registro local" {
		t.Errorf("groups = %s", got)
	}
}

func TestEachActOfTheTableHasACommandWithItsFlags(t *testing.T) {
	t.Parallel()
	found := 0
	everyCommand("pt_BR.UTF-8", func(_, cmd *cobra.Command) {
		kind, is := acts.ActNamed(strings.TrimPrefix(cmd.CommandPath(), "safrasync "))
		if !is || kind.Name == acts.ActRun {
			return
		}
		found++
		for name, wanted := range map[string]bool{
			"reason": true, "as": true, "yes": true, "no-id": kind.Gives,
			"state": kind.On == acts.AllRows, "checked": kind.Checked,
		} {
			if has := cmd.Flags().Lookup(name) != nil; has != wanted && kind.On != acts.Other {
				t.Errorf("%s --%s is offered: %t, want %t", kind.Name, name, has, wanted)
			}
		}
	})
	if want := len(acts.Table) - 2; found != want { // sync orders a run, and report a closing
		t.Errorf("%d of %d acts have commands", found, want)
	}
}

func TestShellsAreOfferedJobsStatesAndCauses(t *testing.T) {
	t.Parallel()
	everyCommand("pt_BR.UTF-8", func(_, cmd *cobra.Command) {
		if _, rest, _ := strings.Cut(cmd.Use, " "); strings.Contains(rest, "JOB") && cmd.ValidArgsFunction == nil {
			t.Errorf("%s completes no jobs", cmd.CommandPath())
		}
		for _, flag := range []string{"state", "cause", "job"} {
			if cmd.Flags().Lookup(flag) == nil || cmd.Name() == "sandbox" {
				continue
			}
			if _, ok := cmd.GetFlagCompletionFunc(flag); !ok {
				t.Errorf("%s --%s completes nothing", cmd.CommandPath(), flag)
			}
		}
	})
}

func TestStatesAreTypedInThePersonsLanguageOrInEnglish(t *testing.T) {
	t.Parallel()
	for _, lang := range []string{"pt-BR", "en"} {
		a := &cli.App{Env: func(string) (string, bool) { return lang, true }}
		for _, s := range trade.States {
			label, _, _ := strings.Cut(s.Label(trade.ParseLang(lang)), " (")
			for _, typed := range []string{string(s), label, strings.ToUpper(strings.ReplaceAll(label, " ", "-"))} {
				got, err := cli.ParseStates(a, []string{typed}, trade.States)
				if err != nil || len(got) != 1 || got[0] != s {
					t.Errorf("%s: %q = %v, %v, want %s", lang, typed, got, err, s)
				}
			}
		}
	}
	a := &cli.App{Env: func(string) (string, bool) { return "pt-BR", true }}
	for typed, want := range map[string]trade.State{
		"sem-confirmacao": trade.InDoubt, "Enviadas": trade.Accepted, "rejeitada": trade.Rejected,
		"retiradas": trade.Withdrawn,
		"sem":       trade.InDoubt, "pendentes": trade.Pending,
	} {
		if got, err := cli.ParseStates(a, []string{typed}, trade.States); err != nil || got[0] != want {
			t.Errorf("%q = %v, %v, want %s", typed, got, err, want)
		}
	}
	for _, typed := range []string{"", "duvidosa", "e"} {
		if got, err := cli.ParseStates(a, []string{typed}, trade.States); err == nil {
			t.Errorf("%q = %v, want an error", typed, got)
		}
	}
}

// The file names a language that the environment does not: help, wrong calls and the file's own
// faults are told in it.
func TestTheLanguageIsThatOfTheFileAlsoWhereTheFileIsWrong(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/config.yaml"
	must.Do(t, os.WriteFile(file, []byte("language: en\napi:\n  base_url: ftp://a\n"), 0o600))
	run := func(env string, args ...string) string {
		var out bytes.Buffer
		a := &cli.App{
			Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out,
			Env: func(string) (string, bool) { return env, true },
		}
		execute(t.Context(), a, args)
		return out.String()
	}
	for _, args := range [][]string{{"status"}, {"status", "--nope"}, {"rows", "--help"}} {
		in := run("pt-BR", append(args, "--config", file)...)
		if in != run("en", append(args, "--config="+file)...) || in == run("pt-BR", args...) {
			t.Errorf("%q is told in another language than the file's:\n%s", args, in)
		}
	}
	got := run("pt-BR", "status", "--config", file)
	if !strings.Contains(got, "api.base_url: must begin with https://") {
		t.Errorf("status says\n%s", got)
	}
	must.Do(t, os.WriteFile(file, []byte("api:\n  base_url: ftp://a\n"), 0o600))
	got = run("pt-BR", "status", "--config", file)
	if !strings.Contains(got, "api.base_url: deve começar com https://") {
		t.Errorf("status says\n%s", got)
	}
}

var named = regexp.MustCompile("`safrasync ([a-z][^`]*)`|(?m)^(?:    |\\$ )safrasync ([a-z].*)$")

// A command that a page names exists, in the text and in the blocks, with its flags: whoever reads it at
// night types it.
func TestEachCommandThatAPageNamesExists(t *testing.T) {
	t.Parallel()
	pages := append(must.Get(filepath.Glob("../../docs/*.md"))(t), "../../README.md")
	root := everyCommand("en_US.UTF-8", func(_, _ *cobra.Command) {})
	seen := 0
	for _, page := range pages {
		text := string(must.Get(os.ReadFile(page))(t))
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			if m[1] == "help decide" { // a topic
				continue
			}
			words := wordsOf(m[1] + m[2])
			found, rest, err := root.Find(words)
			if err != nil || found == root {
				t.Errorf("%s names a command that does not exist: safrasync %s", page, strings.Join(words, " "))
				continue
			}
			if found.HasSubCommands() && len(rest) > 0 && strings.ToLower(rest[0]) == rest[0] &&
				!strings.HasPrefix(rest[0], "-") &&
				!found.Runnable() {
				t.Errorf("%s: safrasync %s has no command %s", page, found.Name(), rest[0])
			}
			for _, word := range rest {
				flag, _, _ := strings.Cut(strings.Trim(word, "[](),.;:|"), "=")
				name, long := strings.CutPrefix(flag, "--")
				if long && name != "" && name != "help" && found.Flags().Lookup(name) == nil &&
					found.InheritedFlags().Lookup(name) == nil {
					t.Errorf("%s: safrasync %s has no flag --%s", page, found.CommandPath(), name)
				}
			}
			seen++
		}
	}
	if seen < 150 {
		t.Errorf("the pages name %d commands", seen)
	}
}
