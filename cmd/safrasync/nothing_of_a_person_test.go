package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/english"
	"github.com/safrasync/safrasync/internal/systemd"
	"github.com/safrasync/safrasync/trade"
)

// What the program must never write, wherever it stands in the tests: the key of the platform; and
// a person of the ERP, in columns that the query returns and that no field maps. Every program that a
// test starts leaves a transcript of all that it writes, and the transcripts are searched when all
// tests are over (I10).
const (
	platformCanary = "canary-key-9d41f7"
	canaryName     = "Canário Produtor da Silva"
	canaryDocument = "858.394.220-08"
)

// canaryPerson adds the person to the ERP of the scripts, and to the job that reads it.
const canaryPerson = "CREATE TABLE pessoa (nome TEXT, cpf TEXT); INSERT INTO pessoa VALUES ('" + canaryName + "', '" +
	canaryDocument + "');"

// withPerson reads the person too, in the place of what the sample selects.
const withPerson = "SELECT *, (SELECT nome FROM pessoa) AS produtor_nome, (SELECT cpf FROM pessoa) AS produtor_cpf FROM contrato"

// transcriptsVariable names the folder of the transcripts.
const transcriptsVariable = "SAFRASYNC_TEST_TRANSCRIPTS"

// transcripts is the folder, in the process that made it; the processes of the tests, and those
// that fuzz, leave it to that one.
var transcripts string

func beginTranscripts() {
	if os.Getenv(transcriptsVariable) != "" {
		return
	}
	folder, err := os.MkdirTemp("", "safrasync-transcripts")
	if err == nil {
		err = os.Setenv(transcriptsVariable, folder)
	}
	if err != nil {
		panic(err)
	}
	transcripts = folder
}

// transcribed is the program, with a transcript of what it writes.
func transcribed() {
	if os.Getenv(transcriptsVariable) == "" {
		main()
		return
	}
	app := &cli.App{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Env: os.LookupEnv}
	end, err := transcribe(app, os.Args[1:])
	if err != nil {
		panic(err)
	}
	code := runProgram(app)
	if err := end(); err != nil {
		panic(err)
	}
	os.Exit(code)
}

// inPortuguese begins the names of the transcripts of programs that spoke it to their end.
const inPortuguese = "pt-BR-"

// transcribe lets a program leave a transcript; end is called when it has ended. To a terminal and
// to systemd's journal it writes as ever: it looks whether it speaks to one.
func transcribe(app *cli.App, args []string) (end func() error, err error) {
	file, err := os.CreateTemp(os.Getenv(transcriptsVariable), strings.Join(args[:min(len(args), 1)], "")+"-*")
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(file, "`safrasync %s`\n", strings.Join(args, " "))
	for _, stream := range []*io.Writer{&app.Stdout, &app.Stderr} {
		if !cli.IsTerminal(*stream) && !systemd.ToJournal(*stream) {
			*stream = io.MultiWriter(*stream, file)
		}
	}
	return func() error {
		err := errors.Join(file.Close(), transcribeFiles(app, args))
		if app.Lang() == trade.Portuguese && !slices.Contains(args, "en") && // demo takes the language
			!strings.HasPrefix(strings.Join(args, ""), "__complete") { // a shell reads it
			err = errors.Join(err, os.Rename(file.Name(),
				filepath.Join(filepath.Dir(file.Name()), inPortuguese+filepath.Base(file.Name()))))
		}
		return err
	}, nil
}

// writesTo are the flags that name a file which people read.
var writesTo = []string{"-o", "--output", "--archive", "--page", "--export"}

// transcribeFiles leaves the texts of the files that a program was asked to write, as if it had
// written them to its output.
func transcribeFiles(app *cli.App, args []string) error {
	for i, arg := range args {
		flag, file, joined := strings.Cut(arg, "=")
		if !slices.Contains(writesTo, flag) || !joined && i+1 == len(args) {
			continue
		}
		if !joined {
			file = args[i+1]
		}
		for _, file := range []string{file, file + ".txt"} { // an export has a part for programs, too
			data, err := os.ReadFile(file)
			if err != nil {
				continue // it was not written
			}
			texts, err := english.Texts(file, data)
			if err != nil {
				continue // it is none of ours: the program refused to write over it
			}
			for part, text := range texts {
				name := "file-*"
				if app.Lang() == trade.Portuguese {
					name = inPortuguese + name
				}
				f, err := os.CreateTemp(os.Getenv(transcriptsVariable), name)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(f, "`safrasync %s`: %s\n%s", strings.Join(args, " "), part, text)
				if err := errors.Join(err, f.Close()); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// searchTranscripts looks for the canaries in everything that was written, and for English in what
// was written for people who read Portuguese, and removes it.
func searchTranscripts() error {
	if transcripts == "" {
		return nil
	}
	files, err := os.ReadDir(transcripts)
	if err != nil {
		return err
	}
	digits := strings.NewReplacer(".", "", "-", "")
	var errs []error
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(transcripts, f.Name()))
		if err != nil {
			return err
		}
		for _, canary := range []string{platformCanary, canaryName, canaryDocument, digits.Replace(canaryDocument)} {
			if i := bytes.Index(text, []byte(canary)); i >= 0 {
				errs = append(errs, fmt.Errorf("I10: %s wrote %q: …%s…", f.Name(), canary,
					text[max(0, i-300):min(len(text), i+300)]))
			}
		}
		if !strings.HasPrefix(f.Name(), inPortuguese) {
			continue
		}
		asked, said, _ := strings.Cut(string(text), "\n")
		for _, line := range english.Lines(said) {
			errs = append(errs, fmt.Errorf("English in Portuguese: %s: %s", asked, line))
		}
	}
	return errors.Join(errors.Join(errs...), os.RemoveAll(transcripts))
}
