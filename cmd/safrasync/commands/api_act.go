package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/trade"
)

// apiCall is a call made by a person that changes something on the platform or may cost money.
type apiCall struct {
	act    string // name in the audit, such as "api webhooks create"
	verb   string
	path   string // of the endpoint, without id or number
	target string // for the audit: an event, an id or a masked document
	fields []apiField
	notes  []i18n.Key // what a person should know before the call
	doubt  i18n.Key   // what to do if the outcome is unknown
	send   func(context.Context, *apiclient.Client) (apiclient.Answer, error)
}

// apiField is a field in the plan, with as much of its value as may be shown.
type apiField struct{ name, shown string }

// apiAudit is the detail of a call's two audit records. It contains no document number, name or
// body.
type apiAudit struct {
	Call     string   `json:"call"`     // identifies the call; the same in both records
	Phase    string   `json:"phase"`    // "before" or "after"
	Request  string   `json:"request"`  // verb and path
	Platform string   `json:"platform"` // base address: shows whether it was the sandbox
	Outcome  string   `json:"outcome,omitempty"`
	ID       string   `json:"id,omitempty"`
	Status   int      `json:"status,omitempty"`
	Messages []string `json:"messages,omitempty"`
	Fault    string   `json:"fault,omitempty"`
}

// actByHand shows the plan, asks, writes the intent to the audit, sends once, and writes the
// outcome to the audit. A first record without a second one means that the program died in between:
// the outcome of the call is unknown.
func actByHand(ctx context.Context, a *cli.App, c apiCall, f cli.ActFlags) error {
	config, err := a.LoadConfig()
	if err != nil {
		return err
	}
	client, err := a.OpenAPI()
	if err != nil {
		return err
	}
	a.Tell("This would be sent: %s %s to %s", c.verb, c.path, config.API.BaseURL)
	for _, f := range c.fields {
		a.Tell("  %s: %s", f.name, f.shown)
	}
	for _, note := range c.notes {
		a.Tell("  ! %s", a.Text(note))
	}
	open, err := openCall(ctx, a, c)
	if err != nil {
		return err
	}
	if open != nil {
		a.Tell("  ! %s", a.Text("The audit has an identical request of %s (%s) whose outcome is unknown. This would be a second one.", a.Voice().Moment(open.At), open.Who))
	}
	if err := a.Confirm(f.Yes); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil { // interrupted during the question
		a.Tell("Nothing was changed.")
		return cli.ErrFailed
	}
	o, err := a.Office(ctx, cli.ToWrite, cli.NoERP)
	if err != nil {
		return err
	}
	detail := apiAudit{
		Call: uuid.Must(uuid.NewV7()).String(), Phase: "before", Request: c.verb + " " + c.path,
		Platform: config.API.BaseURL,
	}
	if err := o.Note(ctx, c.act, c.target, detail, a.Person(f)); err != nil {
		return err
	}
	// From here on signals are ignored: a call that is cut off has an unknown outcome.
	ctx = context.WithoutCancel(ctx)
	answer, sendErr := c.send(ctx, client)
	detail.Phase, detail.Outcome = "after", outcomeWord(c, answer, sendErr)
	detail.Status, detail.ID = answer.Status, answer.ID
	for _, m := range answer.Messages { // the API's own keys contain no personal data
		if apiclient.IsMessageKey(m) {
			detail.Messages = append(detail.Messages, m)
		}
	}
	if _, _, notID := apiclient.ParseDocument(detail.ID); notID == nil { // the id of a credit score may be any text
		detail.ID = maskDocument(detail.ID)
	}
	if failure, ok := errors.AsType[*apiclient.CallError](sendErr); ok && failure.Fault != apiclient.FaultNone {
		detail.Fault = failure.Fault.String()
	}
	if err = o.Note(ctx, c.act, c.target, detail, a.Person(f)); err != nil {
		a.Tell("The outcome below was NOT recorded in the audit; write it down.") // the outcome is printed all the same
	}
	return errors.Join(printOutcome(a, c, answer, sendErr), err)
}

// The outcomes of a call by hand that is not a POST. A POST has the client's outcomes, which are
// about a record: created, not_created and so on.
const (
	outcomeDone    = "done"    // PUT, DELETE: the platform confirmed it. GET: it answered
	outcomeRefused = "refused" // PUT, DELETE, GET: the platform refused it
)

func outcomeWord(c apiCall, answer apiclient.Answer, err error) string {
	switch {
	case c.verb == "POST":
		return answer.Known.String()
	case err == nil:
		return outcomeDone
	case answer.Known == apiclient.NotCreated:
		return outcomeRefused
	}
	return answer.Known.String()
}

// auditLooked is how many records of the same call are searched for an earlier call with an unknown outcome.
const auditLooked = 2000

// openCall returns the latest call of this kind for the same target, if its outcome is unknown;
// otherwise nil. Different documents may have the same masked form, so this is a warning, not a
// proof.
func openCall(ctx context.Context, a *cli.App, c apiCall) (*trade.AuditRecord, error) {
	if c.verb != "POST" {
		return nil, nil // may be repeated without harm
	}
	o, err := a.Office(ctx, cli.ToRead, cli.NoERP)
	if err != nil {
		return nil, err
	}
	page, err := o.AuditPage(ctx, trade.AuditQuery{Act: c.act, Target: c.target, Limit: auditLooked})
	if err != nil {
		return nil, err
	}
	settled := map[string]bool{} // calls with a second record, which is read before the first
	for i, r := range page.Records {
		var d apiAudit
		if r.Target != c.target || json.Unmarshal([]byte(r.Detail), &d) != nil || settled[d.Call] {
			continue
		}
		if d.Phase == "before" || d.Outcome == apiclient.Unknown.String() ||
			d.Outcome == apiclient.CreatedIDUnknown.String() {
			return &page.Records[i], nil
		}
		settled[d.Call] = true
	}
	return nil, nil
}

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
