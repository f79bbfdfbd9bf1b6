// What the witness of the journals tells, and what it is told. Package witness has the order in which
// things are written, and why.

package state

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/state/witness"
	"github.com/safrasync/safrasync/trade"
)

// witnessWait is how long a start, and a pass, wait for a witness that does not answer.
const witnessWait = 5 * time.Second

// The names under which the ledger remembers that it has a witness (with its place, and the key of the
// line there), and when a person let the jobs go on without one (with the start of the machine).
const (
	witnessTasks = "witness "
	witnessTask  = witnessTasks + "of "
	releasedTask = witnessTasks + "released on "
)

// watch is the witness of an open ledger. A nil *watch is that of a ledger without one.
type watch struct {
	writer   *witness.Writer
	store    *Store
	place    string
	released atomic.Bool                 // a person let the jobs go on without it
	known    atomic.Bool                 // journal and ledger remember where it is
	lacks    atomic.Pointer[sqldb.Error] // what another host sent, and the ledger lacked when the lines were last read
}

// watch asks the copies of the ledger, and begins to tell the witness how far this host's journal has
// come. It returns an error if the ledger is an old copy, or lacks what another host sent. If the
// witness cannot be read, the ledger is opened, and nothing is sent (Witnessed).
func (s *Store) watch(ctx context.Context, op string, o sqldb.OpenOptions, v journalVerdict) error {
	if err := s.behindCopies(ctx); err != nil {
		return err
	}
	known, err := s.knownWitness(ctx)
	if err != nil || o.Witness == "" && known == "" {
		return err
	}
	place, name, err := openWitness(o)
	if err != nil {
		return err
	}
	w := &watch{store: s, place: name}
	row, dir := v.row, s.db.JournalPath
	lock := func() (unlock func() error, err error) { // of this host, for which it waits for a while
		for until := time.Now().Add(time.Second); ; time.Sleep(2 * time.Millisecond) {
			unlock, err = journal.TryLock(filepath.Join(dir, "witness.lock"))
			var held *journal.HeldError
			if err == nil || !errors.As(err, &held) || time.Now().After(until) {
				return unlock, err
			}
		}
	}
	w.writer = witness.NewWriter(place, s.lineOf(row.ID, row.Seq, row.Mark), w.judge, w.knows, lock)
	s.witness = w
	s.db.Noted = func(seq int64, mark string, posts bool) { w.writer.Advance(row.ID, seq, mark, posts) }
	w.writer.Begun(witnessWait)
	if w.lacks.Load() != nil {
		// After a fail-over the other host may wait for this one, which is in step.
		s.db.Confirm(sqldb.Confirmed{Term: v.Compare.Term, Seen: v.Compare.Seen})
		_ = s.confirmServer(ctx, op) // what the ledger lacks is what a person has to know
	}
	return w.conflict()
}

// lineOf returns the line of this process. A SQLite ledger has one line, on whichever host and in
// whichever container it is; one on PostgreSQL has one for each host and folder.
func (s *Store) lineOf(id string, seq int64, mark string) witness.Line {
	host, _, _ := sqldb.HostIdentity()
	l := witness.Line{
		Key: s.db.ID, Ledger: s.db.ID, Host: host, Folder: s.journalFolder(), Journal: id, Seq: seq, Mark: mark,
	}
	if s.db.D.Name == sqldb.Postgres {
		sum := sha256.Sum256([]byte(l.Host + "\n" + l.Folder))
		l.Key += "-" + hex.EncodeToString(sum[:4])
	}
	return l
}

// journalFolder returns the folder of this host's journal, also of a ledger that is only read.
func (s *Store) journalFolder() string {
	if s.db.JournalPath != "" {
		return s.db.JournalPath
	}
	parent, err := filepath.Abs(s.options.Journal)
	if err != nil {
		return ""
	}
	return s.journalDir(parent)
}

// noWitness is the place of a witness that is not configured any more: it has no lines, and keeps none.
type noWitness struct{ witness.Place }

func (noWitness) Lines(context.Context, string) ([]witness.Line, error)  { return nil, nil }
func (noWitness) Swap(context.Context, witness.Line, witness.Line) error { return nil }
func (noWitness) Try(context.Context) error                              { return nil }
func (noWitness) Close() error                                           { return nil }

// openWitness opens the place of a witness, and returns its name for people, without secrets.
func openWitness(o sqldb.OpenOptions) (place witness.Place, name string, err error) {
	if o.Witness == "" {
		return noWitness{}, "", nil
	}
	if IsFolder(o.Witness) {
		return witness.OpenFolder(o.Witness), o.Witness, nil
	}
	cfg, err := sqldb.PostgresConfig(sqldb.OpenOptions{DSN: o.Witness})
	if err == nil {
		place, err = witness.OpenPostgres(o.Witness, o.Version)
	}
	if err != nil {
		return nil, "", &sqldb.Error{
			Code: sqldb.CodeConfig, Err: errors.New("state.witness is neither a folder nor a PostgreSQL data source name"),
			Hint: phrase.New("write it like /mnt/copies, or like postgres://user:password@host/database"),
		}
	}
	return place, sqldb.PostgresPlace(cfg), nil
}

// IsFolder reports whether a witness is a folder, and not a database.
func IsFolder(witness string) bool {
	return filepath.IsAbs(witness) || !strings.ContainsAny(witness, "=:")
}

// knows reports whether this host's journal has the record of a line.
func (w *watch) knows(l witness.Line) (bool, error) {
	j := w.store.db.Journal
	if l.Journal != j.Header().Journal {
		return false, nil
	}
	if j.Has(l.Seq, l.Mark) {
		return true, nil
	}
	c, err := journal.Compare(w.store.db.JournalPath, l.Seq)
	return c.Mark == l.Mark || c.Older, err
}

// judge compares the lines with the ledger. What the ledger lacks of another host, that one may bring
// back: the lines are read again until then.
func (w *watch) judge(ctx context.Context, lines []witness.Line) (witness.Judgement, error) {
	v, err := w.store.judgeWitness(ctx, w.place, lines)
	if err != nil {
		return v, err
	}
	var lacks *sqldb.Error
	if errors.As(v.Ahead, &lacks) && lacks.Code == sqldb.CodeRolledBack {
		v.Ahead, err = nil, lacks
	} else {
		lacks = nil
	}
	w.lacks.Store(lacks)
	return v, err
}

// judgeWitness compares the lines of a place with the ledger. If the ledger's witness is elsewhere, nobody
// can tell; nor if it has no line at all: that may be a disk that is not mounted.
func (s *Store) judgeWitness(ctx context.Context, place string, lines []witness.Line,
) (v witness.Judgement, err error) {
	v, err = s.judgeLines(ctx, itsWitness(place), lines)
	if err != nil || v.Ahead != nil || s.releasedSince(ctx) {
		return v, err
	}
	known, err := s.knownWitness(ctx)
	switch {
	case err != nil || known == "" || known == place && len(lines) > 0:
	case known != place:
		err = &movedWitness{known}
	case IsFolder(s.options.Witness):
		err = phrase.Errorf("it had a line of this ledger, and has none now: is its disk mounted?")
	default:
		err = phrase.Errorf("it had a line of this ledger, and has none now: is it the same database?")
	}
	return v, err
}

// movedWitness is the error for a ledger whose witness is not the one that is configured.
type movedWitness struct{ was string }

// Error returns where the witness is.
func (e *movedWitness) Error() string { return e.Phrase().Error() }

// Phrase returns the same as a sentence.
func (e *movedWitness) Phrase() *phrase.Text {
	return phrase.New("this ledger has its witness at %s, which state.witness does not name", e.was)
}

// knownWitness returns where the witness of this host's journal is, as the journal tells, or an earlier
// one: the ledger; "" if there is none. The journal is kept where a ledger is put back, or rebuilt.
func (s *Store) knownWitness(ctx context.Context) (place string, err error) {
	end, err := journal.ReadEnd(s.journalFolder())
	if err != nil && !errors.Is(err, journal.ErrNone) {
		return "", s.db.JournalFault(err)
	}
	var names []string
	const newest = `SELECT name FROM task WHERE name LIKE ? ORDER BY ran_at DESC`
	if end.Header.Witness != "" {
		return end.Header.Witness, nil
	}
	err = s.db.All(ctx, "looking where the witness is", &names, newest, s.witnessTask("%"))
	if err != nil || len(names) == 0 {
		return "", err
	}
	return strings.TrimSuffix(strings.TrimPrefix(names[0], witnessTask), s.witnessTask("")[len(witnessTask):]), nil
}

// judgeLines compares the lines with the ledger, and the line of this host's journal with that.
func (s *Store) judgeLines(ctx context.Context, called *phrase.Text, lines []witness.Line,
) (v witness.Judgement, err error) {
	rows, err := s.journalRows(ctx)
	if err != nil {
		return v, err
	}
	ours := s.lineOf("", 0, "").Key
	var last witness.Line
	for _, l := range lines {
		if l.Key == ours {
			v.Own = l
		}
		row, known := rows[l.Journal]
		if known && row.RetiredAt.Valid {
			if l.Key != ours {
				v.Gone = append(v.Gone, l)
			}
			continue
		}
		have := journal.End{Seq: row.Seq, At: time.UnixMilli(row.At).UTC()}
		mark := row.Mark
		if l.Key == ours && known {
			c, err := journal.Compare(s.journalFolder(), l.Seq)
			if err != nil {
				return v, s.db.JournalFault(err)
			}
			if c.End.Header.Journal == l.Journal {
				have, mark = c.End, c.End.Mark
				if l.Seq < have.Seq && !c.Older { // it goes on after the line
					have.Seq, mark = l.Seq, c.Mark
				}
			}
		}
		switch {
		case (!known || have.Seq < l.Seq) && l.Key != ours:
			err = s.errOtherHostBehind(l.Host, l.Seq, row.Seq)
		case !known || have.Seq < l.Seq:
			err = s.oldCopy(called, l, have, known)
		case l.Seq > 0 && have.Seq == l.Seq && mark != l.Mark:
			err = s.otherCopy(called, l)
		default:
			continue
		}
		if l.Key == ours {
			v.Ahead = err
			return v, nil
		}
		if last.At.IsZero() || l.At.After(last.At) {
			v.Ahead, last = err, l
		}
	}
	return v, nil
}

// itsWitness calls a place that has lines what it is.
func itsWitness(place string) *phrase.Text { return phrase.New("its witness (%s)", place) }

func (s *Store) journalRows(ctx context.Context) (map[string]sqldb.JournalRow, error) {
	return sqldb.JournalsBy(s.db.Reading(ctx, "comparing the ledger with its witness"), "")
}

// oldCopy returns the error for a ledger that is older than a line of its witness.
func (s *Store) oldCopy(called *phrase.Text, l witness.Line, have journal.End, known bool) error {
	e := &sqldb.Error{
		Code: sqldb.CodeOldCopy, Path: s.db.Where, Hint: phrase.New(oldCopyHint), Since: have.At,
		Records: int(l.Seq - have.Seq),
	}
	if !known {
		e.Since = time.Time{}
		e.Err = phrase.Errorf("it is older than %w: that has a journal of %s with %d records, the last of %s, which this ledger does not know",
			called, l.Host, l.Seq, l.At.Format(time.RFC3339))
		return e
	}
	e.Err = phrase.Errorf("it is older than %w: since %s it lacks %s; it ends at record %d, and that has record %d of %s, of %s",
		called, have.At.Format(time.RFC3339), sqldb.Counted(e.Records, "record", "records"), have.Seq, l.Seq, l.Host,
		l.At.Format(time.RFC3339))
	return e
}

// otherCopy returns the error for a ledger of which another copy has written a line.
func (s *Store) otherCopy(called *phrase.Text, l witness.Line) error {
	return s.db.Refuse(sqldb.CodeOldCopy,
		phrase.Errorf("%w has record %d of another copy of it, written by %s at %s: what that one sends would go again",
			called, l.Seq, l.Host, l.At.Format(time.RFC3339)),
		phrase.New(oldCopyHint))
}

const oldCopyHint = "nothing is sent: this machine, or its disk, was put back from an older copy. If the newer journal still exists (an old disk, a copy of its folder), " +
	"put it in the place of this one and run `safrasync rebuild --reason TEXT`. If it is lost, and no other copy is in use: " +
	"`safrasync rebuild --new-journal --reason TEXT` pauses every job, then `safrasync sync --record-only`, " +
	"`safrasync adopt` for what the platform has already, and `safrasync release JOB --checked --reason TEXT`"

// WitnessAhead is what a witness knows beyond a ledger.
type WitnessAhead struct {
	Host    string    `json:"host"`
	Record  int64     `json:"record"`  // the last that the witness saw
	Missing int64     `json:"missing"` // how many of them the ledger lacks; all, if it does not know their journal
	At      time.Time `json:"at"`      // when the witness saw it
}

// inTime asks what may hang, as a folder of a server that is away, and does not wait longer.
func inTime[T any](ctx context.Context, wait time.Duration, ask func(context.Context) (T, error)) (out T, err error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	type answer struct {
		got T
		err error
	}
	asked := make(chan answer, 1)
	go func() {
		got, err := ask(ctx)
		asked <- answer{got, err}
	}()
	select {
	case a := <-asked:
		return a.got, a.err
	case <-ctx.Done():
		return out, witness.ErrSilent
	}
}

// witnessGrace is how much newer the journal may be than its line before that is worth telling.
const witnessGrace = 2 * time.Minute

// Witness tells how the witness of the ledger fares. A process that does not write to it asks it.
func (s *Store) Witness(ctx context.Context) (trade.Witness, error) {
	if w := s.witness; w != nil {
		state := w.writer.State()
		out := trade.Witness{At: state.Line.At, Late: state.Since, Slow: state.Slow, Fault: state.Err}
		out.Place = cmp.Or(w.place, "state.witness")
		if taken := w.conflict(); taken != nil {
			out.Fault = taken
		}
		return out, nil
	}
	if s.db.Journal != nil { // it was opened without one
		return trade.Witness{}, nil
	}
	out, v, err := s.readWitness(ctx, nil)
	if out.Fault == nil {
		out.Fault = v.Ahead
	}
	return out, err
}

// readWitness asks the witness as the next start does. If that finds no fault, it tries.
func (s *Store) readWitness(ctx context.Context, try func(context.Context, witness.Place) error,
) (out trade.Witness, v witness.Judgement, err error) {
	if s.options.Journal+s.options.Witness == "" {
		return out, v, nil
	}
	known, err := s.knownWitness(ctx)
	if err != nil || s.options.Witness == "" && known == "" {
		return out, v, err
	}
	place, name, err := openWitness(s.options)
	if err != nil {
		return out, v, err
	}
	out.Place = cmp.Or(name, known)
	rows, err := s.journalRows(ctx) // before the lines, which may grow meanwhile
	if err != nil {
		return out, v, errors.Join(err, place.Close())
	}
	v, out.Fault = inTime(ctx, witnessWait, func(ctx context.Context) (v witness.Judgement, err error) {
		defer phrase.Join(&err, place.Close)
		lines, err := place.Lines(ctx, s.db.ID)
		if err == nil {
			v, err = s.judgeWitness(ctx, name, lines)
		}
		if err == nil && v.Ahead == nil && try != nil {
			err = try(ctx, place)
		}
		return v, err
	})
	out.At = v.Own.At
	if row, known := rows[v.Own.Journal]; known && row.Seq > v.Own.Seq &&
		time.UnixMilli(row.At).Sub(v.Own.At) > witnessGrace {
		out.Late = v.Own.At
	}
	return out, v, nil
}

// WitnessReport is what `safrasync check` says of a witness.
type WitnessReport struct {
	trade.Witness
	Together bool // one image of a disk, a server or this machine contains ledger and witness
	Moved    bool // the ledger's witness is not the one that is configured
}

// WitnessReport asks the witness, and tries whether it can be written. It returns an *Error if the
// ledger is an old copy.
func (s *Store) WitnessReport(ctx context.Context) (out WitnessReport, err error) {
	var v witness.Judgement
	var together bool
	out.Witness, v, err = s.readWitness(ctx, func(ctx context.Context, p witness.Place) error {
		err := p.Try(ctx)
		together = err == nil && s.witnessTogether()
		return err
	})
	err = cmp.Or(err, v.Ahead)
	out.Moved = errors.As(out.Fault, new(*movedWitness))
	if err == nil && out.Fault == nil { // else it may still be asked
		out.Together = together
	}
	return out, err
}

// acceptWitness finds out what the witness knows beyond the ledger. The journals of which it knows and
// the ledger does not are lost, says the person who begins a new one: the ledger takes note of them,
// as of journals that are no longer in use. Those of other hosts are for these.
func (p *NewJournalPlan) acceptWitness(t *sqldb.Tx, lines []witness.Line) error {
	rows, err := sqldb.JournalRows(t, false)
	if err != nil {
		return err
	}
	host, _, _ := sqldb.HostIdentity()
	p.Witness = nil
	for _, l := range lines {
		row, known := rows[l.Journal]
		if row.RetiredAt.Valid || row.Seq >= l.Seq && known ||
			t.S.D.Name == sqldb.Postgres && (l.Host != host || l.Folder != p.Journal) {
			continue
		}
		if p.Witness == nil || l.At.After(p.Witness.At) {
			p.Witness = &WitnessAhead{Host: l.Host, Record: l.Seq, Missing: l.Seq - row.Seq, At: l.At.UTC()}
		}
		if known {
			continue // it is about to be retired
		}
		rows[l.Journal] = sqldb.JournalRow{ // a copy may know it, too
			ID: l.Journal, Seq: l.Seq, Mark: l.Mark, Host: l.Host, Path: l.Folder, At: l.At.UnixMilli(),
			RetiredAt: sql.NullInt64{Int64: time.Now().UnixMilli(), Valid: true},
		}
		if err := putJournal(t, rows[l.Journal]); err != nil {
			return err
		}
	}
	return nil
}

// conflict returns an error if another copy of the ledger has written to the witness, or is ahead, or the
// ledger lacks what another host sent.
func (w *watch) conflict() error {
	if w == nil {
		return nil
	}
	if lacks := w.lacks.Load(); lacks != nil {
		return lacks
	}
	err := w.writer.Conflict()
	var other *witness.ConflictError
	if errors.As(err, &other) {
		return w.store.otherCopy(itsWitness(w.place), other.Found)
	}
	return err
}

// mayNotSend returns why nothing may be sent, or nil.
func (w *watch) mayNotSend() error {
	if w == nil {
		return nil
	}
	if err := w.conflict(); err != nil {
		return err
	}
	state := w.writer.State()
	if state.Seen || w.released.Load() {
		return nil
	}
	why := cmp.Or(state.Err, witness.ErrSilent)
	if errors.As(why, new(*movedWitness)) {
		return w.store.db.Refuse(sqldb.CodeUnwitnessed,
			phrase.Errorf("%w: %w", trade.ErrUnwitnessed, why),
			phrase.New("nothing is sent; name it there again; if it was given up, and this machine was not put back from a copy: "+
				"`safrasync release JOB --checked --reason TEXT`, on this machine: what state.witness names then begins anew"))
	}
	return w.store.db.Refuse(sqldb.CodeUnwitnessed,
		phrase.Errorf("%w (%s): %w", trade.ErrUnwitnessed, cmp.Or(w.place, "state.witness"), ofFile(why)),
		phrase.New("nothing is sent until it can be read, which is tried once a minute; if this machine was not put back from a copy: "+
			"`safrasync release JOB --checked --reason TEXT`, on this machine, lets all its jobs go on without it until the machine starts again"))
}

// ofFile returns the error of a file as a sentence, which can be stored and told in another language.
func ofFile(err error) error {
	if file := (*fs.PathError)(nil); errors.As(err, &file) {
		return phrase.Errorf("%s: %w", file.Path, phrase.Fixed(file.Err.Error()))
	}
	return err
}

// stopUnwitnessed is [outcome.StopWitness].
const stopUnwitnessed = "witness"

// Witnessed returns an error if nothing may be sent: the witness is ahead of the ledger, or cannot be
// read (trade.ErrUnwitnessed) and nobody has let the jobs go on without it.
func (s *Store) Witnessed(ctx context.Context) error {
	w := s.witness
	if w == nil {
		return nil
	}
	state := w.writer.State()
	news := !state.Seen && s.releasedSince(ctx) && !w.released.Swap(true)
	if news || w.mayNotSend() != nil {
		state = w.writer.Retry(witnessWait)
	}
	if err := w.mayNotSend(); err != nil {
		return err
	}
	if state.Line.Seq == 0 && state.Line.Journal == "" || !state.Seen {
		return nil
	}
	// That a person let the jobs go on without it is over.
	w.released.Store(false)
	if err := w.remember(ctx); err != nil {
		return err
	}
	released, err := s.LastTask(ctx, releaseTask(s.db))
	if err != nil || released.IsZero() || !state.Met.After(released) {
		return err
	}
	return s.db.Do(ctx, "forgetting a release without the witness", `DELETE FROM task WHERE name = ? AND ran_at <= ?`,
		releaseTask(s.db), sqldb.Millis(released))
}

// witnessTask is the name under which the ledger remembers that this host has a line in a witness.
func (s *Store) witnessTask(place string) string {
	return witnessTask + place + " " + s.lineOf("", 0, "").Key
}

// remember notes in journal and ledger, once for each process, where the witness is that has a line of
// them: from now on, one without is no new one, and one elsewhere another.
func (w *watch) remember(ctx context.Context) error {
	if w.known.Load() {
		return nil
	}
	name := w.store.witnessTask(w.place)
	at, err := w.store.LastTask(ctx, name)
	if err != nil {
		return err
	}
	was, err := w.store.knownWitness(ctx)
	same := was == w.place && w.store.db.Journal.Header().Witness == was && at.IsZero() == (was == "")
	if err != nil || same {
		w.known.Store(err == nil)
		return err
	}
	return w.store.db.InTx(ctx, "remembering the witness", func(t *sqldb.Tx) error {
		err := t.Do(`DELETE FROM task WHERE name LIKE ?`, w.store.witnessTask("%"))
		if err == nil && w.place != "" {
			err = began(t, name, time.Now())
		}
		if err == nil {
			err = noteHeader(t, "")
		}
		if err == nil {
			t.Note.Head.Witness = w.place
		}
		return err
	})
}

// releaseTask is the name under which a ledger remembers that a person let the jobs of this machine go on
// without the witness. It has the start of the machine: a copy of the ledger has such a word of before.
func releaseTask(db *sqldb.DB) string {
	host, boot, _ := sqldb.HostIdentity()
	if db.D.Name == sqldb.Postgres {
		boot = host + " " + boot
	}
	return releasedTask + boot
}

// releasedSince reports whether a person let the jobs go on without the witness since the machine was
// started; if it does not tell when, since this process began.
func (s *Store) releasedSince(ctx context.Context) bool {
	_, boot, _ := sqldb.HostIdentity()
	at, err := s.LastTask(ctx, releaseTask(s.db))
	return err == nil && !at.IsZero() && (boot != "" || at.After(sqldb.ProcessBegan))
}

// flushed returns an error if the witness has not got what the journal has.
func (w *watch) flushed() error {
	if w == nil {
		return nil
	}
	err := w.writer.Flush(witnessWait)
	if taken := w.conflict(); taken != nil || err == nil {
		return taken
	}
	return w.store.db.Refuse(sqldb.CodeCopy,
		phrase.Errorf("the witness of the ledger cannot be written (%s): %w", w.place, ofFile(err)),
		phrase.New("without it an old copy of this ledger would send again after the move: bring it back, "+
			"or, if it is lost, take state.witness out of the configuration and release a job"))
}
