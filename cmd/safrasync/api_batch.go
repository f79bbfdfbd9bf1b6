package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/trade"
)

// batchFlags are those of `safrasync api consent --file`.
type batchFlags struct {
	file, out string
}

func (f *batchFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.file, "file", "",
		"ask for each producer of a CSV `FILE` with the header identity,person_type[,corporate_identity]; - is standard input")
	flags.StringVar(&f.out, "out", "", "with --file: new `FILE` (.csv) with one row for each producer")
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

// outcomeInvalid is that of a producer that was not asked for: what the list says of it cannot be
// sent.
const outcomeInvalid = "invalid"

var batchHead = []string{
	"no", "identity", "person_type", "corporate_identity", "outcome", "http_status", "messages", "status",
	"consent_date", "text",
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
		strconv.Itoa(r.No), printable(r.Identity), printable(r.PersonType), text(r.CorporateIdentity),
		r.Outcome, status,
		printable(strings.Join(r.Messages, " ")), text(r.Status), text(r.ConsentDate), printable(r.Text),
	}
}

// checkBatch refuses what does not go together.
func (a *App) checkBatch(cmd *cobra.Command, f batchFlags) error {
	for _, name := range []string{"identity", "person-type", "corporate-identity"} {
		if cmd.Flags().Changed(name) {
			return a.usage("batch.or_one", "--"+name)
		}
	}
	switch {
	case f.out == "" && !a.asJSON:
		return a.usage("batch.no_out")
	case f.out != "" && !strings.EqualFold(filepath.Ext(f.out), ".csv"):
		return a.usage("batch.bad_out")
	}
	return nil
}

// getConsents asks for each producer of a list, one after the other at the configured pace. It
// keeps what was done when it is interrupted, and stops when the platform refuses the key: every
// further question would be refused too.
func (a *App) getConsents(ctx context.Context, f batchFlags) (err error) {
	list, err := a.readBatch(f.file)
	if err != nil {
		return err
	}
	client, err := a.openAPIByHand()
	if err != nil {
		return err
	}
	var to *csv.Writer
	if f.out != "" {
		// Readable by its owner only: it holds whose consent was asked for.
		file, err := os.OpenFile(f.out, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return fmt.Errorf("%s: %s", f.out, a.voice().fileReason(err))
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		if _, err := file.WriteString("\xef\xbb\xbf"); err != nil { // by which Excel knows the encoding
			return err
		}
		to = csv.NewWriter(file)
		to.Comma, to.UseCRLF = ';', true // as Excel reads it in Brazil
		if err := writeCells(to, batchHead); err != nil {
			return err
		}
	}
	done, failed := 0, 0
	var stop error // the refusal that is not about one producer
	for i, producer := range list {
		if ctx.Err() != nil || stop != nil {
			break
		}
		row, askErr := a.askConsentPatiently(ctx, client, producer)
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
		if err := a.writeConsent(to, row); err != nil {
			return err
		}
		done++
		a.batchProgress(done, len(list))
	}
	if done > 0 && isTerminal(a.Stderr) {
		fmt.Fprintln(a.Stderr) // ends the line of the count
	}
	a.tell("batch.done", done, len(list), failed)
	switch {
	case stop != nil && done < len(list):
		a.tellFailure("batch.stopped", "", stop)
		return &exitError{exitFailed}
	case done < len(list):
		a.tell("batch.interrupted")
		return &exitError{exitFailed}
	}
	return nil
}

// writeCells writes a row that no spreadsheet runs as a formula. It is with the system when this
// returns: an interrupt keeps what was done.
func writeCells(to *csv.Writer, cells []string) error {
	guarded := make([]string, len(cells))
	for i, c := range cells {
		guarded[i] = trade.GuardFormula(c)
	}
	_ = to.Write(guarded) // Error tells it too
	to.Flush()
	return to.Error()
}

func (a *App) writeConsent(to *csv.Writer, row consentJSON) error {
	if to != nil {
		if err := writeCells(to, row.cells()); err != nil {
			return err
		}
	}
	if a.asJSON {
		return errors.Join(a.printJSON(row), a.out.Flush()) // each line when it is known
	}
	return nil
}

// patience is how often a producer is asked for when the platform wants a pause. The client keeps
// the pause.
const patience = 5

// askConsentPatiently asks again after a pause that the platform wants: it says nothing about the
// producer.
func (a *App) askConsentPatiently(ctx context.Context, client *apiclient.Client,
	producer consentFlags,
) (consentJSON, error) {
	for try := 1; ; try++ {
		row, err := a.askConsent(ctx, client, producer)
		var failure *apiclient.Error
		if !errors.As(err, &failure) || failure.Known != apiclient.Throttled || try == patience {
			return row, err
		}
		a.tell("batch.pause", a.voice().moment(failure.ThrottledUntil))
	}
}

// askConsent gives the row of one producer; the error is the client's.
func (a *App) askConsent(ctx context.Context, client *apiclient.Client, producer consentFlags) (consentJSON, error) {
	producer = producer.tidy()
	row := consentJSON{
		Identity: maskDocument(producer.identity), PersonType: producer.personType,
		Outcome: outcomeInvalid, Messages: []string{},
	}
	if producer.corporateIdentity != "" {
		row.CorporateIdentity = orNull(maskDocument(producer.corporateIdentity))
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
		row.HTTPStatus, row.Messages, row.Text = orNull(failure.Status), orEmpty(stableKeys(failure.Messages)),
			err.Error()
		if !a.asJSON {
			f := a.voice().failureOf(failure)
			row.Text = f.what + ". " + f.next
		}
		return row, err
	}
	row.HTTPStatus, row.Status, row.ConsentDate = orNull(http.StatusOK), orNull(consent.Status),
		orNull(consent.ConsentDate)
	return row, err
}

// batchFault says what is wrong with a producer of the list: the file's names, and English for
// programs.
func (a *App) batchFault(producer consentFlags) string {
	v := a.voice()
	if a.asJSON {
		v = machine
	}
	if _, wrong := readDocument(producer.identity); wrong != "" {
		return v.text(wrong, "identity")
	}
	if !isPersonType(producer.personType) {
		return v.text("api.not_one_of", "person_type", listed(apiclient.PersonTypes))
	}
	if _, wrong := readCNPJ(producer.corporateIdentity); wrong != "" {
		return v.text(wrong, "corporate_identity")
	}
	return ""
}

// tidy writes the numbers that can be read as they are sent.
func (f consentFlags) tidy() consentFlags {
	if number, wrong := readDocument(f.identity); wrong == "" {
		f.identity = number
	}
	if number, wrong := readCNPJ(f.corporateIdentity); wrong == "" {
		f.corporateIdentity = number
	}
	return f
}

func isPersonType(text string) bool {
	return slices.Contains(apiclient.PersonTypes, apiclient.PersonType(text))
}

// refusesAll tells whether a refusal is about the key or the address and not about the producer:
// every other producer would meet it too.
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

// batchProgress counts on a terminal, and says each tenth elsewhere.
func (a *App) batchProgress(done, total int) {
	switch {
	case isTerminal(a.Stderr):
		fmt.Fprint(a.Stderr, "\r"+a.text("batch.count", done, total))
	case total >= plainTenths && done*plainTenths/total != (done-1)*plainTenths/total:
		a.tell("batch.count", done, total)
	}
}
