package erptest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/hex"
	"io"
	"math/big"
	"net"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/safrasync/safrasync/internal/must"
)

// TDS is the beginning of a server that speaks the protocol of SQL Server: it agrees on TLS, and
// answers the login and the first statement with prepared bytes. It shows what the driver makes of
// a server's TLS and of the end of a connection; it knows no SQL.
type TDS struct {
	// Encryption is the answer to the client's wish: one of the constants below.
	Encryption byte
	// TLS is the server's side of the handshake; nil: the connection ends in place of it.
	TLS *tls.Config
	// Answers are sent for the login and for each message after it. The connection ends after the
	// last one.
	Answers [][]byte
	// Asked, in place of Answers, returns the answer to a statement on any connection, in any order;
	// nil is one without rows. Every login succeeds, and the client ends its connections.
	Asked func(statement string) []byte
}

// What a server answers to a client about TLS.
const (
	TDSWithoutTLS byte = 2 // it has none
	TDSNeedsTLS   byte = 3 // it accepts nothing else
)

// The types of packets that the server reads or writes.
const (
	tdsStatement   = 1
	tdsReply       = 4
	tdsAttention   = 6
	tdsTransaction = 14
	tdsLogin       = 16
	tdsPrelogin    = 18
)

// TDSLoggedIn is the answer to a login that succeeds.
func TDSLoggedIn() []byte {
	name := tdsShort("SQL")
	ack := append([]byte{1, 0x74, 0, 0, 4}, name...)
	ack = append(ack, 16, 0, 0, 0)
	return append(append([]byte{0xAD, byte(len(ack)), 0}, ack...), tdsDone(0)...)
}

// TDSError is an answer that is an error with this number.
func TDSError(number uint32, message string) []byte {
	text := tdsText(message)
	body := binary.LittleEndian.AppendUint32(nil, number)
	body = append(body, 1, 14)
	body = binary.LittleEndian.AppendUint16(body, uint16(len(text)/2))
	body = append(body, text...)
	body = append(body, 0, 0, 1, 0, 0, 0) // no names of server and procedure; line 1
	out := binary.LittleEndian.AppendUint16([]byte{0xAA}, uint16(len(body)))
	return append(append(out, body...), tdsDone(2)...)
}

// TDSRow is an answer that is one row of texts. A row whose first text is empty is left out.
func TDSRow(values ...string) []byte {
	out := []byte{0x81, byte(len(values)), 0}
	for range values {
		out = append(out, 0, 0, 0, 0, 0, 0, 0xE7, 0x40, 0x1F, 0, 0, 0, 0, 0) // NVARCHAR(4000)
		out = append(out, tdsShort("v")...)
	}
	if values[0] == "" {
		return append(out, tdsDone(0)...)
	}
	out = append(out, 0xD1)
	for _, v := range values {
		text := tdsText(v)
		out = append(binary.LittleEndian.AppendUint16(out, uint16(len(text))), text...)
	}
	return append(out, tdsDone(0)...)
}

// TDSHalfARow is the beginning of a result with a column of text, whose row does not end.
func TDSHalfARow() []byte {
	columns := []byte{0x81, 1, 0, 0, 0, 0, 0, 0, 0, 0xE7, 100, 0, 0, 0, 0, 0, 0}
	columns = append(columns, tdsShort("k")...)
	return append(columns, 0xD1, 50, 0, 'a', 0)
}

func tdsDone(status byte) []byte { return []byte{0xFD, status, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0} }

func tdsText(s string) (out []byte) {
	for _, unit := range utf16.Encode([]rune(s)) {
		out = binary.LittleEndian.AppendUint16(out, unit)
	}
	return out
}

func tdsShort(s string) []byte { return append([]byte{byte(len(s))}, tdsText(s)...) }

// Listen serves every connection to an address, and returns it.
func (s TDS) Listen(t testing.TB) string {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { must.Do(t, l.Close()) })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_ = s.serve(c) // what the client makes of its end is what the test asks
				_ = c.Close()
			}()
		}
	}()
	return l.Addr().String()
}

func (s TDS) serve(c net.Conn) error {
	if _, err := readTDS(c, io.Discard); err != nil {
		return err
	}
	// the version, and the answer about TLS
	hello := []byte{0, 0, 11, 0, 6, 1, 0, 17, 0, 1, 0xFF, 16, 0, 0, 0, 0, 0, s.Encryption}
	if err := writeTDS(c, tdsReply, hello); err != nil {
		return err
	}
	if s.Encryption == TDSNeedsTLS {
		if s.TLS == nil {
			return nil
		}
		wrapped := &tdsHandshake{Conn: c}
		secure := tls.Server(wrapped, s.TLS)
		if err := secure.Handshake(); err != nil {
			return err
		}
		wrapped.done = true
		c = secure
	}
	for _, answer := range s.Answers {
		if _, err := readTDS(c, io.Discard); err != nil {
			return err
		}
		if err := writeTDS(c, tdsReply, answer); err != nil {
			return err
		}
	}
	for s.Asked != nil {
		var message bytes.Buffer
		kind, err := readTDS(c, &message)
		if err != nil {
			return err
		}
		if err := writeTDS(c, tdsReply, s.answer(kind, message.Bytes())); err != nil {
			return err
		}
	}
	return nil
}

func (s TDS) answer(kind byte, message []byte) []byte {
	const begin = 5 // the rest are commit and rollback
	body := message
	if kind == tdsStatement || kind == tdsTransaction {
		body = message[min(int(binary.LittleEndian.Uint32(message)), len(message)):] // after the headers
	}
	switch {
	case kind == tdsLogin:
		return TDSLoggedIn()
	case kind == tdsAttention:
		return tdsDone(0x20)
	case kind == tdsTransaction && body[0] == begin:
		return append([]byte{0xE3, 11, 0, 8, 8, 1, 2, 3, 4, 5, 6, 7, 8, 0}, tdsDone(0)...)
	case kind == tdsStatement:
		units := make([]uint16, len(body)/2)
		for i := range units {
			units[i] = binary.LittleEndian.Uint16(body[2*i:])
		}
		if answer := s.Asked(string(utf16.Decode(units))); answer != nil {
			return answer
		}
	}
	return tdsDone(0)
}

// readTDS copies the content of one message, and returns its type.
func readTDS(c io.Reader, to io.Writer) (kind byte, err error) {
	for {
		var header [8]byte
		if _, err := io.ReadFull(c, header[:]); err != nil {
			return 0, err
		}
		if _, err := io.CopyN(to, c, int64(binary.BigEndian.Uint16(header[2:]))-8); err != nil {
			return 0, err
		}
		if header[1]&1 != 0 {
			return header[0], nil
		}
	}
}

func writeTDS(c io.Writer, kind byte, content []byte) error {
	header := []byte{kind, 1, 0, 0, 0, 0, 1, 0}
	binary.BigEndian.PutUint16(header[2:], uint16(len(content)+8))
	_, err := c.Write(append(header, content...))
	return err
}

// tdsHandshake carries the handshake of TLS in packets of the protocol.
type tdsHandshake struct {
	net.Conn
	done bool
	in   bytes.Buffer
}

func (h *tdsHandshake) Read(p []byte) (int, error) {
	if h.in.Len() == 0 {
		if h.done {
			return h.Conn.Read(p)
		}
		if _, err := readTDS(h.Conn, &h.in); err != nil {
			return 0, err
		}
	}
	return h.in.Read(p)
}

func (h *tdsHandshake) Write(p []byte) (int, error) {
	if h.done {
		return h.Conn.Write(p)
	}
	return len(p), writeTDS(h.Conn, tdsPrelogin, p)
}

// ServerTLS returns a server's side of TLS with a certificate of its own making, for a name. If
// negative is set, its serial number is below zero, as about half of those are that SQL Server
// makes for itself.
func ServerTLS(t testing.TB, name string, negative bool) *tls.Config {
	t.Helper()
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	serial := must.Get(hex.DecodeString("7edcba9876543210"))(t)
	der := must.Get(x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: new(big.Int).SetBytes(serial), DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}, &x509.Certificate{}, key.Public(), key))(t)
	if negative { // the library refuses to make such a certificate
		der[bytes.Index(der, serial)] = 0xFE
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
}
