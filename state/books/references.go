package books

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// References returns all codes of all kinds, by kind and code, and a version text that changes with
// each change of them.
func (s *Books) References(ctx context.Context) (codes map[string]map[string]string, version string, err error) {
	const op = "reading the references"
	for {
		var before, after string
		var rows []trade.Reference
		// The codes and their version are read by three queries; after a change in between, all are
		// repeated.
		if err := s.db.Get(ctx, op, &before, `SELECT refs_version FROM ledger`); err != nil {
			return nil, "", err
		}
		if err := s.db.All(ctx, op, &rows, `SELECT kind, code, id FROM reference WHERE id <> ''`); err != nil {
			return nil, "", err
		}
		if err := s.db.Get(ctx, op, &after, `SELECT refs_version FROM ledger`); err != nil {
			return nil, "", err
		}
		if before != after {
			continue
		}
		codes = map[string]map[string]string{}
		for _, r := range rows {
			if codes[r.Kind] == nil {
				codes[r.Kind] = map[string]string{}
			}
			codes[r.Kind][r.Code] = r.ID
		}
		return codes, after, nil
	}
}

// ListReferences returns the lines of one de-para table, or of all if kind is empty, by kind and
// code. Numeric codes are sorted as numbers.
func (s *Books) ListReferences(ctx context.Context, kind string) ([]trade.Reference, error) {
	out := []trade.Reference{}
	if err := s.db.All(ctx, "reading the references", &out,
		`SELECT kind, code, id, label FROM reference WHERE id <> '' AND (? = '' OR kind = ?)`, kind, kind); err != nil {
		return nil, err
	}
	slices.SortFunc(out, func(a, b trade.Reference) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), trade.CompareCodes(a.Code, b.Code))
	})
	return out, nil
}

// labelledAtOnce is the maximum number of codes in one query.
const labelledAtOnce = 100

// Labelled returns those of some codes that have a label, with id and label.
func (s *Books) Labelled(ctx context.Context, codes []trade.Reference) ([]trade.Reference, error) {
	asked := map[trade.Reference]bool{}
	for _, c := range codes {
		asked[trade.Reference{Kind: c.Kind, Code: c.Code}] = true
	}
	var out []trade.Reference
	for some := range slices.Chunk(slices.Collect(maps.Keys(asked)), labelledAtOnce) {
		var args []any
		for _, c := range some {
			args = append(args, c.Kind, c.Code)
		}
		var found []trade.Reference
		query := `SELECT kind, code, id, label FROM reference WHERE label <> '' AND (kind = ? AND code = ?` +
			strings.Repeat(` OR kind = ? AND code = ?`, len(some)-1) + `)`
		if err := s.db.All(ctx, "reading the labels of references", &found, query, args...); err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// ReplaceReferences replaces all codes of one kind, as for a kind that is read from the ERP, with
// their labels. It returns how many were added, changed or removed. Equal contents change nothing.
func (s *Books) ReplaceReferences(ctx context.Context, kind string, codes,
	labels map[string]string,
) (changed int, err error) {
	return sqldb.Stored(ctx, s.db, "replacing the references", func(t *sqldb.Tx) (int, error) {
		have, err := lockReferences(t, kind)
		if err != nil {
			return 0, err
		}
		var gone []string
		for code := range have {
			if _, ok := codes[code]; !ok {
				gone = append(gone, code)
			}
		}
		added, altered, err := putReferences(t, kind, have, codes)
		if err != nil {
			return 0, err
		}
		if err := dropReferences(t, kind, gone); err != nil {
			return 0, err
		}
		of := make(map[string]string, len(codes)) // a code without a label gets none
		for code := range codes {
			of[code] = labels[code]
		}
		if err := putLabels(t, kind, of); err != nil {
			return 0, err
		}
		changed := added + altered + len(gone)
		if changed == 0 {
			return 0, nil
		}
		return changed, newVersion(t)
	})
}

// ImportReferences adds codes to a kind, or changes their ids, all or nothing and together with the
// audit record. The record's Detail becomes the list of changes ([trade.ReferenceChange]) compared
// with the stored codes at this moment, not when a plan was made. added and changed count the new
// lines and those whose id was different. A code that is not in labels keeps its label.
func (s *Books) ImportReferences(ctx context.Context, kind string, codes, labels map[string]string,
	audit trade.AuditRecord,
) (added, changed int, err error) {
	err = s.db.InTx(ctx, "importing references", func(t *sqldb.Tx) error {
		have, err := lockReferences(t, kind)
		if err != nil {
			return err
		}
		added, changed, err = putReferences(t, kind, have, codes)
		if err != nil {
			return err
		}
		if err := putLabels(t, kind, labels); err != nil {
			return err
		}
		return auditReferences(t, audit, trade.ChangesOf(have, codes))
	})
	if err != nil {
		return 0, 0, err
	}
	return added, changed, nil
}

// RemoveReferences removes codes from a kind, all or nothing and together with the audit record,
// whose Detail becomes the list of removed codes. Codes that do not exist are not counted.
func (s *Books) RemoveReferences(ctx context.Context, kind string, codes []string,
	audit trade.AuditRecord,
) (removed int, err error) {
	return sqldb.Stored(ctx, s.db, "removing references", func(t *sqldb.Tx) (int, error) {
		have, err := lockReferences(t, kind)
		if err != nil {
			return 0, err
		}
		var gone []string
		var changes []trade.ReferenceChange
		for _, code := range codes {
			if id, ok := have[code]; ok && !slices.Contains(gone, code) {
				gone = append(gone, code)
				changes = append(changes, trade.ReferenceChange{Code: code, From: &id})
			}
		}
		if err := dropReferences(t, kind, gone); err != nil {
			return 0, err
		}
		return len(gone), auditReferences(t, audit, changes)
	})
}

// lockReferences reads a kind and prevents other changes of references: all changes lock the row of
// the table ledger first.
func lockReferences(t *sqldb.Tx, kind string) (map[string]string, error) {
	if kind == "" {
		return nil, fmt.Errorf("a reference needs a kind")
	}
	var version string
	if err := t.Get(&version, t.S.D.Locked(`SELECT refs_version FROM ledger`, "ledger")); err != nil {
		return nil, err
	}
	var rows []trade.Reference
	if err := t.All(&rows, `SELECT kind, code, id FROM reference WHERE id <> '' AND kind = ?`, kind); err != nil {
		return nil, err
	}
	have := make(map[string]string, len(rows))
	for _, r := range rows {
		have[r.Code] = r.ID
	}
	return have, nil
}

// auditReferences completes a person's change of references with a new version, if anything
// changed, and the audit record.
func auditReferences(t *sqldb.Tx, record trade.AuditRecord, changes []trade.ReferenceChange) error {
	if len(changes) > 0 {
		if err := newVersion(t); err != nil {
			return err
		}
	}
	text, err := json.Marshal(sqldb.NotNil(changes))
	if err != nil {
		return phrase.Errorf("the audit of the references: %w", err)
	}
	record.Detail = string(text)
	return AddAudit(t, record)
}

func putReferences(t *sqldb.Tx, kind string, have, codes map[string]string) (added, changed int, err error) {
	var rows [][]any
	for _, c := range trade.ChangesOf(have, codes) {
		if c.From == nil {
			added++
		}
		rows = append(rows, []any{kind, c.Code, *c.To})
	}
	err = t.InsertRows("reference", []string{"kind", "code", "id"}, rows,
		`ON CONFLICT (kind, code) DO UPDATE SET id = excluded.id, `+noteFormer(t.S.D))
	return added, len(rows) - added, err
}

// noteFormer sets the former ids of codes that get another id, or none. Each stands there once.
func noteFormer(d sqldb.Dialect) string {
	const id = "reference.id || '\n'"
	return "former = reference.former || CASE WHEN " + d.Within + "(reference.former, " + id + ") > 0 THEN '' ELSE " +
		id + " END"
}

// putLabels stores the labels of codes of a kind. Labels do not affect mapping, so the version of
// the references stays.
func putLabels(t *sqldb.Tx, kind string, labels map[string]string) error {
	if len(labels) == 0 {
		return nil
	}
	var rows []trade.Reference
	if err := t.All(&rows, `SELECT kind, code, id, label FROM reference WHERE id <> '' AND kind = ?`, kind); err != nil {
		return err
	}
	var changed [][]any
	for _, r := range rows {
		if label, given := labels[r.Code]; given && label != r.Label {
			changed = append(changed, []any{kind, r.Code, r.ID, label})
		}
	}
	return t.InsertRows("reference", []string{"kind", "code", "id", "label"}, changed,
		`ON CONFLICT (kind, code) DO UPDATE SET label = excluded.label`)
}

// dropReferences removes codes: only the ids that they had stay.
func dropReferences(t *sqldb.Tx, kind string, codes []string) error {
	return t.Do(`UPDATE reference SET `+noteFormer(t.S.D)+`, id = '', label = '' WHERE kind = ? AND `+
		t.S.D.Among("code"), kind, sqldb.ListOf(t.S.D, codes))
}

// newVersion sets a new version of the references. It is a random id, not a counter: a ledger that
// was restored from a backup must not reach a number again that meant other references.
func newVersion(t *sqldb.Tx) error {
	return t.Do(`UPDATE ledger SET refs_version = ?`, sqldb.NewID())
}

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

// LookupKey returns the key of the hashes under which documents are looked up. It is generated
// once, with the ledger, and never changes.
func (s *Books) LookupKey(ctx context.Context) ([]byte, error) {
	var secret string
	if err := s.db.Get(ctx, "reading the key of the lookups", &secret, `SELECT lookup_key FROM ledger`); err != nil {
		return nil, err
	}
	return []byte(secret), nil
}

// Lookups returns the platform's answers to the lookups of one kind, by code.
func (s *Books) Lookups(ctx context.Context, kind string) (map[string]trade.Lookup, error) {
	query := `SELECT code, id, message, first_at, asked_at, next_at, tries FROM lookup WHERE kind = ?`
	lookups, err := sqldb.List[trade.Lookup](ctx, s.db, "reading the lookups", query, kind)
	out := make(map[string]trade.Lookup, len(lookups))
	for _, l := range lookups {
		out[l.Code] = l
	}
	return out, err
}

// RecordLookups stores answers, replacing earlier ones to the same lookups. If one of them has an
// id, the references get a new version, so that the rows that waited for it are mapped again.
func (s *Books) RecordLookups(ctx context.Context, kind string, answers []trade.Lookup) error {
	if len(answers) == 0 {
		return nil
	}
	return s.db.InTx(ctx, "recording lookups", func(t *sqldb.Tx) error {
		rows := make([][]any, len(answers))
		found := false
		for i, a := range answers {
			rows[i] = []any{
				kind, a.Code, a.ID, sqldb.CleanText(a.Message), a.FirstAt.UnixMilli(),
				a.AskedAt.UnixMilli(), a.NextAt.UnixMilli(), a.Tries,
			}
			found = found || a.ID != ""
		}
		// first, because all changes of references lock the row of the table ledger first
		if found {
			if err := newVersion(t); err != nil {
				return err
			}
		}
		return t.InsertRows("lookup", []string{
			"kind", "code", "id", "message", "first_at", "asked_at", "next_at",
			"tries",
		}, rows,
			`ON CONFLICT (kind, code) DO UPDATE SET id = excluded.id, message = excluded.message, first_at = excluded.first_at,
			asked_at = excluded.asked_at, next_at = excluded.next_at, tries = excluded.tries`)
	})
}

// AskLookupsAgain makes the lookups by document for which the platform had no answer due in the
// next run. It returns how many.
func (s *Books) AskLookupsAgain(ctx context.Context, now time.Time) (int, error) {
	return sqldb.Stored(ctx, s.db, "waking questions by document", func(t *sqldb.Tx) (int, error) {
		return t.Changed(`UPDATE lookup SET next_at = ? WHERE id = '' AND next_at > ?`, now.UnixMilli(),
			now.UnixMilli())
	})
}
