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

	"github.com/safrasync/safrasync/trade"
)

func TestEachFaultOfADatabaseHasACodeAndAHint(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"28P01": CodeAuth, "28000": CodeAuth, "3D000": CodeNoDatabase, "42501": CodePermission, "25006": CodePermission, "53100": CodeFull,
		"53300": CodeUnreachable, "55P03": CodeLocked, "57014": CodeLocked, "57P01": CodeUnreachable, "08006": CodeUnreachable, "XX001": CodeCorrupt,
	} {
		wantCode(t, faultOf(t.Context(), "x", "db", Postgres, &pq.Error{Code: pqerror.Code(code), Message: "m"}), want)
	}
	for code, want := range map[int]string{
		5: CodeLocked, 517: CodeLocked, 6: CodeLocked, 8: CodePermission, 264: CodePermission, 14: CodePermission, 10: CodeIO, 1034: CodeIO,
		778: CodeFull, 13: CodeFull, 11: CodeCorrupt, 267: CodeCorrupt, 26: CodeCorrupt,
	} {
		e := &Error{Code: CodeInternal, Path: "/tmp/x.db", Err: errors.New("x")}
		describeSQLite(e, code)
		wantCode(t, e, want)
	}
}

func TestAnErrorNamesTheTimeLimitThatItReached(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, backends[0].open(t))
	expired, cancel := context.WithDeadline(t.Context(), time.Unix(1, 0))
	defer cancel()
	_, err := s.Jobs(expired)
	if text := wantCode(t, err, CodeTimeout); !strings.Contains(text, "reading the jobs timed out") || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error = %v", err)
	}
	gone, cancelNow := context.WithCancel(t.Context())
	cancelNow()
	if _, err := s.AcquireLease(gone, "contracts", Self()); !errors.Is(err, context.Canceled) {
		t.Errorf("a write that was cancelled before it began: %v", err)
	}
	tune := defaultTuning
	tune.write = time.Nanosecond
	slow := &Store{d: s.d, tune: tune, write: s.write, read: s.read, where: s.where, markedBy: s.markedBy, slots: s.slots}
	_, err = slow.AcquireLease(t.Context(), "contracts", Self())
	if text := wantCode(t, err, CodeTimeout); !strings.Contains(text, "taking the lease took longer than 1ns") {
		t.Errorf("error = %v", err)
	}
}

func TestI10_NoErrorRepeatsWhatARowHolds(t *testing.T) {
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
		for name, entry := range map[string]trade.Entry{"a move": move, "no payload": noPayload, "a negative number": negative} {
			_, err := s.Record(t.Context(), lease, trade.Page{Updates: []trade.Update{{From: trade.Pending, Entry: entry}}})
			if err == nil || strings.Contains(err.Error(), canary) {
				t.Errorf("%s: error = %v", name, err)
			}
		}
		if _, err := s.Entry(t.Context(), "contracts", canary+"-none"); err == nil || strings.Contains(err.Error(), canary) {
			t.Errorf("an entry that is not there: error = %v", err)
		}
		mustExec(t, s, `UPDATE entry SET cells = ? WHERE id = ?`, `{"documento":`+canary, e.ID)
		if _, err := s.Entry(t.Context(), "contracts", canary); err == nil || strings.Contains(err.Error(), canary) {
			t.Errorf("a damaged entry: error = %v", err)
		}
	})
}

func TestF051_EveryWriteIsInAnExplicitTransaction(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") || f == "tx.go" {
			continue
		}
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, forbidden := range []string{"ExecContext", ".Exec(", "MustExec", "BeginTx", ".Begin("} {
			if strings.Contains(string(text), forbidden) {
				t.Errorf("%s has %s: only tx.go may write, because database/sql repeats a statement whose connection broke", f, forbidden)
			}
		}
	}
}

func TestASumMayHaveMoreDigitsThanAnAmount(t *testing.T) {
	t.Parallel()
	whole, fraction := strings.Repeat("9", 30), strings.Repeat("1", 30)
	for _, text := range []string{whole + "." + fraction, "-" + whole + "." + fraction, "0", "-0.5", "12.25"} {
		n, err := trade.ParseSum(text)
		if err != nil || n.String() != text {
			t.Errorf("trade.ParseSum(%s) = %s, %v", text, n, err)
		}
	}
	if _, err := trade.ParseSum("a.b"); err == nil {
		t.Error("trade.ParseSum(a.b) gave no error")
	}
}

// FuzzCleanText checks that whatever a foreign server says can be stored in both databases, and that clean text stays as it is.
func FuzzCleanText(f *testing.F) {
	for _, seed := range []string{"", "contrato aceito", "a\x00b", "\xff\xfe", "\xc3\x28", "ção"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := cleanText(text)
		if !utf8.ValidString(got) || strings.ContainsRune(got, 0) {
			t.Errorf("cleanText(%q) = %q cannot be stored", text, got)
		}
		if utf8.ValidString(text) && !strings.ContainsRune(text, 0) && got != text {
			t.Errorf("cleanText(%q) = %q changed clean text", text, got)
		}
	})
}
