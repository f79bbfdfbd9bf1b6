package api

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
	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/words"
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
	No                int      `json:"no"` // in the list, from 1: masked numbers may be equal
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

// outcomeInvalid is the outcome of a producer that was not asked for, because its line in the list
// is invalid.
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
		return words.Printable(*s)
	}
	status := ""
	if r.HTTPStatus != nil {
		status = strconv.Itoa(*r.HTTPStatus)
	}
	return []string{
		strconv.Itoa(r.No), words.Printable(r.Identity), words.Printable(r.PersonType), text(r.CorporateIdentity),
		r.Outcome, status,
		words.Printable(strings.Join(r.Messages, " ")), text(r.Status), text(r.ConsentDate), words.Printable(r.Text),
	}
}

// checkBatch refuses flags that exclude each other, and an output that is missing or not CSV.
func checkBatch(a *cli.App, cmd *cobra.Command, f batchFlags) error {
	for _, name := range []string{"identity", "person-type", "corporate-identity"} {
		if cmd.Flags().Changed(name) {
			return a.Usage("batch.or_one", "--"+name)
		}
	}
	switch {
	case f.out == "" && !a.AsJSON:
		return a.Usage("batch.no_out")
	case f.out != "" && !strings.EqualFold(filepath.Ext(f.out), ".csv"):
		return a.Usage("batch.bad_out")
	}
	return nil
}

// getConsents asks for each producer of a list, one after the other at the configured rate. An
// interrupt keeps the results so far. It stops if the platform refuses the key, because every
// further request would be refused too.
func getConsents(ctx context.Context, a *cli.App, f batchFlags) (err error) {
	list, err := readBatch(a, f.file)
	if err != nil {
		return err
	}
	client, err := OpenByHand(a)
	if err != nil {
		return err
	}
	to, closeFile, err := batchFile(a, f.out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeFile()) }()
	done, failed := 0, 0
	var stop error // a refusal that would meet every producer
	for i, producer := range list {
		if ctx.Err() != nil || stop != nil {
			break
		}
		row, askErr := askConsentPatiently(ctx, a, client, producer)
		if askErr != nil && ctx.Err() != nil {
			break // cut off by the interrupt, which proves nothing about the producer
		}
		row.No = i + 1
		if row.Outcome != outcomeDone {
			failed++
		}
		if refusesAll(askErr) {
			stop = askErr
		}
		if err := writeConsent(a, to, row); err != nil {
			return err
		}
		done++
		batchProgress(a, done, len(list))
	}
	if done > 0 && cli.IsTerminal(a.Stderr) {
		fmt.Fprintln(a.Stderr) // ends the counter's line
	}
	a.Tell("batch.done", done, len(list), failed)
	switch {
	case stop != nil && done < len(list):
		tellFailure(a, "batch.stopped", "", stop)
		return &cli.ExitError{Code: cli.ExitFailed}
	case done < len(list):
		a.Tell("batch.interrupted")
		return &cli.ExitError{Code: cli.ExitFailed}
	}
	return nil
}

// batchFile creates the file of results; without a path it returns no writer. The caller closes it.
func batchFile(a *cli.App, path string) (*csv.Writer, func() error, error) {
	if path == "" {
		return nil, func() error { return nil }, nil
	}
	// Only the owner may read it: it contains whose consent was asked for.
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %s", path, a.Voice().FileReason(err))
	}
	to := csv.NewWriter(file)
	to.Comma, to.UseCRLF = ';', true          // as Excel expects in Brazil
	_, err = file.WriteString("\xef\xbb\xbf") // by this mark Excel recognises UTF-8
	if err == nil {
		err = writeCells(to, batchHead)
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return to, file.Close, nil
}

// writeCells writes a row in which no cell can run as a formula in a spreadsheet. The row has been
// flushed when it returns, so that an interrupt keeps it.
func writeCells(to *csv.Writer, cells []string) error {
	guarded := make([]string, len(cells))
	for i, c := range cells {
		guarded[i] = trade.GuardFormula(trade.Visible(c))
	}
	_ = to.Write(guarded) // Error returns it too
	to.Flush()
	return to.Error()
}

func writeConsent(a *cli.App, to *csv.Writer, row consentJSON) error {
	if to != nil {
		if err := writeCells(to, row.cells()); err != nil {
			return err
		}
	}
	if a.AsJSON {
		return errors.Join(a.PrintJSON(row), a.Out.Flush()) // each line as soon as it is known
	}
	return nil
}

// patience is how often a producer is asked for while the platform answers 429. The client waits as
// long as the platform asks.
const patience = 5

// askConsentPatiently asks again after a 429, which means nothing about the producer.
func askConsentPatiently(ctx context.Context, a *cli.App, client *apiclient.Client,
	producer consentFlags,
) (consentJSON, error) {
	for try := 1; ; try++ {
		row, err := askConsent(ctx, a, client, producer)
		var failure *apiclient.Error
		if !errors.As(err, &failure) || failure.Known != apiclient.Throttled || try == patience {
			return row, err
		}
		a.Tell("batch.pause", a.Voice().Moment(failure.ThrottledUntil))
	}
}

// askConsent returns the row of one producer, and the client's error.
func askConsent(ctx context.Context, a *cli.App, client *apiclient.Client, producer consentFlags) (consentJSON, error) {
	producer = producer.tidy()
	row := consentJSON{
		Identity: maskDocument(producer.identity), PersonType: producer.personType,
		Outcome: outcomeInvalid, Messages: []string{},
	}
	if producer.corporateIdentity != "" {
		row.CorporateIdentity = cli.OrNull(maskDocument(producer.corporateIdentity))
	}
	q, err := consentQuery(a, producer)
	if err != nil {
		if !isPersonType(producer.personType) {
			row.PersonType = "***" // an invalid value may be personal data
		}
		row.Text = batchFault(a, producer)
		return row, nil
	}
	consent, err := client.GetConsent(ctx, q)
	row.Outcome = outcomeDone
	var failure *apiclient.Error
	if errors.As(err, &failure) {
		row.Outcome = outcomeWord(apiCall{verb: "GET"}, failure.Answer, err)
		row.HTTPStatus, row.Messages, row.Text = cli.OrNull(failure.Status), cli.OrEmpty(stableKeys(failure.Messages)),
			err.Error()
		if !a.AsJSON {
			f := words.FailureOf(a.Voice(), failure)
			row.Text = f.What + ". " + f.Next
		}
		return row, err
	}
	row.HTTPStatus, row.Status, row.ConsentDate = cli.OrNull(http.StatusOK), cli.OrNull(consent.Status),
		cli.OrNull(consent.ConsentDate)
	return row, err
}

// batchFault returns what is wrong with a producer of the list. It uses the file's column names;
// with --json the text is English.
func batchFault(a *cli.App, producer consentFlags) string {
	v := a.Voice()
	if a.AsJSON {
		v = words.Machine
	}
	if _, wrong := readDocument(producer.identity); wrong != "" {
		return v.Text(wrong, "identity")
	}
	if !isPersonType(producer.personType) {
		return v.Text("api.not_one_of", "person_type", cli.Listed(apiclient.PersonTypes))
	}
	if _, wrong := readCNPJ(producer.corporateIdentity); wrong != "" {
		return v.Text(wrong, "corporate_identity")
	}
	return ""
}

// tidy returns the flags with those numbers that can be read in the form in which they are sent.
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

// refusesAll reports whether an error is about the key or the address, not about the producer:
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

// batchProgress shows a counter on a terminal; elsewhere it prints a line for each tenth.
func batchProgress(a *cli.App, done, total int) {
	switch {
	case cli.IsTerminal(a.Stderr):
		fmt.Fprint(a.Stderr, "\r"+a.Text("batch.count", done, total))
	case total >= cli.PlainTenths && done*cli.PlainTenths/total != (done-1)*cli.PlainTenths/total:
		a.Tell("batch.count", done, total)
	}
}
