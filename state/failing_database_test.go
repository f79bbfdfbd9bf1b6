package state

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/safrasync/safrasync/internal/sickdb"
	"github.com/safrasync/safrasync/state/sqldb"
)

var errBroken = errors.New("broken on purpose")

// breaker stands between the ledger and its database, and lets one call of the database fail: a
// connection, the begin of a transaction, a statement, the first row of an answer, a commit (which
// the database then has not got). The calls are counted from arm on.
type breaker struct {
	mu      sync.Mutex
	at      int    // the call that fails; 0 = none
	lasting bool   // and all after it
	with    error  // what it fails with; nil: errBroken
	loses   bool   // the commit's answer is lost once: it was stored
	next    [2]int // what is at and damage from then on
	dead    bool   // the connection is lost with it
	closes  bool   // the end of a connection counts as a call
	calls   int
	hit     string // what failed first

	damage int    // the value that is damaged of those in the first rows of answers; 0 = none
	values int    // those seen since damages
	spoilt string // what was damaged
	null   bool   // it is missing instead
	ends   bool   // no commit succeeds
}

func (b *breaker) arm(at int, lasting bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at, b.lasting, b.calls, b.hit = at, lasting, 0, ""
}

// disarm returns what has failed first since arm; "" = nothing.
func (b *breaker) disarm() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at = 0
	return b.hit
}

// damages lets one value of those that the database answers be another than was stored; nothing is
// committed meanwhile.
func (b *breaker) damages(value int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.damage, b.values, b.spoilt, b.ends = value, 0, "", true
}

// mends ends that, and gives what was damaged; "" = nothing.
func (b *breaker) mends() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.damage, b.ends = 0, false
	return b.spoilt
}

// spoil damages a value when it is its turn: a text becomes another one, that is no JSON, no time
// and no number, and so does a number.
func (b *breaker) spoil(query, column string, v *driver.Value) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.damage == 0 {
		return
	}
	if b.values++; b.values != b.damage {
		return
	}
	b.spoilt = column + " of " + query
	*v = `{"damaged`
	if b.null {
		*v = nil
	}
}

func (b *breaker) call(what string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ends && what == "COMMIT" {
		return errBroken
	}
	b.calls++
	if b.at == 0 || b.calls < b.at || b.calls > b.at && !b.lasting {
		return nil
	}
	if b.hit == "" {
		b.hit = what
	}
	if b.with != nil {
		return b.with
	}
	return errBroken
}

// Call is told of each call of the database: see package sickdb.
func (b *breaker) Call(what string, do func() error) error {
	if what == sickdb.End && !b.closes {
		return do()
	}
	if what == sickdb.Commit && b.losesNow() {
		err := errors.Join(errBroken, do())
		if b.dead {
			err = errors.Join(err, driver.ErrBadConn)
		}
		return err
	}
	if err := b.call(what); err != nil {
		return err
	}
	return do()
}

// Row damages values of an answer.
func (b *breaker) Row(query string, columns []string, values []driver.Value) {
	for i, column := range columns {
		b.spoil(query, column, &values[i])
	}
}

// afterLoss lets the commit's answer be lost, and then the call fail with this number, or the value
// be damaged.
func (b *breaker) afterLoss(at int, damaged bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.loses, b.next, b.hit, b.spoilt = true, [2]int{at, 0}, "", ""
	if damaged {
		b.next = [2]int{0, at}
	}
}

// losesNow reports whether the answer of this commit is lost. The calls are counted from then on.
func (b *breaker) losesNow() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.loses {
		return false
	}
	b.loses, b.calls, b.values = false, 0, 0
	b.at, b.damage, b.next = b.next[0], b.next[1], [2]int{}
	return true
}

// content returns all that a ledger keeps but the marks of its transactions, one line for each row.
func content(t testing.TB, s *Store) map[string]int {
	t.Helper()
	var tables []string
	if err := s.db.Read.Select(&tables, s.db.D.Tables); err != nil {
		t.Fatal(err)
	}
	out := map[string]int{}
	for _, table := range tables {
		if table == "tx_mark" || table == sqldb.SchemaTable {
			continue
		}
		rows, err := s.db.Read.Queryx(`SELECT * FROM ` + table)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			values, err := rows.SliceScan()
			if err != nil {
				t.Fatal(err)
			}
			row := table
			for _, v := range values {
				if b, ok := v.([]byte); ok {
					v = string(b)
				}
				row += fmt.Sprintf("|%v", v)
			}
			out[row]++
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return out
}
