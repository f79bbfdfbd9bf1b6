package commands

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/trade"
)

// outcomeJSON is the --json output of a call that changes something, and of any call that failed
// (docs/json.md).
type outcomeJSON struct {
	Call     string          `json:"call"`
	Outcome  string          `json:"outcome"`
	ID       *string         `json:"id"`
	Status   *int            `json:"status"` // null if no answer came
	Messages []string        `json:"messages"`
	Text     string          `json:"text"`
	Answer   json.RawMessage `json:"answer"` // as received; a string if it is not JSON; null without a body
}

func outcomeOf(c apiCall, answer apiclient.Answer, err error) outcomeJSON {
	out := outcomeJSON{
		Call: c.act, Outcome: outcomeWord(c, answer, err), ID: trade.OrNull(answer.ID),
		Status:   trade.OrNull(answer.Status),
		Messages: office.OrEmpty(answer.Messages),
	}
	if err != nil {
		out.Text = err.Error()
	}
	if json.Valid(answer.Body) {
		out.Answer = answer.Body
	} else if shown := answer.Excerpt(); shown != "" {
		out.Answer, _ = json.Marshal(shown)
	}
	return out
}

// printOutcome prints the outcome of a call that changes something. It returns an error unless the
// call succeeded.
func printOutcome(a *cli.App, c apiCall, answer apiclient.Answer, err error) error {
	var printErr error
	if a.AsJSON {
		printErr = a.PrintJSON(outcomeOf(c, answer, err))
	}
	if err == nil {
		if !a.AsJSON {
			switch {
			case answer.ID != "":
				a.Show("Created: %s", answer.ID)
			case c.verb == "DELETE":
				a.Show("Removed.")
			default:
				a.Show("Changed.")
			}
			if members, err := readMembers(answer.Body); err == nil && len(members) > 1 { // more than the id
				printRecord(a, answer.Body)
			}
		}
		return printErr
	}
	switch word := outcomeWord(c, answer, err); word {
	case apiclient.NotSent.String():
		printFailure(a, "Nothing was sent: %v.", "", err)
	case apiclient.NotCreated.String(), outcomeRefused:
		printFailure(a, "The platform refused the request; nothing was done: %v.", "", err)
	case apiclient.Throttled.String():
		printFailure(a, "Nothing was done: %v.", "", err)
	case apiclient.CreatedIDUnknown.String():
		printFailure(a, "The platform reports success, but without a readable id: %v.", a.Text(c.doubt), err)
	default:
		printFailure(a, "IT IS UNKNOWN whether the request was executed: %v.", a.Text(c.doubt), err)
	}
	return errors.Join(cli.ErrFailed, printErr)
}

// member is one field of a JSON object; a list of members keeps the order of the fields.
type member struct {
	name  string
	value json.RawMessage
}

func readMembers(doc json.RawMessage) ([]member, error) {
	d := json.NewDecoder(bytes.NewReader(doc))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return nil, errors.New("not a JSON object")
	}
	var out []member
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		text, _ := name.(string)
		out = append(out, member{text, value})
	}
	return out, nil
}

// printRecord prints a record for people: every field received, known or not.
func printRecord(a *cli.App, doc json.RawMessage) {
	members, err := readMembers(doc)
	if err != nil { // not an object: printed as it is
		a.PrintIndented(doc)
		return
	}
	t := a.NewTable("Field", "Value")
	t.SetColumnConfigs([]table.ColumnConfig{{Number: 2, WidthMax: 80, WidthMaxEnforcer: text.WrapSoft}})
	for _, m := range members {
		value := string(m.value)
		var text string
		var compact bytes.Buffer
		switch {
		case value == "null":
			value = ""
		case json.Unmarshal(m.value, &text) == nil: // without quotes
			value = text
		case json.Compact(&compact, m.value) == nil:
			value = compact.String()
		}
		t.AppendRow(table.Row{words.Printable(m.name), words.Printable(value)})
	}
	t.Render()
}

// maskDocument returns a CPF or CNPJ with only its middle visible: enough to recognise a known
// number, too little to learn it.
func maskDocument(number string) string {
	number, _, err := apiclient.ParseDocument(number)
	switch {
	case err != nil:
		return "***"
	case len(number) == 11:
		return "***." + number[3:6] + "." + number[6:9] + "-**"
	}
	return "**." + number[2:5] + "." + number[5:8] + "/****-**"
}

// printFailure prints why a call failed, what to do next, and the technical detail. The platform's
// own text is printed only for a conflict, or a 4xx in a form that its document does not show.
// Other bodies are not shown to people, because they may contain personal data; --json prints them.
func printFailure(a *cli.App, sentence i18n.Key, next string, err error) {
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
