package state

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/safrasync/safrasync/trade"
)

// rollWidth is how many numbers of entries one statement of Roll goes through: nothing is open between two, so that no snapshot is kept for long, and what it
// gives is one text of some hundred bytes for each. Where most numbers are those of other jobs it goes through more, up to rollWidest.
const (
	rollWidth  = 1024
	rollWidest = 16 * rollWidth
)

// rollReaders is how many of them are read at once.
const rollReaders = 2

// quiet is true of the entries that a sweep hardly ever has to look at: what else they hold is not read. All of it, and of selectRoll, stands in the index entry_roll.
const quiet = `e.state = 'accepted' AND e.flags = '[]' AND e.acknowledged = '[]' AND e.gone_sweeps = 0`

// rollItem is what a sweep wants to know of one entry, in the order of rollRead.take; the state of a quiet one is not told.
const rollItem = `e.id, e.key, e.source_hash, e.amount, e.unit, CASE WHEN ` + quiet + ` THEN '' ELSE e.state END`

// rollFields are the columns of rollItem.
const rollFields = 6

// rollMark stands between the fields of packed items. A key may have this character too: rollPage counts them.
const rollMark = "\x1f"

const fromRoll = ` FROM entry e WHERE e.job = ? AND e.id > ? AND e.id <= ?`

// selectRoll gives the items one by one, selectPacked all of them as one text: for the database and its driver that is less than half of the work.
var (
	selectRoll   = `SELECT ` + rollItem + fromRoll
	selectPacked = `SELECT COUNT(*), COALESCE(STRING_AGG(CONCAT_WS('` + rollMark + `', ` + rollItem + `), '` + rollMark + `'), '')` + fromRoll
)

// mapped stands for the mapping of an entry that Roll does not tell.
const mapped = "mapped"

// Roll calls fn for every entry of the job, in no order and from several goroutines at once; the entry is that of the call only. Of one that is accepted, without
// flag, acknowledgement or absence, it tells no more than number, key, state, source hash, and that it was mapped. It gives the sums of what it saw, in the form of
// Recount: a job that is written meanwhile is seen partly before and partly after. Without fn it only counts.
func (s *Store) Roll(ctx context.Context, job string, fn func(*trade.Known)) ([]trade.Tally, error) {
	const op = "going through the entries"
	var first, last sql.NullInt64
	for into, query := range map[*sql.NullInt64]string{&first: `SELECT MIN(id) FROM entry WHERE job = ?`, &last: `SELECT MAX(id) FROM entry WHERE job = ?`} {
		if err := s.read.GetContext(ctx, into, s.q(query), job); err != nil {
			return nil, s.fault(ctx, op, err)
		}
	}
	if !first.Valid {
		return nil, nil
	}
	readers := rollReaders
	if s.memory {
		readers = 1
	}
	var next atomic.Int64
	next.Store(first.Int64 - 1)
	sums := make([]rollSums, readers)
	errs := make([]error, readers)
	var group sync.WaitGroup
	for i := range readers {
		group.Go(func() {
			sums[i] = rollSums{}
			for width := int64(rollWidth); errs[i] == nil; {
				to := next.Add(width)
				if to-width >= last.Int64 {
					return
				}
				var n int
				n, errs[i] = s.rollPage(ctx, job, to-width, to, sums[i], fn)
				switch {
				case n <= rollWidth/2:
					width = min(2*width, rollWidest)
				case n > rollWidth:
					width = rollWidth
				}
			}
		})
	}
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, s.fault(ctx, op, err)
	}
	all := tallyChange{}
	for _, part := range sums {
		part.addTo(all, job)
	}
	return all.list(), nil
}

// rollPage goes through the entries of one range of numbers, and counts them.
func (s *Store) rollPage(ctx context.Context, job string, from, to int64, sums rollSums, fn func(*trade.Known)) (n int, err error) {
	page := rollRead{sums: sums, fn: fn, known: trade.Known{State: trade.Accepted, MappedWith: mapped}}
	if fn != nil {
		// Entries without a mapping are few, or there is no ledger but one that was just rebuilt. The condition is that of the index entry_bare.
		if err := s.read.SelectContext(ctx, &page.bare, s.q(`SELECT e.id FROM entry e WHERE e.job = ? AND e.id > ? AND e.id <= ? AND e.mapped_with = ''`), job, from, to); err != nil {
			return 0, err
		}
		slices.Sort(page.bare)
	}
	var packed string
	if err := s.read.QueryRowContext(ctx, s.q(selectPacked), job, from, to).Scan(&n, &packed); err != nil || n == 0 {
		return 0, err
	}
	if strings.Count(packed, rollMark) == n*rollFields-1 {
		err = page.unpack(packed)
	} else {
		err = s.rollApart(ctx, job, from, to, &page)
	}
	if err != nil {
		return n, err
	}
	for chunk := range slices.Chunk(page.loud, inList) {
		found, err := s.known(ctx, `WHERE id IN (`+marks(len(chunk))+`)`, anys(chunk)...)
		if err != nil {
			return n, err
		}
		for i := range found {
			fn(&found[i])
		}
	}
	return n, nil
}

// rollApart goes through a range in which a key has the character that stands between packed fields.
func (s *Store) rollApart(ctx context.Context, job string, from, to int64, page *rollRead) (err error) {
	rows, err := s.read.QueryContext(ctx, s.q(selectRoll), job, from, to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var id int64
		var key, source, amount, unit, state string
		if err := rows.Scan(&id, &key, &source, &amount, &unit, &state); err != nil {
			return err
		}
		if err := page.take(id, key, source, amount, unit, state); err != nil {
			return err
		}
	}
	return rows.Err()
}

// rollRead is what is made of one range.
type rollRead struct {
	sums  rollSums
	fn    func(*trade.Known)
	known trade.Known // of the entry at hand
	bare  []int64     // entries without a mapping, in order
	loud  []int64     // entries of which all has to be read
}

// unpack takes the items of a text apart that has no more marks than stand between their fields.
func (r *rollRead) unpack(packed string) error {
	var fields [rollFields]string
	for more := true; more; {
		for i := range fields {
			fields[i], packed, more = strings.Cut(packed, rollMark)
		}
		id, err := strconv.ParseInt(fields[0], 10, 64)
		if err != nil {
			return err
		}
		if err := r.take(id, fields[1], fields[2], fields[3], fields[4], fields[5]); err != nil {
			return err
		}
	}
	return nil
}

// take takes one entry. state is that of one that is not quiet.
func (r *rollRead) take(id int64, key, source, amount, unit, state string) error {
	now := trade.Accepted
	if state != "" {
		now = trade.State(state)
	}
	_, bare := slices.BinarySearch(r.bare, id)
	switch {
	case r.fn == nil:
	case state != "", bare:
		r.loud = append(r.loud, id)
	default:
		r.known.ID, r.known.Key, r.known.SourceHash = id, key, source
		r.fn(&r.known)
	}
	if err := r.sums.add(now, unit, amount); err != nil {
		return fmt.Errorf("entry %d is damaged: its amount %w", id, err)
	}
	return nil
}

// rollSums are exact sums by state and unit, fast for the numbers that amounts are.
type rollSums map[rollKey]*rollSum

type rollKey struct {
	state trade.State
	unit  string
}

type rollSum struct {
	n     int
	scale [19]int64 // of the amounts with so many digits after the point: their digits, as whole numbers
	rest  trade.Decimal
}

// add adds one amount.
func (r rollSums) add(state trade.State, unit, amount string) error {
	k := rollKey{state, unit}
	sum := r[k]
	if sum == nil {
		sum = &rollSum{}
		r[rollKey{trade.State(strings.Clone(string(state))), strings.Clone(unit)}] = sum // as they come they are pieces of a long text
	}
	sum.n++
	digits, scale, ok := wholeOf(amount)
	if !ok {
		q, err := quantity(amount, unit)
		sum.rest = sum.rest.Add(q.Amount)
		return err
	}
	if s := &sum.scale[scale]; *s > math.MaxInt64/2 || *s < math.MinInt64/2 {
		sum.rest = sum.rest.Add(trade.NewDecimal(*s, scale))
		*s = digits
	} else {
		*s += digits
	}
	return nil
}

// wholeOf reads an amount of at most 18 digits as a whole number and the number of digits after its point. ok is false for every other text.
func wholeOf(amount string) (digits int64, scale int, ok bool) {
	text, negative := amount, false
	if len(text) > 0 && text[0] == '-' {
		text, negative = text[1:], true
	}
	if len(text) == 0 || len(text) > 18 {
		return 0, 0, false
	}
	point := -1
	for i := range len(text) {
		switch c := text[i]; {
		case c == '.' && point < 0 && i > 0:
			point = i
		case c < '0' || c > '9':
			return 0, 0, false
		default:
			digits = digits*10 + int64(c-'0')
		}
	}
	if point == len(text)-1 {
		return 0, 0, false
	}
	if point >= 0 {
		scale = len(text) - point - 1
	}
	if negative {
		digits = -digits
	}
	return digits, scale, true
}

func (r rollSums) addTo(all tallyChange, job string) {
	for k, part := range r {
		key := tallyKey{job, string(k.state), k.unit}
		sum := all[key]
		sum.n += part.n
		sum.volume = sum.volume.Add(part.rest)
		for scale, digits := range part.scale {
			if digits != 0 {
				sum.volume = sum.volume.Add(trade.NewDecimal(digits, scale))
			}
		}
		all[key] = sum
	}
}
