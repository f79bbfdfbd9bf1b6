package apiclient_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/internal/must"
)

// Two requests carry a document number in their URL. Whatever happens to them, and whatever the
// other side echoes, no error, text or header copy shows it.
func TestTheURLOfARequestAndItsDocumentNumberNeverAppear(t *testing.T) {
	t.Parallel()
	shows := func(s string) bool {
		for _, bad := range []string{
			testCPF, "123.456.789-09", testAlphaDoc, "12.ABC.345/01DE-35", strings.ToLower(testAlphaDoc),
			"12.abc.345/01de-35",
			"identity=", "/documents/", "personType",
		} {
			if strings.Contains(s, bad) {
				return true
			}
		}
		return false
	}
	query := apiclient.ConsentQuery{
		Identity: "123.456.789-09", PersonType: apiclient.PF,
		CorporateIdentity: testAlphaDoc,
	}
	echo := "at /x?y=z " + testCPF + " 123.456.789-09 " + testAlphaDoc + " 12.abc.345/01de-35 " +
		strings.ToLower(testAlphaDoc)
	answers := map[string]answerFunc{
		"404 a":           always(404, `{"messages":["message.producer.not-found","`+echo+`"]}`, "X-Echo: "+echo),
		"400 b":           always(400, `{"timestamp":"t","status":400,"error":"`+echo+`","message":"`+echo+`"}`),
		"403 c":           always(403, "Unexpected value: "+echo),
		"500 HTML":        always(500, "<html>"+echo),
		"redirect":        always(302, "", "Location: https://x/"+testCPF+"/"+testAlphaDoc),
		"garbage":         raw(testCPF + " " + testAlphaDoc + "\r\n\r\n"),
		"garbage header":  raw("HTTP/1.1 200 OK\r\n" + testAlphaDoc + testCPF + "\r\n\r\n"),
		"cut":             raw("HTTP/1.1 200 X\r\nContent-Length: 900\r\n\r\n" + echo),
		"no object":       always(200, `"`+echo+`"`),
		"lost":            func(net.Conn, received) bool { return false },
		"401 of gateway":  always(401, `{"data":[],"error":{"at":"`+echo+`"}}`),
		"502 other":       always(502, `{"messages":["`+echo+`"]}`),
		"compressed echo": always(200, echo, "Content-Encoding: gzip"),
	}
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startRaw(t, answer)
			c := s.client(t)
			c.SetReadBackoff(time.Millisecond)
			_, consentErr := c.GetConsent(context.Background(), query)
			_, cpfErr := c.GetProducerByDocument(context.Background(), testCPF)
			_, cnpjErr := c.GetProducerByDocument(context.Background(), testAlphaDoc)
			_, _, scoreErr := c.RequestCreditScore(context.Background(), scoreRequest())
			_, analysisErr := c.CreateCreditAnalysis(context.Background(), analysisRequest())
			for _, err := range []error{consentErr, cpfErr, cnpjErr, scoreErr, analysisErr} {
				e := asError(t, err)
				for err := error(e); err != nil; err = errors.Unwrap(err) {
					if shows(err.Error()) {
						t.Errorf("the error shows a number or a URL: %v", err)
					}
				}
				for where, s := range map[string]string{
					"the text": e.Text, "the evidence": e.Evidence.Err, "a message": strings.Join(e.Messages, " "),
					"the excerpt": e.Excerpt(),
				} {
					if shows(s) {
						t.Errorf("%s shows a number: %s", where, s)
					}
				}
			}
			// A header has no form to be recognised by: there each call hides the numbers it sent
			// itself.
			for _, call := range []struct {
				err  error
				sent []string
			}{
				{consentErr, []string{testCPF, "123.456.789-09", testAlphaDoc, "12.abc.345/01de-35"}},
				{cpfErr, []string{testCPF, "123.456.789-09"}},
				{cnpjErr, []string{testAlphaDoc, "12.abc.345/01de-35", strings.ToLower(testAlphaDoc)}},
				{scoreErr, []string{testCPF, "123.456.789-09"}},
				{analysisErr, []string{testAlphaDoc, "12.abc.345/01de-35", strings.ToLower(testAlphaDoc)}},
			} {
				for name, values := range asError(t, call.err).Header {
					for _, number := range call.sent {
						if v := strings.Join(values, " "); strings.Contains(v, number) {
							t.Errorf("header %s shows a number: %s", name, v)
						}
					}
				}
			}
		})
	}
}

func TestARequestWithADocumentNumberThatNeverLeavesShowsNoneEither(t *testing.T) {
	t.Parallel()
	ln := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	addr := ln.Addr().String()
	_ = ln.Close()
	ctx, cancel := context.WithCancel(context.Background())
	refused := newClient(t, apiclient.Settings{BaseURL: "http://" + addr})
	refused.SetReadBackoff(time.Millisecond)
	nowhere := newClient(t, apiclient.Settings{BaseURL: "https://nowhere.invalid"})
	nowhere.SetReadBackoff(time.Millisecond)
	cancel()
	for name, c := range map[string]*apiclient.Client{"refused": refused, "unknown host": nowhere} {
		for _, x := range []context.Context{context.Background(), ctx} {
			_, err := c.GetConsent(x, apiclient.ConsentQuery{Identity: testCPF, PersonType: apiclient.PF})
			_, err2 := c.GetProducerByDocument(x, testCPF)
			for _, e := range []*apiclient.CallError{asError(t, err), asError(t, err2)} {
				if s := printed(t, e) + e.Text + e.Evidence.Err; strings.Contains(s, testCPF) ||
					strings.Contains(s, "financial") || strings.Contains(s, "documents/") {
					t.Errorf("%s: the error shows the URL: %s", name, s)
				}
				if e.Known != apiclient.NotSent {
					t.Errorf("%s: Known = %v", name, e.Known)
				}
			}
		}
	}
}

// In the body of a success the number belongs to the answer.
func TestTheBodyOfASuccessKeepsTheDocumentNumber(t *testing.T) {
	t.Parallel()
	s := startRaw(t, always(200, `{"id":"S-1","social_id":"`+testCPF+`","name":"Ana"}`))
	score, a, err := s.client(t).RequestCreditScore(context.Background(), scoreRequest())
	if err != nil || score.SocialID != testCPF || !strings.Contains(string(a.Body), testCPF) {
		t.Errorf("score = %+v, %v", score, err)
	}
	if strings.Contains(a.Excerpt(), testCPF) {
		t.Errorf("the excerpt shows the number: %s", a.Excerpt())
	}
}
