package state

import (
	"encoding/json"
	"os"
	"sync"
	"time"

	wiremarks "github.com/safrasync/safrasync/state/marks"
	"github.com/safrasync/safrasync/trade"
)

// wire is what this process notes of the requests that it has on the wire; see package marks. The file stands beside the journal, on a disk of this host.
type wire struct {
	mu   sync.Mutex
	file *wiremarks.File
}

// Marked tells whether requests are noted just before they leave, so that intents may be stored long before their requests leave: a crash of the process shows which had left.
func (s *Store) Marked() bool { return s.journal != nil }

// Mark notes that the first byte of an attempt's request leaves now. After an error it must not leave.
func (s *Store) Mark(attempt string) error {
	file, err := s.marksFile()
	if err != nil || file == nil {
		return err
	}
	return file.Sent(attempt)
}

// Heard notes how an attempt ended that is not in the ledger yet, where that is certain: created with an id, not created, or not sent. Where it cannot be noted, a crash of the process before the
// ledger has it leaves the row in doubt.
func (s *Store) Heard(attempt string, outcome trade.Outcome, status int, remoteID string) {
	s.wire.mu.Lock()
	file := s.wire.file
	s.wire.mu.Unlock()
	certain, ok := certainly[outcome]
	if file == nil || !ok {
		return
	}
	_ = file.Answered(attempt, wiremarks.Answer{Outcome: certain, ID: cleanText(remoteID), Status: status}) // the ledger will have it
}

var certainly = map[trade.Outcome]wiremarks.Outcome{
	trade.OutcomeCreated: wiremarks.Created, trade.OutcomeNotCreated: wiremarks.NotCreated, trade.OutcomeNotSent: wiremarks.NotSent,
}

// marksFile gives the file of this process; nil without a journal.
func (s *Store) marksFile() (*wiremarks.File, error) {
	if !s.Marked() {
		return nil, nil
	}
	s.wire.mu.Lock()
	defer s.wire.mu.Unlock()
	if s.wire.file != nil {
		return s.wire.file, nil
	}
	owner, err := json.Marshal(Self())
	if err != nil { // unreachable: names and numbers always have a JSON form
		return nil, err
	}
	file, err := wiremarks.Use(wiremarks.Path(s.journalPath, Self().Instance), owner)
	if err != nil {
		return nil, &Error{Code: CodeJournal, Path: s.journalPath, Hint: "check the folder of state.journal, its rights and its disk", Err: err}
	}
	s.wire.file = file
	return file, nil
}

// unmark forgets attempts of which the ledger has all that there is to know: those that were settled, but for the ones whose id is another row's.
func (s *Store) unmark(settled []trade.Settlement, conflicts map[string]string) {
	ids := make([]string, 0, len(settled))
	for _, st := range settled {
		if _, conflict := conflicts[st.Attempt.ID]; !conflict {
			ids = append(ids, st.Attempt.ID)
		}
	}
	s.forgetMarks(ids)
}

// forgetMarks gives the places of attempts in the file of this process back.
func (s *Store) forgetMarks(attempts []string) {
	s.wire.mu.Lock()
	file := s.wire.file
	s.wire.mu.Unlock()
	if file != nil && len(attempts) > 0 {
		file.Settled(attempts)
	}
}

func (s *Store) closeWire() error {
	s.wire.mu.Lock()
	defer s.wire.mu.Unlock()
	if s.wire.file == nil {
		return nil
	}
	err := s.wire.file.Close()
	s.wire.file = nil
	return err
}

// What people are told of attempts of a process that ended.
const (
	neverLeft  = "the process ended before a byte of it left"
	heardOfOne = "the process noted the answer and ended before the ledger had it"
)

// trace is what the processes of this host left that have ended, by their instance.
type trace map[string]wiremarks.Reading

// traces reads, in the folder of the journal, the files of those processes that have certainly ended, and ran under the present boot: only what they wrote is known to be whole. Of this process
// only answers count: requests that it has not noted may be about to leave.
func (s *Store) traces(dir string) trace {
	out := trace{}
	if dir == "" {
		return out
	}
	paths, err := wiremarks.Paths(dir)
	if err != nil { // then nothing is known of anybody
		return out
	}
	for instance, path := range paths {
		r, err := wiremarks.Read(path)
		if err != nil {
			continue
		}
		var owner trade.Owner
		if json.Unmarshal(r.Owner, &owner) != nil || owner.Instance != instance || owner.Boot == "" || owner.Boot != Self().Boot {
			continue
		}
		if instance == Self().Instance {
			r.Ended, r.Torn = true, true
		}
		if r.Ended {
			out[instance] = r
		}
	}
	return out
}

// forgetTraces removes the files that nobody can believe any more: those of another boot, and those of processes that ended a day ago.
func (s *Store) forgetTraces() {
	paths, err := wiremarks.Paths(s.journalPath)
	if err != nil || !s.Marked() {
		return
	}
	for _, path := range paths {
		r, err := wiremarks.Read(path)
		var owner trade.Owner
		if err != nil || json.Unmarshal(r.Owner, &owner) != nil {
			continue
		}
		info, err := os.Stat(path)
		old := err == nil && time.Since(info.ModTime()) > 24*time.Hour
		if r.Ended && (old || owner.Boot != Self().Boot) {
			_ = os.Remove(path) // it is only untidy
		}
	}
}

// of says what is certain of an open attempt of a process; ok is false when nothing is.
func (t trace) of(process, attempt string) (st trade.Settlement, ok bool) {
	r, known := t[process]
	if !known {
		return st, false
	}
	mark, noted := r.Marks[attempt]
	st.Attempt.ID, st.Attempt.Reason = attempt, heardOfOne
	switch {
	case !noted && !r.Torn, noted && mark.Answer != nil && mark.Answer.Outcome == wiremarks.NotSent:
		st.Attempt.Outcome, st.Attempt.Reason, st.State = trade.OutcomeNotSent, neverLeft, trade.Pending
		return st, true
	case mark.Answer == nil:
		return st, false
	}
	st.Attempt.Status, st.Attempt.RemoteID, st.Counts = mark.Answer.Status, mark.Answer.ID, true
	switch mark.Answer.Outcome {
	case wiremarks.Created:
		st.Attempt.Outcome, st.State = trade.OutcomeCreated, trade.Accepted
	case wiremarks.NotCreated:
		st.Attempt.Outcome, st.State = trade.OutcomeNotCreated, trade.Pending
	default: // of a later version
		return st, false
	}
	return st, true
}
