package office

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/safrasync/safrasync/sync/pending"
	"github.com/safrasync/safrasync/trade"
)

// ProgramRow is the state of a row for other programs, such as the ERP. It tells nothing of what the
// row holds.
type ProgramRow struct {
	RowState
	Generation    int         `json:"generation"`
	Version       int64       `json:"version"`
	FirstSeenAt   time.Time   `json:"first_seen_at"`
	SentAt        *time.Time  `json:"sent_at"`
	ChangedAt     time.Time   `json:"changed_at"`
	NextAttemptAt *time.Time  `json:"next_attempt_at"`
	Acts          trade.Fixer `json:"acts"`
	Words         RowWords    `json:"words"`
}

// RowWords says the same to people, in their language.
type RowWords struct {
	State string   `json:"state"`
	What  string   `json:"what"`
	Do    string   `json:"do"`
	Acts  string   `json:"acts"`
	Flags []string `json:"flags"`
}

// RowsPage is an answer with rows, and where the next call goes on.
type RowsPage struct {
	Rows   []ProgramRow `json:"rows"`
	Cursor string       `json:"cursor"`
	More   bool         `json:"more"`
}

var (
	errCursor        error = &Refusal{WrongCursor, "the cursor is not one of this list"}
	errCursorExpired error = &Refusal{
		CursorExpired, "the cursor is of another ledger than there is now; begin again without one",
	}
)

// place is what a cursor says: first all rows in the order of discovery, then what changed since the
// first page was asked for.
type place struct {
	Jobs   []string      `json:"j,omitempty"`
	States []trade.State `json:"s,omitempty"`
	Since  time.Time     `json:"t,omitzero"`
	Feed   string        `json:"f"`
	Seq    int64         `json:"n"`           // the end of the changes when it began; then the last one told
	Row    string        `json:"r,omitempty"` // the last row told; only before all rows were told
	All    bool          `json:"a,omitempty"` // all rows were told
}

// placeOf reads a cursor. What is asked for beside it must be what it was made for.
func placeOf(q trade.RowQuery) (at place, err error) {
	data, err := base64.RawURLEncoding.DecodeString(q.After)
	if err != nil || json.Unmarshal(data, &at) != nil || at.Feed == "" || at.Seq < 0 ||
		len(q.Jobs) > 0 && !slices.Equal(q.Jobs, at.Jobs) || len(q.States) > 0 && !slices.Equal(q.States, at.States) ||
		!q.From.IsZero() && !q.From.Equal(at.Since) {
		return at, errCursor
	}
	if last, err := strconv.ParseInt(at.Row, 10, 64); at.Row != "" && (err != nil || last < 1) {
		return at, errCursor
	}
	return at, nil
}

// ProgramRow returns the state of one row. It returns a *Refusal if the ledger has none.
func (o *Office) ProgramRow(ctx context.Context, job, key string, lang trade.Lang) (ProgramRow, error) {
	e, err := o.store.Entry(ctx, job, key)
	if errors.Is(err, trade.ErrNotFound) {
		err = &Refusal{UnknownRow, "the ledger has no row with this job and key"}
	}
	if err != nil {
		return ProgramRow{}, err
	}
	rows, err := o.forPrograms(ctx, []trade.Entry{e}, lang)
	if err != nil {
		return ProgramRow{}, err
	}
	return rows[0], nil
}

// ProgramRows returns rows by job, state and time of their change, and a cursor with which the next call
// goes on (After). Without a cursor it begins with all rows that match; when all were told, it goes on
// with those that have changed since, each as it is then. Whoever asks again with the last cursor misses
// no change; a row may be told twice. More reports that there is more now. It returns a *Refusal if the
// cursor cannot be used.
func (o *Office) ProgramRows(ctx context.Context, q trade.RowQuery, lang trade.Lang) (out RowsPage, err error) {
	at := place{Jobs: q.Jobs, States: q.States, Since: q.From}
	if q.After != "" {
		at, err = placeOf(q)
		if err != nil {
			return out, err
		}
	}
	var found []trade.Entry
	if at.All { // those that have changed, as they are now
		var next trade.FeedPlace
		found, next, out.More, err = o.store.Changes(ctx, trade.FeedPlace{Feed: at.Feed, Seq: at.Seq}, q.Limit)
		if errors.Is(err, trade.ErrNotFound) {
			err = errCursorExpired
		}
		at.Seq = next.Seq
		found = slices.DeleteFunc(found, func(e trade.Entry) bool {
			return len(at.Jobs) > 0 && !slices.Contains(at.Jobs, e.Job) ||
				len(at.States) > 0 && !slices.Contains(at.States, e.State)
		})
	} else {
		end, broken := o.store.FeedEnd(ctx)
		if errors.Is(broken, trade.ErrNotFound) {
			broken = &Refusal{NotReady, "the order of changes begins at this moment"}
		}
		if q.After == "" {
			at.Feed, at.Seq = end.Feed, end.Seq
		}
		if broken != nil || end.Feed != at.Feed {
			return out, cmp.Or(broken, errCursorExpired)
		}
		var page trade.RowPage
		page, err = o.store.RowPage(ctx, trade.RowQuery{
			Jobs: at.Jobs, States: at.States, From: at.Since, Sort: trade.OldestFirst, After: at.Row, Limit: q.Limit,
		})
		found, at.Row = page.Rows, page.Next
		out.More = page.Next != ""
		at.All = !out.More
	}
	if err != nil {
		return out, err
	}
	out.Rows, err = o.forPrograms(ctx, found, lang)
	if err != nil {
		return out, err
	}
	text, err := json.Marshal(at)
	out.Cursor = base64.RawURLEncoding.EncodeToString(text)
	return out, err
}

// forPrograms converts rows.
func (o *Office) forPrograms(ctx context.Context, entries []trade.Entry, lang trade.Lang) ([]ProgramRow, error) {
	sent, err := o.store.SentAt(ctx, entries)
	if err != nil {
		return nil, err
	}
	out := make([]ProgramRow, len(entries))
	for i, e := range entries {
		advice := o.valueless(e, lang)
		out[i] = ProgramRow{
			RowState: rowState(e), Generation: e.Generation, Version: e.Version,
			FirstSeenAt: e.FirstSeenAt, SentAt: trade.OrNull(sent[e.RecordID]), ChangedAt: e.UpdatedAt,
			NextAttemptAt: trade.OrNull(e.NextAttemptAt), Acts: cmp.Or(advice.Fixer, trade.FixNobody),
			Words: RowWords{
				State: e.State.Label(lang), What: advice.What, Do: advice.Do, Acts: advice.Who, Flags: []string{},
			},
		}
		for _, f := range e.Flags {
			out[i].Words.Flags = append(out[i].Words.Flags, f.Label(lang))
		}
	}
	return out, nil
}

// valueless returns what to do about a row in words that contain no value of it: a program may show
// them to anybody.
func (o *Office) valueless(e trade.Entry, lang trade.Lang) trade.Advice {
	if e.State == trade.Accepted {
		return o.Advice(trade.Entry{State: e.State, Flags: e.Flags}, lang)
	}
	if parent := pending.ParentOf(e); parent != nil {
		return parent.Advice(lang)
	}
	if _, p := pending.CauseOf(e); p != nil && p.Rule != trade.RuleDeclared { // that one is a text of the ERP
		p.Value = ""
		return p.Advice(lang)
	}
	if e.State.NeedsPerson() || e.State == trade.Waiting {
		return trade.Explain(e.State, e.Cause, lang)
	}
	return trade.Explain(e.State, "", lang)
}
