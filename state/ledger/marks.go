// The marks file: which requests of this process have left (I11).

package ledger

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/safrasync/safrasync/state/marks"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// Marks has the marks file of this process for its requests in flight; see package marks. The file
// is on a tmpfs of this host: see sqldb.RunFolders.
type Marks struct {
	mu    sync.Mutex
	asked bool        // whether a place for the file was searched
	file  *marks.File // nil if there is none
}

// Marked reports whether requests are marked just before they leave. If so, intents may be stored
// some time before their requests leave: a crash of the process shows which requests had left.
func (s *Ledger) Marked() bool {
	file := s.MarksFile()
	return file != nil && file.Reliable()
}

// Mark records that the first byte of an attempt's request is about to leave. If Mark returns an
// error, the request must not leave. If the mark cannot be written, the whole file is abandoned, so
// that nobody relies on it; then the request may leave.
func (s *Ledger) Mark(attempt string) error {
	file := s.MarksFile()
	if file == nil || !file.Reliable() {
		return nil
	}
	if err := file.Sent(attempt); err != nil {
		return file.Abandon()
	}
	return nil
}

// NoteAnswer marks how an attempt ended that is not in the ledger yet, if the outcome is certain:
// created with an id, not created, or not sent. If it cannot be marked, a crash of the process
// before the ledger has the outcome leaves the row in doubt.
func (s *Ledger) NoteAnswer(attempt string, outcome trade.Outcome, status int, remoteID string) {
	s.marked.mu.Lock()
	file := s.marked.file
	s.marked.mu.Unlock()
	certain, ok := certainly[outcome]
	if file == nil || !ok {
		return
	}
	// an error can be ignored: the ledger will have the outcome
	_ = file.Answered(attempt, marks.Answer{Outcome: certain, ID: sqldb.CleanText(remoteID), Status: status})
}

var certainly = map[trade.Outcome]marks.Outcome{
	trade.OutcomeCreated: marks.Created, trade.OutcomeNotCreated: marks.NotCreated,
	trade.OutcomeNotSent: marks.NotSent,
}

// MarksFile returns the marks file of this process. It creates the file on the first call, before
// the first intent is stored. It returns nil without a journal, or if no tmpfs can be written.
func (s *Ledger) MarksFile() *marks.File {
	if s.db.Journal == nil {
		return nil
	}
	s.marked.mu.Lock()
	defer s.marked.mu.Unlock()
	if s.marked.asked {
		return s.marked.file
	}
	s.marked.asked = true
	owner, err := json.Marshal(sqldb.Self())
	if err != nil {
		return nil
	}
	for _, dir := range s.db.Tune.RunFolders() {
		if s.ownMemory(dir, true) {
			if s.marked.file, err = marks.Use(marks.Path(dir, s.notesOf(s.db.Journal.Header().Journal)+
				sqldb.Self().Instance), owner); err == nil {
				break
			}
		}
	}
	return s.marked.file
}

// notesOf returns the prefix of the names of all marks files of a journal of this ledger; the
// instance follows.
func (s *Ledger) notesOf(journal string) string { return s.db.ID + "." + journal + "." }

// ownMemory reports whether a folder is on a tmpfs, belongs to this user, and is closed to
// everybody else.
func (s *Ledger) ownMemory(dir string, create bool) bool {
	if !filepath.IsAbs(dir) {
		return false
	}
	if create {
		_ = os.Mkdir(dir, 0o700) // whatever exists there is checked below
	}
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || info.Mode().Perm()&0o077 != 0 || !sqldb.Ours(info) {
		return false
	}
	magic, ok := s.db.Tune.FsMagic(dir)
	return ok && magic == sqldb.Tmpfs
}

// unmark frees the marks of settled attempts, because the ledger now has everything about them,
// stored with a record of its journal. It keeps the marks of attempts whose id is another row's.
func (s *Ledger) unmark(settled []trade.Settlement, conflicts map[string]string, record int64) {
	ids := make([]string, 0, len(settled))
	for _, st := range settled {
		if _, conflict := conflicts[st.Attempt.ID]; !conflict {
			ids = append(ids, st.Attempt.ID)
		}
	}
	s.forgetMarks(ids, record)
}

// forgetMarks frees the slots of attempts in the marks file of this process. record is the number
// of the journal record with which the ledger stored them, or 0 if there is none.
func (s *Ledger) forgetMarks(attempts []string, record int64) {
	s.marked.mu.Lock()
	file := s.marked.file
	s.marked.mu.Unlock()
	if file != nil && len(attempts) > 0 {
		file.Settled(attempts, uint64(record))
	}
}

// CloseMarks closes the marks file of this process.
func (s *Ledger) CloseMarks() error {
	s.marked.mu.Lock()
	defer s.marked.mu.Unlock()
	if s.marked.file == nil {
		return nil
	}
	err := s.marked.file.Close()
	s.marked.file, s.marked.asked = nil, false
	return err
}

// The reasons of attempts of a process that has ended.
const (
	neverLeft  = "the process ended before a byte of it left"
	heardOfOne = "the process noted the answer and ended before the ledger had it"
)

// Trace holds the marks that ended processes of this host left, by instance, and the number of
// journal records that the ledger has.
type Trace struct {
	left   map[string]marks.Reading
	record uint64
}

// Traces reads the marks files that belong to a journal, of which the ledger has the given number
// of records. It reads only files of processes that have certainly ended and ran under the present
// boot, because only those are known to be complete. Of this process it uses only the answers:
// requests without a mark may be about to leave.
func (s *Ledger) Traces(journal string, record int64) Trace {
	out := Trace{map[string]marks.Reading{}, uint64(record)}
	for _, dir := range s.db.Tune.RunFolders() {
		if !s.ownMemory(dir, false) {
			continue
		}
		paths, err := marks.Paths(dir)
		if err != nil { // then nothing is known about any process
			continue
		}
		for name, path := range paths {
			instance, ours := strings.CutPrefix(name, s.notesOf(journal))
			if !ours {
				continue
			}
			r, err := marks.Read(path)
			if err != nil {
				continue
			}
			var owner trade.Owner
			if json.Unmarshal(r.Owner, &owner) != nil || owner.Instance != instance || owner.Boot == "" ||
				owner.Boot != sqldb.Self().Boot {
				continue
			}
			if instance == sqldb.Self().Instance {
				r.Ended, r.Torn = true, true
			}
			if r.Ended {
				out.left[instance] = r
			}
		}
	}
	return out
}

// forgetTraces removes the files of processes that ended more than a day ago, of any ledger. After
// that time a missing mark proves nothing, and the rows are in doubt.
func (s *Ledger) forgetTraces() {
	for _, dir := range s.db.Tune.RunFolders() {
		if !s.ownMemory(dir, false) {
			continue
		}
		paths, _ := marks.Paths(dir) // an error leaves only old files behind
		for _, path := range paths {
			if info, err := os.Stat(path); err != nil || time.Since(info.ModTime()) <= 24*time.Hour {
				continue
			}
			if r, err := marks.Read(path); err == nil && r.Ended {
				_ = os.Remove(path)
			}
		}
	}
}

// Of returns the settlement of an open attempt of a process, as far as the marks make it certain.
// ok is false if nothing is certain.
func (t Trace) Of(process, attempt string) (st trade.Settlement, ok bool) {
	r, known := t.left[process]
	if !known {
		return st, false
	}
	mark, noted := r.Marks[attempt]
	st.Attempt.ID, st.Attempt.Reason = attempt, heardOfOne
	switch {
	case !noted && !r.Torn && r.Freed <= t.record, noted && mark.Answer != nil &&
		mark.Answer.Outcome == marks.NotSent:
		st.Attempt.Outcome, st.Attempt.Reason, st.State = trade.OutcomeNotSent, neverLeft, trade.Pending
		return st, true
	case mark.Answer == nil:
		return st, false
	}
	st.Attempt.Status, st.Attempt.RemoteID, st.Counts = mark.Answer.Status, mark.Answer.ID, true
	switch mark.Answer.Outcome {
	case marks.Created:
		st.Attempt.Outcome, st.State = trade.OutcomeCreated, trade.Accepted
	case marks.NotCreated:
		st.Attempt.Outcome, st.State = trade.OutcomeNotCreated, trade.Pending
	default: // written by a later version
		return st, false
	}
	return st, true
}
