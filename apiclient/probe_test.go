package apiclient_test

import (
	"context"
	"net"
	"strings"
	"testing"
)

// A gateway that has neither path is not the API: the base URL is wrong. If it only lacks the webhooks,
// or their module is not contracted, the API can be used.
func TestAProbeTellsAWrongAddressFromMissingWebhooks(t *testing.T) {
	t.Parallel()
	const (
		noRoute  = `{"message":"no Route matched with those values"}`
		notFound = `{"messages":["message.order-commitment.not-found"]}`
	)
	for _, tc := range []struct {
		name             string
		status           int
		webhooks, orders string
		passes           bool
	}{
		{"a list", 200, `[]`, "", true},
		{"the module is not contracted", 403, `{"messages":["message.module.not-contracted"]}`, "", true},
		{"the API has no webhooks", 404, `{"messages":["message.webhook.not-found"]}`, "", true},
		{"the gateway has no webhooks", 404, noRoute, notFound, true},
		{"the gateway has neither", 404, noRoute, noRoute, false},
		{"a page", 404, `<html>`, notFound, false},
		{"no permission", 403, `{"message":"no"}`, notFound, false},
	} {
		s := startRaw(t, func(c net.Conn, r received) bool {
			if strings.Contains(r.URL.Path, "order-commitments") {
				return always(404, tc.orders)(c, r)
			}
			return always(tc.status, tc.webhooks)(c, r)
		})
		if err := s.client(t).Probe(context.Background()); (err == nil) != tc.passes {
			t.Errorf("%s: %v", tc.name, err)
		} else if err != nil && asError(t, err).Status != tc.status {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}
