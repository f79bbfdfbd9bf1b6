package main

import (
	"context"
	"net/url"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/internal/i18n"
)

const pathWebhooks = "/api/v1/integration/webhooks"

// webhookFlags are the fields of a webhook (chapter 2.7).
type webhookFlags struct {
	actFlags
	event, url, basicAuthentication, hmacSecret string
}

func (f *webhookFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.event, "webhook-event", "", "the `EVENT`, such as "+string(apiclient.EventUpdateOrderCommitment)+
		"; the shell completes all 25")
	flags.StringVar(&f.url, "url", "", "`URL` that the platform calls: https, at most 250 characters")
	flags.StringVar(&f.basicAuthentication, "basic-authentication", "",
		"`USER:PASSWORD`; better '${env:NAME}' or '${file:PATH}', which no list of processes shows")
	flags.StringVar(&f.hmacSecret, "hmac-secret", "",
		"`SECRET` of at most 120 characters; better '${env:NAME}' or '${file:PATH}'")
	f.actFlags.add(cmd)
	completes(cmd, "webhook-event", apiclient.WebhookEvents)
}

func newAPIWebhooksCommand(a *App) *cobra.Command {
	list := a.command("list", "help.api_hooks_list", exactly(0), func(cmd *cobra.Command, _ []string) error {
		return a.listWebhooks(cmd.Context())
	})
	get := a.command("get EVENT", "help.api_hooks_get", exactly(1), func(cmd *cobra.Command, args []string) error {
		event, err := a.apiEvent(args[0])
		if err != nil {
			return err
		}
		return a.readByHand(cmd.Context(), func(ctx context.Context, c *apiclient.Client) (apiRecord, error) {
			w, err := c.GetWebhook(ctx, event)
			return apiRecord{w.Raw, w.Unread}, err
		})
	})
	get.ValidArgsFunction = cobra.FixedCompletions(texts(apiclient.WebhookEvents), cobra.ShellCompDirectiveNoFileComp)

	var created webhookFlags
	create := a.command("create --webhook-event EVENT --url URL", "help.api_hooks_create", exactly(0),
		func(cmd *cobra.Command, _ []string) error {
			return a.writeWebhook(cmd, created, apiCall{
				act: "api webhooks create", verb: "POST", path: pathWebhooks, notes: []i18n.Key{"api.hook_twice"},
				doubt: "api.doubt_hook",
			}, (*apiclient.Client).CreateWebhook)
		})
	created.add(create)
	var updated webhookFlags
	update := a.command("update --webhook-event EVENT --url URL", "help.api_hooks_update", exactly(0),
		func(cmd *cobra.Command, _ []string) error {
			return a.writeWebhook(cmd, updated, apiCall{
				act: "api webhooks update", verb: "PUT", path: pathWebhooks, notes: []i18n.Key{"api.hook_whole"},
				doubt: "api.doubt_hook",
			}, (*apiclient.Client).UpdateWebhook)
		})
	updated.add(update)

	var deleted actFlags
	remove := a.command("delete ID", "help.api_hooks_delete", exactly(1),
		func(cmd *cobra.Command, args []string) error {
			id, err := a.apiID("ID", args[0])
			if err != nil {
				return err
			}
			return a.actByHand(cmd.Context(), apiCall{
				act: "api webhooks delete", verb: "DELETE", path: pathWebhooks + "/{id}", target: id,
				fields: []apiField{{"id", id}}, doubt: "api.doubt_hook",
				send: func(ctx context.Context, c *apiclient.Client) (apiclient.Answer, error) {
					return c.DeleteWebhook(ctx, id)
				},
			}, deleted)
		})
	deleted.add(remove)

	group := a.group("webhooks", "help.api_hooks")
	group.AddCommand(list, get, create, update, remove)
	return group
}

func (a *App) listWebhooks(ctx context.Context) error {
	client, err := a.openAPIByHand()
	if err != nil {
		return err
	}
	hooks, err := client.Webhooks(ctx)
	if err != nil {
		return a.readFailed(err)
	}
	if a.asJSON {
		for _, w := range hooks {
			if err := a.printJSON(w.Raw); err != nil {
				return err
			}
		}
		return nil
	}
	if len(hooks) == 0 {
		a.tell("api.no_hooks")
		return nil
	}
	t := a.newTable("api.head_event", "api.head_url", "api.head_id")
	for _, w := range hooks {
		t.AppendRow(table.Row{printable(string(w.WebhookEvent)), printable(w.URL), w.ID})
	}
	t.Render()
	return nil
}

// writeWebhook registers or changes a webhook.
func (a *App) writeWebhook(
	cmd *cobra.Command, f webhookFlags, call apiCall,
	send func(*apiclient.Client, context.Context, apiclient.WebhookRequest) (apiclient.Answer, error),
) error {
	if err := a.needFlags(cmd, "webhook-event", "url"); err != nil {
		return err
	}
	event, err := a.apiEvent(f.event)
	if err != nil {
		return err
	}
	if u, err := url.Parse(f.url); err != nil || u.Hostname() == "" || u.Scheme != "https" &&
		(u.Scheme != "http" || !isLoopback(u.Hostname())) {
		return a.usage("field.address", "--url")
	}
	r := apiclient.WebhookRequest{WebhookEvent: event, URL: f.url}
	if r.BasicAuthentication, err = a.secretFlag("--basic-authentication", f.basicAuthentication); err != nil {
		return err
	}
	if r.HMACSecret, err = a.secretFlag("--hmac-secret", f.hmacSecret); err != nil {
		return err
	}
	if err := r.Check(); err != nil {
		return a.usageOf(err)
	}
	call.target = string(event)
	call.fields = []apiField{{"webhook_event", string(event)}, {"url", shownURL(r.URL)}}
	if r.BasicAuthentication != "" {
		call.fields = append(call.fields, apiField{"basic_authentication", secretMask})
	}
	if r.HMACSecret != "" {
		call.fields = append(call.fields, apiField{"hmac_secret", secretMask})
	}
	call.send = func(ctx context.Context, c *apiclient.Client) (apiclient.Answer, error) { return send(c, ctx, r) }
	return a.actByHand(cmd.Context(), call, f.actFlags)
}

// secretFlag replaces ${env:NAME} and ${file:PATH} as the configuration does; relative files stand
// in the working directory.
func (a *App) secretFlag(name, written string) (apiclient.Secret, error) {
	value, err := resolveSecret(a.Env, ".", written)
	if err != nil {
		return "", &usageError{name + " " + err.Error()}
	}
	return apiclient.Secret(value), nil
}
