// All codes that a mapping can look up.

package run

import (
	"context"

	"github.com/safrasync/safrasync/trade"
)

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
