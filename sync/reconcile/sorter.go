package reconcile

import (
	"bufio"
	"bytes"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
)

// sorterHolds is how many bytes of records a sorter has in memory; more go to a temporary file, in sorted runs.
const sorterHolds = 4 << 20

// sorterReads is how many bytes of each run are in memory while the runs are put together.
const sorterReads = 16 << 10

// sorter puts records into the order of their bytes, however many they are.
type sorter struct {
	folder string // of the temporary file; "" = the system's
	holds  int
	text   []byte // of the records in memory, one after the other
	ends   []int32
	file   *os.File
	size   int64   // of file
	runs   []int64 // where each begins in file
}

func newSorter(folder string, holds int) *sorter { return &sorter{folder: folder, holds: holds} }

func (s *sorter) add(record []byte) error {
	s.text = append(s.text, record...)
	s.ends = append(s.ends, int32(len(s.text)))
	if len(s.text) < s.holds {
		return nil
	}
	return s.spill()
}

// sorted gives the records in memory in their order.
func (s *sorter) sorted() [][]byte {
	out, from := make([][]byte, len(s.ends)), int32(0)
	for i, end := range s.ends {
		out[i], from = s.text[from:end], end
	}
	slices.SortFunc(out, bytes.Compare)
	return out
}

// spill writes the records in memory as a further run.
func (s *sorter) spill() (err error) {
	if s.file == nil {
		if s.file, err = temporary(s.folder); err != nil {
			return err
		}
	}
	to := bufio.NewWriterSize(io.NewOffsetWriter(s.file, s.size), 1<<16)
	s.runs = append(s.runs, s.size)
	var head [binary.MaxVarintLen64]byte
	for _, record := range s.sorted() {
		n := binary.PutUvarint(head[:], uint64(len(record)))
		_, _ = to.Write(head[:n]) // what cannot be written is told by the flush
		_, _ = to.Write(record)
		s.size += int64(n + len(record))
	}
	s.text, s.ends = s.text[:0], s.ends[:0]
	if err := to.Flush(); err != nil {
		return fmt.Errorf("write a temporary file of the report: %w", err)
	}
	return nil
}

// all gives every record in order. A record is the caller's until the next one.
func (s *sorter) all() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if s.file == nil {
			for _, record := range s.sorted() {
				if !yield(record, nil) {
					return
				}
			}
			return
		}
		if len(s.ends) > 0 {
			if err := s.spill(); err != nil {
				yield(nil, err)
				return
			}
		}
		s.text, s.ends = nil, nil
		var runs runHeap
		for i, from := range s.runs {
			to := s.size
			if i+1 < len(s.runs) {
				to = s.runs[i+1]
			}
			r := &run{from: bufio.NewReaderSize(io.NewSectionReader(s.file, from, to-from), sorterReads)}
			if err := r.next(); err != nil { // none is empty
				yield(nil, err)
				return
			}
			runs = append(runs, r)
		}
		heap.Init(&runs)
		for len(runs) > 0 {
			if !yield(runs[0].record, nil) {
				return
			}
			switch err := runs[0].next(); {
			case errors.Is(err, io.EOF):
				heap.Pop(&runs)
			case err != nil:
				yield(nil, err)
				return
			default:
				heap.Fix(&runs, 0)
			}
		}
	}
}

// close removes what is left of the records; once more does nothing.
func (s *sorter) close() error {
	file := s.file
	s.file, s.text, s.ends = nil, nil, nil
	return discard(file)
}

// run is one that is being read.
type run struct {
	from   *bufio.Reader
	record []byte
}

// next reads the next record; io.EOF after the last.
func (r *run) next() error {
	size, err := binary.ReadUvarint(r.from)
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	if err == nil {
		r.record = slices.Grow(r.record[:0], int(size))[:size]
		_, err = io.ReadFull(r.from, r.record)
	}
	if err != nil {
		return fmt.Errorf("read a temporary file of the report: %w", err)
	}
	return nil
}

// runHeap has the run with the first record on top.
type runHeap []*run

func (h runHeap) Len() int           { return len(h) }
func (h runHeap) Less(i, j int) bool { return bytes.Compare(h[i].record, h[j].record) < 0 }
func (h runHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push is never called: runs only end.
func (h *runHeap) Push(x any) { *h = append(*h, x.(*run)) }

// Pop takes the last one off.
func (h *runHeap) Pop() any {
	last := len(*h) - 1
	r := (*h)[last]
	*h = (*h)[:last]
	return r
}
