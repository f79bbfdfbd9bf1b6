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

		notContracted = `{"messages":["message.module.not-contracted"]}`
	)
	for _, tc := range []struct {
		name             string
		status           int
		webhooks, orders string
		second           int // status of the order commitment
		wants            int // status of the error; 0: none
	}{
		{"a list", 200, `[]`, "", 404, 0},
		{"the module is not contracted", 403, notContracted, "", 404, 0},
		{"the API has no webhooks", 404, `{"messages":["message.webhook.not-found"]}`, "", 404, 0},
		{"the gateway has no webhooks", 404, noRoute, notFound, 404, 0},
		{"nor does it accept the key", 404, noRoute, `{"data":[],"error":{}}`, 401, 401},
		{"and the module of orders is not contracted", 404, noRoute, notContracted, 403, 0},
		{"and the platform is busy", 404, noRoute, `{}`, 503, 503},
		{"the gateway has neither", 404, noRoute, noRoute, 404, 404},
		{"a page", 404, `<html>`, notFound, 404, 404},
		{"no permission", 403, `{"message":"no"}`, notFound, 404, 403},
	} {
		s := startRaw(t, func(c net.Conn, r received) bool {
			if strings.Contains(r.URL.Path, "order-commitments") {
				return always(tc.second, tc.orders)(c, r)
			}
			return always(tc.status, tc.webhooks)(c, r)
		})
		err, status := s.client(t).Probe(context.Background()), 0
		if err != nil {
			status = asError(t, err).Status
		}
		if status != tc.wants {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}
