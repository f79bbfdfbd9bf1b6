package commands

import (
	"context"
	"encoding/json"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/trade"
)

const pathWebhooks = "/api/v1/integration/webhooks"

// hookDoubt is what to do if the outcome of a call about a webhook is unknown.
const hookDoubt = "Before repeating it, check with `safrasync api webhooks list` what is registered."

// webhookFlags are the fields of a webhook (chapter 2.7).
type webhookFlags struct {
	cli.ActFlags
	event, url, basicAuthentication, hmacSecret string
}

// writeCommand makes a command that registers or changes a webhook.
func writeCommand(a *cli.App, name string, help i18n.Key, verb string, note i18n.Key,
	send func(*apiclient.Client, context.Context, apiclient.WebhookRequest) (apiclient.Answer, error),
) *cobra.Command {
	var f webhookFlags
	var cmd *cobra.Command
	cmd = a.Command(name+" --webhook-event EVENT --url URL", help, cli.Exactly(0),
		func(ctx context.Context, _ []string) error {
			if err := needFlags(a, cmd, "webhook-event", "url"); err != nil {
				return err
			}
			event, err := Event(a, f.event)
			if err != nil {
				return err
			}
			if u, err := url.Parse(f.url); err != nil || u.Hostname() == "" || u.Scheme != "https" &&
				(u.Scheme != "http" || !config.IsLoopback(u.Hostname())) {
				return a.Usage("%s is not an https address; the platform accepts no other", "--url")
			}
			r := apiclient.WebhookRequest{WebhookEvent: event, URL: f.url}
			r.BasicAuthentication, err = secretFlag(a, "--basic-authentication", f.basicAuthentication)
			if err != nil {
				return err
			}
			r.HMACSecret, err = secretFlag(a, "--hmac-secret", f.hmacSecret)
			if err != nil {
				return err
			}
			if err := r.Check(); err != nil {
				return usageOf(a, err)
			}
			fields := []apiField{{"webhook_event", string(event)}, {"url", office.ShownURL(r.URL)}}
			if r.BasicAuthentication != "" {
				fields = append(fields, apiField{"basic_authentication", config.SecretMask})
			}
			if r.HMACSecret != "" {
				fields = append(fields, apiField{"hmac_secret", config.SecretMask})
			}
			return actByHand(ctx, a, apiCall{
				act: "api webhooks " + name, verb: verb, path: pathWebhooks, target: string(event),
				fields: fields, notes: []i18n.Key{note}, doubt: hookDoubt,
				send: func(ctx context.Context, c *apiclient.Client) (apiclient.Answer, error) {
					return send(c, ctx, r)
				},
			}, f.ActFlags)
		})
	flags := cmd.Flags()
	flags.StringVar(&f.event, "webhook-event", "", "the `EVENT`, such as "+string(apiclient.EventUpdateOrderCommitment)+
		"; the shell completes all 25")
	flags.StringVar(&f.url, "url", "", "`URL` that the platform calls: https, at most 250 characters")
	flags.StringVar(&f.basicAuthentication, "basic-authentication", "",
		"`USER:PASSWORD`; better '${env:NAME}' or '${file:PATH}', which no list of processes shows")
	flags.StringVar(&f.hmacSecret, "hmac-secret", "",
		"`SECRET` of at most 120 characters; better '${env:NAME}' or '${file:PATH}'")
	f.Add(cmd)
	cli.Completes(a, cmd, "webhook-event", apiclient.WebhookEvents)
	return cmd
}

func newAPIWebhooksCommand(a *cli.App) *cobra.Command {
	list := a.Command("list", "list the webhooks", cli.Exactly(0), func(ctx context.Context, _ []string) error {
		client, err := a.OpenAPI()
		if err != nil {
			return err
		}
		hooks, err := client.Webhooks(ctx)
		if err != nil {
			return readFailed(a, err)
		}
		switch {
		case a.AsJSON:
			return cli.PrintEach(a, trade.Map(hooks, func(w apiclient.Webhook) json.RawMessage { return w.Raw }))
		case len(hooks) == 0:
			a.Tell("no webhook is registered")
			return nil
		}
		return cli.PrintTable(a, hooks, []i18n.Key{"Event", "URL", "Id"}, func(w apiclient.Webhook) []any {
			return []any{string(w.WebhookEvent), w.URL, cli.Plain(w.ID)}
		})
	})
	get := getCommand(a, "EVENT", "show the webhook of an event",
		func(a *cli.App, _, text string) (apiclient.WebhookEvent, error) { return Event(a, text) },
		(*apiclient.Client).GetWebhook)
	get.ValidArgsFunction = cobra.FixedCompletions(cli.Texts(apiclient.WebhookEvents),
		cobra.ShellCompDirectiveNoFileComp)

	create := writeCommand(a, "create", "register a webhook", "POST", "What the platform does with a second webhook for an event is not documented; check first with `safrasync api webhooks get EVENT`.",
		(*apiclient.Client).CreateWebhook)
	update := writeCommand(a, "update", "change the webhook of an event", "PUT", "Whatever is left out here (credentials, secret) may be lost: give the complete webhook.",
		(*apiclient.Client).UpdateWebhook)

	var deleted cli.ActFlags
	remove := a.Command("delete ID", "remove a webhook", cli.Exactly(1),
		func(ctx context.Context, args []string) error {
			id, err := apiID(a, "ID", args[0])
			if err != nil {
				return err
			}
			return actByHand(ctx, a, apiCall{
				act: "api webhooks delete", verb: "DELETE", path: pathWebhooks + "/{id}", target: id,
				fields: []apiField{{"id", id}}, doubt: hookDoubt,
				send: func(ctx context.Context, c *apiclient.Client) (apiclient.Answer, error) {
					return c.DeleteWebhook(ctx, id)
				},
			}, deleted)
		})
	deleted.Add(remove)

	group := a.Group("webhooks", "webhooks: which events the platform sends, and where")
	group.AddCommand(list, get, create, update, remove)
	return group
}

// secretFlag replaces ${env:NAME} and ${file:PATH} as the configuration does. A relative path is
// relative to the working directory.
func secretFlag(a *cli.App, name, written string) (apiclient.Secret, error) {
	value, err := config.ResolveSecret(a.Env, ".", written)
	if err != nil {
		return "", &cli.UsageError{Text: name + ": " + a.Voice().Fault(err)}
	}
	return apiclient.Secret(value), nil
}
