package receiver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"

	"github.com/safrasync/safrasync/trade"
)

const (
	spoolMost   = 256 << 20 // bytes that may be in the spool
	segmentMost = 8 << 20   // bytes of one file
)

// SegmentEnd is the suffix of the names of the spool's files.
const SegmentEnd = ".events"

// errSpoolFull means that the spool has reached spoolMost.
var errSpoolFull = errors.New("the spool is full: the ledger has not taken events for long")

var crcTable = crc32.MakeTable(crc32.Castagnoli)

// spool stores events in files of a folder until the ledger accepts them. Each line is a checksum
// and an event. When add returns nil, the event has been flushed to disk. A line that is cut or
// garbled was never acknowledged and is skipped.
type spool struct {
	dir   string
	write chan *pendingEvent
	quit  chan struct{}
	work  sync.WaitGroup
	bytes atomic.Int64 // in all files

	mu   sync.Mutex // guards the fields below
	file *os.File   // the file that is being written; nil: none
	size int64
}

func openSpool(dir string) (*spool, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("webhooks.spool: %w", err)
	}
	s := &spool{dir: dir, write: make(chan *pendingEvent, queueMost), quit: make(chan struct{})}
	files, err := s.files()
	if err != nil {
		return nil, fmt.Errorf("webhooks.spool: %w", err)
	}
	for _, name := range files {
		if info, err := os.Stat(name); err == nil {
			s.bytes.Add(info.Size())
		}
	}
	s.work.Go(func() { inBatches(s.write, s.quit, s.append) })
	return s, nil
}

// files returns the files of the spool, oldest first.
func (s *spool) files() ([]string, error) {
	entries, err := os.ReadDir(s.dir)
	var out []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), SegmentEnd) {
			out = append(out, filepath.Join(s.dir, e.Name()))
		}
	}
	slices.Sort(out)
	return out, err
}

// add stores an event; it returns when the event is on disk.
func (s *spool) add(event trade.InboxEvent) error {
	one := &pendingEvent{event: event, done: make(chan error, 1)}
	select {
	case s.write <- one:
		select {
		case err := <-one.done:
			return err
		case <-s.quit:
			return errClosing
		}
	default:
		return errSpoolFull
	}
}

// append writes events and flushes once.
func (s *spool) append(batch []trade.InboxEvent) error {
	var text bytes.Buffer
	for _, event := range batch {
		line, err := json.Marshal(event)
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%08x %s\n", crc32.Checksum(line, crcTable), line)
	}
	if s.bytes.Load()+int64(text.Len()) > spoolMost {
		return errSpoolFull
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		file, err := os.OpenFile(filepath.Join(s.dir, uuid.Must(uuid.NewV7()).String()+SegmentEnd),
			os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		if err := flushFolder(s.dir); err != nil {
			return errors.Join(err, file.Close(), os.Remove(file.Name()))
		}
		s.file, s.size = file, 0
	}
	n, err := s.file.Write(text.Bytes())
	if err == nil {
		err = s.file.Sync()
	}
	s.size += int64(n)
	s.bytes.Add(int64(n))
	if err != nil || s.size > segmentMost { // after an error, its content is unknown: use another file
		err = errors.Join(err, s.file.Close())
		s.file = nil
	}
	return err
}

func flushFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// drain passes the contents of the files to bring, and removes each file when all of it was
// accepted.
func (s *spool) drain(bring func([]trade.InboxEvent) error) error {
	s.mu.Lock()
	if s.file != nil { // from here on it is only read
		if err := s.file.Close(); err != nil {
			s.mu.Unlock()
			return err
		}
		s.file = nil
	}
	files, err := s.files()
	s.mu.Unlock()
	if err != nil {
		return err
	}
	for _, name := range files {
		if current := s.current(); name == current {
			continue
		}
		size, err := drainFile(name, bring)
		if err != nil {
			return err
		}
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		s.bytes.Add(-size)
	}
	return nil
}

// current returns the file that is being written, or "".
func (s *spool) current() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return ""
	}
	return s.file.Name()
}

// drainFile passes the events of a file to bring in batches, and returns the file's size.
func drainFile(name string, bring func([]trade.InboxEvent) error) (size int64, err error) {
	file, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if info, statErr := file.Stat(); statErr == nil {
		size = info.Size()
	}
	var events []trade.InboxEvent
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 2*MaxBody+64<<10) // a body in base64, plus the rest of the line
	for lines.Scan() {
		sum, line, _ := strings.Cut(lines.Text(), " ")
		var event trade.InboxEvent
		if fmt.Sprintf("%08x", crc32.Checksum([]byte(line), crcTable)) != sum ||
			json.Unmarshal([]byte(line), &event) != nil {
			continue
		}
		if events = append(events, event); len(events) == batchMost {
			if err := bring(events); err != nil {
				return size, err
			}
			events = nil
		}
	}
	if err := lines.Err(); err != nil {
		return size, err
	}
	if len(events) > 0 {
		err = bring(events)
	}
	return size, err
}

func (s *spool) close() error {
	close(s.quit)
	s.work.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}
