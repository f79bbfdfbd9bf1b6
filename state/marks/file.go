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
	// position of the record of the journal up to which slots were freed
	freedAt = headSize - slotSize
	maxName = 64  // bytes of a request's name
	maxID   = 160 // bytes of a record's id
)

const (
	// the kind of a slot whose request may have left, and of which nothing else is known
	sent  = 's'
	freed = 'f' // the kind of the slot in the head
)

// Outcome is the certain outcome of a request. It is the kind of its slot.
type Outcome byte

// The outcomes.
const (
	Created    Outcome = 'c' // a record was created
	NotCreated Outcome = 'n' // certainly no record was created
	NotSent    Outcome = 'u' // no byte left, and none will
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Answer is what is certain about a request.
type Answer struct {
	Outcome Outcome
	ID      string // of the record that was created
	Status  int    // HTTP status; 0 without an answer
}

// header is the first line of a file.
type header struct {
	Owner json.RawMessage `json:"owner"`
	// of the file: a copy has another number, and may lack what was written later
	Number uint64 `json:"number"`
}

// File is the file of this process. Its methods may be called by several goroutines.
type File struct {
	mu    sync.Mutex
	f     *os.File
	slots map[string]int // by request
	free  []int
	next  int
	freed uint64 // the highest record number passed to Settled
	gone  bool   // the file was removed; nobody will read it
	users int    // guarded by inUse.mu
}

// inUse has the files of this process: one for each path, however many use it, because creating it
// again would erase what the first user has marked.
var inUse = struct {
	mu    sync.Mutex
	files map[string]*File
}{files: map[string]*File{}}

// Use returns the file at path. If this process does not have it yet, Use creates it and replaces
// an existing one. owner is written into its head, as JSON, and identifies the process. Each Use
// must be ended with Close.
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
	if err := hold(f); err != nil { // only a locked file may be emptied
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

// Sent marks that the first byte of a request may leave from now on. If Sent returns an error, the
// request must not leave.
func (m *File) Sent(request string) error {
	if len(request) == 0 || len(request) > maxName {
		return fmt.Errorf("the name of a request has %d bytes, of 1 to %d", len(request), maxName)
	}
	if err := m.write(m.slot(request), sent, request, Answer{}); err != nil {
		return fmt.Errorf("noting that a request leaves: %w", err)
	}
	return nil
}

// slot returns the slot of a request, and assigns one if it has none.
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

// Answered marks what is certain about a request. If it cannot be marked, the outcome is only
// unknown after a crash.
func (m *File) Answered(request string, a Answer) error {
	if len(request) == 0 || len(request) > maxName || len(a.ID) > maxID || a.Outcome == Created && a.ID == "" {
		return nil
	}
	return m.write(m.slot(request), byte(a.Outcome), request, a)
}

// Settled frees the slots of requests whose outcome the ledger has stored, with a record of its
// journal, or with none if record is 0. From then on the absence of a request proves something only
// together with a ledger that has this record.
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

// Reliable reports whether the absence of a request will prove that it had not left.
func (m *File) Reliable() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.gone && m.freed != Never
}

// Abandon removes the file, so that nobody concludes anything from the absence of a request. After
// that, requests may leave without a mark.
func (m *File) Abandon() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := os.Remove(m.f.Name()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("giving up the notes of what left: %w", err)
	}
	m.gone = true
	return nil
}

// Close ends one use of the file. After the last use the file is removed if it has no more marks;
// otherwise it stays, and this process may use it again.
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

// write writes one slot with one system call: a process that is killed has written all of it or
// nothing.
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

// Mark is what a file has about one request.
type Mark struct{ Answer *Answer } // nil: it may have left, and no certain answer was marked

// Reading is the content of the file of a process.
type Reading struct {
	Owner json.RawMessage
	Ended bool            // the process has certainly ended, and this is the file that it wrote
	Marks map[string]Mark // by request
	Torn  bool            // a slot is unreadable: requests that are not in Marks may have left too
	// requests that are not in Marks had not left, if the ledger has this record of its journal;
	// Never: not known
	Freed uint64
}

// Never is a number that no record has.
const Never = math.MaxUint64

// Read reads the file of a process, and determines whether the process has ended. It may be called
// while the process runs.
func Read(path string) (r Reading, err error) {
	f, err := os.Open(path)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	r.Ended = look(f) == nil // locks the file until it is closed
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

// readSlot reads a slot. It returns no request for a slot that was never written.
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

// Paths returns the files of a folder by process.
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

// Path returns the path of the file of a process in a folder.
func Path(dir, process string) string { return filepath.Join(dir, prefix+process+suffix) }
