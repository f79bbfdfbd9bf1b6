package reconcile

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"sort"
)

// placeBits are those of a place that say where: a file of a terabyte.
const placeBits = 40

// How much of many places is in memory.
const (
	placesHeld  = 64 << 10  // the newest of them
	placeSorter = 512 << 10 // bytes of the others while they are sorted
	placeBlock  = 512       // places that one number in memory stands for
)

// places are numbers in order, each a part of a hash and, below it, where something of that hash stands in another file, which says whether it is the right one. Few of them are in memory:
// what comes is kept there up to a limit, the others are sorted into a file of their own.
type places struct {
	folder string // of the temporary files; "" = the system's
	held   int
	newest []uint64
	older  *sorter // the others; nil: there are none
	moved  bool    // older has more than file

	file   *os.File // the others in order, eight bytes each
	count  int      // of them
	first  []uint64 // of each block of file
	block  [8 * placeBlock]byte
	loaded int // which block that is, counted from 1; 0: none
}

// placeOf is what stands for a hash and where it leads.
func placeOf(hash, at uint64) uint64 { return hash>>placeBits<<placeBits | at }

func (p *places) add(place uint64) error {
	if p.newest = append(p.newest, place); len(p.newest) < p.held {
		return nil
	}
	if p.older == nil {
		p.older = newSorter(p.folder, placeSorter)
	}
	var record [8]byte
	for _, n := range p.newest {
		binary.BigEndian.PutUint64(record[:], n)
		if err := p.older.add(record[:]); err != nil {
			return err
		}
	}
	p.newest, p.moved = p.newest[:0], true
	return nil
}

// look makes everything that came ready to be found.
func (p *places) look() error {
	slices.Sort(p.newest)
	if !p.moved {
		return nil
	}
	err := discard(p.file)
	p.file, p.count, p.first, p.loaded = nil, 0, nil, 0
	if err != nil {
		return err
	}
	if p.file, err = temporary(p.folder); err != nil {
		return err
	}
	to := bufio.NewWriterSize(p.file, 1<<16)
	for record, err := range p.older.all() {
		if err != nil {
			return err
		}
		if p.count%placeBlock == 0 {
			p.first = append(p.first, binary.BigEndian.Uint64(record))
		}
		p.count++
		_, _ = to.Write(record) // what cannot be written is told by the flush
	}
	if err := to.Flush(); err != nil {
		return fmt.Errorf("write a temporary file of the report: %w", err)
	}
	p.moved = false
	return nil
}

// at gives one of those in the file.
func (p *places) at(i int) (uint64, error) {
	if n := i / placeBlock; p.loaded != n+1 {
		p.loaded = 0
		if _, err := p.file.ReadAt(p.block[:], int64(n)*int64(len(p.block))); err != nil && !errors.Is(err, io.EOF) { // the last block is a part of one
			return 0, fmt.Errorf("read a temporary file of the report: %w", err)
		}
		p.loaded = n + 1
	}
	return binary.BigEndian.Uint64(p.block[i%placeBlock*8:]), nil
}

// find calls is with each place of a hash, the newest first, until it is the right one.
func (p *places) find(hash uint64, is func(at uint64) (bool, error)) (bool, error) {
	hash >>= placeBits
	last := hash<<placeBits | (1<<placeBits - 1)
	end, _ := slices.BinarySearch(p.newest, last)
	if end < len(p.newest) && p.newest[end] == last {
		end++
	}
	for i := end - 1; i >= 0 && p.newest[i]>>placeBits == hash; i-- {
		if ok, err := is(p.newest[i] & (1<<placeBits - 1)); ok || err != nil {
			return ok, err
		}
	}
	end, err := p.endOf(last)
	for i := end - 1; i >= 0 && err == nil; i-- {
		var found uint64
		if found, err = p.at(i); err != nil || found>>placeBits != hash {
			break
		}
		var ok bool
		if ok, err = is(found & (1<<placeBits - 1)); ok {
			return true, err
		}
	}
	return false, err
}

// endOf counts those in the file up to a number.
func (p *places) endOf(last uint64) (end int, err error) {
	block := sort.Search(len(p.first), func(i int) bool { return p.first[i] > last }) - 1
	if block < 0 {
		return 0, nil
	}
	from := block * placeBlock
	end = from + sort.Search(min(placeBlock, p.count-from), func(i int) bool {
		n, failed := p.at(from + i)
		if failed != nil {
			err, n = failed, math.MaxUint64
		}
		return n > last
	})
	return end, err
}

// close removes the temporary files.
func (p *places) close() error {
	err := discard(p.file)
	if p.older != nil {
		err = errors.Join(err, p.older.close())
	}
	return err
}
