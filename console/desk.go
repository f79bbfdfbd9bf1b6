package console

import (
	"mime"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/safrasync/safrasync/trade"
)

// reasonLeast and reasonMost bound a reason, in characters: less says nothing, more is a document.
const (
	reasonLeast = 5
	reasonMost  = 500
)

// readForm reads the form of a request; one with a file only where a route takes files, and wholly
// in memory.
func (q *request) readForm(r route) error {
	if kind, _, err := mime.ParseMediaType(q.Header.Get("Content-Type")); r.body > 0 && err == nil &&
		kind == "multipart/form-data" {
		return q.ParseMultipartForm(r.body)
	}
	return q.ParseForm()
}

// reason is why a person orders something; fault is the key of a phrase when it will not do.
func (q *request) reason() (text, fault string) {
	text = strings.TrimSpace(q.PostFormValue("reason"))
	switch n := utf8.RuneCountInString(text); {
	case !utf8.ValidString(text), n < reasonLeast:
		return text, "desk.reason.short"
	case n > reasonMost:
		return text, "desk.reason.long"
	}
	return text, ""
}

// number reads a whole number above zero out of a form or an address; 0 where there is none.
func number(text string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// typedFits tells whether a person typed the number of rows that an act is for, where that must be
// typed (F160).
func (q *request) typedFits(rows int) bool {
	digits := strings.NewReplacer(".", "", ",", "", " ", "").Replace(q.PostFormValue("count"))
	return rows <= typeAbove || digits == strconv.Itoa(rows)
}

// typeAbove is from how many rows on a person types their number.
const typeAbove = 50

// entryOf gives the row that the path names by its number.
func (q *request) entryOf() (trade.Entry, error) {
	entry, err := q.c.Ports.Rows.EntryNo(q.Context(), number(q.PathValue("id")))
	if err != nil && q.c.Ports.Unknown(err) {
		return entry, errNotFound
	}
	return entry, err
}

// jobs gives the jobs by name.
func (q *request) jobs() map[string]Job {
	out := map[string]Job{}
	for _, j := range q.c.Ports.Jobs.Jobs() {
		out[j.Name] = j
	}
	return out
}

// prove lets a person give the password again, before what may double a record (C9). fault is the
// key of a phrase when it was not right.
func (q *request) prove(password string) (fault string, err error) {
	if q.proved() {
		return "", nil
	}
	if q.login.User.Issuer != "" { // there is no password here: see proveAtIssuer
		return "openid.first", nil
	}
	if password == "" {
		return "desk.proof.missing", nil
	}
	user, err := q.c.Users.User(q.Context(), q.login.User.Name)
	if err != nil {
		return "", err
	}
	fits, wait, err := q.try(user, user.Name, password)
	switch {
	case err != nil:
		return "", err
	case wait > 0:
		return "account.wait", nil
	case !fits:
		return "act.wrong_password", q.c.Users.AppendAudit(q.Context(), q.failed(user))
	}
	return "", q.begin(user, "proof", "", q.c.Now())
}
