package commands

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/trade"
)

// NewAPICommand makes the command api, which calls the API's endpoints by hand. It cannot create order
// commitments, deliveries or traceability records: only the ledger can keep those from being sent
// twice.
//
// Flags have the names of the document's fields with hyphens: person_type and personType are both
// --person-type.
func NewAPICommand(a *cli.App) *cobra.Command {
	group := a.Group("api", "call the API by hand: lookups, credit and webhooks")

	commitments := a.Group("order-commitments", "order commitments on the platform (only sync creates them)")
	commitments.AddCommand(getCommand(a, "ID", "show an order commitment", apiID,
		(*apiclient.Client).GetOrderCommitment))

	producers := a.Group("producers", "producers on the platform")
	producers.AddCommand(getCommand(a, "DOCUMENT", "look a producer up by CPF or CNPJ", apiDocument,
		(*apiclient.Client).GetProducerByDocument))

	var q apiclient.ConsentQuery
	var personType string
	var consent *cobra.Command
	consent = a.Command("consent --identity DOCUMENT --person-type TYPE", "a producer's consent", cli.Exactly(0), func(ctx context.Context, _ []string) error {
		if err := needFlags(a, consent, "identity", "person-type"); err != nil {
			return err
		}
		var err error
		q.Identity, err = apiDocument(a, "--identity", q.Identity)
		if err != nil {
			return err
		}
		q.PersonType, err = apiPersonType(a, personType)
		if err != nil {
			return err
		}
		q.CorporateIdentity, err = apiCNPJ(a, q.CorporateIdentity)
		if err != nil {
			return err
		}
		return readByHand(ctx, a, q, (*apiclient.Client).GetConsent)
	})
	flags := consent.Flags()
	flags.StringVar(&q.Identity, "identity", "", "the producer's `CPF or CNPJ`")
	flags.StringVar(&personType, "person-type", "", a.Phrase("`TYPE`: %s", cli.Listed(apiclient.PersonTypes)))
	flags.StringVar(&q.CorporateIdentity, "corporate-identity", "", "`CNPJ` of the company when a PJ is linked to a PF")
	cli.Completes(a, consent, "person-type", apiclient.PersonTypes)

	group.AddCommand(commitments, consent, newAPICreditScoreCommand(a), newAPICreditAnalysisCommand(a),
		producers, newAPIWebhooksCommand(a))
	return group
}

// record is a record as the platform returned it.
type record interface{ AsReceived() apiclient.Received }

// getCommand makes a command that reads the record which its only argument names.
func getCommand[T any, R record](a *cli.App, name string, help i18n.Key,
	parse func(a *cli.App, name, text string) (T, error), read func(*apiclient.Client, context.Context, T) (R, error),
) *cobra.Command {
	return a.Command("get "+name, help, cli.Exactly(1), func(ctx context.Context, args []string) error {
		of, err := parse(a, name, args[0])
		if err != nil {
			return err
		}
		return readByHand(ctx, a, of, read)
	})
}

// readByHand sends one GET and prints the record.
func readByHand[T any, R record](ctx context.Context, a *cli.App, of T,
	read func(*apiclient.Client, context.Context, T) (R, error),
) error {
	client, err := a.OpenAPI()
	if err != nil {
		return err
	}
	found, err := read(client, ctx, of)
	if err != nil {
		return readFailed(a, err)
	}
	received := found.AsReceived()
	if a.AsJSON {
		return a.PrintJSON(received.Raw)
	}
	if len(received.Unread) > 0 {
		a.Tell("Fields in an unknown format: %s", cli.Listed(received.Unread))
	}
	printRecord(a, received.Raw)
	return nil
}

// readFailed prints why a GET failed and returns the error for the exit code. With --json it also
// prints the failure as an object, including the body.
func readFailed(a *cli.App, err error) error {
	var failure *apiclient.CallError
	if !errors.As(err, &failure) {
		return err
	}
	printFailure(a, "The lookup failed: %v.", "", err)
	if !a.AsJSON {
		return cli.ErrFailed
	}
	return errors.Join(cli.ErrFailed,
		a.PrintJSON(outcomeOf(apiCall{verb: "GET", act: failure.Op}, failure.Answer, err)))
}

// apiID reads an id, which must be a UUID. The error does not quote the text: it may be a document
// number.
func apiID(a *cli.App, name, text string) (string, error) {
	id, err := trade.ParseID(text)
	if err != nil {
		return "", a.Usage("%s must be a UUID", name)
	}
	return id, nil
}

// apiDocument reads a CPF or CNPJ. The error does not quote the number.
func apiDocument(a *cli.App, name, text string) (string, error) {
	number, wrong := readDocument(text)
	if wrong != "" {
		return "", a.Usage(wrong, name)
	}
	return number, nil
}

// apiPersonType reads a person type. The document lists all its values.
func apiPersonType(a *cli.App, text string) (apiclient.PersonType, error) {
	return oneOf(a, "--person-type", apiclient.PersonType(text), apiclient.PersonTypes)
}

// Event reads a webhook event. The document states that there are no others.
func Event(a *cli.App, text string) (apiclient.WebhookEvent, error) {
	return oneOf(a, "webhook_event", apiclient.WebhookEvent(text), apiclient.WebhookEvents)
}

func oneOf[T ~string](a *cli.App, name string, value T, among []T) (T, error) {
	if !slices.Contains(among, value) {
		return "", a.Usage("%s: unknown value; the valid ones are %s", name, cli.Listed(among))
	}
	return value, nil
}

// needFlags returns an error that names all required flags that are missing.
func needFlags(a *cli.App, cmd *cobra.Command, names ...string) error {
	var missing []string
	for _, name := range names {
		if f := cmd.Flags().Lookup(name); strings.Trim(f.Value.String(), "[] ") == "" {
			missing = append(missing, "--"+name)
		}
	}
	if len(missing) > 0 {
		return a.Usage("%s is missing", cli.Listed(missing))
	}
	return nil
}
