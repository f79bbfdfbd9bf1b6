package state

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/trade"
)

// fewKeys is how many keys the tests read at a time.
const fewKeys = 100

// bothInParts runs a test on both databases, with so few keys read at a time.
func bothInParts(t *testing.T, test func(t *testing.T, s *Store)) {
	t.Helper()
	t.Parallel()
	for _, b := range backends {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			tune := defaultTuning
			tune.keys = fewKeys
			test(t, mustOpenTuned(t, b.open(t), tune))
		})
	}
}

// texted gives the keys of all rows that a search finds, sorted.
func texted(t *testing.T, s *Store, text string) []string {
	t.Helper()
	var got []string
	q := trade.RowQuery{Text: text, Sort: trade.OldestFirst, Limit: 200}
	for {
		page, err := s.RowPage(t.Context(), q)
		if err != nil || page.Partial != nil {
			t.Fatalf("%q: %v, %+v", text, err, page.Partial)
		}
		for _, e := range page.Rows {
			got = append(got, e.Key)
		}
		if q.After = page.Next; q.After == "" {
			slices.Sort(got)
			return got
		}
	}
}

// A text is found wherever it stands in a key: in rows that were there when somebody searched first, in those that came since, and in those of another job, whatever a key has in it.
func TestATextIsFoundAnywhereInAKey(t *testing.T) {
	bothInParts(t, func(t *testing.T, s *Store) {
		fillLarge(t, s, 2*fewKeys+50)
		var keys []string
		if err := s.Rows(t.Context(), trade.RowFilter{}, func(e trade.Entry) error { keys = append(keys, e.Key); return nil }); err != nil {
			t.Fatal(err)
		}
		lease, other := mustLease(t, s, "contracts"), mustLease(t, s, "deliveries")
		for round := range 4 {
			texts := []string{"|000000", "|00000012", "4/2026", "á", "\n", "a\nb", "b0", "nowhere", "A"}
			for range 10 {
				key := keys[rand.IntN(len(keys))]
				from := 1 + rand.IntN(len(key)-1)
				for !utf8.RuneStart(key[from]) {
					from--
				}
				texts = append(texts, key[from:])
			}
			for _, text := range texts {
				if strings.Trim(text, "0123456789") == "" || slices.ContainsFunc(keys, func(key string) bool { return strings.HasPrefix(key, text) || strings.Contains(key, "|"+text) }) {
					continue // it is taken for the beginning that it is
				}
				var want []string
				for _, key := range keys {
					if strings.Contains(key, text) {
						want = append(want, key)
					}
				}
				slices.Sort(want)
				if diff := cmp.Diff(want, texted(t, s, text)); diff != "" {
					t.Errorf("round %d, %q (-want +got):\n%s", round, text, diff)
				}
			}
			if round == 2 {
				s.keys.forget()
			}
			for i, key := range []string{fmt.Sprintf("01|%d234/2026", round), fmt.Sprintf("01|x\n%d", round), fmt.Sprintf("01|ra\nb%d", round), fmt.Sprintf("01|São João á%d", round)} {
				e, job := newEntry(key), lease
				if e.Job = "contracts"; i%2 == 1 {
					e.Job, job = "deliveries", other
				}
				mustRecord(t, s, job, e)
				keys = append(keys, key)
			}
		}
	})
}

// Whoever does not want to wait is told how many rows were looked at, and finds the rest when they have been read.
func TestASearchTellsHowFarItCame(t *testing.T) {
	bothInParts(t, func(t *testing.T, s *Store) {
		const rows = fewKeys + 150
		fillLarge(t, s, rows)
		hasty := func(text string) trade.RowPage {
			t.Helper()
			page, err := s.RowPage(t.Context(), trade.RowQuery{Text: text, Sort: trade.NewestFirst, Limit: 50, Patience: 1})
			if err != nil {
				t.Fatal(err)
			}
			return page
		}
		if page := hasty("|00000023"); len(page.Rows) != 10 || page.Partial == nil || *page.Partial != (trade.PartialSearch{Looked: fewKeys, Of: rows}) {
			t.Errorf("the newest rows come first: %d rows, %+v", len(page.Rows), page.Partial)
		}
		if page := hasty("|00000007"); len(page.Rows) != 0 || page.Partial == nil {
			t.Errorf("what is not found may be in the rest: %d rows, %+v", len(page.Rows), page.Partial)
		}
		if err := s.ReadKeys(t.Context()); err != nil {
			t.Fatal(err)
		}
		page, err := s.RowPage(t.Context(), trade.RowQuery{Text: "|00000007", Sort: trade.NewestFirst, Limit: 50, Patience: time.Minute})
		if err != nil || len(page.Rows) != 10 || page.Partial != nil {
			t.Errorf("when all was read: %d rows, %+v, %v", len(page.Rows), page.Partial, err)
		}
	})
}

// Many may search at once, while somebody reads and the keys are forgotten.
func TestSearchesBesideEachOther(t *testing.T) {
	bothInParts(t, func(t *testing.T, s *Store) {
		fillLarge(t, s, 8*fewKeys)
		var group sync.WaitGroup
		for i := range 7 {
			group.Go(func() {
				for n := range 5 {
					page, err := s.RowPage(t.Context(), trade.RowQuery{Text: fmt.Sprintf("|000000%d%d", i+1, n), Sort: trade.ByKey, Limit: 500})
					if err != nil || len(page.Rows) != 10 || page.Partial != nil {
						t.Errorf("%d rows, %+v, %v", len(page.Rows), page.Partial, err)
					}
					if i == 6 {
						s.keys.forget()
					}
				}
			})
		}
		group.Wait()
	})
}

// Whoever finds another reading the keys waits for that as long as he wants to, and no longer than he is there.
func TestASearchWaitsForWhoReads(t *testing.T) {
	bothInParts(t, func(t *testing.T, s *Store) {
		fillLarge(t, s, 20)
		q := trade.RowQuery{Text: "|00000001", Sort: trade.NewestFirst, Limit: 50, Patience: 1}
		s.keys.reading <- struct{}{}
		page, err := s.RowPage(t.Context(), q)
		if err != nil || len(page.Rows) != 0 || page.Partial == nil || *page.Partial != (trade.PartialSearch{Of: 20}) {
			t.Errorf("in a hurry: %d rows, %+v, %v", len(page.Rows), page.Partial, err)
		}
		q.Patience = 0
		gone, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := s.readKeys(gone, []string{"contracts"}, time.Time{})
			ended <- err
		}()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("who goes away: %v", err)
		}
		<-s.keys.reading
		if page, err = s.RowPage(t.Context(), q); err != nil || len(page.Rows) != 10 || page.Partial != nil {
			t.Errorf("when the other has ended: %d rows, %+v, %v", len(page.Rows), page.Partial, err)
		}
	})
}

// Keys that are forgotten between reading and finding are told apart from those that have no such text: the search reads them again.
func TestKeysThatAreForgottenAreNotMissing(t *testing.T) {
	bothInParts(t, func(t *testing.T, s *Store) {
		fillLarge(t, s, 20)
		jobs := []string{"contracts"}
		if whole, err := s.readKeys(t.Context(), jobs, time.Time{}); err != nil || !whole {
			t.Fatal(whole, err)
		}
		if ids, looked, whole := s.keys.find(jobs, "|00000001"); len(ids) != 10 || looked != 20 || !whole {
			t.Errorf("%d rows of %d, %t", len(ids), looked, whole)
		}
		s.keys.forget()
		if ids, looked, whole := s.keys.find(jobs, "|00000001"); len(ids) != 0 || looked != 0 || whole {
			t.Errorf("forgotten: %d rows of %d, %t", len(ids), looked, whole)
		}
	})
}

// With PostgreSQL a row may become visible after one with a higher number, when its transaction ends later. The next search finds it all the same, whatever was read before.
func TestARowThatBecomesVisibleLateIsFound(t *testing.T) {
	t.Parallel()
	for _, b := range backends {
		if b.name != Postgres {
			continue // there is one writer at a time
		}
		tune := defaultTuning
		tune.keys = fewKeys
		s := mustOpenTuned(t, b.open(t), tune)
		fillLarge(t, s, 2*fewKeys+50)
		lease := mustLease(t, s, "contracts")
		mustRecord(t, s, lease, newEntry("01|first7x"))
		late, err := s.write.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = late.Rollback() }) // where the test ended early
		exec := func(query string) {
			t.Helper()
			if _, err := late.ExecContext(t.Context(), query); err != nil {
				t.Fatal(err)
			}
		}
		columns := strings.Join(newColumns, ", ")
		exec(`INSERT INTO entry (` + columns + `) SELECT ` + strings.Replace(columns, "key,", "'01|late7x',", 1) + ` FROM entry WHERE key = '01|first7x'`)
		mustRecord(t, s, lease, newEntry("01|next7x"))
		if got := texted(t, s, "t7x"); !slices.Equal(got, []string{"01|first7x", "01|next7x"}) {
			t.Fatalf("before: %q", got)
		}
		exec(`UPDATE tally SET n = n + 1 WHERE ctid = (SELECT ctid FROM tally WHERE job = 'contracts' AND n > 0 LIMIT 1)`)
		if err := late.Commit(); err != nil {
			t.Fatal(err)
		}
		if got := texted(t, s, "e7x"); !slices.Equal(got, []string{"01|late7x"}) {
			t.Errorf("after: %q", got)
		}
	}
}

// Counts that are wrong, which `doctor` tells, let the keys be read once more, not with each search.
func TestWrongCountsDoNotLetTheKeysBeReadEachTime(t *testing.T) {
	bothInParts(t, func(t *testing.T, s *Store) {
		fillLarge(t, s, fewKeys+50)
		lease := mustLease(t, s, "contracts")
		mustRecord(t, s, lease, newEntry("01|first7x"))
		if _, err := s.write.ExecContext(t.Context(), `UPDATE tally SET n = n + 1 WHERE job = 'contracts' AND n > 0`); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got := texted(t, s, "t7x"); len(got) != 1 {
				t.Fatalf("%q", got)
			}
		}
		chunks := s.keys.jobs["contracts"].chunks
		if got := texted(t, s, "t7x"); len(got) != 1 || &chunks[0] != &s.keys.jobs["contracts"].chunks[0] {
			t.Errorf("%q; or the keys were read once more", got)
		}
	})
}
