// The platform's records that a request refers to.

package run

import (
	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/trade"
)

// Need is a record of the platform that a row depends on.
type Need struct{ Kind, ID string }

// NeedsOf returns the records of the platform that an entry's payload and target refer to.
func NeedsOf(entry trade.Entry) []Need {
	ids := trade.SentFields(entry.Payload)
	if ids == nil {
		return nil
	}
	var out []Need
	for _, rule := range trade.Rules(entry.Sends) {
		if id, ok := ids[rule.Field]; ok && rule.RefersTo != "" {
			out = append(out, Need{rule.RefersTo, id})
		}
	}
	if entry.Target != "" {
		out = append(out, Need{outcome.OrderCommitments, entry.Target})
	}
	wallet, producer := ids["wallet_id"], ids["producer_id"]
	if wallet != "" && producer != "" {
		out = append(out, Need{outcome.WalletLinks, wallet + " " + producer})
	}
	return out
}
