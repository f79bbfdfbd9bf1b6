// The source hash of a row.

package mapping

import (
	"strconv"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/trade"
)

// SourceHash returns a hash that changes when the content of a mapped column changes. Padding,
// trailing zeros of a fraction, and columns that no field uses do not count: a row whose status
// changes, and which another job returns from then on, is the same row.
func (j *Job) SourceHash(get ColumnsOf) trade.Hash {
	text := make([]byte, 0, 512)
	for _, name := range j.Mapping.Hashed {
		v, ok := get(name)
		text = appendContent(appendPart(text, name), v, ok)
	}
	return trade.HashOf(text)
}

// appendContent appends what a column holds.
func appendContent(to []byte, v erp.Value, ok bool) []byte {
	switch {
	case !ok, v.Kind == erp.Null && v.Err == "":
		return append(to, "1:-0:"...)
	case v.Err != "":
		return appendPart(append(to, "1:!"...), v.Err)
	}
	return appendPart(append(to, "1:="...), PlainText(v))
}

// appendPart appends a part with its length, so that ("a","bc") differs from ("ab","c").
func appendPart(to []byte, part string) []byte {
	return append(append(strconv.AppendInt(to, int64(len(part)), 10), ':'), part...)
}
