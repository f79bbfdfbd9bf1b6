package report

import (
	"context"
	"os"
	"time"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/trade"
)

// verifyJSON is the output of `report --verify --json`.
type verifyJSON struct {
	File      string         `json:"file"`
	OK        bool           `json:"ok"` // as it was written
	SHA256    string         `json:"sha256"`
	Audit     *int64         `json:"audit"`   // the record of the file; null: this ledger knows no such file
	Closing   *string        `json:"closing"` // that it is a copy of
	Signature *signatureJSON `json:"signature"`
}

type signatureJSON struct {
	OK      bool       `json:"ok"`
	Who     string     `json:"who"`
	At      *time.Time `json:"at"`
	From    *time.Time `json:"valid_from"`
	To      *time.Time `json:"valid_to"`
	Trusted bool       `json:"trusted"` // its chain ends at an authority that this host knows
}

// verifyPDF says whether a PDF is as it was written: by its hash in the audit, by the hash of its closing,
// and by its signature.
func verifyPDF(ctx context.Context, a *cli.App, path string) error {
	file, err := os.ReadFile(path)
	if err != nil {
		return phrase.Errorf("%s: %s", path, config.PlainReason(err))
	}
	o, err := a.Office(ctx, cli.AsItIs, cli.NoERP)
	if err != nil {
		return err
	}
	p, err := o.VerifyPDF(ctx, file)
	if err != nil {
		return phrase.Errorf("%s: %w", path, err)
	}
	if a.AsJSON {
		err = a.PrintJSON(verifiedOf(path, p))
	} else {
		tellProof(a, path, p)
	}
	if err == nil && !p.Proven() {
		return &cli.ExitError{Code: cli.ExitFailed}
	}
	return err
}

func verifiedOf(path string, p office.Proof) verifyJSON {
	out := verifyJSON{File: path, OK: p.Proven(), SHA256: p.SHA256}
	if p.Export != nil {
		out.Audit = &p.Export.Seq
	}
	if p.Closing != nil {
		out.Closing = &p.Closing.ID
	}
	if p.Signed {
		out.Signature = &signatureJSON{
			OK: p.Altered == nil, Who: p.Who, At: trade.OrNull(p.At), From: trade.OrNull(p.From),
			To:      trade.OrNull(p.To),
			Trusted: p.Altered == nil && p.Untrusted == nil,
		}
	}
	return out
}

// tellProof prints what is known of a PDF, one line each.
func tellProof(a *cli.App, path string, p office.Proof) {
	v := a.Voice()
	if p.Export != nil {
		a.Show("verify.file", path, v.Moment(p.Export.At), words.Printable(p.Export.Who), p.Export.Seq)
	} else {
		a.Show("verify.no_file", path, p.SHA256)
	}
	switch {
	case p.Closing == nil:
		a.Show("verify.no_closing")
	case p.Wrong:
		a.Show("verify.other_closing", closingDay(a, p.Closing.Day), p.Closing.ID)
	default:
		a.Show("verify.closing", closingDay(a, p.Closing.Day), p.Closing.ID, p.Closing.Hash)
	}
	switch {
	case !p.Signed:
		a.Show("verify.unsigned")
		return
	case p.Altered != nil:
		a.Show("verify.altered", p.Altered)
		return
	}
	a.Show("verify.signature", words.Printable(p.Who), v.Moment(p.At), v.Moment(p.From), v.Moment(p.To))
	if p.Untrusted != nil {
		a.Show("verify.untrusted")
	} else {
		a.Show("verify.trusted")
	}
}
