package sqldb

import (
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// InPages calls fn for every row that read returns, size of them at a time, after the place of the last
// one, which fn returns.
func InPages[P, T any](size int, read func(after P) ([]T, error), fn func(T) (P, error)) error {
	var after P
	for {
		page, err := read(after)
		if err != nil {
			return err
		}
		for _, row := range page {
			after, err = fn(row)
			if err != nil {
				return err
			}
		}
		if len(page) < size {
			return nil
		}
	}
}

// NotNil returns an empty list for a nil one, so that the JSON text has one form.
func NotNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// SentenceText returns a sentence as a column has it; "" for none.
func SentenceText(s trade.Sentence) string {
	if s.Code == "" {
		return ""
	}
	text, _ := json.Marshal(s) //nolint:errchkjson // it is made of texts, and of numbers that were formatted
	return string(text)
}

// IDSlack is how much longer than planned a run or an attempt may take and still be found by the
// time in its id.
const IDSlack = 24 * time.Hour

// IDsFrom returns the lowest UUIDv7 of a time. Ids are in time order, so recent rows are found by
// the index of their ids.
func IDsFrom(t time.Time) string {
	ms := max(t.UnixMilli(), 0)
	b := []byte{byte(ms >> 40), byte(ms >> 32), byte(ms >> 24), byte(ms >> 16), byte(ms >> 8), byte(ms)}
	h := hex.EncodeToString(b)
	return h[:8] + "-" + h[8:]
}

// PutTask stores when a task ran last.
const PutTask = `INSERT INTO task (name, ran_at) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET ran_at = excluded.ran_at`

// OrAll returns a limit for SQL: 0 and less mean all.
func OrAll(limit int) int64 {
	if limit <= 0 {
		return 1<<63 - 1
	}
	return int64(limit)
}
