package pdf

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"encoding/hex"
	"encoding/xml"
	"regexp"
	"strconv"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
)

// Verified is what a file proves of itself.
type Verified struct {
	Identifier string // Info.Identifier
	Signed     bool
	Who        string // of the certificate
	At         time.Time
	From, To   time.Time // when the certificate is valid
	// nil: its chain ends at an authority that this host knows, as of the signature
	Untrusted error
}

// ErrAltered means that a file is not as it was signed.
var ErrAltered = phrase.Errorf("the file was altered after it was signed, or the signature is damaged")

var (
	identifierForm = regexp.MustCompile(`<dc:identifier>([^<]*)</dc:identifier>`)
	rangeForm      = regexp.MustCompile(`/ByteRange \[0 (\d{10}) (\d{10}) (\d{10})\]`)
	timeForm       = regexp.MustCompile(`/M \(D:(\d{14})\+00'00'\)`)
)

// Is reports whether a file begins as a PDF does.
func Is(file []byte) bool { return bytes.HasPrefix(file, []byte("%PDF-")) }

// Verify looks whether a file of this package is as it was signed, and by whom. A file that is not signed
// proves nothing, which is no error. roots are the authorities that count; nil: those of this host.
func Verify(file []byte, roots *x509.CertPool) (Verified, error) {
	var out Verified
	if !Is(file) {
		return out, phrase.Errorf("is no PDF")
	}
	if m := identifierForm.FindSubmatch(file); m != nil {
		_ = xml.Unmarshal([]byte("<a>"+string(m[1])+"</a>"), &out.Identifier)
	}
	if !bytes.Contains(file, []byte("/ByteRange")) {
		return out, nil
	}
	out.Signed = true
	signature, digest, err := parts(file)
	if err != nil {
		return out, err
	}
	cert, chain, err := checked(signature, digest)
	if err != nil {
		return out, err
	}
	out.Who, out.From, out.To = cert.Subject.CommonName, cert.NotBefore, cert.NotAfter
	m := timeForm.FindSubmatch(file)
	if m == nil {
		return out, ErrAltered
	}
	out.At, err = time.Parse("20060102150405", string(m[1]))
	if err != nil {
		return out, ErrAltered
	}
	between := x509.NewCertPool()
	for _, c := range chain {
		between.AddCert(c)
	}
	_, out.Untrusted = cert.Verify(x509.VerifyOptions{
		Roots: roots, Intermediates: between, CurrentTime: out.At, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny},
	})
	return out, nil
}

// parts returns the signature of a file, and the digest of everything else. The signature must be the
// only hole.
func parts(file []byte) (signature, digest []byte, err error) {
	found := rangeForm.FindAllSubmatch(file, 2)
	if len(found) != 1 {
		return nil, nil, ErrAltered
	}
	var at [3]int
	for i := range at {
		at[i], err = strconv.Atoi(string(found[0][i+1]))
		if err != nil {
			return nil, nil, ErrAltered
		}
	}
	from, to := at[0], at[1]
	if from < len(contentsHead) || to != from+2*room+2 || to+at[2] != len(file) ||
		!bytes.HasSuffix(file[:from+1], []byte(contentsHead)) || file[to-1] != '>' {
		return nil, nil, ErrAltered
	}
	signature, err = hex.DecodeString(string(file[from+1 : to-1]))
	if err != nil {
		return nil, nil, ErrAltered
	}
	h := sha256.New()
	h.Write(file[:from])
	h.Write(file[to:])
	return signature, h.Sum(nil), nil
}

// checked verifies a signature of a digest, and returns the certificate that made it, with the others.
func checked(signature, digest []byte) (cert *x509.Certificate, chain []*x509.Certificate, err error) {
	var info contentInfo
	var data signedData
	rest, err := asn1.Unmarshal(signature, &info)
	if err == nil {
		_, err = asn1.Unmarshal(info.Content.Bytes, &data)
	}
	if err != nil || len(bytes.Trim(rest, "\x00")) > 0 || len(data.Signers) != 1 {
		return nil, nil, ErrAltered
	}
	chain, err = x509.ParseCertificates(data.Certificates.Bytes)
	if err != nil || len(chain) == 0 {
		return nil, nil, ErrAltered
	}
	cert, signer := chain[0], data.Signers[0]
	attributes := bytes.Clone(signer.Signed.FullBytes)
	if len(attributes) == 0 {
		return nil, nil, ErrAltered
	}
	attributes[0] = asn1.TagSet | 0x20
	if !bytes.Equal(attributes, (&Signer{cert: cert, chain: chain[1:]}).signedAttributes(digest)) {
		return nil, nil, ErrAltered
	}
	algorithm := x509.SHA256WithRSA
	if signer.Algorithm.Algorithm.Equal(oidECDSA) {
		algorithm = x509.ECDSAWithSHA256
	}
	if cert.CheckSignature(algorithm, attributes, signer.Signature) != nil {
		return nil, nil, ErrAltered
	}
	return cert, chain[1:], nil
}
