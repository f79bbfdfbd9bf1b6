package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/apiclient"
)

// batchFlags are those of `safrasync api consent --file`.
type batchFlags struct {
	file, out     string
	withDocuments bool
	act           actFlags
}

func (f *batchFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.file, "file", "", "ask for each producer of a `FILE` (CSV or XLSX) with the header identity,person_type[,corporate_identity]; - is standard input")
	flags.StringVar(&f.out, "out", "", "with --file: new `FILE`, .csv or .xlsx, with one row for each producer")
	flags.BoolVar(&f.withDocuments, "com-documento", false, "with --file: write whole document numbers; needs --reason, and the audit keeps it")
	flags.StringVar(&f.act.reason, "reason", "", "why, `TEXT` for the audit")
	flags.StringVar(&f.act.as, "as", "", "`NAME` of who orders it; default: the user of the system")
}

// consentJSON is one producer of a batch.
type consentJSON struct {
	No                int      `json:"no"` // of the producer in the list, from 1: masked numbers may be alike
	Identity          string   `json:"identity"`
	PersonType        string   `json:"person_type"`
	CorporateIdentity *string  `json:"corporate_identity"`
	Outcome           string   `json:"outcome"`
	HTTPStatus        *int     `json:"http_status"`
	Messages          []string `json:"messages"`
	Status            *string  `json:"status"`
	ConsentDate       *string  `json:"consent_date"`
	Text              string   `json:"text"`
}

// outcomeInvalid is that of a producer that was not asked for: what the list says of it cannot be sent.
const outcomeInvalid = "invalid"

var batchHead = []string{
	"no", "identity", "person_type", "corporate_identity", "outcome", "http_status", "messages", "status", "consent_date", "text",
}

func (r consentJSON) cells() []string {
	text := func(s *string) string {
		if s == nil {
			return ""
		}
		return printable(*s)
	}
	status := ""
	if r.HTTPStatus != nil {
		status = strconv.Itoa(*r.HTTPStatus)
	}
	return []string{
		strconv.Itoa(r.No), printable(r.Identity), printable(r.PersonType), text(r.CorporateIdentity), r.Outcome, status,
		printable(strings.Join(r.Messages, " ")), text(r.Status), text(r.ConsentDate), printable(r.Text),
	}
}

// checkBatch refuses what does not go together.
func (a *App) checkBatch(cmd *cobra.Command, f batchFlags) error {
	for _, name := range []string{"identity", "person-type", "corporate-identity"} {
		if cmd.Flags().Changed(name) {
			return a.usage(batchOrOne, "--"+name)
		}
	}
	ext := strings.ToLower(filepath.Ext(f.out))
	switch {
	case f.out == "" && !a.asJSON:
		return a.usage(batchNoOut)
	case f.out != "" && ext != ".csv" && ext != ".xlsx":
		return a.usage(batchBadOut)
	case f.withDocuments:
		return a.needReason(f.act)
	}
	return nil
}

// getConsents asks for each producer of a list, one after the other at the configured pace. It keeps what was done when it is interrupted, and
// stops when the platform refuses the key: every further question would be refused too.
func (a *App) getConsents(ctx context.Context, f batchFlags) (err error) {
	config, err := a.loadConfig()
	if err != nil {
		return err
	}
	list, err := a.readBatch(f.file)
	if err != nil {
		return err
	}
	client, err := a.openAPIByHand()
	if err != nil {
		return err
	}
	if f.withDocuments {
		if err := a.auditBatch(ctx, f, len(list), config.API.BaseURL); err != nil {
			return err
		}
	}
	var to sheet
	if f.out != "" {
		if to, err = newSheet(f.out); err != nil {
			return fmt.Errorf("%s: %s", f.out, a.voice().fileReason(err))
		}
		defer func() {
			if closeErr := to.close(); closeErr != nil {
				err = errors.Join(err, fmt.Errorf("%s: %w", f.out, closeErr))
			}
		}()
		if err := to.row(batchHead); err != nil {
			return fmt.Errorf("%s: %w", f.out, err)
		}
	}
	done, failed := 0, 0
	var stop error // the refusal that is not about one producer
	for i, producer := range list {
		if ctx.Err() != nil || stop != nil {
			break
		}
		row, askErr := a.askConsentPatiently(ctx, client, producer, f.withDocuments)
		if askErr != nil && ctx.Err() != nil {
			break // cut off by the interrupt: it says nothing about the producer
		}
		row.No = i + 1
		if row.Outcome != outcomeDone {
			failed++
		}
		if refusesAll(askErr) {
			stop = askErr
		}
		if err := a.writeConsent(to, row, f.out); err != nil {
			return err
		}
		done++
		a.batchProgress(done, len(list))
	}
	if done > 0 && isTerminal(a.Stderr) {
		fmt.Fprintln(a.Stderr) // ends the line of the count
	}
	a.tell(batchDone, done, len(list), failed)
	switch {
	case stop != nil && done < len(list):
		a.tellFailure(batchStopped, "", stop)
		return &exitError{exitFailed}
	case done < len(list):
		a.tell(batchInterrupted)
		return &exitError{exitFailed}
	}
	return nil
}

func (a *App) writeConsent(to sheet, row consentJSON, name string) error {
	if to != nil {
		if err := to.row(row.cells()); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if a.asJSON {
		return errors.Join(a.printJSON(row), a.out.Flush()) // each line when it is known
	}
	return nil
}

// patience is how often a producer is asked for when the platform wants a pause. The client keeps the pause.
const patience = 5

// askConsentPatiently asks again after a pause that the platform wants: it says nothing about the producer.
func (a *App) askConsentPatiently(ctx context.Context, client *apiclient.Client, producer consentFlags, withDocuments bool) (consentJSON, error) {
	for try := 1; ; try++ {
		row, err := a.askConsent(ctx, client, producer, withDocuments)
		var failure *apiclient.Error
		if !errors.As(err, &failure) || failure.Known != apiclient.Throttled || try == patience {
			return row, err
		}
		a.tell(batchPause, a.voice().moment(failure.ThrottledUntil))
	}
}

// askConsent gives the row of one producer; the error is the client's.
func (a *App) askConsent(ctx context.Context, client *apiclient.Client, producer consentFlags, withDocuments bool) (consentJSON, error) {
	shown := maskDocument
	if withDocuments {
		shown = func(number string) string { return number }
	}
	producer = producer.tidy()
	row := consentJSON{Identity: shown(producer.identity), PersonType: producer.personType, Outcome: outcomeInvalid, Messages: []string{}}
	if producer.corporateIdentity != "" {
		row.CorporateIdentity = orNull(shown(producer.corporateIdentity))
	}
	q, err := a.consentQuery(producer)
	if err != nil {
		if !isPersonType(producer.personType) {
			row.PersonType = "***" // nobody knows what stands there
		}
		row.Text = a.batchFault(producer)
		return row, nil
	}
	consent, err := client.GetConsent(ctx, q)
	row.Outcome = outcomeDone
	var failure *apiclient.Error
	if errors.As(err, &failure) {
		row.Outcome = outcomeWord(apiCall{verb: "GET"}, failure.Answer, err)
		row.HTTPStatus, row.Messages, row.Text = orNull(failure.Status), orEmpty(stableKeys(failure.Messages)), err.Error()
		if !a.asJSON {
			f := a.voice().failureOf(failure)
			row.Text = f.what + ". " + f.next
		}
		return row, err
	}
	row.HTTPStatus, row.Status, row.ConsentDate = orNull(http.StatusOK), orNull(consent.Status), orNull(consent.ConsentDate)
	return row, err
}

// batchFault says what is wrong with a producer of the list: the file's names, and English for programs.
func (a *App) batchFault(producer consentFlags) string {
	v := a.voice()
	if a.asJSON {
		v = machine
	}
	if _, wrong := readDocument(producer.identity); wrong != nil {
		return v.text(*wrong, "identity")
	}
	if !isPersonType(producer.personType) {
		return v.text(apiNotOneOf, "person_type", listed(apiclient.PersonTypes))
	}
	if _, wrong := readCNPJ(producer.corporateIdentity); wrong != nil {
		return v.text(*wrong, "corporate_identity")
	}
	return ""
}

// tidy writes the numbers that can be read as they are sent.
func (f consentFlags) tidy() consentFlags {
	if number, wrong := readDocument(f.identity); wrong == nil {
		f.identity = number
	}
	if number, wrong := readCNPJ(f.corporateIdentity); wrong == nil {
		f.corporateIdentity = number
	}
	return f
}

func isPersonType(text string) bool {
	return slices.Contains(apiclient.PersonTypes, apiclient.PersonType(text))
}

// refusesAll tells whether a refusal is about the key or the address and not about the producer: every other producer would meet it too.
func refusesAll(err error) bool {
	var e *apiclient.Error
	if !errors.As(err, &e) {
		return false
	}
	switch {
	case e.Fault == apiclient.FaultCertificate, e.Fault == apiclient.FaultRedirect, e.Status == http.StatusUnauthorized,
		e.HasMessage("message.module.not-contracted"):
		return true
	case e.Status == http.StatusForbidden:
		_, value := e.UnexpectedValue()
		return !value && e.Format != apiclient.FormatA
	case e.Status == http.StatusNotFound:
		return !e.NotFound()
	}
	return false
}

// auditBatch writes down that somebody takes whole document numbers out, before the first one leaves.
func (a *App) auditBatch(ctx context.Context, f batchFlags, producers int, platform string) error {
	target := "-" // standard output
	if f.out != "" {
		target = filepath.Base(f.out)
	}
	record, err := a.audit(f.act, "api consent --com-documento", target, struct {
		Producers int    `json:"producers"`
		Platform  string `json:"platform"`
	}{producers, platform})
	if err != nil {
		return err
	}
	store, err := a.openLedger(ctx, toWrite)
	if err != nil {
		return err
	}
	return store.AppendAudit(ctx, record)
}

// batchProgress counts on a terminal, and says each tenth elsewhere.
func (a *App) batchProgress(done, total int) {
	switch {
	case isTerminal(a.Stderr):
		fmt.Fprint(a.Stderr, "\r"+a.text(batchCount, done, total))
	case total >= plainTenths && done*plainTenths/total != (done-1)*plainTenths/total:
		a.tell(batchCount, done, total)
	}
}
