package journal

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
)

// ErrNone is returned if a folder holds no journal.
var ErrNone = errors.New("there is no journal")

// DamageError is returned if a journal is damaged before its end: something that was acknowledged
// cannot be read.
type DamageError struct {
	File   string
	Offset int64 // of the line
	Reason error
}

// Error returns file and offset.
func (e *DamageError) Error() string { return e.Phrase().Error() }

// Phrase returns the same as a sentence.
func (e *DamageError) Phrase() *phrase.Text {
	return phrase.New("the journal is damaged: %s at byte %d: %w", e.File, e.Offset, e.Reason)
}

// End is the end of a journal.
type End struct {
	Header Header // of the last segment
	Seq    int64  // of the last record
	Mark   string // its CRC
	At     time.Time
	Bytes  int64 // of all segments
	// the first record that exists; what was before it is in the snapshot that Base ends
	First int64
	Base  int64 // the first record that is still needed; 0: all
	Size  int64 // bytes of the snapshot that begins there
	Torn  int64 // bytes after the last sound line
	// they are not the rest of one interrupted write, which was never acknowledged: nobody knows
	// what they were
	Damaged bool
	file    string // the last segment
	size    int64  // of its sound part
	stub    string // a segment after it that never got its head
	last    entry
}

// EndError is returned if the end of a journal is damaged: what was acknowledged after its last
// sound record, if anything was, is not known. Mend ends that, once somebody knows of it.
type EndError struct {
	File  string
	Bytes int64 // that cannot be read
	Seq   int64 // of the last sound record
	At    time.Time
}

// Error returns file, number of bytes, and the last sound record.
func (e *EndError) Error() string { return e.Phrase().Error() }

// Phrase returns the same as a sentence.
func (e *EndError) Phrase() *phrase.Text {
	return phrase.New("the end of the journal is damaged: %s: %d bytes after record %d, of %s, cannot be read", e.File,
		e.Bytes, e.Seq, e.At.Format(time.RFC3339))
}

// Fault returns an *EndError if the end is damaged.
func (e End) Fault() error {
	if !e.Damaged {
		return nil
	}
	return &EndError{File: cmp.Or(e.stub, e.file), Bytes: e.Torn, Seq: e.Seq, At: e.At}
}

const suffix = ".journal"

// segmentName returns the name of the segment whose first record has this number.
func segmentName(first int64) string { return fmt.Sprintf("%016d%s", first, suffix) }

// segments returns the segments of a folder in order.
func segments(dir string) ([]string, error) {
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNone
	}
	if err != nil {
		return nil, phrase.Errorf("journal: %w", err)
	}
	var names []string
	for _, f := range files {
		if first, ok := firstOf(f.Name()); ok && f.Name() == segmentName(first) {
			names = append(names, f.Name())
		}
	}
	if len(names) == 0 {
		return nil, ErrNone
	}
	slices.Sort(names)
	return names, nil
}

func firstOf(name string) (int64, bool) {
	digits, ok := strings.CutSuffix(name, suffix)
	first, err := strconv.ParseInt(digits, 10, 64)
	return first, ok && err == nil
}

// Read calls fn for every record after the given one, without heads, in order, and returns the
// journal's end. It checks the whole text of what it reads: everything if after < 0, otherwise from
// the segment that holds the record after, or from the first existing one. It changes nothing.
func Read(dir string, after int64, fn func(r Record, mark string) error) (End, error) {
	names, err := segments(dir)
	if err != nil {
		return End{}, err
	}
	last := filepath.Join(dir, names[len(names)-1])
	stub, begun, err := stubOf(last)
	if err != nil {
		return End{}, err
	}
	stub = stub && len(names) > 1
	if stub {
		names = names[:len(names)-1]
	}
	end, err := readAll(dir, names, after, fn)
	if stub {
		end.Damaged = end.Torn > 0 || !interrupted(begun, end.Seq, end.Mark)
		end.Torn, end.stub = end.Torn+begun.size, last
	}
	first := filepath.Join(dir, names[0])
	if err == nil && end.size == 0 {
		return end, &DamageError{File: first, Reason: errors.New("the journal has no head")}
	}
	end.First, _ = firstOf(names[0])
	if err == nil && end.First > max(1, end.Base) {
		return end, &DamageError{File: first, Reason: errors.New("the segments before it are missing")}
	}
	return end, err
}

// ReadEnd reads only how a journal ends.
func ReadEnd(dir string) (End, error) {
	return Read(dir, 1<<62, func(Record, string) error { return nil })
}

func readAll(dir string, names []string, after int64, fn func(r Record, mark string) error) (End, error) {
	start := 0
	for i, name := range names {
		if first, _ := firstOf(name); first <= after {
			start = i
		}
	}
	var end End
	for i, name := range names {
		path := filepath.Join(dir, name)
		if i < start {
			info, err := os.Stat(path)
			if err != nil {
				return end, phrase.Errorf("journal: %w", err)
			}
			end.Bytes += info.Size()
			continue
		}
		err := readSegment(path, &end, i == start, i == len(names)-1, func(e entry) error {
			if e.seq <= after {
				return nil
			}
			r, err := e.record()
			if err != nil {
				return &contentError{err}
			}
			return fn(r, e.crc)
		})
		if err != nil {
			return end, err
		}
	}
	if end.last.text != nil {
		r, err := end.last.record()
		if err != nil {
			return end, &DamageError{File: end.file, Offset: end.size, Reason: err}
		}
		end.At = r.At
	}
	end.last = entry{}
	return end, nil
}

// readSegment checks one segment and advances end. Only the last segment may end in a torn line.
func readSegment(path string, end *End, first, last bool, fn func(entry) error) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return phrase.Errorf("journal: %w", err)
	}
	defer phrase.Join(&err, f.Close)
	in := bufio.NewReaderSize(f, 64<<10)
	at := int64(0)
	end.file, end.size = path, 0
	for {
		line, readErr := readLine(in)
		if readErr != nil && !errors.Is(readErr, io.EOF) {
			return phrase.Errorf("journal: %s: %w", path, readErr)
		}
		if len(line) == 0 && readErr != nil {
			break
		}
		e, reason, torn := next(line, end, path, first && at == 0, at == 0)
		if reason != "" {
			sound, err := soundAfter(in)
			if err != nil {
				return phrase.Errorf("journal: %s: %w", path, err)
			}
			if !last || !torn || sound {
				return &DamageError{File: path, Offset: at, Reason: phrase.Fixed(reason)}
			}
			info, err := f.Stat()
			if err != nil {
				return phrase.Errorf("journal: %w", err)
			}
			end.Damaged = !interrupted(rest{line, info.Size() - at}, end.Seq+1, end.Mark)
			break
		}
		if err := advance(e, end, fn); err != nil {
			var content *contentError
			if errors.As(err, &content) {
				return &DamageError{File: path, Offset: at, Reason: content}
			}
			return err
		}
		at += int64(len(line))
		end.size = at
	}
	info, err := f.Stat()
	if err != nil {
		return phrase.Errorf("journal: %w", err)
	}
	end.Bytes += end.size
	end.Torn = max(0, info.Size()-end.size)
	if end.size == 0 && !last {
		return &DamageError{File: path, Reason: errors.New("the segment is empty")}
	}
	return nil
}

// contentError is the error of a sound line that holds no record.
type contentError struct{ err error }

func (e *contentError) Error() string { return e.err.Error() }

// advance advances the end by one sound line.
func advance(e entry, end *End, fn func(entry) error) error {
	end.Mark, end.Seq = e.crc, e.seq
	// A head or a base: the record tells something of the journal itself. No text within a line contains
	// such a mark, because its quotes are escaped there.
	if bytes.Contains(e.text, headMark) || bytes.Contains(e.text, baseMark) {
		r, err := e.record()
		if err != nil {
			return &contentError{err}
		}
		if r.Base > end.Base {
			end.Base, end.Size = r.Base, r.Size
		}
		if r.Head != nil {
			end.Header = *r.Head
		}
		if end.At.IsZero() {
			end.At = r.At
		}
	}
	if e.kind == Head {
		return nil
	}
	end.last = e
	return fn(e)
}

// next checks that a line is sound and follows the one before. reason is "" or the fault; torn
// reports whether the fault can be the rest of an interrupted write. anchor: nothing was read
// before the line; begins: it is the first of its segment.
func next(line []byte, end *End, path string, anchor, begins bool) (e entry, reason string, torn bool) {
	if line[len(line)-1] != '\n' {
		return e, "the line is cut off", true
	}
	e, ok := parse(line[:len(line)-1])
	first, _ := firstOf(filepath.Base(path))
	switch {
	case !ok:
		return e, "the line does not match its checksum", true
	case begins != (e.kind == Head):
		return e, "a segment begins with its head, and only there is one", false
	case begins && e.seq != first-1:
		return e, fmt.Sprintf("it begins after record %d and not where its name says", e.seq), false
	case anchor && first == 1 && e.prev != firstPrev, !anchor && e.prev != end.Mark:
		return e, "the line does not follow the one before it", false
	case !anchor && !begins && e.seq != end.Seq+1:
		return e, fmt.Sprintf("record %d stands after record %d", e.seq, end.Seq), false
	}
	return e, "", false
}

// rest is what stands after the last sound line: its first line, and its size in bytes.
type rest struct {
	line []byte
	size int64
}

// interrupted reports whether that can be what an interrupted write has left of one line, whose
// record has this number and follows this mark: its beginning, with zeros where the disk has not
// got it.
func interrupted(r rest, seq int64, prev string) bool {
	if int64(len(r.line)) != r.size {
		return false
	}
	text, whole := bytes.CutSuffix(r.line, []byte{'\n'})
	begins := fmt.Sprintf("%s%d,%s%s\",%s", seqMark, seq, prevMark, prev, kindMark)
	for i, c := range text {
		switch {
		case c == 0:
			whole = false
		case c < ' ',
			i < crcLength && !bytes.ContainsRune([]byte("0123456789abcdef"), rune(c)),
			i == crcLength && c != ' ',
			i > crcLength && i-crcLength-1 < len(begins) && c != begins[i-crcLength-1]:
			return false
		}
	}
	return !whole // a line that was written to its end, and has changed since
}

// stubOf reports whether a segment was begun and never got its head. Then the journal ends with the
// segment before it.
func stubOf(path string) (stub bool, begun rest, err error) {
	f, err := os.Open(path)
	if err != nil {
		return false, begun, phrase.Errorf("journal: %w", err)
	}
	defer phrase.Join(&err, f.Close)
	info, err := f.Stat()
	if err != nil {
		return false, begun, phrase.Errorf("journal: %w", err)
	}
	begun.size = info.Size()
	sound, err := soundAfter(bufio.NewReader(f))
	if err == nil && !sound {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err == nil && !sound {
		begun.line, err = readLine(bufio.NewReader(f))
		if errors.Is(err, io.EOF) {
			err = nil
		}
	}
	if err != nil { // not treated as a segment without a head, which would be removed
		return false, begun, phrase.Errorf("journal: %s: %w", path, err)
	}
	return !sound, begun, nil
}

// soundAfter reports whether a sound line follows. If so, an unreadable line is damage, not a torn
// end.
func soundAfter(in *bufio.Reader) (bool, error) {
	for {
		line, err := readLine(in)
		if len(line) > 1 && line[len(line)-1] == '\n' {
			if _, ok := parse(line[:len(line)-1]); ok {
				return true, nil
			}
		}
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
}

// readLine reads up to and including the next line feed, or the rest. Of a line that is too long it
// returns only the beginning, which matches no checksum.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(line) <= maxLine {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// Find returns the folders below a parent that hold a journal, each with the journal's end.
// Journals that cannot be read are returned in broken.
func Find(parent string) (found map[string]End, broken map[string]error, err error) {
	folders, err := os.ReadDir(parent)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, phrase.Errorf("journal: %w", err)
	}
	found, broken = map[string]End{}, map[string]error{}
	for _, folder := range folders {
		if !folder.IsDir() || strings.Contains(folder.Name(), ".") {
			continue // set aside, or not completely created
		}
		dir := filepath.Join(parent, folder.Name())
		end, err := ReadEnd(dir)
		switch {
		case errors.Is(err, ErrNone):
		case err != nil:
			broken[dir] = err
		default:
			found[dir] = end
		}
	}
	return found, broken, nil
}
