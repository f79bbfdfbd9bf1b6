package state

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

func TestEachFaultOfADatabaseHasACodeAndAHint(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"28P01": sqldb.CodeAuth, "28000": sqldb.CodeAuth, "3D000": sqldb.CodeNoDatabase, "42501": sqldb.CodePermission,
		"25006": sqldb.CodePermission, "53100": sqldb.CodeFull,
		"53300": sqldb.CodeUnreachable, "55P03": sqldb.CodeLocked, "57014": sqldb.CodeLocked,
		"57P01": sqldb.CodeUnreachable, "08006": sqldb.CodeUnreachable, "XX001": sqldb.CodeCorrupt,
	} {
		wantCode(t, sqldb.FaultOf(t.Context(), "x", "db", sqldb.Postgres,
			&pq.Error{Code: pqerror.Code(code), Message: "m"}), want)
	}
	for code, want := range map[int]string{
		5: sqldb.CodeLocked, 517: sqldb.CodeLocked, 6: sqldb.CodeLocked, 8: sqldb.CodePermission,
		264: sqldb.CodePermission, 14: sqldb.CodePermission, 10: sqldb.CodeIO, 1034: sqldb.CodeIO,
		778: sqldb.CodeFull, 13: sqldb.CodeFull, 11: sqldb.CodeCorrupt, 267: sqldb.CodeCorrupt, 26: sqldb.CodeCorrupt,
	} {
		e := &sqldb.Error{Code: sqldb.CodeInternal, Path: "/tmp/x.db", Err: errors.New("x")}
		sqldb.DescribeSQLite(e, code)
		wantCode(t, e, want)
	}
}

func TestAnErrorNamesTheTimeLimitThatItReached(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, backends[0].open(t))
	expired, cancel := context.WithDeadline(t.Context(), time.Unix(1, 0))
	defer cancel()
	_, err := s.Jobs(expired)
	if text := wantCode(t, err, sqldb.CodeTimeout); !strings.Contains(text, "reading the jobs timed out") ||
		!errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error = %v", err)
	}
	gone, cancelNow := context.WithCancel(t.Context())
	cancelNow()
	if _, err := s.AcquireLease(gone, "contracts", sqldb.Self()); !errors.Is(err, context.Canceled) {
		t.Errorf("a write that was cancelled before it began: %v", err)
	}
	tune := sqldb.DefaultTuning
	tune.Write = time.Nanosecond
	slow := &Store{db: &sqldb.DB{
		D: s.db.D, Tune: tune, Write: s.db.Write, Read: s.db.Read, Where: s.db.Where,
		MarkedBy: s.db.MarkedBy, Slots: s.db.Slots,
	}}
	_, err = slow.AcquireLease(t.Context(), "contracts", sqldb.Self())
	if text := wantCode(t, err, sqldb.CodeTimeout); !strings.Contains(text, "taking the lease took longer than 1ns") {
		t.Errorf("error = %v", err)
	}
}

func TestI10NoErrorRepeatsWhatARowHolds(t *testing.T) {
	const canary = "52998224725"
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		e := newEntry(canary)
		e.Values["documento"] = trade.Cell{Kind: 't', Text: canary}
		e = mustRecord(t, s, lease, e)[0]
		move, noPayload, negative := e, e, e
		move.State = trade.InDoubt
		noPayload.Payload = nil
		negative.Attempts = -1
		for name, entry := range map[string]trade.Entry{
			"a move": move, "no payload": noPayload,
			"a negative number": negative,
		} {
			_, err := s.Record(t.Context(), lease,
				trade.Page{Updates: []trade.Update{{From: trade.Pending, Entry: entry}}})
			if err == nil || strings.Contains(err.Error(), canary) {
				t.Errorf("%s: error = %v", name, err)
			}
		}
		if _, err := s.Entry(t.Context(), "contracts", canary+"-none"); err == nil ||
			strings.Contains(err.Error(), canary) {
			t.Errorf("an entry that is not there: error = %v", err)
		}
		mustExec(t, s, `UPDATE body SET cells = ? WHERE entry_id = ?`, `{"documento":`+canary, e.ID)
		if _, err := s.Entry(t.Context(), "contracts", canary); err == nil || strings.Contains(err.Error(), canary) {
			t.Errorf("a damaged entry: error = %v", err)
		}
	})
}

func TestF051EveryWriteIsInAnExplicitTransaction(t *testing.T) {
	t.Parallel()
	var files []string
	for _, folder := range []string{".", "sqldb"} {
		found, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil || len(found) < 2 {
			t.Fatalf("%s: %d files, %v", folder, len(found), err)
		}
		files = append(files, found...)
	}
	for _, f := range files {
		switch {
		case strings.HasSuffix(f, "_test.go"), f == "sqldb/tx.go":
			continue
		case f == "sqldb/postgres_silence.go": // sets a new session, below database/sql; repeats nothing
			continue
		}
		text := must.Get(os.ReadFile(f))(t)
		for _, forbidden := range []string{"ExecContext", ".Exec(", "MustExec", "BeginTx", ".Begin("} {
			if strings.Contains(string(text), forbidden) {
				t.Errorf(
					"%s has %s: only tx.go may write, because database/sql repeats a statement whose connection broke",
					f, forbidden)
			}
		}
	}
}

// FuzzCleanText checks that whatever a foreign server says can be stored in both databases, and
// that clean text stays as it is.
func FuzzCleanText(f *testing.F) {
	for _, seed := range []string{"", "contrato aceito", "a\x00b", "\xff\xfe", "\xc3\x28", "ção"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := sqldb.CleanText(text)
		if !utf8.ValidString(got) || strings.ContainsRune(got, 0) {
			t.Errorf("cleanText(%q) = %q cannot be stored", text, got)
		}
		if utf8.ValidString(text) && !strings.ContainsRune(text, 0) && got != text {
			t.Errorf("cleanText(%q) = %q changed clean text", text, got)
		}
	})
}
