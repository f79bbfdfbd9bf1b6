// A row of the ERP as the engine uses it.

package mapping

import (
	"strconv"
	"time"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/trade"
)

// Row is a row of the ERP in a job. [Job.Row] makes it where the row is read, and everything after
// that uses it.
type Row struct {
	Key        string // in the normal form
	SourceHash trade.Hash
	Shown      trade.Shown
	Cancelled  bool          // in the ERP
	Late       time.Duration // if no window would have shown it: how long ago it changed
	row        erp.Row
	job        *Job
	values     trade.Values
}

// Row returns a row of the ERP in this job. If its key is not usable, the error names the column
// that makes it so, or is an ErrKeyForm; then the row has values alone, and Cancelled.
func (j *Job) Row(row erp.Row) (Row, error) {
	out := Row{row: row, job: j, Cancelled: j.isCancelled(row.Get), Late: row.Late}
	key, err := keyOf(row, j.Spec.Key)
	if err != nil {
		return out, err
	}
	out.Key, out.SourceHash, out.Shown = key, j.sourceHash(row.Get), j.displayed(key, row.Get)
	return out, nil
}

// ByKey groups rows by their key; it leaves out rows whose key is not usable.
func (j *Job) ByKey(rows []erp.Row) map[string][]Row {
	out := make(map[string][]Row, len(rows))
	for _, row := range rows {
		if r, err := j.Row(row); err == nil {
			out[r.Key] = append(out[r.Key], r)
		}
	}
	return out
}

// Get returns the value of a column of the query.
func (r *Row) Get(column string) (erp.Value, bool) { return r.row.Get(column) }

// Parts returns the parts of the key as the database wrote them, for reading the row again.
func (r *Row) Parts() []trade.Cell {
	out := make([]trade.Cell, len(r.job.Spec.Key))
	for i, name := range r.job.Spec.Key {
		v, _ := r.row.Get(name)
		out[i] = CellOf(v)
	}
	return out
}

// Values returns the columns that the mapping uses, and no others (LGPD: necessity).
func (r *Row) Values() trade.Values {
	if r.values == nil {
		r.values = make(trade.Values, len(r.job.Mapping.Columns))
		for _, name := range r.job.Mapping.Columns {
			if v, ok := r.row.Get(name); ok {
				r.values[name] = CellOf(v)
			}
		}
	}
	return r.values
}

// ValuesOfRows returns the values of all of some rows.
func ValuesOfRows(byKey map[string][]Row) []trade.Values {
	var out []trade.Values
	for _, rows := range byKey {
		for i := range rows {
			out = append(out, rows[i].Values())
		}
	}
	return out
}

// Choice is which of the rows of one key counts.
type Choice struct {
	Row    *Row // the only living row, or one of several that are all cancelled; else nil
	Living int
}

// Choose decides which of the rows of one key counts. A cancelled row beside a living one is its
// past, as soft deletes leave it. Code that reads single rows uses Choose; discovery applies the
// same rule to whole readings.
func Choose(rows []Row) Choice {
	live := Living(rows)
	c := Choice{Living: len(live)}
	switch {
	case len(live) == 1:
		c.Row = &live[0]
	case len(live) == 0 && len(rows) > 0:
		c.Row = &rows[0]
	}
	return c
}

// Cancelled reports whether only cancelled rows have the key.
func (c Choice) Cancelled() bool { return c.Row != nil && c.Living == 0 }

// Living returns the rows that are not cancelled in the ERP.
func Living(rows []Row) []Row {
	var out []Row
	for i := range rows {
		if !rows[i].Cancelled {
			out = append(out, rows[i])
		}
	}
	return out
}

// sourceHash returns a hash that changes when the content of a mapped column changes. Padding,
// trailing zeros of a fraction, and columns that no field uses do not count: a row whose status
// changes, and which another job returns from then on, is the same row.
func (j *Job) sourceHash(get ColumnsOf) trade.Hash {
	text := make([]byte, 0, 512)
	for _, name := range j.Mapping.Hashed {
		text = appendPart(text, name)
		switch v, ok := get(name); {
		case !ok, v.Kind == erp.Null && v.Err == "":
			text = append(text, "1:-0:"...)
		case v.Err != "":
			text = appendPart(append(text, "1:!"...), string(v.Err))
		default:
			text = appendPart(append(text, "1:="...), PlainText(v))
		}
	}
	return trade.HashOf(text)
}

// appendPart appends a part with its length, so that ("a","bc") differs from ("ab","c").
func appendPart(to []byte, part string) []byte {
	return append(append(strconv.AppendInt(to, int64(len(part)), 10), ':'), part...)
}
