package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// What the program must never write, wherever it stands in the tests: the key of the platform; and
// a person of the ERP, in columns that the query returns and that no field maps. Every process of
// the program that a test starts leaves a transcript of all that it writes, and the transcripts are
// searched when all tests are over (I10).
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

// transcribed is the program, with a transcript of what it writes. On a terminal it writes as ever:
// a program that asks looks whether it speaks to one.
func transcribed() {
	folder := os.Getenv(transcriptsVariable)
	if info, err := os.Stdout.Stat(); folder == "" || err != nil || info.Mode()&os.ModeCharDevice != 0 {
		main()
		return
	}
	file, err := os.CreateTemp(folder, strings.Join(os.Args[1:min(len(os.Args), 2)], "")+"-*")
	if err != nil {
		panic(err)
	}
	os.Exit(runProgram(io.MultiWriter(os.Stdout, file), io.MultiWriter(os.Stderr, file)))
}

// searchTranscripts looks for the canaries in everything that was written, and removes it.
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
	}
	return errors.Join(errors.Join(errs...), os.RemoveAll(transcripts))
}
