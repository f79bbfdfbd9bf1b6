package api

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/words"
)

// tellFailure prints why a call failed, what to do next, and the technical detail. The platform's
// own text is printed only for a conflict, or a 4xx in a form that its document does not show.
// Other bodies are not shown to people, because they may contain personal data; --json prints them.
func tellFailure(a *cli.App, sentence i18n.Key, next string, err error) {
	var e *apiclient.CallError
	if !errors.As(err, &e) {
		a.Tell(sentence, err)
		return
	}
	f := words.FailureOf(a.Voice(), e)
	a.Tell(sentence, f.What)
	if next == "" {
		next = f.Next
	}
	a.Tell("  → %s", next)
	if said := e.Text; said != "" && (e.Status == http.StatusConflict || e.Status/100 == 4 &&
		e.Format == apiclient.FormatD) && !slices.ContainsFunc(e.Messages, apiclient.IsMessageKey) {
		a.Tell("  the platform says: %s", words.Printable(said))
	}
	a.Tell("  technical detail: %v", err)
}

// fieldPhrases are the texts for what the client finds wrong with a request before it is sent.
var fieldPhrases = map[apiclient.Problem]i18n.Key{
	apiclient.ProblemMissing: "%s is missing", apiclient.ProblemEntry: "%s has an empty entry",
	apiclient.ProblemEncoding: "%s is not UTF-8; check the charset of the terminal or the file",
	apiclient.ProblemNumber:   "%s is not a number such as 1250.5", apiclient.ProblemDocument: "%s is not a valid CPF or CNPJ; check its digits",
	apiclient.ProblemCredentials: "%s must be user:password",
	apiclient.ProblemMonths:      "%s is not a number of months from 1 to 999",
}

// usageOf turns the client's errors about a request's fields into a usage error in the person's
// language. It returns any other error, and nil, unchanged.
func usageOf(a *cli.App, err error) error {
	var e *apiclient.RequestError
	if !errors.As(err, &e) {
		return err
	}
	faults := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		name := "--" + strings.ReplaceAll(f.Field, "_", "-")
		p, ok := fieldPhrases[f.Problem]
		switch {
		case f.Problem == apiclient.ProblemTooLong:
			faults[i] = a.Text("%s is too long: the platform accepts at most %d characters", name, f.Limit)
		case ok:
			faults[i] = a.Text(p, name)
		default:
			faults[i] = a.Voice().Fault(f.Phrase())
		}
	}
	return &cli.UsageError{Text: strings.Join(faults, "; ")}
}
