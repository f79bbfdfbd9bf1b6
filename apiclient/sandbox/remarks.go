package sandbox

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/phrase"
)

// Remark is something in a request that the document does not refuse, and therefore the sandbox
// does not either, but that a client hardly intends: an unknown member, a blank in the key. Remarks
// are shown in the report, because the real platform may be less tolerant.
type Remark struct {
	// Code is one of [RemarkCodes].
	Code string `json:"code"`
	// Field is the member, parameter or header concerned, at most 60 characters; "" if there is
	// none.
	Field string `json:"field,omitempty"`
	// Text is the remark in English.
	Text string `json:"text"`
}

const (
	remarkUnknownMember    = "unknown_member"
	remarkTwice            = "member_twice"
	remarkNull             = "null"
	remarkEmpty            = "empty"
	remarkNotPositive      = "not_positive"
	remarkExponent         = "exponent"
	remarkDateOrder        = "date_order"
	remarkDocument         = "document"
	remarkOtherValue       = "other_value"
	remarkUnknownParameter = "unknown_parameter"
	remarkKeyBlank         = "key_blank"
	remarkHeaderTwice      = "header_twice"
	remarkContentType      = "content_type"
	remarkCompressed       = "compressed"
	remarkIdempotency      = "idempotency_key"
	remarkContract         = "contract_unknown_here"
	remarkEventAgain       = "event_again"
	remarkURLScheme        = "url_scheme"
	remarkCredentials      = "credentials_form"
	remarkCredentialsGone  = "credentials_removed"
)

// remark adds a remark, once for each code and field. Names of members come from the client, so
// they are truncated.
func (rq *request) remark(code, field string) {
	if runes := []rune(field); len(runes) > 60 {
		field = string(runes[:60])
	}
	r := Remark{Code: code, Field: field, Text: i18n.Sandbox.Text(i18n.English, "remark."+code)}
	if !slices.Contains(rq.remarks, r) {
		rq.remarks = append(rq.remarks, r)
	}
}

// The functions below return the code of a remark on a value, or "".

func oddIfEmpty(text string) string {
	if strings.TrimSpace(text) == "" {
		return remarkEmpty
	}
	return ""
}

func oddNumber(text string) string {
	switch {
	case strings.ContainsAny(text, "eE"):
		return remarkExponent
	case strings.HasPrefix(text, "-") || strings.Trim(text, "0.") == "":
		return remarkNotPositive
	}
	return ""
}

func oddUnlessDocument(text string) string {
	if _, ok := bareDocument(text); !ok {
		return remarkDocument
	}
	return ""
}

func oddCAR(text string) string {
	if state, _, _ := strings.Cut(text, "-"); len(state) != 2 || strings.ContainsAny(state, "0123456789") {
		return remarkOtherValue
	}
	return ""
}

func oddUnless(shown string) func(string) string {
	return func(text string) string {
		if text != shown {
			return remarkOtherValue
		}
		return ""
	}
}

// Line is one line of the truth log. A request that was executed twice has two lines with the same
// N.
type Line struct {
	Time   time.Time `json:"time"`
	N      int       `json:"n,omitempty"` // number among the creating POSTs, or among the GETs
	Method string    `json:"method"`
	Path   string    `json:"path"`
	// Executed: a record with this ID exists from now on, whatever answer the client receives.
	Executed bool   `json:"executed"`
	Resource string `json:"resource,omitempty"` // of the record, as in [Record.Resource]
	ID       string `json:"id,omitempty"`
	// Status is the status that is sent after this line; 0 if no answer is sent.
	Status int    `json:"status"`
	Fault  string `json:"fault,omitempty"` // text of the fault that acted, if any
	Note   string `json:"note,omitempty"`
	// Body is the body of a creating POST with the digits as sent, if it was JSON at all. The
	// bodies of webhooks are left out, because they hold secrets.
	Body json.RawMessage `json:"body,omitempty"`
}

// truthLog writes lines, each with one Write.
type truthLog struct {
	mu  sync.Mutex
	w   io.Writer
	err error // the first error, for LogErr
}

const noteCut = "the request did not arrive whole"

// acted returns the fault's text for the log and the report; "" if no fault acted.
func (f *Disturbance) acted() string {
	if f == nil || f.spec == "" && f.Do == Pass && f.Slow == 0 && f.Late == 0 {
		return ""
	}
	return f.String()
}

// log writes the lines of a request to the truth log: one per record, or one if there is none.
func (s *Server) log(rq *request, f *Disturbance, status int, note string) error {
	base := Line{
		Time: s.opts.Now().UTC(), N: rq.n, Method: rq.http.Method, Path: rq.path, Status: status, Note: note,
	}
	base.Fault = f.acted()
	if rq.create && rq.route.resource != ResourceWebhooks && utf8.Valid(rq.body) && json.Valid(rq.body) {
		base.Body = rq.body
	}
	lines := []Line{base}
	if len(rq.records) > 0 {
		lines = lines[:0]
		for _, rec := range rq.records {
			line := base
			line.Executed, line.ID, line.Resource = true, rec.ID, rec.Resource
			lines = append(lines, line)
		}
	}
	s.truth.mu.Lock()
	defer s.truth.mu.Unlock()
	if s.truth.w == nil {
		return nil
	}
	for _, line := range lines {
		if _, err := s.truth.w.Write(append(encode(line), '\n')); err != nil {
			err = phrase.Errorf("write the truth log: %w", err)
			if s.truth.err == nil {
				s.truth.err = err
			}
			return err
		}
	}
	return nil
}
