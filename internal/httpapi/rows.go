package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/trade"
)

// The number of rows of an answer.
const (
	usualRows = 100
	mostRows  = 500
)

func (a *API) row(w http.ResponseWriter, r *http.Request, _ Token) {
	row, err := a.Office.ProgramRow(r.Context(), r.PathValue("job"), r.PathValue("key"), languageOf(r))
	a.answerText(w, r, row, err)
}

func (a *API) rows(w http.ResponseWriter, r *http.Request, _ Token) {
	asked, key, err := readRowsAsked(r.URL.Query())
	if err != nil {
		a.fail(w, http.StatusBadRequest, "bad_request", err.Error())
		return
	}
	var page office.RowsPage
	if key == "" {
		page, err = a.Office.ProgramRows(r.Context(), asked, languageOf(r))
	} else { // a page with one row, or none
		var row office.ProgramRow
		row, err = a.Office.ProgramRow(r.Context(), asked.Jobs[0], key, languageOf(r))
		page.Rows = []office.ProgramRow{row}
		if refused, ok := errors.AsType[*office.Refusal](err); ok && refused.Code == office.UnknownRow {
			page.Rows, err = []office.ProgramRow{}, nil
		}
	}
	a.answerText(w, r, page, err)
}

// answerText answers with words in the language that was asked for.
func (a *API) answerText(w http.ResponseWriter, r *http.Request, body any, err error) {
	if err == nil {
		w.Header().Set("Content-Language", string(languageOf(r)))
		w.Header().Set("Vary", "Accept-Language")
	}
	a.show(w, r, body, err)
}

// show answers with what the office returned.
func (a *API) show(w http.ResponseWriter, r *http.Request, body any, err error) {
	var text json.RawMessage
	if err == nil {
		text, err = json.Marshal(body)
	}
	if err != nil {
		a.refuse(w, r, err)
		return
	}
	a.answer(w, http.StatusOK, text)
}

// readRowsAsked reads the query. Another parameter is an error: a filter with a wrong name would
// select everything.
func readRowsAsked(query url.Values) (asked trade.RowQuery, key string, err error) {
	asked.Limit = usualRows
	for name, values := range query {
		last := values[len(values)-1]
		switch {
		case name == "job":
			asked.Jobs = values
		case name == "state":
			asked.States = trade.Map(values, func(s string) trade.State { return trade.State(s) })
		case len(values) > 1:
			return asked, "", fmt.Errorf("%s stands twice", name)
		case name == "key":
			key = last
		case name == "cursor":
			asked.After = last
		case name == "since":
			asked.From, err = time.Parse(time.RFC3339, last)
			if err != nil {
				return asked, "", errors.New("since must be a time as in 2026-11-21T09:00:00Z or 2026-11-21T06:00:00-03:00 (with %2B for +)")
			}
		case name == "limit":
			asked.Limit, err = strconv.Atoi(last)
			if err != nil || asked.Limit < 1 || asked.Limit > mostRows {
				return asked, "", fmt.Errorf("limit must be a number from 1 to %d", mostRows)
			}
		default:
			return asked, "", fmt.Errorf("there is no parameter %q; these are: job, key, state, since, cursor, limit", name)
		}
	}
	for _, state := range asked.States {
		if !slices.Contains(trade.States, state) {
			all := trade.Map(trade.States, func(s trade.State) string { return string(s) })
			return asked, "", fmt.Errorf("there is no state %q; these are: %s", state, strings.Join(all, ", "))
		}
	}
	if query.Has("key") && (key == "" || len(asked.Jobs) != 1 || len(query) > 2) {
		return asked, "", errors.New("key goes with exactly one job and nothing else")
	}
	return asked, key, nil
}

// languageOf returns the first language of the request in which there are words; Portuguese if it
// names none.
func languageOf(r *http.Request) trade.Lang {
	best, quality := trade.Portuguese, 0.0
	for _, item := range strings.Split(strings.Join(r.Header.Values("Accept-Language"), ","), ",") {
		tag, rest, _ := strings.Cut(strings.TrimSpace(item), ";")
		q := 1.0
		if text, ok := strings.CutPrefix(strings.TrimSpace(rest), "q="); ok {
			var err error
			q, err = strconv.ParseFloat(text, 64)
			if err != nil {
				continue
			}
		}
		name, _, _ := strings.Cut(strings.ToLower(tag), "-")
		known := map[string]trade.Lang{"pt": trade.Portuguese, "en": trade.English}[name]
		if known != "" && q > quality {
			best, quality = known, q
		}
	}
	return best
}
