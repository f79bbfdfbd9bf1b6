package erp

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"os"
	"slices"

	"github.com/safrasync/safrasync/erp/dialect"
	"github.com/safrasync/safrasync/erp/fault"
	"github.com/safrasync/safrasync/erp/sqltext"
)

// ByKeys reads the rows with these keys again, in one short read-only transaction: the recheck
// before something is sent. A key consists of the values as [Source.Read] returned them, untrimmed
// and with their kinds, in the order of Query.Key.
//
// It returns all rows found, in no order: none for a key that no longer exists, more than one for a
// key that occurs twice. If the ERP compares text without regard to case or padding, rows whose key
// differs only in that may be included: the caller must match by its own canonical key. Values that
// the database cannot read carry Err, as in Read.
func (s *Source) ByKeys(ctx context.Context, q Query, keys [][]Value) ([]Row, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	for _, key := range keys {
		if len(key) != len(q.Key) {
			return nil, forJob(q.Job, fault.Failf(CodeOther, "a key of %d parts was asked for, and the key has %d columns",
				len(key), len(q.Key)))
		}
		if slices.ContainsFunc(key, func(v Value) bool { return !v.Usable() }) {
			return nil,
				forJob(q.Job, fault.Failf(CodeOther,
					"a key with a NULL or unreadable part was asked for; such a row cannot be found by its key"))
		}
	}
	var found []Row
	err := s.inTx(ctx, func(_ dialect.Clock, tx dialect.Tx) error {
		p, err := s.plan(ctx, tx, q)
		if err != nil {
			return err
		}
		k := s.keyReader(tx, p)
		for chunk := range slices.Chunk(keys, chunkKeys) {
			rows, err := k.read(ctx, chunk)
			if err != nil {
				return err
			}
			for _, values := range rows {
				found = append(found, p.row(values))
			}
		}
		return nil
	})
	if err != nil {
		return nil, forJob(q.Job, err)
	}
	return found, nil
}

// Table streams the named columns of a query, in that order, from one read-only snapshot. It is for
// the de-para tables. An error of fn is returned unchanged.
func (s *Source) Table(ctx context.Context, sql string, columns []string, fn func([]Value) error) error {
	st, bad := sqltext.Parse(sql, s.engine.Syntax)
	if bad != nil {
		return bad
	}
	err := s.inTx(ctx, func(_ dialect.Clock, tx dialect.Tx) error {
		cols, err := s.describe(ctx, tx, st)
		if err != nil {
			return err
		}
		at, bad := resolve(cols, "the reference", columns)
		if bad != nil {
			return bad
		}
		if len(at) == 0 {
			return fault.Failf(CodeConfig, "no column of the reference is named; give code and id")
		}
		items := make([]dialect.Item, len(at))
		for i, c := range at {
			items[i] = s.dialect.Item(cols[c], dialect.ForMapping)
		}
		return tx.Stream(ctx, st.Wrap(dialect.SelectList(items), ""), nil, items, fn)
	})
	return forJob("", err)
}

// passedRows keeps the hashes of the rows that were passed to the caller, for a salvage: the newest
// in memory, those before in a temporary file. Where there can be no such file, all stay in memory.
type passedRows struct {
	newest []uint64
	file   *os.File
	filed  int64 // hashes in the file
	noFile bool
}

// passedInMemory is how many hashes go to the file together.
const passedInMemory = 1 << 10

func (p *passedRows) add(hash uint64) {
	p.newest = append(p.newest, hash)
	if len(p.newest) >= passedInMemory && !p.noFile {
		p.noFile = p.spill() != nil
	}
}

func (p *passedRows) spill() (err error) {
	if p.file == nil {
		p.file, err = os.CreateTemp("", "safrasync-read-*")
		if err != nil {
			return err
		}
		_ = os.Remove(p.file.Name()) // where an open file can be removed; else close does it
	}
	text := make([]byte, 0, 8*passedInMemory)
	for _, hash := range p.newest {
		text = binary.LittleEndian.AppendUint64(text, hash)
	}
	if _, err := p.file.WriteAt(text, 8*p.filed); err != nil {
		return err
	}
	p.filed += int64(len(p.newest))
	p.newest = p.newest[:0]
	return nil
}

// counts returns how often each hash was added.
func (p *passedRows) counts() (map[uint64]int, error) {
	out := make(map[uint64]int, p.filed+int64(len(p.newest)))
	for _, hash := range p.newest {
		out[hash]++
	}
	in := bufio.NewReader(io.NewSectionReader(p.file, 0, 8*p.filed))
	for range p.filed {
		var text [8]byte
		if _, err := io.ReadFull(in, text[:]); err != nil {
			return nil, err
		}
		out[binary.LittleEndian.Uint64(text[:])]++
	}
	return out, nil
}

func (p *passedRows) close() {
	if p.file != nil {
		_ = p.file.Close()
		_ = os.Remove(p.file.Name())
	}
}
