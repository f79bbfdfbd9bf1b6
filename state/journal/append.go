package journal

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/safrasync/safrasync/internal/failpoint"
	"github.com/safrasync/safrasync/internal/phrase"
)

// maxMarks is of how many records before the ledger's last one the marks are remembered: other
// processes of this host may speak of them (Has).
const maxMarks = 1000

// Errors of Append if the ledger is not the one that the journal follows. Nothing was written.
var (
	ErrAhead  = errors.New("the journal has records of another process that the ledger does not have")
	ErrBack   = errors.New("the ledger has lost records that it had")
	ErrBehind = errors.New("the ledger has records that the journal does not have")
	ErrOther  = errors.New("the journal was written on by another copy of the ledger")
	errBroken = errors.New("an earlier flush of the journal failed, so that nobody knows what is on disk; start again")
)

// Journal is a journal that this process may write to. Its methods may be called by several
// goroutines; other processes may have the journal open too.
type Journal struct {
	dir   string
	limit int64 // size of a segment

	mu     sync.Mutex
	end    End
	file   *os.File
	open   []pending // records after the last that the ledger is known to have
	marks  map[int64]string
	last   int64 // the last record of the ledger, as last reported
	broken bool
}

// pending is a record that the ledger may not have.
type pending struct {
	seq  int64
	ours bool   // appended by this process
	on   string // for which server; "" for any
}

// Open opens a journal for a ledger whose last record of it is seq, with that mark, and cuts off
// what an interrupted write has left; a damaged end is an *EndError. The caller must
// have compared the two, and must settle the records after seq before the first Append.
func Open(dir string, seq int64, mark string) (j *Journal, err error) {
	j = &Journal{dir: dir, limit: segmentSize, last: seq, marks: map[int64]string{seq: mark}}
	unlock, err := lock(filepath.Join(dir, lockName))
	if err != nil {
		return nil, err
	}
	defer phrase.Join(&err, unlock)
	if err := j.read(); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	if err := j.restoreReserve(); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

// Header returns the header of the journal.
func (j *Journal) Header() Header {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.end.Header
}

// Has reports whether the journal has a record with this mark, of which this process knows.
func (j *Journal) Has(seq int64, mark string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	known, ok := j.marks[seq]
	return ok && known == mark
}

// Close closes the journal.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return nil
	}
	err := j.file.Close()
	j.file = nil
	return err
}

// Append writes one record and flushes it. It fills in Seq, Prev and Void, and returns the number
// and the mark for the ledger to store. committed is the last record that the ledger has, with its
// mark, read in the transaction that will store this one. If the journal lacks that record, or has
// records after it that are not ours, nothing is written.
func (j *Journal) Append(r Record, committed int64, mark string) (seq int64, newMark string, err error) {
	err = j.locked(func() (err error) {
		r.Void, err = j.compare(committed, mark, r.On)
		if err != nil {
			return phrase.Errorf("journal %s: %w", j.dir, err)
		}
		if j.end.size >= j.limit {
			if err := j.rotate(); err != nil {
				return err
			}
		}
		// What is named in Void stays in j.open: if the ledger refuses this record too, the next one
		// names it again, which does no harm.
		if err := j.add(r); err != nil {
			return err
		}
		seq, newMark = j.end.Seq, j.end.Mark
		return nil
	})
	return seq, newMark, err
}

// WriteAnswers writes a record with answers while the ledger cannot be written. It does not compare with
// the ledger. Records of this process that the ledger is not known to have are named as void: this
// record repeats all their answers.
func (j *Journal) WriteAnswers(r Record) error {
	return j.locked(func() error {
		for _, p := range j.open {
			if p.ours && p.seq > j.last {
				r.Void = append(r.Void, p.seq)
			}
		}
		return j.add(r)
	})
}

// locked runs fn while nobody else writes, with what other processes have written read.
func (j *Journal) locked(fn func() error) (err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken || j.file == nil {
		return phrase.Errorf("journal %s: %w", j.dir, errBroken)
	}
	unlock, err := lock(filepath.Join(j.dir, lockName))
	if err != nil {
		return err
	}
	defer phrase.Join(&err, unlock)
	if err := j.refresh(); err != nil {
		return err
	}
	return fn()
}

// add writes a record after the last one.
func (j *Journal) add(r Record) error {
	r.Seq, r.Prev = j.end.Seq+1, j.end.Mark
	if err := j.write(r); err != nil {
		return err
	}
	j.open = append(j.open, pending{r.Seq, true, r.On})
	j.marks[r.Seq] = j.end.Mark
	return nil
}

// Committed reports that the ledger has a record. From then on a ledger without it was rolled back.
func (j *Journal) Committed(seq int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.last = max(j.last, seq)
}

// compare checks the position of the ledger on a server, and returns our records that it never
// stored. What we have begun on another server may be stored there.
func (j *Journal) compare(committed int64, mark, on string) (void []int64, err error) {
	switch {
	case committed > j.end.Seq:
		return nil, phrase.Errorf("%w: %d, and its last is %d", ErrBehind, committed, j.end.Seq)
	case committed < j.last:
		return nil, phrase.Errorf("%w: it has %d, and had %d before", ErrBack, committed, j.last)
	case j.marks[committed] != mark:
		return nil, phrase.Errorf("%w: record %d", ErrOther, committed)
	}
	rest := j.open[:0]
	for _, p := range j.open {
		switch {
		case p.seq <= committed:
			continue
		case !p.ours, p.on != on && p.on != "" && on != "":
			return nil, phrase.Errorf("%w: %d", ErrAhead, p.seq)
		}
		rest = append(rest, p)
		void = append(void, p.seq)
	}
	j.open, j.last = rest, max(j.last, committed)
	for seq := range j.marks {
		if seq < committed-maxMarks {
			delete(j.marks, seq)
		}
	}
	return void, nil
}

// refresh reads what other processes have written since, and cuts off a torn line that one of them
// left.
func (j *Journal) refresh() error {
	info, err := j.file.Stat()
	if err != nil {
		return phrase.Errorf("journal: %w", err)
	}
	_, nextErr := os.Lstat(filepath.Join(j.dir, segmentName(j.end.Seq+1)))
	_, goneErr := os.Lstat(j.end.file) // another process began the journal again, more than once
	if info.Size() == j.end.size && errors.Is(nextErr, fs.ErrNotExist) && goneErr == nil {
		return nil
	}
	return j.read()
}

// read reads the journal from the last known record on, and opens its last segment.
func (j *Journal) read() error {
	known := max(j.last, 0)
	ours := map[int64]pending{}
	for _, p := range j.open {
		ours[p.seq] = p
	}
	voided := map[int64]bool{}
	var open []pending
	end, err := Read(j.dir, known-1, func(r Record, mark string) error {
		j.marks[r.Seq] = mark
		if r.Seq <= known {
			return nil
		}
		for _, seq := range r.Void {
			voided[seq] = true
		}
		open = append(open, pending{r.Seq, ours[r.Seq].ours, ours[r.Seq].on})
		return nil
	})
	err = cmp.Or(err, end.Fault())
	if err != nil {
		return err
	}
	j.open = j.open[:0]
	for _, p := range open {
		if p.ours || !voided[p.seq] {
			j.open = append(j.open, p)
		}
	}
	if end.stub != "" {
		if err := os.Remove(end.stub); err != nil {
			return phrase.Errorf("journal: %w", err)
		}
	}
	return j.use(end)
}

// use opens the last segment for writing, and cuts off a torn end.
func (j *Journal) use(end End) error {
	if j.file != nil {
		if err := j.file.Close(); err != nil {
			return phrase.Errorf("journal: %w", err)
		}
		j.file = nil
	}
	f, err := os.OpenFile(end.file, os.O_WRONLY, 0)
	if err != nil {
		return phrase.Errorf("journal: %w", err)
	}
	j.file, j.end = f, end
	if end.Torn == 0 {
		return nil
	}
	if err := f.Truncate(end.size); err != nil {
		return phrase.Errorf("journal: cutting a torn end: %w", err)
	}
	j.end.Torn, j.end.stub = 0, ""
	return f.Sync()
}

// write appends one line and flushes it. After a failed flush it is unknown what is on disk, so
// nothing more is written.
func (j *Journal) write(r Record) error {
	line, crc, err := encode(r)
	if err != nil {
		return err
	}
	_, err = j.file.WriteAt(line, j.end.size)
	if isFull(err) && os.Remove(filepath.Join(j.dir, reserveName)) == nil {
		_, err = j.file.WriteAt(line, j.end.size)
	}
	if err != nil {
		if cut := j.file.Truncate(j.end.size); cut != nil {
			j.broken = true
		}
		return phrase.Errorf("journal: %w", err)
	}
	err = failpoint.Hit("journal.written")
	if err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		j.broken = true
		return phrase.Errorf("journal: %w", err)
	}
	j.end.size += int64(len(line))
	j.end.Bytes += int64(len(line))
	j.end.Seq, j.end.Mark, j.end.At = r.Seq, crc, r.At
	if r.Head != nil {
		j.end.Header = *r.Head
	}
	if r.Base > j.end.Base {
		j.end.Base, j.end.Size = r.Base, r.Size
	}
	return nil
}

// isFull reports whether there is no space left: on the disk, in the user's quota, or within the
// file size that the process may write.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// rotate begins a new segment. A crash in the middle leaves a segment without a head, which the
// next read ignores.
func (j *Journal) rotate() error {
	header := j.end.Header
	r := Record{
		Seq: j.end.Seq, Prev: j.end.Mark, Kind: Head, At: time.Now().UTC(), Head: &header, Base: j.end.Base,
		Size: j.end.Size,
	}
	line, crc, err := encode(r)
	if err != nil {
		return err
	}
	path := filepath.Join(j.dir, segmentName(j.end.Seq+1))
	if err := writeFile(path, line); err != nil {
		return errors.Join(phrase.Errorf("journal: %w", err), removeStub(path))
	}
	if err := SyncFolder(j.dir); err != nil {
		return phrase.Errorf("journal: %w", err)
	}
	end := j.end
	end.file, end.size, end.Mark = path, int64(len(line)), crc
	end.Bytes += end.size
	return j.use(end)
}

// removeStub removes a segment that did not get its head.
func removeStub(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// restoreReserve creates the reserve file again after it was removed. If there is no space for it, the
// journal works without it.
func (j *Journal) restoreReserve() error {
	path := filepath.Join(j.dir, reserveName)
	if info, err := os.Stat(path); err == nil && info.Size() == reserveSize {
		return nil
	}
	if err := removeStub(path); err != nil {
		return phrase.Errorf("journal: %w", err)
	}
	err := writeFile(path, make([]byte, reserveSize))
	if isFull(err) {
		return removeStub(path)
	}
	if err != nil {
		return phrase.Errorf("journal: %w", err)
	}
	return nil
}
