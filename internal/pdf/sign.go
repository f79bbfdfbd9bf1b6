package pdf

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"software.sslmate.com/src/go-pkcs12"

	"github.com/safrasync/safrasync/internal/phrase"
)

// Signer signs documents with the certificate of an A1 file.
type Signer struct {
	key   crypto.Signer
	cert  *x509.Certificate
	chain []*x509.Certificate
}

// ReadSigner reads a PKCS#12 file. No error has anything of its content.
func ReadSigner(file []byte, password string) (*Signer, error) {
	key, cert, chain, err := pkcs12.DecodeChain(file, password)
	if err != nil {
		return nil, phrase.Errorf(
			"the certificate cannot be read: the file is no PKCS#12 (.pfx, .p12), or the password is wrong")
	}
	switch key := key.(type) {
	case *rsa.PrivateKey:
		return &Signer{key, cert, chain}, nil
	case *ecdsa.PrivateKey:
		return &Signer{key, cert, chain}, nil
	}
	return nil, phrase.Errorf("the key of the certificate is neither RSA nor ECDSA")
}

// Valid returns an error if the certificate is not valid at a time.
func (s *Signer) Valid(at time.Time) error {
	if at.Before(s.cert.NotBefore) || at.After(s.cert.NotAfter) {
		return phrase.Errorf("the certificate is valid from %s to %s only", s.cert.NotBefore.Format(time.DateOnly),
			s.cert.NotAfter.Format(time.DateOnly))
	}
	return nil
}

// Name returns whose certificate it is.
func (s *Signer) Name() string { return s.cert.Subject.CommonName }

// room is how many bytes a signature may have; a chain of four certificates has 8 KiB.
const room = 24 << 10

const (
	rangeHole    = "/ByteRange [0 0000000000 0000000000 0000000000]"
	contentsHead = "/Contents <"
)

// dictionary returns the object of a signature with holes for what is known only when the file is there.
func (s *Signer) dictionary(at time.Time) string {
	return "<< /Type /Sig /Filter /Adobe.PPKLite /SubFilter /ETSI.CAdES.detached /Name " + hexText(s.Name()) +
		" /M (" + pdfTime(at) + ") " + rangeHole + " " + contentsHead + strings.Repeat("0", 2*room) + "> >>"
}

// sign fills in the signature of a file.
func (s *Signer) sign(file []byte) ([]byte, error) {
	at := bytes.Index(file, []byte(rangeHole))
	from := at + bytes.Index(file[at:], []byte(contentsHead)) + len(contentsHead) - 1 // its bracket
	to := from + 2*room + 2
	copy(file[at:], fmt.Sprintf("/ByteRange [0 %010d %010d %010d]", from, to, len(file)-to))
	h := sha256.New()
	h.Write(file[:from])
	h.Write(file[to:])
	signature, err := s.cms(h.Sum(nil))
	if err != nil {
		return nil, err
	}
	if len(signature) > room {
		return nil, phrase.Errorf("the chain of the certificate is too long")
	}
	hex.Encode(file[from+1:], signature)
	return file, nil
}

var (
	oidData          = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 1}
	oidSignedData    = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 2}
	oidContentType   = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 3}
	oidDigest        = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 4}
	oidSigningCertV2 = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 47}
	oidSHA256        = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 1}
	oidRSA           = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 1}
	oidECDSA         = asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 2}
)

// The structures of RFC 5652, as far as one signature of a detached content has them.
type (
	contentInfo struct {
		Type    asn1.ObjectIdentifier
		Content asn1.RawValue
	}
	signedData struct {
		Version      int
		Digests      []pkix.AlgorithmIdentifier `asn1:"set"`
		Content      struct{ Type asn1.ObjectIdentifier }
		Certificates asn1.RawValue
		Signers      []signerInfo `asn1:"set"`
	}
	signerInfo struct {
		Version   int
		Serial    issuerAndSerial
		Digest    pkix.AlgorithmIdentifier
		Signed    asn1.RawValue
		Algorithm pkix.AlgorithmIdentifier
		Signature []byte
	}
	issuerAndSerial struct {
		Issuer asn1.RawValue
		Serial asn1.RawValue
	}
	attribute struct {
		Type   asn1.ObjectIdentifier
		Values asn1.RawValue
	}
	signingCertificateV2 struct{ Certs []essCertID }
	essCertID            struct{ Hash []byte } // SHA-256 is the default of its algorithm
)

// marshal is for structures of our own, which can always be written.
func marshal(v any, params string) []byte {
	out, err := asn1.MarshalWithParams(v, params)
	if err != nil {
		panic(err)
	}
	return out
}

func set(content []byte) asn1.RawValue {
	return asn1.RawValue{Class: asn1.ClassUniversal, Tag: asn1.TagSet, IsCompound: true, Bytes: content}
}

func tagged(tag int, content []byte) asn1.RawValue {
	return asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: tag, IsCompound: true, Bytes: content}
}

// signedAttributes returns what is signed: the digest of the file, which certificate signs it, and those
// of its chain. PAdES keeps the time of the signature in its dictionary.
func (s *Signer) signedAttributes(digest []byte) []byte {
	var certs []essCertID
	for _, c := range append([]*x509.Certificate{s.cert}, s.chain...) {
		sum := sha256.Sum256(c.Raw)
		certs = append(certs, essCertID{sum[:]})
	}
	attributes := []attribute{
		{oidContentType, set(marshal(oidData, ""))},
		{oidDigest, set(marshal(digest, ""))},
		{oidSigningCertV2, set(marshal(signingCertificateV2{certs}, ""))},
	}
	return marshal(attributes, "set") // sorted, as DER wants it
}

// cms returns the signature of a digest as a structure of CMS.
func (s *Signer) cms(digest []byte) ([]byte, error) {
	attributes := s.signedAttributes(digest)
	sum := sha256.Sum256(attributes)
	signature, err := s.key.Sign(rand.Reader, sum[:], crypto.SHA256)
	if err != nil {
		return nil, phrase.Errorf("the certificate cannot sign: %w", err)
	}
	algorithm := pkix.AlgorithmIdentifier{Algorithm: oidRSA, Parameters: asn1.NullRawValue}
	if _, ok := s.key.(*ecdsa.PrivateKey); ok {
		algorithm = pkix.AlgorithmIdentifier{Algorithm: oidECDSA}
	}
	var content asn1.RawValue
	if _, err := asn1.Unmarshal(attributes, &content); err != nil {
		return nil, err
	}
	certificates := bytes.Clone(s.cert.Raw)
	for _, c := range s.chain {
		certificates = append(certificates, c.Raw...)
	}
	sha := pkix.AlgorithmIdentifier{Algorithm: oidSHA256}
	data := signedData{
		Version: 1, Digests: []pkix.AlgorithmIdentifier{sha}, Certificates: tagged(0, certificates),
		Signers: []signerInfo{{
			Version: 1, Digest: sha, Signed: tagged(0, content.Bytes), Algorithm: algorithm, Signature: signature,
			Serial: issuerAndSerial{
				asn1.RawValue{FullBytes: s.cert.RawIssuer}, asn1.RawValue{FullBytes: marshal(s.cert.SerialNumber, "")},
			},
		}},
	}
	data.Content.Type = oidData
	return marshal(contentInfo{oidSignedData, tagged(0, marshal(data, ""))}, ""), nil
}
