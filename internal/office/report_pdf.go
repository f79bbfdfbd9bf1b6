package office

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"

	"github.com/safrasync/safrasync/internal/pdf"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/sync/reconcile/paper"
	"github.com/safrasync/safrasync/trade"
)

// pdf returns a report as PDF/A, signed if the configuration names a certificate.
func (o *Office) pdf(s *reconcile.Snapshot, options reconcile.Options) ([]byte, error) {
	signer, err := o.Signer()
	if err != nil {
		return nil, err
	}
	return paper.PDF(s, options, signer, o.version, o.now())
}

// Signer returns the certificate with which reports are signed; nil if none is configured.
func (o *Office) Signer() (*pdf.Signer, error) {
	c := o.conf.Report
	if c.Certificate == "" {
		return nil, nil
	}
	file, err := os.ReadFile(c.Certificate)
	if err != nil {
		return nil, phrase.Errorf("report.certificate: %w", err)
	}
	signer, err := pdf.ReadSigner(file, c.Password.Reveal())
	if err == nil {
		err = signer.Valid(o.now())
	}
	if err != nil {
		return nil, phrase.Errorf("report.certificate: %w", err)
	}
	return signer, nil
}

// Proof is what is known of a PDF that this program wrote.
type Proof struct {
	SHA256  string
	Export  *trade.AuditRecord // of the file; nil: no file that this ledger knows has this content
	Closing *trade.Closing     // that it is a copy of; nil: of none that this ledger has
	Wrong   bool               // it names a closing of this ledger with another hash
	pdf.Verified
	Altered error // why the signature does not fit
}

// Proven reports whether a file is as it was written.
func (p Proof) Proven() bool { return p.Export != nil && !p.Wrong && p.Altered == nil }

// VerifyPDF compares a PDF with the ledger, and with its own signature. The error is for a file that is no
// PDF, or a ledger that cannot be read.
func (o *Office) VerifyPDF(ctx context.Context, file []byte) (out Proof, err error) {
	if !pdf.Is(file) {
		return out, phrase.Errorf("is no PDF")
	}
	roots, err := RootsOf(o.conf.Report.CAFile)
	if err != nil {
		return out, err
	}
	out.Verified, out.Altered = pdf.Verify(file, roots)
	sum := sha256.Sum256(file)
	out.SHA256 = hex.EncodeToString(sum[:])
	if id, ok := strings.CutPrefix(out.Identifier, "safrasync:closing:"); ok {
		id, hash, _ := strings.Cut(id, ":")
		list, err := o.Closings(ctx, trade.Date{})
		if err != nil {
			return out, err
		}
		for _, c := range list {
			if c.ID == id {
				out.Closing, out.Wrong = &c, c.Hash != hash
			}
		}
	}
	out.Export, err = o.exportOf(ctx, out.SHA256)
	return out, err
}

// exportsLooked is how many records of the audit are read at a time.
const exportsLooked = 500

// exportOf returns the record of the file with a hash; nil if there is none.
func (o *Office) exportOf(ctx context.Context, hash string) (*trade.AuditRecord, error) {
	q := trade.AuditQuery{Act: reconcile.ActExport, Limit: exportsLooked}
	for {
		page, err := o.store.AuditPage(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, r := range page.Records {
			var detail reconcile.Export
			if json.Unmarshal([]byte(r.Detail), &detail) == nil && detail.SHA256 == hash {
				return &r, nil
			}
		}
		if page.Next == 0 {
			return nil, nil
		}
		q.Before = page.Next
	}
}
