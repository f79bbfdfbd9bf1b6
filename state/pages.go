package state

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

const readingPage = "reading a page of rows"

// RowPage returns one page of the rows that match a query. The states of the parents of waiting
// rows are the present ones. A page is one scan of what lists have of each row.
func (s *Store) RowPage(ctx context.Context, q trade.RowQuery) (trade.RowPage, error) {
	ids, next, err := s.pageIDs(ctx, q)
	if err != nil || len(ids) == 0 {
		return trade.RowPage{}, s.db.Fault(ctx, readingPage, err)
	}
	rows, err := s.entriesInOrder(ctx, ids)
	return trade.RowPage{Rows: rows, Next: next}, err
}

// entriesInOrder returns entries in the order of their ids here, with the present states of the parents
// of waiting rows.
func (s *Store) entriesInOrder(ctx context.Context, ids []int64) ([]trade.Entry, error) {
	entries, err := s.Entries(ctx, ids)
	if err != nil {
		return nil, err
	}
	place := make(map[int64]int, len(ids))
	for i, id := range ids {
		place[id] = i
	}
	slices.SortFunc(entries, func(a, b trade.Entry) int { return cmp.Compare(place[a.ID], place[b.ID]) })
	return entries, s.fillParentStates(ctx, entries)
}

// RowKeys returns the jobs and keys of the rows that match a query, at most its limit; more reports that
// there are further ones.
func (s *Store) RowKeys(ctx context.Context, q trade.RowQuery) (keys []trade.ParentKey, more bool, err error) {
	ids, next, err := s.pageIDs(ctx, q)
	if err != nil || len(ids) == 0 {
		return nil, false, s.db.Fault(ctx, readingPage, err)
	}
	err = s.db.All(ctx, readingPage, &keys, `SELECT job, key FROM entry WHERE `+s.db.D.Among("id"),
		sqldb.ListOf(s.db.D, ids))
	return keys, next != "", err
}

// clause is the condition of a statement, with the tables that it reads: entry, listing, or both.
type clause struct {
	where          []string
	args           []any
	entry, listing bool
	joins          string // what else it reads beside the listing
}

func (c *clause) add(condition string, args ...any) {
	c.where = append(c.where, condition)
	c.args = append(c.args, args...)
}

func (c *clause) all() string { return strings.Join(c.where, " AND ") }

func (c *clause) condition() string { return `WHERE ` + c.all() }

// from returns the tables and the condition.
func (c *clause) from() string { return c.tables() + c.condition() }

func (c *clause) tables() string {
	switch {
	case c.entry && c.listing:
		return `FROM entry e JOIN listing l ON l.entry_id = e.id ` + c.joins
	case c.entry:
		return `FROM entry e `
	}
	return `FROM listing l ` + c.joins
}

// resolve replaces @id and @job by the columns of a table that the statement reads.
func (c *clause) resolve(text string) string {
	if c.entry {
		return strings.NewReplacer("@id", "e.id", "@job", "e.job").Replace(text)
	}
	return strings.NewReplacer("@id", "l.entry_id", "@job", "l.job").Replace(text)
}

// clauseOf returns the condition of a query that names its jobs.
func (s *Store) clauseOf(ctx context.Context, q trade.RowQuery) (*clause, error) {
	c := &clause{}
	c.add(`@job IN (`+sqldb.Placeholders(len(q.Jobs))+`)`, sqldb.Anys(q.Jobs)...)
	if strings.TrimSpace(q.Text) != "" {
		if err := s.ofText(ctx, c, q); err != nil {
			return nil, err
		}
	}
	// without ids nobody said which rows these are
	if q.IDs != nil || q.Of != (trade.Selection{Harvest: q.Facts.Season}) {
		c.add(s.db.D.Among("@id"), sqldb.ListOf(s.db.D, sqldb.NotNil(q.IDs)))
	}
	if len(q.States) > 0 {
		c.entry = true
		c.add(`e.state IN (`+sqldb.Placeholders(len(q.States))+`)`, sqldb.Anys(q.States)...)
	}
	if len(q.Causes) > 0 {
		c.entry = true
		c.add(`e.cause <> '' AND e.cause IN (`+sqldb.Placeholders(len(q.Causes))+`)`, sqldb.Anys(q.Causes)...)
	}
	if len(q.Flags) > 0 {
		c.entry = true
		values := trade.Map(q.Flags, func(f trade.Flag) any { return `%"` + string(f) + `"%` })
		c.add(`(e.flags LIKE ?`+strings.Repeat(` OR e.flags LIKE ?`, len(q.Flags)-1)+`)`, values...)
	}
	if q.Key != "" {
		c.entry = true
		c.add(`e.key = ?`, q.Key)
	}
	if !q.From.IsZero() {
		c.entry = true
		c.add(`e.updated_at >= ?`, q.From.UnixMilli())
	}
	if !q.Until.IsZero() {
		c.entry = true
		c.add(`e.updated_at < ?`, q.Until.UnixMilli())
	}
	return c, s.ofFacts(ctx, c, q)
}

// ofFacts adds the conditions on product, producer, branch, season, worth and day.
func (s *Store) ofFacts(ctx context.Context, c *clause, q trade.RowQuery) error {
	f := q.Facts
	for _, name := range []struct {
		column trade.RowSort
		text   string
	}{{trade.ByProducer, f.Producer}, {trade.ByBranch, f.Branch}, {trade.ByProduct, f.Product}} {
		if name.text == "" {
			continue
		}
		names, err := s.namesLike(ctx, name.column, q.Jobs, name.text)
		if err != nil {
			return err
		}
		c.listing = true
		c.add(`l.`+sortedBy[name.column].column+` IN (`+sqldb.Placeholders(len(names))+`)`, sqldb.Anys(names)...)
	}
	if f.Season != "" { // a delivery has that of its contract
		c.listing = true
		c.joins = `LEFT JOIN entry s ON s.job = l.contract_job AND s.key = l.contract
			LEFT JOIN listing o ON o.entry_id = s.id `
		seasons := strings.Split(f.Season, ",")
		c.add(`COALESCE(l.season, o.season, '`+trade.NotKnown+`') IN (`+sqldb.Placeholders(len(seasons))+`)`,
			sqldb.Anys(seasons)...)
	}
	for _, bound := range []struct {
		than  string
		worth *trade.Decimal
		day   trade.Date
	}{{` >= ?`, f.WorthFrom, f.DayFrom}, {` <= ?`, f.WorthUntil, f.DayUntil}} {
		if bound.worth != nil {
			c.listing = true
			c.add(`l.worth`+bound.than, trade.ListingNumber(*bound.worth))
		}
		if !bound.day.IsZero() {
			c.listing = true
			c.add(`l.day`+bound.than, trade.ListingDay(bound.day))
		}
	}
	return nil
}

// namesMost is how many texts of a column may have the part that a person typed. What more have is
// refused: a list of a few of them would look like the whole.
const namesMost = 100

// namesLike returns the texts of a column that a person means: the one that was typed or, if no row has
// it, those that have it as a part. If none has, the text itself, which selects nothing.
func (s *Store) namesLike(ctx context.Context, column trade.RowSort, jobs []string, text string) ([]string, error) {
	var exact bool
	if err := s.db.Get(ctx, readingPage, &exact, `SELECT EXISTS (SELECT 1 FROM listing WHERE `+
		sortedBy[column].column+` = ? AND job IN (`+sqldb.Placeholders(len(jobs))+`))`,
		slices.Concat([]any{text}, sqldb.Anys(jobs))...); err != nil || exact {
		return []string{text}, err
	}
	names, more, err := s.RowNames(ctx, column, jobs, text, namesMost)
	switch {
	case more:
		return nil, trade.ErrManyNames
	case len(names) == 0:
		return []string{text}, err
	}
	return names, err
}

// RowNames returns the different texts of a column (trade.ByProduct, ByProducer, ByBranch) of some jobs,
// of all if none is named, that have a part in whatever case and with or without accents, in order; at
// most limit. more reports that there are others, or that not all could be looked at.
func (s *Store) RowNames(ctx context.Context, column trade.RowSort, jobs []string, part string, limit int,
) (names []string, more bool, err error) {
	if len(jobs) == 0 {
		jobs, err = s.Jobs(ctx)
		if err != nil {
			return nil, false, err
		}
	}
	name := sortedBy[column].column
	most := limit
	if part != "" {
		most = s.db.Tune.Names
	}
	part = trade.Joined(part)
	for _, job := range jobs {
		var some []string
		// each step goes to the next text in the index
		if err := s.db.All(ctx, readingPage, &some, `WITH RECURSIVE name(text) AS (
			SELECT MIN(`+name+`) FROM listing WHERE job = ? AND `+name+` > '' UNION ALL
			SELECT (SELECT MIN(`+name+`) FROM listing WHERE job = ? AND `+name+` > name.text) FROM name
				WHERE name.text IS NOT NULL)
			SELECT text FROM name WHERE text IS NOT NULL LIMIT ?`, job, job, most+1); err != nil {
			return nil, false, err
		}
		more = more || len(some) > most
		some = slices.DeleteFunc(some, func(n string) bool { return !strings.Contains(trade.Joined(n), part) })
		names = append(names, some...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(len(names), limit)], more || len(names) > limit, nil
}

// sortedBy are the columns of the table listing by which lists are sorted, and whether each is a text.
var sortedBy = map[trade.RowSort]struct {
	column string
	text   bool
}{
	trade.ByTitle: {"title", true}, trade.ByProduct: {"product", true}, trade.ByProducer: {"producer", true},
	trade.ByBranch: {"branch", true}, trade.ByDay: {"day", false}, trade.ByVolume: {"kilograms", false},
	trade.ByValue: {"worth", false},
}

// position returns the place of a state among the states.
func position(state trade.State) int { return slices.Index(trade.States, state) }

// sorting is an order of rows: by a number or a text, then by id. Rows without a value come last.
type sorting struct {
	value         string // "" = by id alone
	args          []any
	kind          string // number or text
	order, beyond string
}

// sortingOf returns the order of a query, and reads the tables that have its value.
func (c *clause) sortingOf(q trade.RowQuery) sorting {
	column, down := q.Sort.Column()
	s := sorting{kind: "number", order: "ASC", beyond: ">"}
	if down || column == "" && q.Sort != trade.OldestFirst && q.Sort != trade.ByKey {
		s.order, s.beyond = "DESC", "<"
	}
	switch by := sortedBy[column]; {
	case by.column != "":
		c.listing, s.value = true, `l.`+by.column
		if by.text {
			s.kind = "text"
		}
	case column == trade.ByChanged:
		c.entry, s.value = true, `e.updated_at`
	case column == trade.ByState:
		c.entry, s.value = true, `CASE e.state`
		for i, state := range trade.States {
			s.value += fmt.Sprintf(` WHEN '%s' THEN %d`, state, i)
		}
		s.value += ` END`
	case q.Sort == trade.ByKey: // job by job, in the order of the query
		c.entry, s.kind, s.value = true, "text", `CASE e.job`
		for i, job := range q.Jobs {
			s.value += fmt.Sprintf(` WHEN ? THEN '%06d'`, i)
			s.args = append(s.args, job)
		}
		s.value += ` END || e.key`
	}
	return s
}

// pageIDs returns the ids of a page, in order, and where the next one begins; "" if it is the last.
func (s *Store) pageIDs(ctx context.Context, q trade.RowQuery) (ids []int64, next string, err error) {
	if len(q.Jobs) == 0 {
		q.Jobs, err = s.Jobs(ctx)
	}
	if err != nil || len(q.Jobs) == 0 {
		return nil, "", err
	}
	c, err := s.clauseOf(ctx, q)
	if err != nil {
		return nil, "", err
	}
	by := c.sortingOf(q)
	if !c.entry && !c.listing {
		c.listing = true // the narrower of the tables
	}
	selected, order := `SELECT @id AS id `, ` ORDER BY id `+by.order
	if by.value != "" {
		selected = `SELECT @id AS id, ` + by.value + ` AS ` + by.kind + ` `
		order = ` ORDER BY ` + by.kind + ` ` + by.order + ` NULLS LAST, id ` + by.order
	}
	query := `SELECT * FROM (` + selected + c.from() + `) AS place`
	args := slices.Concat(by.args, c.args)
	if q.After != "" {
		beyond, values, err := s.beyond(ctx, c, by, q.After)
		if err != nil {
			return nil, "", err
		}
		query, args = query+beyond, append(args, values...)
	}
	var rows []place
	if err := s.db.All(ctx, readingPage, &rows, c.resolve(query+order+` LIMIT ?`),
		append(args, q.Limit+1)...); err != nil {
		return nil, "", err
	}
	if len(rows) > q.Limit {
		rows = rows[:q.Limit]
		// The number of the place is in it, because rows move while people read; a text seldom changes,
		// and is looked up.
		last := rows[len(rows)-1]
		next = strconv.FormatInt(last.ID, 10)
		if last.Number.Valid {
			next += "_" + strconv.FormatInt(last.Number.Int64, 10)
		}
	}
	return trade.Map(rows, func(r place) int64 { return r.ID }), next, nil
}

// place is a row with its place in an order.
type place struct {
	ID     int64
	Number sql.NullInt64
	Text   sql.NullString
}

// beyond returns the condition that a row comes after the last one of the page before.
func (s *Store) beyond(ctx context.Context, c *clause, by sorting, after string) (string, []any, error) {
	text, number, numbered := strings.Cut(after, "_")
	id, err := strconv.ParseInt(text, 10, 64)
	value := any(nil)
	if err == nil && numbered {
		value, err = strconv.ParseInt(number, 10, 64)
	}
	if err != nil || numbered && by.value == "" {
		return "", nil, phrase.Errorf("no page begins after %q", after)
	}
	if by.kind == "text" {
		var at place
		if err := s.db.Get(ctx, readingPage, &at, c.resolve(`SELECT `+by.value+` AS text `+c.tables()+`WHERE @id = ?`),
			slices.Concat(by.args, []any{id})...); err != nil {
			return "", nil, err
		}
		value = nil
		if at.Text.Valid {
			value = at.Text.String
		}
	}
	switch {
	case by.value == "":
		return ` WHERE id ` + by.beyond + ` ?`, []any{id}, nil
	case value == nil:
		return ` WHERE ` + by.kind + ` IS NULL AND id ` + by.beyond + ` ?`, []any{id}, nil
	}
	return ` WHERE ` + by.kind + ` ` + by.beyond + ` ? OR ` + by.kind + ` = ? AND id ` + by.beyond + ` ? OR ` +
		by.kind + ` IS NULL`, []any{value, value, id}, nil
}

// summed is how many times the few rows of a text are added up unasked.
const summed = 2

// RowSums returns the sums of the rows that a query selects, by job. If these may be many, it returns nil
// unless whole is true.
func (s *Store) RowSums(ctx context.Context, q trade.RowQuery, whole bool) (map[string]trade.Sums, error) {
	const op = "adding up rows"
	out := map[string]trade.Sums{}
	var err error
	if len(q.Jobs) == 0 {
		q.Jobs, err = s.Jobs(ctx)
	}
	if err != nil || len(q.Jobs) == 0 {
		return out, err
	}
	c, err := s.clauseOf(ctx, q)
	if err != nil {
		return nil, s.db.Fault(ctx, op, err)
	}
	c.listing = true
	if !whole {
		var n int
		err := s.db.Get(ctx, op, &n, c.resolve(`SELECT COUNT(*) FROM (SELECT 1 `+c.from()+` LIMIT ?) AS found`),
			append(slices.Clone(c.args), summed*s.db.Tune.Few+1)...)
		if err != nil || n > summed*s.db.Tune.Few {
			return nil, err
		}
	}
	var rows []struct {
		Job, Currency      string
		N, Weighed, Valued int
		Kg, Worth          int64
	}
	if err := s.db.All(ctx, op, &rows, c.resolve(`SELECT l.job, l.currency, COUNT(*) AS n, COUNT(l.kilograms) AS weighed,
		COUNT(l.worth) AS valued, CAST(COALESCE(SUM(l.kilograms), 0) AS BIGINT) AS kg,
		CAST(COALESCE(SUM(l.worth), 0) AS BIGINT) AS worth `+c.from()+` GROUP BY l.job, l.currency`),
		c.args...); err != nil {
		return nil, err
	}
	for _, job := range q.Jobs {
		out[job] = trade.Sums{}
	}
	for _, r := range rows {
		sums := trade.Sums{Rows: r.N, Unweighed: r.N - r.Weighed, Kilograms: trade.ListingDecimal(r.Kg)}
		if r.Valued > 0 {
			sums.Values = map[string]trade.Decimal{r.Currency: trade.ListingDecimal(r.Worth)}
		}
		sums.Join(out[r.Job])
		out[r.Job] = sums
	}
	return out, nil
}
