package marks

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

const (
	headSize = 4096
	slotSize = 256
	freedAt  = headSize - slotSize // where the head says up to which record of the journal places were given back
	maxName  = 64                  // bytes of a request's name
	maxID    = 160                 // bytes of a record's id
)

const (
	sent  = 's' // the kind of a slot whose request may have left, and of which nothing else is known
	freed = 'f' // the kind of the slot in the head
)

// Outcome is what is certain of a request. It is the kind of its slot.
type Outcome byte

// The outcomes.
const (
	Created    Outcome = 'c' // a record was made
	NotCreated Outcome = 'n' // certainly none was
	NotSent    Outcome = 'u' // no byte left, and none will
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Answer is what is certain of a request.
type Answer struct {
	Outcome Outcome
	ID      string // of the record that was created
	Status  int    // HTTP status; 0 when none came
}

// header is the first line of a file.
type header struct {
	Owner json.RawMessage `json:"owner"`
	// of the file: a copy has another, and says less than the file that was written on
	Number uint64 `json:"number"`
}

// File is the file of this process. Its methods may be called by several goroutines.
type File struct {
	mu    sync.Mutex
	f     *os.File
	slots map[string]int // by request
	free  []int
	next  int
	freed uint64 // the highest number that Settled was told
	gone  bool   // nobody will read it
	users int    // guarded by inUse.mu
}

// inUse are the files of this process: there is one for each path, however many use it, because one
// that was begun anew would have forgotten what the first says.
var inUse = struct {
	mu    sync.Mutex
	files map[string]*File
}{files: map[string]*File{}}

// Use returns the file at path, which it makes when this process does not have it yet, in place of
// one that stands there. owner is written into its head, as JSON: it says who may be asked about.
// Each use ends with Close.
func Use(path string, owner json.RawMessage) (*File, error) {
	inUse.mu.Lock()
	defer inUse.mu.Unlock()
	m := inUse.files[path]
	if m == nil {
		var err error
		if m, err = create(path, owner); err != nil {
			return nil, err
		}
		inUse.files[path] = m
	}
	m.users++
	return m, nil
}

func create(path string, owner json.RawMessage) (*File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := hold(f); err != nil { // only then it is ours to empty
		return nil, errors.Join(fmt.Errorf("locking %s: %w", path, err), f.Close())
	}
	head, err := json.Marshal(header{owner, number(f)})
	if head = append(head, '\n'); err == nil && len(head) > freedAt {
		err = fmt.Errorf("the head of %s would have %d bytes, of at most %d", path, len(head), freedAt)
	}
	if err == nil {
		err = f.Truncate(0)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	page := make([]byte, headSize)
	copy(page, head)
	if _, err := f.WriteAt(page, 0); err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(path))
	}
	return &File{f: f, slots: map[string]int{}}, nil
}

// Sent notes that the first byte of a request may leave from now on. After an error it must not
// leave.
func (m *File) Sent(request string) error {
	if len(request) == 0 || len(request) > maxName {
		return fmt.Errorf("the name of a request has %d bytes, of 1 to %d", len(request), maxName)
	}
	if err := m.write(m.slot(request), sent, request, Answer{}); err != nil {
		return fmt.Errorf("noting that a request leaves: %w", err)
	}
	return nil
}

// slot gives a request its place.
func (m *File) slot(request string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	slot, known := m.slots[request]
	switch {
	case known:
		return slot
	case len(m.free) > 0:
		slot = m.free[len(m.free)-1]
		m.free = m.free[:len(m.free)-1]
	default:
		slot = m.next
		m.next++
	}
	m.slots[request] = slot
	return slot
}

// Answered notes what is certain of a request. What cannot be noted is only not known after a
// crash.
func (m *File) Answered(request string, a Answer) error {
	if len(request) == 0 || len(request) > maxName || len(a.ID) > maxID || a.Outcome == Created && a.ID == "" {
		return nil
	}
	return m.write(m.slot(request), byte(a.Outcome), request, a)
}

// Settled frees the slots of requests whose outcome is in the ledger since a record of its journal;
// 0: of no record. From then on a request that is not found proves something only beside a ledger
// that has this record.
func (m *File) Settled(requests []string, record uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if record == 0 {
		record = Never
	}
	if record > m.freed {
		if err := m.writeAt(freedAt, freed, strconv.FormatUint(record, 10), Answer{}); err != nil {
			return // the slots stay taken
		}
		m.freed = record
	}
	for _, r := range requests {
		if slot, known := m.slots[r]; known {
			delete(m.slots, r)
			m.free = append(m.free, slot)
		}
	}
}

// Tells reports whether a request that will not be found proves that it had not left.
func (m *File) Tells() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.gone && m.freed != Never
}

// Abandon removes the file, so that nobody concludes anything from what it lacks: requests may
// leave without being noted then.
func (m *File) Abandon() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := os.Remove(m.f.Name()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("giving up the notes of what left: %w", err)
	}
	m.gone = true
	return nil
}

// Close ends one use of the file. After the last, a file that has nothing to say any more is
// removed; another stays, also for later uses by this process.
func (m *File) Close() error {
	inUse.mu.Lock()
	defer inUse.mu.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.users--; m.users > 0 || len(m.slots) > 0 {
		return nil
	}
	delete(inUse.files, m.f.Name())
	if m.gone {
		return m.f.Close()
	}
	return errors.Join(m.f.Close(), os.Remove(m.f.Name()))
}

// write writes one slot in one call: a process that is killed has written it or not.
func (m *File) write(slot int, kind byte, request string, a Answer) error {
	return m.writeAt(headSize+int64(slot)*slotSize, kind, request, a)
}

func (m *File) writeAt(at int64, kind byte, request string, a Answer) error {
	var b [slotSize]byte
	b[4], b[5], b[6] = kind, byte(len(request)), byte(len(a.ID))
	binary.LittleEndian.PutUint16(b[7:], uint16(max(0, min(a.Status, 999))))
	copy(b[9:], request)
	copy(b[9+maxName:], a.ID)
	binary.LittleEndian.PutUint32(b[:], crc32.Checksum(b[4:], castagnoli))
	_, err := m.f.WriteAt(b[:], at)
	return err
}

// Mark is what a file says of one request.
type Mark struct{ Answer *Answer } // nil: it may have left, and nothing certain came back

// Reading is what the file of a process says.
type Reading struct {
	Owner json.RawMessage
	Ended bool            // the process has certainly ended, and this is the file that it wrote
	Marks map[string]Mark // by request
	Torn  bool            // a slot cannot be read: requests that are not in Marks may have left too
	// requests that are not in Marks had not left, if the ledger has this record of its journal;
	// Never: nobody knows
	Freed uint64
}

// Never is a number that no record has.
const Never = math.MaxUint64

// Read reads the file of a process, and reports whether that has ended. It may be called beside the
// process.
func Read(path string) (r Reading, err error) {
	f, err := os.Open(path)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	r.Ended = look(f) == nil // until the file is closed again
	data, err := io.ReadAll(f)
	if err != nil {
		return r, err
	}
	r.Marks = map[string]Mark{}
	line, _, found := bytes.Cut(data[:min(len(data), headSize)], []byte("\n"))
	var head header
	if err := json.Unmarshal(line, &head); !found || err != nil || head.Owner == nil {
		return r, fmt.Errorf("%s has no head", path)
	}
	r.Owner, r.Ended = head.Owner, r.Ended && head.Number == number(f) && head.Number != 0
	record, _, ok := readSlot(data[min(len(data), freedAt):min(len(data), headSize)])
	if n, err := strconv.ParseUint(record, 10, 64); ok && (err == nil || record == "") {
		r.Freed = n
	} else {
		r.Freed = Never
	}
	for at := headSize; at < len(data); at += slotSize {
		b := data[at:min(at+slotSize, len(data))]
		request, mark, ok := readSlot(b)
		switch {
		case !ok:
			r.Torn = true
		case request != "":
			r.Marks[request] = mark
		}
	}
	return r, nil
}

// readSlot returns no request for a slot that was never written.
func readSlot(b []byte) (request string, mark Mark, ok bool) {
	if len(b) < slotSize {
		return "", mark, false
	}
	if binary.LittleEndian.Uint32(b) != crc32.Checksum(b[4:], castagnoli) {
		for _, c := range b {
			if c != 0 {
				return "", mark, false
			}
		}
		return "", mark, true // a later slot was written first
	}
	name, id := int(b[5]), int(b[6])
	if name > maxName || id > maxID {
		return "", mark, false
	}
	answer := &Answer{
		Outcome: Outcome(b[4]), ID: string(b[9+maxName : 9+maxName+id]),
		Status: int(binary.LittleEndian.Uint16(b[7:])),
	}
	if b[4] == sent {
		answer = nil
	}
	return string(b[9 : 9+name]), Mark{answer}, true
}

// Paths returns the files of a folder by the name of their process.
func Paths(dir string) (map[string]string, error) {
	there, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, f := range there {
		if process, ours := strings.CutPrefix(f.Name(), prefix); ours && strings.HasSuffix(process, suffix) {
			out[strings.TrimSuffix(process, suffix)] = filepath.Join(dir, f.Name())
		}
	}
	return out, nil
}

const (
	prefix = "wire-"
	suffix = ".marks"
)

// Path is the file of a process in a folder.
func Path(dir, process string) string { return filepath.Join(dir, prefix+process+suffix) }
