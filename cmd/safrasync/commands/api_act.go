package commands

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/google/uuid"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/i18n"
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
