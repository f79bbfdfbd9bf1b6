package maintenance

import (
	"crypto/tls"
	"errors"
	"io/fs"
	"net"
	"time"

	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/internal/phrase"
)

// expiresSoon is how long before its end a certificate is named.
const expiresSoon = 21 * 24 * time.Hour

func (c *checker) certificate(place, address, cert, key string) {
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		if wrong, ok := errors.AsType[*fs.PathError](err); ok {
			err = phrase.Errorf("%s: %w", wrong.Path, config.PlainReason(wrong))
		}
		c.fail("certificate", "both files are PEM, belong together, and the service's user can read both (chgrp safrasync; chmod 640; for the key 600, owned by safrasync)", "%s: certificate and key cannot be used: %v", place, err)
		return
	}
	dialer := &net.Dialer{Timeout: 2 * time.Second}
	// Only whether it is the same one is asked. Nobody answers where no service runs.
	if conn, err := tls.DialWithDialer(dialer, "tcp", address, &tls.Config{InsecureSkipVerify: true}); err == nil {
		served := conn.ConnectionState().PeerCertificates[0]
		_ = conn.Close() // it has served
		if !served.Equal(pair.Leaf) {
			c.warn("certificate", "a renewed certificate is read within ten seconds; if it stays so, see whether cert_file and key_file are a pair, and who else uses that address", "%s: the service still serves another certificate, which is valid until %s", place,
				c.voice().Moment(served.NotAfter))
		}
	}
	end := pair.Leaf.NotAfter
	until := c.voice().Moment(end)
	switch left := end.Sub(office.Now()); {
	case left < 0:
		c.fail("certificate", "renew the certificate; the service reads the new one within ten seconds", "%s: expired on %s", place, until)
	case left < expiresSoon:
		c.warn("certificate", "renew the certificate; the service reads the new one within ten seconds", "%s: expires on %s", place, until)
	default:
		c.pass("certificate", "%s: usable, valid until %s", place, until)
	}
}
