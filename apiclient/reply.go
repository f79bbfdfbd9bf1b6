package apiclient

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
)

// readAnswer interprets a body. Decisions are based on the bytes as received; what is kept is
// redacted. The text is made from the redacted bytes, because cutting first could leave half a key
// in it.
func readAnswer(call call, resp *http.Response, format Format, body []byte) (reading, result) {
	redactBody := call.redact
	if success(resp.StatusCode) {
		redactBody = call.redactBody
	}
	kept := body
	for _, f := range redactBody.forms() {
		if bytes.Contains(kept, []byte(f.text)) {
			kept = bytes.ReplaceAll(kept, []byte(f.text), []byte(f.shown))
		}
	}
	if call.credentials && !(call.method == http.MethodGet && success(resp.StatusCode)) { // a GET needs them
		kept = hideCredentials(kept)
	}
	form := reading{format: format}
	shown := form
	if format == FormatNone {
		form = readForm(resp.StatusCode, resp.Header, body)
		shown = form
		if !bytes.Equal(kept, body) {
			shown = readForm(resp.StatusCode, resp.Header, kept)
		}
	}
	res := result{Answer: Answer{
		Status: resp.StatusCode, Body: kept, Header: call.redact.header(resp.Header), Format: form.format,
		Text: call.redact.text(shown.text),
	}}
	for _, m := range shown.messages {
		res.Messages = append(res.Messages, call.redact.text(m))
	}
	return form, res
}

func (c call) createdID(form reading, body []byte) (string, error) {
	if form.format != FormatSuccess {
		return "", phrase.Errorf("the status says success but the body is %s", form.format)
	}
	id, err := c.idOf(body)
	if err != nil {
		return "", err
	}
	// If the request itself contains the id, in its path or its body, it is that of another record, such as
	// the wallet or the contract, and the answer does not contain the id of the new one. An id that is no
	// UUID, such as "1" of a delivery, may be in any request.
	lower, err := parseUUID(id)
	if err == nil && (bytes.Contains(bytes.ToLower(c.body), []byte(lower)) ||
		strings.Contains(strings.ToLower(c.path), lower)) {
		return "", errors.New("the status says success but the id is one that the request itself named")
	}
	return id, nil
}

// replyFault returns what was wrong with an answer that has a status. A refusal that its status
// makes certain is no fault, even if its body was cut.
func replyFault(ctx context.Context, resp *http.Response, known Known, readErr error) FaultCode {
	switch {
	case known == NotCreated || known == Throttled:
		return FaultNone
	case resp.StatusCode >= 300 && resp.StatusCode <= 399:
		return FaultRedirect
	case readErr != nil && ctx.Err() != nil:
		f, _ := ended(ctx)
		return f
	case readErr != nil, resp.StatusCode < 200, resp.StatusCode > 599, resp.ProtoMajor != 1:
		return FaultProtocol
	default:
		return FaultNone
	}
}

func replyError(ctx context.Context, call call, resp *http.Response, fault FaultCode, readErr error) error {
	switch {
	case fault == FaultRedirect:
		return errors.New(
			"a redirect came back and was not followed; check api.base_url, and what stands between this host and the API")
	case fault == FaultTimeout || fault == FaultCanceled:
		_, text := ended(ctx)
		text = phrase.New("%w (the answer had begun)", text)
		return &cause{text, errors.Join(ctx.Err(), context.Cause(ctx), readErr)}
	case readErr != nil:
		return &cause{
			phrase.New("the answer was cut: %w", phrase.Fixed(call.redact.errorText(readErr))), readErr,
		}
	default:
		return phrase.Errorf("status %d over HTTP/%d is none the API can give; something else answered", resp.StatusCode,
			resp.ProtoMajor)
	}
}

// readBody reads at most 1 MiB. The format it returns is FormatNone if the body is complete and not
// compressed.
func readBody(resp *http.Response, ex *exchange) ([]byte, Format, error) {
	if resp.StatusCode < 200 {
		// 101: the "body" would be the connection itself.
		return nil, FormatOther, nil
	}
	ex.reach(PhaseBody)
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBodyBytes+1))
	switch {
	case len(body) > maxBodyBytes:
		return body[:maxBodyBytes], FormatTooLarge, nil
	case err != nil:
		return body, FormatCut, err
	case slices.ContainsFunc(resp.Header.Values("Content-Encoding"), func(v string) bool {
		v = strings.TrimSpace(v)
		return v != "" && !strings.EqualFold(v, "identity")
	}):
		return body, FormatEncoded, nil
	default:
		return body, FormatNone, nil
	}
}

const (
	defaultRetryAfter = time.Minute
	minRetryAfter     = time.Second
	maxRetryAfter     = time.Hour
)

// retryAfter returns how long a 429 asks us to wait, or 60 s if its header is missing or not
// usable.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if d, ok := askedWait(h, now); ok {
		return d
	}
	return defaultRetryAfter
}

// askedWait reads the Retry-After header: seconds or a date, bounded on both sides. A date is
// compared with the answer's own Date header if there is one, so that a wrong local clock does no
// harm. A past date and a negative number are not usable.
func askedWait(h http.Header, now time.Time) (d time.Duration, ok bool) {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if v == "" {
		return 0, false
	}
	if strings.Trim(v, "0123456789") == "" {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || n > int64(maxRetryAfter/time.Second) {
			return maxRetryAfter, true
		}
		return max(time.Duration(n)*time.Second, minRetryAfter), true
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0, false
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	if !at.After(now) {
		return 0, false
	}
	return min(max(at.Sub(now), minRetryAfter), maxRetryAfter), true
}
