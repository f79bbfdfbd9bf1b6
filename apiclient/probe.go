package apiclient

import (
	"context"
	"errors"
	"net/http"

	"github.com/google/uuid"
)

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
