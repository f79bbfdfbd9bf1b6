package state

import (
	"context"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/trade"
)

// ReferencesVersion returns a text that changes with each change of the references.
func (s *Store) ReferencesVersion(ctx context.Context) (version string, err error) {
	err = s.db.Get(ctx, "reading the version of the references", &version, `SELECT refs_version FROM ledger`)
	return version, err
}

// FormerReferences returns, by kind and code, the codes that have another id than before, each with
// the present id first, then every id that it had, sorted. Ids that are no UUID are never sent, and
// left out.
func (s *Store) FormerReferences(ctx context.Context) (map[string]map[string][]string, error) {
	var rows []struct{ Kind, Code, ID, Former string }
	if err := s.db.All(ctx, "reading the former references", &rows,
		`SELECT f.kind, f.code, r.id, f.id AS former FROM reference_former f
		JOIN reference r ON r.kind = f.kind AND r.code = f.code ORDER BY f.kind, f.code, f.id`); err != nil {
		return nil, err
	}
	out := map[string]map[string][]string{}
	for _, r := range rows {
		if out[r.Kind] == nil {
			out[r.Kind] = map[string][]string{}
		}
		ids := out[r.Kind][r.Code]
		for _, text := range []string{r.ID, r.Former} {
			if id, err := trade.ParseID(text); err == nil && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
		out[r.Kind][r.Code] = ids
	}
	return out, nil
}

// manyIDs is the number of ids from which on every row that was sent is read: a condition for each
// would take longer.
const manyIDs = 50

// SentWith calls fn for the entries of the job that were sent, or may have been, with one of these
// ids in their request, and for those with the flag recoded, page by page in id order; with many ids
// also for others. fn may write.
func (s *Store) SentWith(ctx context.Context, job string, ids []string, fn func([]trade.Entry) error) error {
	with, args := strings.Repeat("b.payload LIKE ? OR ", len(ids)), []any{job}
	for _, id := range ids {
		args = append(args, "%"+id+"%")
	}
	if len(ids) > manyIDs {
		with, args = "b.payload IS NOT NULL OR ", args[:1]
	}
	return s.eachPage(ctx, "looking for what was sent with other ids", fn,
		`e.job = ? AND e.state IN ('accepted', 'in_doubt') AND (`+with+`e.flags LIKE '%"recoded"%')`, args...)
}
