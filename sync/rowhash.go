package sync

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/trade"
)

// sourceHash changes when the content of a mapped column changes; padding, the zeros of a fraction and the columns that nobody maps do not count.
func (j *Job) sourceHash(get columnsOf) trade.Hash {
	text := make([]byte, 0, 512)
	var near int64
	for _, name := range j.mapping.columns {
		v, ok := get(name)
		text = appendHashed(text, name, v, ok)
		near += nearOf(v, ok)
	}
	sum := sha256.Sum256(text)
	return trade.Hash{Sum: hex.EncodeToString(sum[:16]), Near: near}
}

// nearOf is what one column adds to the neighbourhood of a source hash.
func nearOf(v erp.Value, ok bool) int64 {
	if !ok || v.Kind == erp.Null || v.Err != "" {
		return 0
	}
	return trade.NearOf(plainText(v))
}

// appendHashed adds one column to what a source hash is of. Each part is length-prefixed, so that ("a","bc") differs from ("ab","c").
func appendHashed(to []byte, name string, v erp.Value, ok bool) []byte {
	return appendContent(appendPart(to, name), v, ok)
}

// appendContent adds what a column holds.
func appendContent(to []byte, v erp.Value, ok bool) []byte {
	switch {
	case !ok, v.Kind == erp.Null && v.Err == "":
		return append(to, "1:-0:"...)
	case v.Err != "":
		return appendPart(append(to, "1:!"...), v.Err)
	}
	return appendPart(append(to, "1:="...), plainText(v))
}

func appendPart(to []byte, part string) []byte {
	return append(append(strconv.AppendInt(to, int64(len(part)), 10), ':'), part...)
}

// rowReader reads keys and hashes of rows that have the same columns, one after the other, without allocating for each.
type rowReader struct {
	job               *Job
	columns           []string // of the rows it reads
	key, hashed       []int    // where the columns are; -1: there is no such column
	names             [][]byte // of the hashed columns, as a source hash has them
	cancelled         int
	keyText, hashText []byte
}

// use finds the columns of a row, once for all rows of one query.
func (rr *rowReader) use(row erp.Row) {
	columns := row.Columns()
	if rr.columns != nil && len(columns) == len(rr.columns) && (len(columns) == 0 || &columns[0] == &rr.columns[0]) {
		return
	}
	rr.columns = columns
	find := func(name string) int {
		if i, ok := row.Index(name); ok {
			return i
		}
		return -1
	}
	rr.key, rr.hashed, rr.names, rr.cancelled = rr.key[:0], rr.hashed[:0], rr.names[:0], -1
	for _, name := range rr.job.Spec.Key {
		rr.key = append(rr.key, find(name))
	}
	for _, name := range rr.job.mapping.columns {
		rr.hashed, rr.names = append(rr.hashed, find(name)), append(rr.names, appendPart(nil, name))
	}
	if c := rr.job.Spec.Cancelled; c != nil {
		rr.cancelled = find(c.Column)
	}
}

func at(row erp.Row, i int) (erp.Value, bool) {
	if i < 0 {
		return erp.Value{}, false
	}
	return row.Values[i], true
}

// keyOf gives the text form of a row's key, which holds until the next row. An error says which column makes the key unusable.
func (rr *rowReader) keyOf(row erp.Row) ([]byte, error) {
	rr.use(row)
	to := rr.keyText[:0]
	for n, i := range rr.key {
		v, ok := at(row, i)
		if err := keyFault(rr.job.Spec.Key[n], v, ok); err != nil {
			return nil, err
		}
		if n > 0 {
			to = append(to, '|')
		}
		to = appendEscaped(to, plainText(v))
	}
	rr.keyText = to
	return to, keyForm(to)
}

// sum gives the source hash of a row.
func (rr *rowReader) sum(row erp.Row) (sum [16]byte) {
	rr.use(row)
	to := rr.hashText[:0]
	for n, i := range rr.hashed {
		v, ok := at(row, i)
		to = appendContent(append(to, rr.names[n]...), v, ok)
	}
	rr.hashText = to
	all := sha256.Sum256(to)
	return [16]byte(all[:16])
}

// near gives the neighbourhood of a row's source hash.
func (rr *rowReader) near(row erp.Row) (near int64) {
	rr.use(row)
	for _, i := range rr.hashed {
		near += nearOf(at(row, i))
	}
	return near
}

// isCancelled tells whether the ERP calls a row cancelled.
func (rr *rowReader) isCancelled(row erp.Row) bool {
	v, ok := at(row, rr.cancelled)
	return rr.job.cancels(v, ok)
}
