package apiclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
)

// pathWebhooks is the path of endpoints 9, 10 and 12 (chapter 4).
const pathWebhooks = "/api/v1/integration/webhooks"

const opListWebhooks = "list webhooks"

// ListWebhooks returns the registered webhooks as received; the document does not show their fields (endpoint 10,
// chapter 4). No webhook gives an empty list.
//
// It is also the harmless request with which a run begins: it finds a wrong key, address, proxy or certificate before
// anything is sent. An answer that is no list, such as the login page of a proxy, is an error with FaultProtocol. Every
// error is an *Error.
func (c *Client) ListWebhooks(ctx context.Context) ([]json.RawMessage, error) {
	res := c.get(ctx, opListWebhooks, pathWebhooks)
	if _, err := res.outcome(opListWebhooks); err != nil {
		return nil, err
	}
	doc := bytes.TrimSpace(bytes.TrimPrefix(res.Body, []byte("\xef\xbb\xbf")))
	list := []json.RawMessage{}
	if kind(doc) != '[' || res.Format != FormatSuccess || json.Unmarshal(doc, &list) != nil {
		return nil, res.unusable(opListWebhooks,
			errors.New("the answer is not the list of webhooks; check api.base_url, and what stands between this machine and the API"))
	}
	return list, nil
}
