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

// Marks is what this process notes of the requests that it has in flight; see package marks. The
// file stands on a tmpfs of this host: see runFolders.
type Marks struct {
	mu    sync.Mutex
	asked bool        // whether there is a place for notes
	file  *marks.File // nil: there is none
}

// Marked reports whether requests are noted just before they leave, so that intents may be stored
// before their requests leave: a crash of the process shows which had left.
func (s *Ledger) Marked() bool {
	file := s.MarksFile()
	return file != nil && file.Tells()
}

// Mark notes that the first byte of an attempt's request leaves now. After an error it must not
// leave. Notes that cannot be written are given up: then nobody will read them, and the request may
// leave.
func (s *Ledger) Mark(attempt string) error {
	file := s.MarksFile()
	if file == nil || !file.Tells() {
		return nil
	}
	if err := file.Sent(attempt); err != nil {
		return file.Abandon()
	}
	return nil
}

// Heard notes how an attempt ended that is not in the ledger yet, where that is certain: created
// with an id, not created, or not sent. Where it cannot be noted, a crash of the process before the
// ledger has it leaves the row in doubt.
func (s *Ledger) Heard(attempt string, outcome trade.Outcome, status int, remoteID string) {
	s.marked.mu.Lock()
	file := s.marked.file
	s.marked.mu.Unlock()
	certain, ok := certainly[outcome]
	if file == nil || !ok {
		return
	}
	// the ledger will have it
	_ = file.Answered(attempt, marks.Answer{Outcome: certain, ID: sqldb.CleanText(remoteID), Status: status})
}

var certainly = map[trade.Outcome]marks.Outcome{
	trade.OutcomeCreated: marks.Created, trade.OutcomeNotCreated: marks.NotCreated,
	trade.OutcomeNotSent: marks.NotSent,
}

// MarksFile returns the file of this process, which is there before its first intent is stored; nil
// without a journal, and where no tmpfs can be written.
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

// notesOf is how the names of all notes begin that belong to a journal of this ledger; the instance
// follows.
func (s *Ledger) notesOf(journal string) string { return s.db.ID + "." + journal + "." }

// ownMemory reports whether a folder is on a tmpfs, belongs to this user, and is open to nobody
// else.
func (s *Ledger) ownMemory(dir string, create bool) bool {
	if !filepath.IsAbs(dir) {
		return false
	}
	if create {
		_ = os.Mkdir(dir, 0o700) // what stands there is looked at below
	}
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || info.Mode().Perm()&0o077 != 0 || !sqldb.Ours(info) {
		return false
	}
	magic, ok := s.db.Tune.FsMagic(dir)
	return ok && magic == sqldb.Tmpfs
}

// unmark forgets attempts of which the ledger has all that there is to know, with a record of its
// journal: those that were settled, but for the ones whose id is another row's.
func (s *Ledger) unmark(settled []trade.Settlement, conflicts map[string]string, record int64) {
	ids := make([]string, 0, len(settled))
	for _, st := range settled {
		if _, conflict := conflicts[st.Attempt.ID]; !conflict {
			ids = append(ids, st.Attempt.ID)
		}
	}
	s.forgetMarks(ids, record)
}

// forgetMarks gives the places of attempts in the file of this process back. record is of the
// journal, and the ledger has known all about them since; 0: it is in no record.
func (s *Ledger) forgetMarks(attempts []string, record int64) {
	s.marked.mu.Lock()
	file := s.marked.file
	s.marked.mu.Unlock()
	if file != nil && len(attempts) > 0 {
		file.Settled(attempts, uint64(record))
	}
}

// CloseMarks closes the notes of this process.
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

// What people are told of attempts of a process that ended.
const (
	neverLeft  = "the process ended before a byte of it left"
	heardOfOne = "the process noted the answer and ended before the ledger had it"
)

// Trace is what the processes of this host left that have ended, by their instance, and how much of
// the journal the ledger has.
type Trace struct {
	left   map[string]marks.Reading
	record uint64
}

// Traces reads what belongs to a journal, of which the ledger has so many records: the files of
// those processes that have certainly ended, and ran under the present boot: only what they wrote
// is known to be whole. Of this process only answers count: requests that it has not noted may be
// about to leave.
func (s *Ledger) Traces(journal string, record int64) Trace {
	out := Trace{map[string]marks.Reading{}, uint64(record)}
	for _, dir := range s.db.Tune.RunFolders() {
		if !s.ownMemory(dir, false) {
			continue
		}
		paths, err := marks.Paths(dir)
		if err != nil { // then nothing is known of anybody
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

// forgetTraces removes the files of processes that ended a day ago, of any ledger: what they lack
// proves nothing then, and their rows are in doubt.
func (s *Ledger) forgetTraces() {
	for _, dir := range s.db.Tune.RunFolders() {
		if !s.ownMemory(dir, false) {
			continue
		}
		paths, _ := marks.Paths(dir) // it is only untidy
		for _, path := range paths {
			r, err := marks.Read(path)
			if info, statErr := os.Stat(path); err == nil && r.Ended && statErr == nil &&
				time.Since(info.ModTime()) > 24*time.Hour {
				_ = os.Remove(path)
			}
		}
	}
}

// Of says what is certain of an open attempt of a process; ok is false when nothing is.
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
	default: // of a later version
		return st, false
	}
	return st, true
}
