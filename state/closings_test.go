package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

func TestAClosedReportSaysTheSameForGood(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		day := must.Get(trade.ParseDate("2026-10-31"))(t)
		rows := make([]byte, 3*trade.ClosingPart+7)
		for i := range rows {
			rows[i] = byte(rand.Uint32())
		}
		audit := trade.AuditRecord{
			At: at, Who: "maria", From: "maria@host", Act: "report close", Target: "2026-10-31",
			Reason: "October", Detail: `{}`,
		}
		want := trade.Closing{
			ID: sqldb.NewID(), Day: day, At: at.Truncate(1e6), Who: "maria", Reason: "October",
			Program: "1.0", Head: json.RawMessage(`{"a":1}`), Rows: 12,
		}
		done := must.Get(s.CloseReport(t.Context(), want, bytes.NewReader(rows), audit))(t)
		if done.Parts != 4 || done.Audit != 1 || len(done.Hash) != 64 {
			t.Errorf("closed as %+v", done)
		}
		must.Get(s.CloseReport(t.Context(),
			trade.Closing{
				ID: sqldb.NewID(), Day: day, At: at.Add(1e9), Who: "ana", Reason: "again",
				Head: json.RawMessage(`{}`),
			}, strings.NewReader(""), audit))(t)
		list, err := s.Closings(t.Context(), day)
		if err != nil || len(list) != 2 || list[0].Who != "ana" {
			t.Fatalf("closings %+v, %v", list, err)
		}
		if diff := cmp.Diff(done, list[1], cmp.AllowUnexported(trade.Date{})); diff != "" {
			t.Errorf("closing (-want +got):\n%s", diff)
		}
		if none, err := s.Closings(t.Context(), trade.DateOf(at.AddDate(-3, 0, 0))); err != nil || len(none) != 0 {
			t.Errorf("closings of another day: %+v, %v", none, err)
		}
		var got bytes.Buffer
		if err := s.ClosedRows(t.Context(), list[1], &got); err != nil || !bytes.Equal(got.Bytes(), rows) {
			t.Errorf("%d bytes came back of %d, %v", got.Len(), len(rows), err)
		}
		for _, statement := range []string{
			`UPDATE closing SET who = 'x'`, `DELETE FROM closing`, `UPDATE closing_part SET data = ''`,
			`DELETE FROM closing_part`,
			`INSERT INTO closing_part (closing_id, no, data) VALUES ('` + done.ID + `', 9, '')`,
		} {
			if err := s.db.InTx(t.Context(), "test",
				func(tx *sqldb.Tx) error { return tx.Do(statement) }); err == nil ||
				!strings.Contains(err.Error(), "what was closed never changes") {
				t.Errorf("%s: %v", statement, err)
			}
		}
		list[1].Head = json.RawMessage(`{"a":2}`)
		if err := s.ClosedRows(t.Context(), list[1], &got); !errors.Is(err, trade.ErrClosingDamaged) {
			t.Errorf("another head: %v", err)
		}
	})
}

// What a process that ended in the middle left behind is removed by the next closing, and never
// counts.
func TestAClosingThatWasNotFinishedLeavesNothing(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		day := trade.DateOf(at)
		audit := trade.AuditRecord{At: at, Who: "maria", Act: "report close", Reason: "x", Detail: `{}`}
		broken := errors.New("broken")
		half := trade.Closing{
			ID: "00000000" + sqldb.NewID()[8:], Day: day, At: at, Who: "maria", Reason: "x",
			Head: json.RawMessage(`{}`),
		}
		rows := io.MultiReader(bytes.NewReader(make([]byte, trade.ClosingPart)), iotest.ErrReader(broken))
		if _, err := s.CloseReport(t.Context(), half, rows, audit); !errors.Is(err, broken) {
			t.Fatalf("closing: %v", err)
		}
		if list, err := s.Closings(t.Context(), trade.Date{}); err != nil || len(list) != 0 {
			t.Errorf("closings %+v, %v", list, err)
		}
		whole := half
		whole.ID = sqldb.NewID()
		must.Get(s.CloseReport(t.Context(), whole, strings.NewReader("rows"), audit))(t)
		var parts int
		if err := s.db.Read.Get(&parts, `SELECT COUNT(*) FROM closing_part`); err != nil || parts != 1 {
			t.Errorf("%d parts, %v", parts, err)
		}
	})
}

// Two processes that close at the same time do not remove each other's parts; if a part is missing
// nevertheless, nothing is closed.
func TestTwoClosingsAtOnceAreBothWhole(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		audit := trade.AuditRecord{At: at, Who: "maria", Act: "report close", Reason: "x", Detail: `{}`}
		closing := func(meanwhile func(id string)) error {
			c := trade.Closing{
				ID: sqldb.NewID(), Day: trade.DateOf(at), At: at, Who: "maria", Reason: "x", Head: json.RawMessage(`{}`),
			}
			c, err := s.CloseReport(t.Context(), c, io.MultiReader(bytes.NewReader(make([]byte, trade.ClosingPart)),
				readerFunc(func([]byte) (int, error) {
					meanwhile(c.ID)
					return 0, io.EOF
				})), audit)
			if err == nil {
				must.Do(t, s.ClosedRows(t.Context(), c, io.Discard))
			}
			return err
		}
		must.Do(t, closing(func(string) { must.Do(t, closing(func(string) {})) }))
		err := closing(func(id string) {
			must.Do(t, s.db.InTx(t.Context(), "test", func(tx *sqldb.Tx) error {
				return tx.Do(`DELETE FROM closing_part WHERE closing_id = ?`, id)
			}))
		})
		if err == nil || !strings.Contains(err.Error(), "close it again") {
			t.Errorf("closed without a part: %v", err)
		}
		if list := must.Get(s.Closings(t.Context(), trade.Date{}))(t); len(list) != 2 {
			t.Errorf("%d closings", len(list))
		}
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

func TestOutcomesAndActsAreRead(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		rows := mustRecord(t, s, lease, newEntry("1"), newEntry("2"))
		sent := mustSend(t, s, lease, rows[0])
		mustSettle(t, s, lease, created(sent, "id-0"))
		got, err := s.Outcomes(t.Context(), []int64{rows[0].ID, rows[1].ID})
		if err != nil || len(got) != 1 || len(got[rows[0].ID]) != 1 ||
			got[rows[0].ID][0].Outcome != trade.OutcomeCreated || got[rows[0].ID][0].RemoteID != "id-0" {
			t.Errorf("outcomes %+v, %v", got, err)
		}
		for i, act := range []string{"dismiss", "adopt", "refs import"} {
			must.Do(t, s.AppendAudit(t.Context(),
				trade.AuditRecord{
					At: at.AddDate(0, 0, i), Who: "maria", Act: act, Reason: "x",
					Detail: `{}`,
				}))
		}
		var acts []string
		if err := s.ActsBetween(t.Context(), []string{"adopt", "dismiss"}, at, at.AddDate(0, 0, 1),
			func(r trade.AuditRecord) error { acts = append(acts, r.Act); return nil }); err != nil ||
			strings.Join(acts, " ") != "dismiss" {
			t.Errorf("acts %q, %v", acts, err)
		}
		seen, err := s.MessageKeys(t.Context())
		if err != nil || len(seen) != 0 {
			t.Errorf("messages %+v, %v", seen, err)
		}
	})
}

func TestMessageKeysAreCounted(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		for i, messages := range [][]string{{"message.a.b", "message.c.d"}, {"message.a.b"}, {"the name of a person"}} {
			row := mustRecord(t, s, lease, newEntry(string(rune('a'+i))))[0]
			settle := unknown(mustSend(t, s, lease, row))
			settle.Attempt.Messages = messages
			mustSettle(t, s, lease, settle)
		}
		got, err := s.MessageKeys(t.Context())
		if err != nil || len(got) != 2 || got[0].Key != "message.a.b" || got[0].Count != 2 ||
			got[1].Key != "message.c.d" || got[1].Count != 1 || got[0].Last.IsZero() {
			t.Errorf("messages %+v, %v", got, err)
		}
	})
}
