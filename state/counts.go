package state

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// notCounted is the value of a count that took too long.
const notCounted = -1

// Extent returns the number of records of each kind, and for SQLite the pages of the file: only
// counts, no contents. Each count may take the given time (0 = no limit); otherwise it is
// notCounted.
func (s *Store) Extent(ctx context.Context, each time.Duration) (map[string]int64, error) {
	queries := map[string]string{
		"ledger.schema":    `SELECT MAX(version_id) FROM ` + sqldb.SchemaTable,
		"attempts.open":    `SELECT COUNT(*) FROM sent WHERE outcome = 'open'`,
		"attempts.unknown": `SELECT COUNT(*) FROM sent WHERE outcome = 'unknown'`,
		"entries.reduced":  `SELECT COUNT(*) FROM entry WHERE reduced_at IS NOT NULL`,
		"audit.reduced":    `SELECT COUNT(*) FROM audit WHERE reduced = 1`,
		"runs.open":        `SELECT COUNT(*) FROM run WHERE ended_at IS NULL`,
		"entries.again":    `SELECT COUNT(*) FROM entry WHERE generation > 1`,
		"rows.reference":   `SELECT COUNT(*) FROM reference WHERE id <> ''`,
	}
	for _, table := range []string{
		"entry", "sent", "audit", "run", "lookup", "block", "quarantine",
		"journal", "tx_mark", "job_lease",
	} {
		queries["rows."+table] = `SELECT COUNT(*) FROM ` + table
	}
	if s.db.D.Name == sqldb.SQLite {
		queries["sqlite.pages"], queries["sqlite.free_pages"], queries["sqlite.page_size"] = `PRAGMA page_count`,
			`PRAGMA freelist_count`, `PRAGMA page_size`
	} else {
		queries["postgres.kib"] = `SELECT pg_database_size(current_database()) / 1024`
	}
	out := map[string]int64{}
	for name, query := range queries {
		var n int64
		over, err := sqldb.Within(ctx, each,
			func(ctx context.Context) error { return s.db.Get(ctx, "counting what the ledger has", &n, query) })
		switch {
		case err != nil:
			return nil, err
		case over:
			n = notCounted
		}
		out[name] = n
	}
	return out, nil
}

// StuckStates counts the rows of a job that wait for something or need a person, by state and cause.
func (s *Store) StuckStates(ctx context.Context, job string) (map[trade.State]map[string]int, error) {
	var rows []struct {
		State, Cause string
		N            int
	}
	err := s.db.All(ctx, "counting the causes", &rows, `SELECT state, cause, COUNT(*) AS n FROM entry e
		WHERE job = ? AND `+isStuck+` GROUP BY state, cause ORDER BY state, cause`, job)
	out := map[trade.State]map[string]int{}
	for _, r := range rows {
		if out[trade.State(r.State)] == nil {
			out[trade.State(r.State)] = map[string]int{}
		}
		out[trade.State(r.State)][r.Cause] = r.N
	}
	return out, err
}

// Causes returns the causes that rows of some jobs have, of all if none is named, in order.
func (s *Store) Causes(ctx context.Context, jobs []string) (causes []string, err error) {
	query, args := `SELECT DISTINCT cause FROM entry WHERE cause <> ''`, []any(nil)
	if len(jobs) > 0 {
		query, args = query+` AND `+s.db.D.Among("job"), []any{sqldb.ListOf(s.db.D, jobs)}
	}
	err = s.db.All(ctx, "looking for the causes", &causes, query, args...)
	slices.Sort(causes)
	return causes, err
}

// Ages returns how old the rows of a job are. Rows that wait with one of the causes without do not
// count as waiting.
func (s *Store) Ages(ctx context.Context, job string, without ...string) (trade.Ages, error) {
	var a trade.Ages
	for _, q := range []struct {
		into *time.Time
		text string
		more []any
	}{
		{&a.Pending, `SELECT MIN(first_seen_at) FROM entry WHERE job = ? AND state = 'pending'`, nil},
		{
			&a.Waiting, `SELECT MIN(first_seen_at) FROM entry WHERE job = ? AND state = 'waiting'` +
				strings.Repeat(` AND cause <> ?`, len(without)), sqldb.Anys(without),
		},
		{
			&a.InDoubt,
			`SELECT MIN(a.started_at) FROM entry e JOIN sent a ON a.origin = e.id WHERE e.job = ? AND e.state = 'in_doubt' AND a.outcome = 'unknown'`, nil,
		},
		{&a.Newest, `SELECT (SELECT first_seen_at FROM entry WHERE job = ? ORDER BY id DESC LIMIT 1)`, nil},
		{&a.FirstRun, `SELECT (SELECT started_at FROM run WHERE job = ? ORDER BY seq LIMIT 1)`, nil},
	} {
		args := append([]any{job}, q.more...)
		if err := s.db.Get(ctx, "looking at the age of rows", q.into, q.text, args...); err != nil {
			return trade.Ages{}, err
		}
	}
	a.Unsent = a.Pending
	if !a.Waiting.IsZero() && (a.Unsent.IsZero() || a.Waiting.Before(a.Unsent)) {
		a.Unsent = a.Waiting
	}
	return a, nil
}

// Place returns the position of a row, by id, among the rows in some states with some causes (none: all),
// and their number.
func (s *Store) Place(ctx context.Context, e trade.Entry, states []trade.State, causes ...string) (place, of int,
	err error,
) {
	jobs, err := s.Jobs(ctx)
	if err != nil {
		return 0, 0, err
	}
	for _, job := range jobs {
		var n struct {
			Place int
			All   int `db:"n"`
		}
		query := `SELECT COUNT(*) AS n, COALESCE(SUM(CASE WHEN id <= ? THEN 1 ELSE 0 END), 0) AS place
			FROM entry WHERE job = ? AND state IN (` + sqldb.Placeholders(len(states)) + `)`
		args := append([]any{e.ID, job}, sqldb.Anys(states)...)
		if len(causes) > 0 {
			query += ` AND cause IN (` + sqldb.Placeholders(len(causes)) + `)`
			args = append(args, sqldb.Anys(causes)...)
		}
		if err := s.db.Get(ctx, "counting the rows in some states", &n, query, args...); err != nil {
			return 0, 0, err
		}
		place, of = place+n.Place, of+n.All
	}
	return place, of, nil
}

// FlagCounts returns how many entries of a job have each flag. Flags that no entry has are left out.
func (s *Store) FlagCounts(ctx context.Context, job string) (map[trade.Flag]int, error) {
	_, out, err := s.flagged(ctx, false, `job = ?`, job)
	return out, err
}

// ChangedCounts returns how many entries changed after they may have been sent, or were left out, and how many of them
// are shown under each flag.
func (s *Store) ChangedCounts(ctx context.Context) (rows int, each map[trade.Flag]int, err error) {
	return s.flagged(ctx, true, `state IN (`+sqldb.Placeholders(len(trade.ChangedIn))+`)`,
		sqldb.Anys(trade.ChangedIn)...)
}

// flagged returns how many entries that fit a condition have a flag that a person acknowledges, and how many
// have each flag: shown, without those that it does not show.
func (s *Store) flagged(ctx context.Context, shown bool, where string, args ...any) (rows int, each map[trade.Flag]int,
	err error,
) {
	var sets []struct {
		Flags trade.Flags
		N     int
	}
	err = s.db.All(ctx, "counting flags", &sets,
		`SELECT flags, COUNT(*) AS n FROM entry WHERE flags <> '[]' AND `+where+` GROUP BY flags`, args...)
	each = map[trade.Flag]int{}
	for _, set := range sets {
		if slices.ContainsFunc(trade.AcknowledgedByAct, set.Flags.Has) {
			rows += set.N
		}
		for _, f := range set.Flags {
			if !shown || !set.Flags.Hides(f) {
				each[f] += set.N
			}
		}
	}
	return rows, each, err
}

// Counts returns the sums of a job by state and unit, in the order of trade.States (I9).
func (s *Store) Counts(ctx context.Context, job string) ([]trade.Tally, error) {
	const op = "reading the counts"
	counts, err := countsOf(s.db.Reading(ctx, op), job)
	return counts, s.db.Fault(ctx, op, err)
}

// CountIn returns how many entries of a job are in a state.
func (s *Store) CountIn(ctx context.Context, job string, state trade.State) (n int, err error) {
	err = s.db.Get(ctx, "reading the counts", &n, `SELECT COUNT(*) FROM entry WHERE job = ? AND state = ?`, job,
		string(state))
	return n, err
}

// countVolumes counts the entries of a job of one state and unit after the other, which takes a third less
// than to group them: nothing is compared for each row.
var countVolumes = func() (query string) {
	for _, state := range trade.States {
		for _, unit := range trade.Units {
			query += fmt.Sprintf(`SELECT 0 AS id, '%s' AS state, '%s' AS unit, '' AS amount, COUNT(*) AS n,
				CAST(SUM(volume) AS BIGINT) AS volume FROM entry WHERE job = ? AND state = '%[1]s' AND unit = '%[2]s'
				AND volume IS NOT NULL HAVING COUNT(*) > 0 UNION ALL `, state, unit)
		}
	}
	return query
}()

// countsOf adds up the column volume in the database, and amounts that it cannot hold here, from their
// texts. One statement reads both, so that they are of one moment.
func countsOf(all sqldb.Select, job string) ([]trade.Tally, error) {
	var rows []struct {
		ID, Volume          int64
		N                   int
		State, Unit, Amount string
	}
	jobs := slices.Repeat([]any{job}, strings.Count(countVolumes, "?")+1)
	if err := all(&rows, countVolumes+`SELECT MIN(id), state, unit, amount, COUNT(*), 0
		FROM entry WHERE job = ? AND volume IS NULL GROUP BY state, unit, amount`, jobs...); err != nil {
		return nil, err
	}
	type part struct {
		state trade.State
		unit  trade.Unit
	}
	sums := map[part]trade.Tally{}
	for _, r := range rows {
		volume := trade.ListingDecimal(r.Volume)
		if r.ID != 0 {
			amount, err := trade.ParseSum(r.Amount)
			if err != nil {
				return nil, phrase.Errorf("entry %d is damaged: its amount %w", r.ID, err)
			}
			volume = amount.Mul(trade.NewDecimal(int64(r.N), 0))
		}
		p := part{trade.State(r.State), trade.Unit(r.Unit)}
		sums[p] = trade.Tally{
			State:    p.state,
			Count:    sums[p].Count + r.N,
			Quantity: trade.Quantity{Amount: sums[p].Quantity.Amount.Add(volume), Unit: p.unit},
		}
	}
	return slices.SortedFunc(maps.Values(sums), func(a, b trade.Tally) int {
		if a.State != b.State {
			return cmp.Compare(position(a.State), position(b.State))
		}
		return cmp.Compare(a.Quantity.Unit, b.Quantity.Unit)
	}), nil
}

// volumeMost is below what the column volume holds, in 1/10,000, so that millions of rows add up.
const volumeMost = 1_000_000_000_000

// volumeOf returns an amount for the column volume; NULL if it does not fit exactly.
func volumeOf(amount trade.Decimal) sql.NullInt64 {
	n := trade.ListingNumber(amount)
	if n <= -volumeMost || n >= volumeMost || !trade.ListingDecimal(n).Equal(amount) {
		return sql.NullInt64{}
	}
	return sql.NullInt64{Int64: n, Valid: true}
}

// Sizes returns the sizes of the ledger's parts in bytes.
func (s *Store) Sizes(ctx context.Context) (trade.Sizes, error) {
	const op = "measuring the ledger"
	var out trade.Sizes
	var err error
	switch {
	case s.db.Memory:
		return out, nil
	case s.db.D.Name == sqldb.SQLite:
		out.Ledger, err = fileSize(s.db.Where)
		if err == nil {
			out.WAL, err = fileSize(s.db.Where + "-wal")
		}
	default:
		err = s.db.Get(ctx, op, &out.Ledger, `SELECT pg_database_size(current_database())`)
	}
	if err != nil {
		return trade.Sizes{}, s.db.Fault(ctx, op, err)
	}
	if s.db.JournalPath != "" {
		out.Journal, err = folderSize(s.db.JournalPath)
	}
	return out, s.db.Fault(ctx, op, err)
}

// fileSize returns the size of a file, or 0 if it does not exist.
func fileSize(path string) (int64, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// folderSize returns the total size of the files under a folder. A file that is removed meanwhile
// is not counted.
func folderSize(path string) (sum int64, err error) {
	err = filepath.WalkDir(path, func(at string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case d.IsDir():
			return nil
		}
		size, err := fileSize(at)
		sum += size
		return err
	})
	return sum, err
}

// Spaces returns the free space in the folders of the ledger's file and of its journal, if they are
// on this host. It does not know the disks of a PostgreSQL server.
func (s *Store) Spaces() []trade.Space {
	return s.spacesOf(s.folders(s.db.JournalPath))
}

// inFile reports whether the ledger is a file of this host.
func (s *Store) inFile() bool { return s.db.D.Name == sqldb.SQLite && !s.db.Memory }

// folders returns the folder of the ledger's file, if it has one, and that of its journal, unless it is "".
func (s *Store) folders(journal string) (out []string) {
	if s.inFile() {
		out = append(out, filepath.Dir(s.db.Where))
	}
	if journal != "" {
		out = append(out, journal)
	}
	return out
}

func (s *Store) spacesOf(folders []string) (out []trade.Space) {
	for _, folder := range folders {
		if free, ok := s.db.Tune.Free(folder); ok {
			out = append(out, trade.Space{Folder: folder, Free: free, Low: free < sqldb.LowSpace})
		}
	}
	return out
}
