// Pages in the order of a column of the list, at any size: each order has an index, and a page begins
// after the last row of the page before.

package state

import (
	"cmp"
	"database/sql"
	"slices"
	"strconv"
	"strings"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// sortedBy are the columns of the table listing by which lists are sorted.
var sortedBy = map[trade.RowSort]string{
	trade.ByTitle: "title", trade.ByProduct: "product", trade.ByProducer: "producer", trade.ByBranch: "branch",
	trade.ByDay: "day", trade.ByVolume: "kilograms", trade.ByValue: "worth",
}

// placed is a row with its place in an order: by number or text, then by id. Rows without either come
// last.
type placed struct {
	ID     int64
	Number sql.NullInt64
	Text   sql.NullString
}

func (a placed) known() bool { return a.Number.Valid || a.Text.Valid }

// compare compares two places; down reverses the order, but rows without a value still come last.
func (a placed) compare(b placed, down bool) int {
	if a.known() != b.known() {
		if a.known() {
			return -1
		}
		return 1
	}
	c := cmp.Or(cmp.Compare(a.Number.Int64, b.Number.Int64), strings.Compare(a.Text.String, b.Text.String),
		cmp.Compare(a.ID, b.ID))
	if down {
		return -c
	}
	return c
}

// byColumn returns the ids of a page in the order of a column.
func (p *paging) byColumn() (ids []int64, next string, err error) {
	column, down := p.q.Sort.Column()
	s := scanning{paging: p, column: column, down: down, order: "ASC", beyond: ">"}
	if down {
		s.order, s.beyond = "DESC", "<"
	}
	if p.q.After != "" {
		if err := s.begin(); err != nil {
			return nil, "", err
		}
	}
	rows, err := s.rows()
	if err != nil {
		return nil, "", err
	}
	slices.SortFunc(rows, func(a, b placed) int { return a.compare(b, down) })
	rows = slices.Compact(rows)
	if len(rows) > p.q.Limit {
		rows = rows[:p.q.Limit]
		// The number of the place is in it, because rows move while people read; a text seldom changes,
		// and is looked up.
		last := rows[len(rows)-1]
		next = strconv.FormatInt(last.ID, 10)
		if last.Number.Valid {
			next += "_" + strconv.FormatInt(last.Number.Int64, 10)
		}
	}
	for _, r := range rows {
		ids = append(ids, r.ID)
	}
	return ids, next, nil
}

// scanning is a look for a page in the order of a column.
type scanning struct {
	*paging
	column        trade.RowSort
	down          bool
	order, beyond string
	after         *placed
}

// begin finds the place of the last row of the page before.
func (s *scanning) begin() (err error) {
	id, number, numbered := strings.Cut(s.q.After, "_")
	at := placed{Number: sql.NullInt64{Valid: numbered}}
	at.ID, err = strconv.ParseInt(id, 10, 64)
	if err == nil && numbered {
		at.Number.Int64, err = strconv.ParseInt(number, 10, 64)
	}
	if err != nil {
		return phrase.Errorf("no page begins after %q", s.q.After)
	}
	s.after = &at
	if !s.byText() {
		return nil
	}
	return s.s.db.Get(s.ctx, readingPage, &at.Text, `SELECT `+sortedBy[s.column]+` FROM listing WHERE entry_id = ?`, at.ID)
}

// rows returns the rows of the page and perhaps more, in no order.
func (s *scanning) rows() ([]placed, error) {
	switch {
	case s.chosen():
		return s.ofFew()
	case s.column == trade.ByState:
		return s.byState()
	case s.column == trade.ByChanged:
		return s.byChanged()
	}
	var out []placed
	column := sortedBy[s.column]
	for _, job := range s.q.Jobs {
		n := 0
		for _, span := range s.spans(column) {
			b := &branch{lead: true, from: s.s.db.D.ByIndex("listing_" + column)}
			b.add(`l.job = ?`, job)
			s.byFacts(b, column)
			bare := len(b.where)
			s.ofRow(b)
			s.ofEntry(b)
			b.bare = len(b.where) == bare
			b.add(span.where, span.args...)
			some, err := s.place(b, `l.`+column, `ORDER BY `+span.order)
			if err != nil {
				return nil, err
			}
			out = append(out, some...)
			n += len(some)
			if n > s.q.Limit {
				break
			}
		}
	}
	return out, nil
}

// ofFew reads all rows that were chosen, and drops those of the pages before.
func (s *scanning) ofFew() ([]placed, error) {
	b := &branch{}
	s.narrow(b)
	s.ofEntry(b)
	b.add(`e.job IN (`+sqldb.Placeholders(len(s.q.Jobs))+`)`, sqldb.Anys(s.q.Jobs)...)
	value := `e.updated_at`
	switch {
	case s.column == trade.ByState:
		value = `e.state`
	case sortedBy[s.column] != "":
		value = `l.` + sortedBy[s.column]
		b.withListing()
	}
	rows, err := s.place(b, value, "")
	if s.after != nil {
		rows = slices.DeleteFunc(rows, func(r placed) bool { return r.compare(*s.after, s.down) <= 0 })
	}
	return rows, err
}

// span is a part of an index that is read in order.
type span struct {
	where string
	args  []any
	order string
}

// spans returns the parts of the index of a column after the page before: what has the same value there,
// which may be very many rows, what comes after it, and what has no value.
func (s *scanning) spans(column string) []span {
	value, byID := `l.`+column, `l.entry_id `+s.order
	inOrder := value + ` ` + s.order + `, ` + byID
	none := span{value + ` IS NULL`, nil, byID}
	switch {
	case s.after == nil:
		return []span{{value + ` IS NOT NULL`, nil, inOrder}, none}
	case !s.after.known():
		none.where += ` AND l.entry_id ` + s.beyond + ` ?`
		none.args = []any{s.after.ID}
		return []span{none}
	}
	var at any = s.after.Number.Int64
	if s.after.Text.Valid {
		at = s.after.Text.String
	}
	return []span{
		{value + ` = ? AND l.entry_id ` + s.beyond + ` ?`, []any{at, s.after.ID}, byID},
		{value + ` ` + s.beyond + ` ?`, []any{at}, inOrder},
		none,
	}
}

// byState reads rows state by state, each in the order of their ids.
func (s *scanning) byState() ([]placed, error) {
	states := slices.Clone(trade.States)
	if s.down {
		slices.Reverse(states)
	}
	var out []placed
	for _, state := range states {
		begun := s.after != nil && position(state) == s.after.Number.Int64
		if len(s.q.States) > 0 && !slices.Contains(s.q.States, state) ||
			s.after != nil && !begun && (position(state) < s.after.Number.Int64) != s.down {
			continue
		}
		for _, job := range s.q.Jobs {
			b := &branch{from: s.s.db.D.ByState}
			b.add(`e.job = ? AND e.state = ?`, job, string(state))
			s.narrow(b)
			b.ofCauses(s.q.Causes)
			if begun {
				b.add(`e.id `+s.beyond+` ?`, s.after.ID)
			}
			some, err := s.place(b, `e.state`, `ORDER BY e.id `+s.order)
			if err != nil {
				return nil, err
			}
			out = append(out, some...)
		}
		if len(out) > s.q.Limit {
			break
		}
	}
	return out, nil
}

// byChanged reads rows by the time of their last change: the settled ones along two indexes; those of
// the other states, of which there are many only while a new ledger is filled, are sorted.
func (s *scanning) byChanged() ([]placed, error) {
	var out []placed
	for _, job := range s.q.Jobs {
		for _, b := range s.datedBranches(func() *branch {
			b := &branch{}
			b.add(`e.job = ?`, job)
			s.narrow(b)
			b.ofCauses(s.q.Causes)
			if s.after != nil {
				b.add(`(e.updated_at, e.id) `+s.beyond+` (?, ?)`, s.after.Number.Int64, s.after.ID)
			}
			return b
		}) {
			some, err := s.place(b, `e.updated_at`, `ORDER BY e.updated_at `+s.order+`, e.id `+s.order)
			if err != nil {
				return nil, err
			}
			out = append(out, some...)
		}
	}
	return out, nil
}

// position returns the place of a state among the states.
func position(state trade.State) int64 { return int64(slices.Index(trade.States, state)) }

// place reads rows with their places. order is the end of the statement; "" = all rows.
func (s *scanning) place(b *branch, value, order string) ([]placed, error) {
	args := slices.Clone(b.args)
	if order != "" {
		order += ` LIMIT ?`
		args = append(args, s.q.Limit+1)
	}
	as := `number`
	if s.byText() || s.column == trade.ByState {
		as = `text`
	}
	var rows []placed
	err := s.all(&rows, b.selects(b.id()+` AS id, `+value+` AS `+as)+` `+order, args...)
	if s.column == trade.ByState {
		for i, r := range rows {
			rows[i].Number = sql.NullInt64{Int64: position(trade.State(r.Text.String)), Valid: true}
			rows[i].Text = sql.NullString{}
		}
	}
	return rows, err
}

// byText reports whether the column has texts.
func (s *scanning) byText() bool {
	return slices.Contains([]trade.RowSort{trade.ByTitle, trade.ByProduct, trade.ByProducer, trade.ByBranch}, s.column)
}
