package pdf

import (
	"bytes"
	"compress/zlib"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"software.sslmate.com/src/go-pkcs12"

	"github.com/safrasync/safrasync/internal/must"
)

var made = time.Date(2026, 11, 1, 9, 30, 0, 0, time.UTC)

const words = "Conciliação: ação, São João, 1.500,50 kg − R$ 10,00 ≈ “ç” → ő"

func sample() *Document {
	d := New(Info{
		Title: "Fechamento (2026) & cia", Author: "João \\ <b>", Subject: "ação",
		Producer: "safrasync 1.0.0", Identifier: "closing <1>", Lang: "pt-BR",
		Created: made,
	}, 842, 595)
	for page := range 2 {
		d.Page()
		d.Text(page, 40, 60, Style{Size: 12, Bold: page == 1}, words)
		d.Area(page, 40, 80, 200, 0.5, 0.4)
	}
	return d
}

// run runs a program on a file, and returns what it prints.
func run(t *testing.T, file []byte, name string, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.pdf")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	for i, arg := range args {
		args[i] = strings.ReplaceAll(arg, "FILE", path)
	}
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// authority returns a certificate, as a cooperative has it, and the authority that signed it.
func authority(t *testing.T, key crypto.Signer, until time.Time) (file []byte, roots *x509.CertPool) {
	t.Helper()
	caKey := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	root := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "AC de teste"}, NotBefore: made.AddDate(-1, 0, 0),
		NotAfter: made.AddDate(9, 0, 0), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	rootDER := must.Get(x509.CreateCertificate(rand.Reader, root, root, caKey.Public(), caKey))(t)
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(0x0807060504030201),
		Subject:      pkix.Name{CommonName: "COOPERATIVA AÇÃO:11222333000181"}, NotBefore: made.AddDate(0, -1, 0),
		NotAfter: until, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageContentCommitment,
	}
	leafDER := must.Get(x509.CreateCertificate(rand.Reader, leaf, root, key.Public(), caKey))(t)
	ca, cert := must.Get(x509.ParseCertificate(rootDER))(t), must.Get(x509.ParseCertificate(leafDER))(t)
	roots = x509.NewCertPool()
	roots.AddCert(ca)
	return must.Get(pkcs12.LegacyDES.Encode(key, cert, []*x509.Certificate{ca}, "senha"))(t), roots
}

// A reader finds each letter, and Debian's PDF tools nothing wrong.
func TestAReaderFindsEachLetter(t *testing.T) {
	t.Parallel()
	file := must.Get(sample().Bytes(nil))(t)
	text := run(t, file, "pdftotext", "FILE", "-")
	if want := strings.Replace(words, "ő", "ő", 1); strings.Count(text, want) != 2 {
		t.Errorf("the text is %q", text)
	}
	if out := run(t, file, "qpdf", "--check", "FILE"); !strings.Contains(out, "No syntax or stream encoding errors") {
		t.Errorf("qpdf says %s", out)
	}
	fonts := run(t, file, "pdffonts", "FILE")
	if strings.Count(fonts, "CID TrueType") != 2 || strings.Count(fonts, "yes no  yes") != 2 {
		t.Errorf("the fonts are\n%s", fonts)
	}
	info := run(t, file, "pdfinfo", "FILE")
	for _, want := range []string{
		"Fechamento (2026) & cia", "João \\ <b>", "JavaScript:      no",
		"Encrypted:       no", "Pages:           2",
	} {
		if !strings.Contains(info, want) {
			t.Errorf("no %q in\n%s", want, info)
		}
	}
	if again := must.Get(sample().Bytes(nil))(t); !bytes.Equal(file, again) {
		t.Error("the same document is another file")
	}
}

// What ISO 19005-2 asks for and forbids at conformance B, as far as this package could break it.
func TestTheFileIsPDFA2B(t *testing.T) {
	t.Parallel()
	key := must.Get(rsa.GenerateKey(rand.Reader, 2048))(t)
	a1, _ := authority(t, key, made.AddDate(1, 0, 0))
	for name, signer := range map[string]*Signer{"plain": nil, "signed": must.Get(ReadSigner(a1, "senha"))(t)} {
		file := must.Get(sample().Bytes(signer))(t)
		text := string(file)
		want := func(form string) []string {
			t.Helper()
			m := regexp.MustCompile(form).FindStringSubmatch(text)
			if m == nil {
				t.Fatalf("%s: nothing is like %s", name, form)
			}
			return m
		}
		want(`^%PDF-1\.7\n%[\x{80}-\x{10FFFF}\x80-\xff]{4}\n`)  // 6.1.2
		id := want(`/ID \[<([0-9A-F]{32})> <([0-9A-F]{32})>\]`) // 6.1.3
		if id[1] != id[2] {
			t.Errorf("%s: the identifiers of a new file are %s and %s", name, id[1], id[2])
		}
		if !strings.HasSuffix(text, "%%EOF\n") || strings.Count(text, "%%EOF") != 1 {
			t.Errorf("%s: something stands behind the end", name)
		}
		want(`/OutputIntents \[<< /Type /OutputIntent /S /GTS_PDFA1 /OutputConditionIdentifier \([^)]+\)` +
			` [^>]*/DestOutputProfile \d+ 0 R >>\]`) // 6.2.3
		metadata := want(`/Metadata (\d+) 0 R`)
		want(`(?s)\n` + metadata[1] + ` 0 obj\n<< /Length \d+ /Type /Metadata /Subtype /XML >>\nstream\n` +
			`<\?xpacket begin="\x{FEFF}"`) // 6.6.2: no filter
		want(`<pdfaid:part>2</pdfaid:part><pdfaid:conformance>B</pdfaid:conformance>`)
		want(regexp.QuoteMeta(`<rdf:li xml:lang="x-default">Fechamento (2026) &amp; cia</rdf:li>`)) // as in the Info
		want(`<xmp:CreateDate>2026-11-01T09:30:00Z</xmp:CreateDate><xmp:ModifyDate>2026-11-01T09:30:00Z</xmp:ModifyDate>`)
		want(`/CreationDate \(D:20261101093000\+00'00'\) /ModDate \(D:20261101093000\+00'00'\)`)
		if n := strings.Count(text, "/CIDToGIDMap /Identity"); n != 2 || strings.Count(text, "/FontFile2") != 2 {
			t.Errorf("%s: %d fonts are embedded", name, n)
		}
		outline := regexp.MustCompile(`(?s)stream\n.*?\nendstream`).ReplaceAllString(text, "")
		for _, never := range []string{
			"/Encrypt", "/JavaScript", "/JS", "/Launch", "/AA", "/OpenAction", "/Names", "/SMask", "/ca ",
			"/CA ", "/BM", "/Group", "/LZW", "/F (",
			"/EmbeddedFiles", "/XFA", "/NeedAppearances", "/TR", "/Type1",
		} {
			if strings.Contains(outline, never) {
				t.Errorf("%s: has %s", name, never)
			}
		}
		for i, at := range regexp.MustCompile(`(?m)^(\d{10}) 00000 n $`).FindAllStringSubmatch(text, -1) {
			offset, _ := strconv.Atoi(at[1])
			if !strings.HasPrefix(text[offset:], fmt.Sprintf("%d 0 obj\n", i+1)) {
				t.Errorf("%s: object %d is not at %d", name, i+1, offset)
			}
		}
		for _, m := range regexp.MustCompile(`(?s)/Length (\d+)[^\n]*\nstream\n`).FindAllStringSubmatchIndex(text, -1) {
			length, _ := strconv.Atoi(text[m[2]:m[3]])
			if !strings.HasPrefix(text[m[1]+length:], "\nendstream") {
				t.Errorf("%s: a stream is not %d bytes long", name, length)
			}
		}
		for _, content := range contents(t, file) {
			nothing := regexp.MustCompile(`<(?:[0-9A-F]{4})*0000(?:[0-9A-F]{4})*>`)
			if nothing.MatchString(aligned(content)) {
				t.Errorf("%s: shows the glyph of nothing (6.2.11.8)", name)
			}
		}
		if signer != nil {
			want(`/FT /Sig /T \(Signature\) /F 132 /Rect \[0 0 0 0\]`) // 6.3: printed, and without an appearance
			want(`/SubFilter /ETSI\.CAdES\.detached`)
		}
	}
}

// aligned leaves of a content what it shows.
func aligned(content string) string {
	return strings.Join(regexp.MustCompile(`<[0-9A-F]+> Tj`).FindAllString(content, -1), "\n")
}

// contents returns what stands on the pages.
func contents(t *testing.T, file []byte) (out []string) {
	t.Helper()
	for _, m := range regexp.MustCompile(`(?s)/FlateDecode >>\nstream\n(.*?)\nendstream`).FindAllSubmatch(file, -1) {
		r, err := zlib.NewReader(bytes.NewReader(m[1]))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(must.Get(io.ReadAll(r))(t)))
	}
	return out
}

// A signature is found right by another program and by ours, which finds each byte that was changed.
func TestASignatureIsVerifiedAndEachChangedByteIsFound(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]crypto.Signer{
		"RSA":   must.Get(rsa.GenerateKey(rand.Reader, 2048))(t),
		"ECDSA": must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t),
	} {
		a1, roots := authority(t, key, made.AddDate(1, 0, 0))
		signer := must.Get(ReadSigner(a1, "senha"))(t)
		file := must.Get(sample().Bytes(signer))(t)
		if out := run(t, file, "pdfsig", "-nocert", "FILE"); !strings.Contains(out,
			"Signature Validation: Signature is Valid.") ||
			!strings.Contains(out, "Total document signed") || !strings.Contains(out, "ETSI.CAdES.detached") {
			t.Errorf("%s: pdfsig says\n%s", name, out)
		}
		got, err := Verify(file, roots)
		if err != nil || !got.Signed || got.Who != "COOPERATIVA AÇÃO:11222333000181" || !got.At.Equal(made) ||
			got.Untrusted != nil || got.Identifier != "closing <1>" {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if got, err := Verify(file, x509.NewCertPool()); err != nil || got.Untrusted == nil {
			t.Errorf("%s: an authority that nobody knows is trusted: %v", name, err)
		}
		for i := 0; i < len(file); i += 1 + len(file)/400 {
			changed := bytes.Clone(file)
			changed[i] ^= 1
			if v, err := Verify(changed, roots); err == nil && v.Signed {
				t.Errorf("%s: byte %d was changed, and nothing is found", name, i)
			}
		}
		if _, err := Verify(append(bytes.Clone(file), "more"...), roots); !errors.Is(err, ErrAltered) {
			t.Errorf("%s: something was added: %v", name, err)
		}
		if _, err := Verify(file[:len(file)-9], roots); !errors.Is(err, ErrAltered) {
			t.Errorf("%s: something was cut off: %v", name, err)
		}
	}
}

// A certificate that is not valid, a wrong password, and a file that is none are refused.
func TestACertificateThatCannotSignIsRefused(t *testing.T) {
	t.Parallel()
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	a1, _ := authority(t, key, made.AddDate(0, 0, -1))
	if _, err := ReadSigner(a1, "outra"); err == nil || strings.Contains(err.Error(), "outra") {
		t.Errorf("a wrong password: %v", err)
	}
	if _, err := ReadSigner([]byte("x"), "senha"); err == nil {
		t.Error("a file that is no certificate is read")
	}
	signer := must.Get(ReadSigner(a1, "senha"))(t)
	if err := signer.Valid(made); err == nil || !strings.Contains(err.Error(), "2026-10-31") {
		t.Errorf("it ended yesterday: %v", err)
	}
	if _, err := Verify([]byte("PK"), nil); err == nil {
		t.Error("a file that is no PDF is verified")
	}
	if v, err := Verify(must.Get(sample().Bytes(nil))(t), nil); err != nil || v.Signed {
		t.Errorf("an unsigned file: %+v %v", v, err)
	}
}
