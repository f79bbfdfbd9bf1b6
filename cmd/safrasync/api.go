package main

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/trade"
)

// newAPICommand offers the API's endpoints by hand. What creates order commitments, deliveries and
// traceability is not among them: only the ledger can keep those from being sent twice.
//
// Flags have the names of the document's fields with hyphens: person_type and personType are both
// --person-type.
func newAPICommand(a *App) *cobra.Command {
	group := a.group("api", "help.api")

	commitments := a.group("order-commitments", "help.api_commitments")
	commitments.AddCommand(a.command("get ID", "help.api_commitments_get", exactly(1),
		func(cmd *cobra.Command, args []string) error {
			id, err := a.apiID("ID", args[0])
			if err != nil {
				return err
			}
			return a.readByHand(cmd.Context(), func(ctx context.Context, c *apiclient.Client) (apiRecord, error) {
				o, err := c.GetOrderCommitment(ctx, id)
				return apiRecord{o.Raw, o.Unread}, err
			})
		}))

	producers := a.group("producers", "help.api_producers")
	producers.AddCommand(a.command("get DOCUMENT", "help.api_producers_get", exactly(1),
		func(cmd *cobra.Command, args []string) error {
			number, err := a.apiDocument("DOCUMENT", args[0])
			if err != nil {
				return err
			}
			return a.readByHand(cmd.Context(), func(ctx context.Context, c *apiclient.Client) (apiRecord, error) {
				p, err := c.GetProducerByDocument(ctx, number)
				return apiRecord{p.Raw, p.Unread}, err
			})
		}))

	group.AddCommand(commitments, newAPIConsentCommand(a), newAPICreditScoreCommand(a), newAPICreditAnalysisCommand(a),
		producers, newAPIWebhooksCommand(a))
	return group
}

// apiRecord is a record as the platform gave it.
type apiRecord struct {
	raw    json.RawMessage
	unread []string // fields in no known shape
}

// readByHand asks one harmless question and prints the answer.
func (a *App) readByHand(ctx context.Context, read func(context.Context, *apiclient.Client) (apiRecord, error)) error {
	client, err := a.openAPIByHand()
	if err != nil {
		return err
	}
	record, err := read(ctx, client)
	if err != nil {
		return a.readFailed(err)
	}
	if a.asJSON {
		return a.printJSON(record.raw)
	}
	if len(record.unread) > 0 {
		a.tell("api.unread", listed(record.unread))
	}
	a.printRecord(record.raw)
	return nil
}

// readFailed says why a question has no answer. With --json a program gets the same as an object,
// the body included.
func (a *App) readFailed(err error) error {
	var failure *apiclient.Error
	if !errors.As(err, &failure) {
		return err
	}
	a.tellFailure("api.read_failed", "", err)
	if !a.asJSON {
		return &exitError{exitFailed}
	}
	return errors.Join(&exitError{exitFailed},
		a.printJSON(outcomeOf(apiCall{verb: "GET", act: failure.Op}, failure.Answer, err)))
}

// openAPIByHand makes a client that keeps the configured pace: nothing else does for calls by hand.
func (a *App) openAPIByHand() (*apiclient.Client, error) {
	return a.openAPI(func(o *apiclient.Options) { o.RateLimit, o.MaxInFlight = a.config.API.RateLimit, 1 })
}

// apiID reads an id that is a UUID. What was given instead does not appear in the error: it may be
// a document number.
func (a *App) apiID(name, text string) (string, error) {
	id, err := trade.ParseID(text)
	if err != nil {
		return "", a.usage("api.no_uuid", name)
	}
	return id, nil
}

// apiDocument reads a CPF or CNPJ. The number does not appear in the error.
func (a *App) apiDocument(name, text string) (string, error) {
	number, wrong := readDocument(text)
	if wrong != "" {
		return "", a.usage(wrong, name)
	}
	return number, nil
}

// apiPersonType reads an enumeration that the document shows whole.
func (a *App) apiPersonType(text string) (apiclient.PersonType, error) {
	if !isPersonType(text) {
		return "", a.usage("api.not_one_of", "--person-type", listed(apiclient.PersonTypes))
	}
	return apiclient.PersonType(text), nil
}

// apiEvent reads an event: the document says that there are no others.
func (a *App) apiEvent(text string) (apiclient.WebhookEvent, error) {
	if !slices.Contains(apiclient.WebhookEvents, apiclient.WebhookEvent(text)) {
		return "", a.usage("api.not_one_of", "webhook_event", listed(apiclient.WebhookEvents))
	}
	return apiclient.WebhookEvent(text), nil
}

// needFlags refuses a call without a field that the document requires; all that are missing are
// named.
func (a *App) needFlags(cmd *cobra.Command, names ...string) error {
	var missing []string
	for _, name := range names {
		if f := cmd.Flags().Lookup(name); strings.Trim(f.Value.String(), "[] ") == "" {
			missing = append(missing, "--"+name)
		}
	}
	if len(missing) > 0 {
		return a.usage("api.missing", listed(missing))
	}
	return nil
}
