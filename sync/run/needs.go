// The platform's records that a request refers to, and the codes of the de-para.

package run

import (
	"context"

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

// CodeKeeper stores which ids ERP codes stand for.
type CodeKeeper interface {
	References(ctx context.Context) (map[string]map[string]string, string, error)
	Lookups(ctx context.Context, kind string) (map[string]trade.Lookup, error)
}

// Codes returns all codes that a mapping can look up, by kind and code: the de-para tables, and the
// platform's answers to lookups of producers by document.
func Codes(ctx context.Context, from CodeKeeper) (map[string]map[string]string, error) {
	refs, _, err := from.References(ctx)
	if err != nil {
		return nil, err
	}
	answers, err := from.Lookups(ctx, trade.ProducerByDocument)
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for code, l := range answers {
		if l.ID != "" {
			found[code] = l.ID
		}
	}
	refs[trade.ProducerByDocument] = found
	return refs, nil
}
