package books

import (
	"context"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/trade"
)

// ReferencesVersion returns a text that changes with each change of the references.
func (s *Books) ReferencesVersion(ctx context.Context) (version string, err error) {
	err = s.db.Get(ctx, "reading the version of the references", &version, `SELECT refs_version FROM ledger`)
	return version, err
}

// FormerReferences returns, by kind and code, the codes that have another id than before, each with
// the present id first, then every id that it had, sorted. Ids that are no UUID are never sent, and
// left out.
func (s *Books) FormerReferences(ctx context.Context) (map[string]map[string][]string, error) {
	var rows []struct{ Kind, Code, ID, Former string }
	if err := s.db.All(ctx, "reading the former references", &rows,
		`SELECT kind, code, id, former FROM reference WHERE id <> '' AND former <> ''`); err != nil {
		return nil, err
	}
	out := map[string]map[string][]string{}
	for _, r := range rows {
		if out[r.Kind] == nil {
			out[r.Kind] = map[string][]string{}
		}
		former := strings.Split(r.Former, "\n")
		slices.Sort(former)
		var ids []string
		for _, text := range append([]string{r.ID}, former...) {
			if id, err := trade.ParseID(text); err == nil && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
		out[r.Kind][r.Code] = ids
	}
	return out, nil
}
