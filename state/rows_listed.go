// What lists are narrowed and sorted by of each entry: the table listing.

package state

import (
	"database/sql"
	"strings"

	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// listingRow is a row of the table listing.
type listingRow struct {
	EntryID                       int64
	Job, Title, Currency          string
	Words, Documents              string
	Product, Producer, Branch     sql.NullString
	Season, ContractJob, Contract sql.NullString
	Day, Kilograms, Worth         sql.NullInt64
}

var listingColumns = sqldb.Columns[listingRow]()

// listingRowOf returns what lists need of an entry.
func listingRowOf(e trade.Entry) listingRow {
	l := e.Listing()
	words, documents := wordsOf(e, l)
	text := func(s string) sql.NullString { return textOrNull(sqldb.CleanText(s)) }
	return listingRow{
		EntryID: e.ID, Job: e.Job, Title: sqldb.CleanText(l.Title), Currency: sqldb.CleanText(l.Currency),
		Words: words, Documents: documents,
		Product: text(l.Product), Producer: text(l.Producer), Branch: text(l.Branch),
		Season: text(l.Season), ContractJob: text(l.Contract.Job), Contract: text(l.Contract.Key),
		Day:       numberOrNull(trade.ListingDay(l.Day)),
		Kilograms: sql.NullInt64{Int64: trade.ListingNumber(l.Kg), Valid: l.Weighed},
		Worth:     sql.NullInt64{Int64: trade.ListingNumber(l.Worth), Valid: l.Currency != ""},
	}
}

// relisted writes only what differs: nothing, when a row is sent.
var relisted = func() string {
	set, differs := make([]string, len(listingColumns)), make([]string, len(listingColumns))
	for i, c := range listingColumns {
		set[i], differs[i] = c+" = excluded."+c, "listing."+c+" IS DISTINCT FROM excluded."+c
	}
	return "ON CONFLICT (entry_id) DO UPDATE SET " + strings.Join(set[1:], ", ") +
		" WHERE " + strings.Join(differs[1:], " OR ")
}()

// listedOf returns what lists get of an entry: without what the retention has taken of it.
func listedOf(row *entryRow) trade.Entry {
	if row.ReducedAt.IsZero() {
		return row.Entry
	}
	return trade.Entry{ID: row.ID, Job: row.Job, Key: row.Key, Quantity: row.Quantity, ReducedAt: row.ReducedAt}
}

// writeListings stores what lists need of entries.
func writeListings(t *sqldb.Tx, entries []trade.Entry) error {
	rows := make([][]any, len(entries))
	for i, e := range entries {
		row := listingRowOf(e)
		rows[i] = sqldb.Pick(&row, listingColumns)
	}
	return t.InsertRows("listing", listingColumns, rows, relisted)
}

// insertBodies stores the bodies of the entries that were added, and what lists need of them.
func insertBodies(t *sqldb.Tx, job string, entries []*entryRow, added []int) error {
	keys := make([]string, len(added))
	byKey := make(map[string]*entryRow, len(added))
	for n, i := range added {
		keys[n], byKey[entries[i].Key] = entries[i].Key, entries[i]
	}
	var rows []struct {
		ID  int64
		Key string
	}
	if err := t.All(&rows, `SELECT id, key FROM entry WHERE job = ? AND `+t.S.D.Among("key"), job,
		sqldb.ListOf(t.S.D, keys)); err != nil {
		return err
	}
	bodies, listed := make([][]any, len(rows)), make([]trade.Entry, len(rows))
	for i, row := range rows {
		e := byKey[row.Key]
		e.ID, e.EntryID = row.ID, row.ID
		bodies[i], listed[i] = sqldb.Pick(e, bodyColumns), listedOf(e)
	}
	if err := t.InsertRows("body", bodyColumns, bodies, ""); err != nil {
		return err
	}
	return writeListings(t, listed)
}
