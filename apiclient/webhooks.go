package apiclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strings"

	"github.com/google/uuid"
)

const (
	// pathWebhooks is the path of endpoints 9, 10 and 12 (chapter 4), and with an id of endpoint
	// 13.
	pathWebhooks = "/api/v1/integration/webhooks"
	// pathWebhookByEvent is the path of endpoint 11 (chapter 4), up to the event.
	pathWebhookByEvent = pathWebhooks + "/-/events/"
)

// The limits of chapter 8, in characters. The platform answers 500 above them.
const (
	maxWebhookURL = 250
	maxHMACSecret = 120
)

// WebhookRequest is the body of endpoints 9 and 12 (chapter 2.7). Optional fields are left out when
// empty. Chapter 8 limits characters, not bytes; they are counted as UTF-16 code units, so that
// nothing passes here that another way of counting finds too long. Its secrets print as "[secret]"
// everywhere except in the request.
type WebhookRequest struct {
	// WebhookEvent is one of WebhookEvents; one webhook is for one event (chapter 2.7).
	WebhookEvent WebhookEvent
	// URL is the address to which the platform POSTs: at most 250 characters (chapters 2.7 and 8),
	// reachable over HTTPS (chapter 6).
	URL string
	// BasicAuthentication is the credential, as user:password, with which the platform
	// authenticates itself at URL; optional (chapter 2.7).
	BasicAuthentication Secret
	// HMACSecret is a stored field of at most 120 characters (chapters 2.7 and 8); optional. What
	// the platform does with it is not documented.
	HMACSecret Secret
}

// webhookBody is WebhookRequest as it is sent, in the order of chapter 2.7. Its fields are plain
// strings, because a Secret would be encoded as "[secret]".
type webhookBody struct {
	WebhookEvent        string `json:"webhook_event"`
	URL                 string `json:"url"`
	BasicAuthentication string `json:"basic_authentication,omitempty"`
	HMACSecret          string `json:"hmac_secret,omitempty"`
}

// Check returns what would be refused unsent: a missing field, a value above a limit of chapter 8,
// credentials without a colon. The error names all faults in one line, and never a value.
// CreateWebhook and UpdateWebhook call it too.
func (r WebhookRequest) Check() error {
	var in inspection
	in.required("webhook_event", string(r.WebhookEvent))
	in.required("url", r.URL)
	in.atMost("url", r.URL, maxWebhookURL)
	credentials := string(r.BasicAuthentication)
	in.optional("basic_authentication", credentials)
	if credentials != "" && !strings.Contains(credentials, ":") {
		in.fault("basic_authentication", ProblemCredentials, "has no colon; it must be user:password")
	} else if user, password, _ := strings.Cut(credentials, ":"); credentials != "" && (user == "" || password == "") {
		in.fault("basic_authentication", ProblemCredentials, "lacks the user or the password; it must be user:password")
	}
	in.optional("hmac_secret", string(r.HMACSecret))
	in.atMost("hmac_secret", string(r.HMACSecret), maxHMACSecret)
	return in.err()
}

// call returns the call without its HTTP method.
func (r WebhookRequest) call(op string) call {
	credentials, secret := string(r.BasicAuthentication), string(r.HMACSecret)
	body, bad := encode(webhookBody{string(r.WebhookEvent), r.URL, credentials, secret})
	if err := r.Check(); err != nil {
		bad = err
	}
	_, password, _ := strings.Cut(credentials, ":")
	return call{
		op: op, path: pathWebhooks, body: body, bad: bad, credentials: true,
		secrets: []string{credentials, password, secret},
	}
}

// CreateWebhook registers a webhook (endpoint 9, chapter 4); its id, a UUID, is in the Answer. It
// is a POST and is sent at most once: it is not documented what happens when an event gets a second
// webhook (chapter 6). Call GetWebhook first, and again if the outcome is Unknown. The error is nil
// exactly when the Answer's Known is Created; otherwise it is a *CallError with the same Answer.
func (c *Client) CreateWebhook(ctx context.Context, r WebhookRequest) (Answer, error) {
	call := r.call("create webhook")
	call.idOf = uuidFromBody
	return c.submit(ctx, call.body, call)
}

// UpdateWebhook changes the webhook of r.WebhookEvent (endpoint 12, chapter 4): the event in the
// body selects it, there is no id. Like a GET, it may be repeated automatically. On success the
// error is nil and the Answer's Status is 204.
func (c *Client) UpdateWebhook(ctx context.Context, r WebhookRequest) (Answer, error) {
	call := r.call("update webhook")
	call.method = http.MethodPut
	res, _ := c.repeat(ctx, call)
	return res.outcome()
}

// DeleteWebhook removes a webhook by the id that its creation returned, a UUID (endpoint 13,
// chapter 4). It may be repeated automatically. A 404 to a repetition means that an earlier
// attempt, whose answer was lost, removed it; that is a success, with Status 404 in the Answer. A
// 404 to the first attempt is an error.
func (c *Client) DeleteWebhook(ctx context.Context, id string) (Answer, error) {
	canonical, bad := pathUUID("id", id)
	res, mayHaveRun := c.repeat(ctx, call{
		op: "delete webhook", method: http.MethodDelete, path: pathWebhooks + "/" + canonical, bad: bad,
		credentials: true,
	})
	if mayHaveRun && res.Status == http.StatusNotFound && res.Format != FormatHTML {
		return res.Answer, nil
	}
	return res.outcome()
}

// Webhook is a registered webhook. The document does not show the fields of the record (chapter
// 2.7), so the names of the creation fields are looked up tolerantly.
type Webhook struct {
	// ID is a lower-case UUID; DeleteWebhook takes it.
	ID           string       `read:"uuid id"`
	WebhookEvent WebhookEvent `read:"code webhook_event"`
	URL          string       `read:"text url"`
	// BasicAuthentication and HMACSecret are set only if the platform returns them.
	BasicAuthentication Secret `read:"text basic_authentication"`
	HMACSecret          Secret `read:"text hmac_secret"`
	// Raw has "[secret]" in place of the two secrets.
	Received
}

// ListWebhooks returns the registered webhooks as received; the document does not show their fields
// (endpoint 10, chapter 4). It returns an empty list if there is no webhook. The records may hold
// credentials; [Client.Webhooks] returns them parsed.
//
// It is also the harmless request with which a run begins: it detects a wrong key, address, proxy
// or certificate before anything is sent. An answer that is not a list, such as the login page of a
// proxy, is an error with FaultProtocol. Every error is a *CallError.
func (c *Client) ListWebhooks(ctx context.Context) ([]json.RawMessage, error) {
	res, _ := c.repeat(ctx, call{op: "list webhooks", method: http.MethodGet, path: pathWebhooks, credentials: true})
	if _, err := res.outcome(); err != nil {
		return nil, err
	}
	doc := bytes.TrimSpace(bytes.TrimPrefix(res.Body, []byte("\xef\xbb\xbf")))
	list := []json.RawMessage{}
	if kind(doc) != '[' || res.Format != FormatSuccess || json.Unmarshal(doc, &list) != nil {
		return nil, res.unusable(errors.New(
			"the answer is not the list of webhooks; check api.base_url, and what stands between this host and the API"))
	}
	return list, nil
}

// Webhooks is ListWebhooks with each record parsed. An entry that is not an object has only its
// Raw.
func (c *Client) Webhooks(ctx context.Context) ([]Webhook, error) {
	list, err := c.ListWebhooks(ctx)
	if err != nil {
		return nil, err
	}
	hooks := make([]Webhook, len(list))
	for i, raw := range list {
		hooks[i], err = readWebhook(raw)
		if err != nil {
			hooks[i] = Webhook{Received: Received{Raw: hideCredentials(raw)}}
		}
	}
	return hooks, nil
}

// eventName matches what may become part of a path. Whether the event exists is for the platform to
// decide.
var eventName = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,63}$`)

// GetWebhook returns the webhook for an event (endpoint 11, chapter 4). Every error is a *CallError:
// Status 404 means that the event has none.
func (c *Client) GetWebhook(ctx context.Context, event WebhookEvent) (Webhook, error) {
	var bad error
	if !eventName.MatchString(string(event)) {
		bad = errors.New("webhook_event is not the name of an event, such as CREATE_PRODUCER")
	}
	return read(ctx, c, call{
		op: "get webhook", path: pathWebhookByEvent + string(event), bad: bad, credentials: true,
	}, func(body []byte) (Webhook, error) {
		w, err := readWebhook(body)
		if err == nil && w.WebhookEvent != "" && w.WebhookEvent != event {
			err = errors.New("the answer is about another event than the one asked for")
		}
		return w, err
	})
}

func readWebhook(body []byte) (Webhook, error) {
	w, err := readOnly[Webhook](body)
	if err == nil {
		w.Raw = hideCredentials(hideWebhookSecrets(w.Raw))
	}
	return w, err
}

// hideWebhookSecrets replaces the two secrets by "[secret]", in any spelling of their names.
func hideWebhookSecrets(raw json.RawMessage) json.RawMessage {
	var out bytes.Buffer
	found := false
	err := eachMember(raw, func(key string, value json.RawMessage) {
		switch strings.ToLower(strings.ReplaceAll(key, "_", "")) {
		case "basicauthentication", "hmacsecret":
			if string(value) != "null" {
				found = true
				value = json.RawMessage(`"` + hidden + `"`)
			}
		}
		name, _ := encode(key)
		if out.Len() > 0 {
			out.WriteByte(',')
		}
		out.Write(name)
		out.WriteByte(':')
		out.Write(value)
	})
	if err != nil || !found {
		return raw // the error is unreachable: raw is a valid object
	}
	return json.RawMessage("{" + out.String() + "}")
}

// WebhookEvent is the event for which a webhook is called (chapter 6).
type WebhookEvent string

// The events of chapter 6 that the engine knows by name.
const (
	EventDeleteProducer                WebhookEvent = "DELETE_PRODUCER"
	EventDeleteFarm                    WebhookEvent = "DELETE_FARM"
	EventCreateOrderCommitment         WebhookEvent = "CREATE_ORDER_COMMITMENT"
	EventUpdateOrderCommitment         WebhookEvent = "UPDATE_ORDER_COMMITMENT"
	EventDeleteOrderCommitment         WebhookEvent = "DELETE_ORDER_COMMITMENT"
	EventUpdateWorkflowOrderCommitment WebhookEvent = "UPDATE_WORKFLOW_ORDER_COMMITMENT"
	EventChangeProducerStatusESG       WebhookEvent = "CHANGE_PRODUCER_STATUS_ESG"
	EventChangeFarmStatusESG           WebhookEvent = "CHANGE_FARM_STATUS_ESG"
	EventProducerProduction            WebhookEvent = "PRODUCER_PRODUCTION"
)

// WebhookEvents lists the 25 valid events in the order of chapter 6.
var WebhookEvents = []WebhookEvent{
	"CREATE_PRODUCER", "UPDATE_PRODUCER", "DELETE_PRODUCER",
	"CREATE_WAREHOUSE", "UPDATE_WAREHOUSE", "DELETE_WAREHOUSE",
	"CREATE_FARM", "UPDATE_FARM", "DELETE_FARM",
	"CREATE_GUEST_USER", "UPDATE_GUEST_USER", "DELETE_GUEST_USER",
	"CREATE_DELIVERY_PLACE", "UPDATE_DELIVERY_PLACE", "DELETE_DELIVERY_PLACE",
	"CREATE_ORDER_COMMITMENT", "UPDATE_ORDER_COMMITMENT", "DELETE_ORDER_COMMITMENT",
	"CREATE_WALLET", "UPDATE_WALLET", "DELETE_WALLET",
	"UPDATE_WORKFLOW_ORDER_COMMITMENT",
	"CHANGE_PRODUCER_STATUS_ESG", "CHANGE_FARM_STATUS_ESG",
	"PRODUCER_PRODUCTION",
}

// Probe asks the API something harmless. It returns nil if the API answers and accepts the key; every
// error is a *CallError.
//
// It lists the webhooks (endpoint 10, chapter 4). That their module is not contracted, or that the API says
// in its own forms that it has none, says nothing of the other endpoints. A 404 in another form may come
// from a gateway that has no such path, perhaps because the base URL is wrong: then an order commitment is
// asked for, which the API does not know.
func (c *Client) Probe(ctx context.Context) error {
	_, err := c.ListWebhooks(ctx)
	var failure *CallError
	switch {
	case !errors.As(err, &failure): // or none
		return err
	case failure.HasMessage("message.module.not-contracted") || failure.NotFound():
		return nil
	case failure.Status != http.StatusNotFound || !failure.APIForm():
		return err
	}
	_, other := c.GetOrderCommitment(ctx, uuid.NewString())
	switch {
	case !errors.As(other, &failure) || failure.NotFound() || failure.HasMessage("message.module.not-contracted"):
		return nil
	case failure.Status == http.StatusNotFound:
		return err
	}
	return other // the API is there, or nobody answers
}
