//go:build manpages

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/phrase"
)

// main writes the manual pages and the shells' completions of the packages to a folder that becomes
// /usr/share. It is a program of its own, so that the code that makes pages is not in the installed
// one. SOURCE_DATE_EPOCH sets their date.
func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "give the folder that becomes /usr/share")
		os.Exit(cli.ExitUsage)
	}
	if err := writeManual(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(cli.ExitFailed)
	}
}

func writeManual(share string) error {
	for folder, language := range map[string]string{"man/man1": "en", "man/pt_BR/man1": "pt_BR"} {
		folder = filepath.Join(share, folder)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
		root, a := rootIn(language)
		root.Long += "\n\n```\n" + a.Text("help.decide_long") + "\n```\n" + a.Text("manual.more")
		header := &doc.GenManHeader{Section: "1", Source: "safrasync " + version, Manual: a.Text("safrasync manual")}
		if err := doc.GenManTree(root, header, folder); err != nil {
			return phrase.Errorf("the manual pages in %s: %w", folder, err)
		}
	}
	root, _ := rootIn("en")
	for file, write := range map[string]func(io.Writer) error{
		"bash-completion/completions/safrasync": func(w io.Writer) error {
			return root.GenBashCompletionV2(w, true)
		},
		"zsh/_safrasync": root.GenZshCompletion,
		"fish/vendor_completions.d/safrasync.fish": func(w io.Writer) error { return root.GenFishCompletion(w, true) },
	} {
		var text bytes.Buffer
		if err := write(&text); err != nil {
			return phrase.Errorf("the completions in %s: %w", file, err)
		}
		file = filepath.Join(share, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, text.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// rootIn returns the commands in a language, as if the environment had set it.
func rootIn(language string) (*cobra.Command, *cli.App) {
	a := &cli.App{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Env: func(name string) (string, bool) { return language + ".UTF-8", name == "LANG" },
	}
	root := newRootCommand(a)
	root.DisableAutoGenTag = true
	root.InitDefaultCompletionCmd()
	translateFlags(a, root)
	return root, a
}
