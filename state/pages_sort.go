package state

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// sortedPage returns the ids of one page in an order that no index has. It reads and sorts all rows
// of the query, unless there are more than trade.SortedMost; then ok is false. next is where the
// next page begins.
func (p *paging) sortedPage() (ids []int64, next string, ok bool, err error) {
	all := *p
	all.after, all.q.Sort, all.q.Limit = 0, trade.NewestFirst, trade.SortedMost
	ids, err = all.byNumber()
	if err != nil || len(ids) > trade.SortedMost {
		return nil, "", false, err
	}
	rows, err := p.sortKeys(ids)
	if err != nil {
		return nil, "", false, err
	}
	by, down := p.q.Sort.Column()
	slices.SortFunc(rows, func(a, b sortRow) int {
		c := a.compare(b, by)
		if down {
			c = -c
		}
		return cmp.Or(c, cmp.Compare(b.ID, a.ID))
	})
	from := min(int(p.after), len(rows))
	to := min(from+p.q.Limit, len(rows))
	ids = ids[:0]
	for _, r := range rows[from:to] {
		ids = append(ids, r.ID)
	}
	if to < len(rows) {
		next = strconv.Itoa(to)
	}
	return ids, next, true, nil
}

// sortRow holds the values by which rows are sorted.
type sortRow struct {
	ID                                          int64
	Key, State, Amount, Unit, Shown, Day, Price string
	At                                          int64 `db:"updated_at"`
	title                                       string
	kg                                          trade.Decimal
	value                                       trade.Decimal
	position                                    int
}

// sortKeys reads the values by which rows are sorted, and no more than the order needs.
func (p *paging) sortKeys(ids []int64) ([]sortRow, error) {
	field := func(name string) string {
		if p.s.db.D.Name == sqldb.SQLite {
			return `e.payload ->> '$.` + name + `'`
		}
		return `CAST(e.payload AS json) ->> '` + name + `'`
	}
	shown, day, price, amount := `'{}'`, `''`, `''`, `e.amount`
	asked := `COALESCE(CAST(COALESCE(` + field("amount") + `, ` + field("delivered_volume") + `, ` +
		field("allocated_volume") + `) AS TEXT), e.amount)`
	by, _ := p.q.Sort.Column()
	switch by {
	case trade.ByTitle:
		shown = `e.shown`
	case trade.ByDay:
		day = `COALESCE(` + field("order_date") + `, ` + field("delivery_date") + `, '')`
	case trade.ByVolume:
		amount = asked
	case trade.ByValue:
		amount = asked
		price = `COALESCE(CAST(` + field("price") + ` AS TEXT), '')`
	}
	var rows []sortRow
	query := `SELECT e.id, e.key, e.state, ` + amount + ` AS amount, e.unit, e.updated_at, ` + shown + ` AS shown, ` + day + ` AS day, ` +
		price + ` AS price FROM entry e WHERE ` + p.s.db.D.Among("e.id")
	if err := p.all(&rows, query, sqldb.ListOf(p.s.db.D, ids)); err != nil {
		return nil, err
	}
	for i := range rows {
		r := &rows[i]
		r.position = slices.Index(trade.States, trade.State(r.State))
		switch amount, err := trade.ParseDecimal(r.Amount); {
		case err != nil:
		case by == trade.ByVolume:
			r.kg, _ = trade.Quantity{Amount: amount, Unit: trade.Unit(r.Unit)}.Kilograms()
		case by == trade.ByValue:
			if price, err := trade.ParseDecimal(r.Price); err == nil {
				r.value = amount.Mul(price)
			}
		}
		if by == trade.ByTitle {
			var s trade.Shown
			_ = json.Unmarshal([]byte(r.Shown), &s) // one that cannot be parsed has no title
			r.title = strings.ToLower(s.Lead(r.Key))
		}
	}
	return rows, nil
}

// compare compares two rows by a column, in ascending order.
func (r sortRow) compare(o sortRow, by trade.RowSort) int {
	switch by {
	case trade.ByTitle:
		return trade.CompareCodes(r.title, o.title)
	case trade.ByDay:
		return cmp.Compare(r.Day, o.Day)
	case trade.ByState:
		return cmp.Compare(r.position, o.position)
	case trade.ByVolume:
		return r.kg.Cmp(o.kg)
	case trade.ByValue:
		return r.value.Cmp(o.value)
	}
	return cmp.Compare(r.At, o.At)
}
