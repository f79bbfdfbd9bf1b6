package state

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/safrasync/safrasync/trade"
)

// F148: what the platform never had takes no place among the records with which doubts are compared: events may name thousands of other ids.
func TestF148WhatThePlatformNeverHadIsNoRival(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		var want []string
		for _, c := range []struct {
			event   string
			purpose trade.CandidatePurpose
			state   trade.CandidateState
			status  int
			fields  map[string]string
			rival   bool
		}{
			{"CREATE_ORDER_COMMITMENT", trade.ForDoubts, trade.CandidateHeard, 0, nil, true},
			{"CREATE_ORDER_COMMITMENT", trade.ForDoubts, trade.CandidateHeard, http.StatusNotFound, nil, true},
			{"CREATE_ORDER_COMMITMENT", trade.ForDoubts, trade.CandidateUnreadable, http.StatusNotFound, nil, false},
			{"CREATE_ORDER_COMMITMENT", trade.ForDoubts, trade.CandidateUnreadable, http.StatusForbidden, nil, true},
			{"UPDATE_ORDER_COMMITMENT", trade.ForDoubts, trade.CandidateRead, http.StatusOK, map[string]string{"amount": "3"}, true},
			{"CREATE_ORDER_COMMITMENT", trade.ForDeletion, trade.CandidateHeard, 0, nil, true},
			{"DELETE_ORDER_COMMITMENT", trade.ForDeletion, trade.CandidateHeard, 0, nil, false},
			{"DELETE_ORDER_COMMITMENT", trade.ForDeletion, trade.CandidateHeard, http.StatusOK, map[string]string{"amount": "3"}, true},
		} {
			noted := trade.Candidate{ID: uuid.NewString(), Event: c.event, Purpose: c.purpose, HeardAt: at, LastAt: at, NextAt: at}
			if err := s.NoteHeard(t.Context(), nil, []trade.Candidate{noted}); err != nil {
				t.Fatal(err)
			}
			noted.State, noted.Status, noted.Fields = c.state, c.status, c.fields
			if err := s.SaveCandidate(t.Context(), noted); err != nil {
				t.Fatal(err)
			}
			if c.rival {
				want = append(want, noted.ID)
			}
		}
		found, err := s.Rivals(t.Context(), at, "", 100)
		var got []string
		for _, c := range found {
			got = append(got, c.ID)
		}
		slices.Sort(got)
		slices.Sort(want)
		if later, _ := s.Rivals(t.Context(), at.Add(time.Second), "", 100); !slices.Equal(got, want) || err != nil || len(later) != 0 {
			t.Errorf("%d of %d rivals, %v; %d of later", len(got), len(want), err, len(later))
		}
	})
}
