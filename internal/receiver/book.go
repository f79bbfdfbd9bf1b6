package receiver

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"sync"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// secretBytes is the strength of paths and passwords: 256 bits each.
const secretBytes = 32

// Login is the secret part of a registration: a path that nobody can guess, and credentials. They
// exist in memory and in requests only; only their hashes are stored.
type Login struct {
	Path string // with its leading slash
	User string
	Word string // the password
}

// NewLogin returns a random login.
func NewLogin() Login {
	return Login{Path: "/" + random(), User: "safrasync", Word: random()}
}

func random() string {
	b := make([]byte, secretBytes)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// Basic returns user:password.
func (l Login) Basic() string { return l.User + ":" + l.Word }

// String returns "[secret]".
func (l Login) String() string { return "[secret]" }

// GoString returns "[secret]".
func (l Login) GoString() string { return "[secret]" }

// HashOf returns the stored form of a path or of user:password. The random part has 256 bits, so a
// hash without salt or cost reveals nothing.
func HashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// hook is a registration whose events are accepted.
type hook struct {
	trade.Webhook
	login [sha256.Size]byte
}

const (
	bookLasts = 15 * time.Second // age at which registrations are read again
	bookMiss  = time.Second      // likewise, after an unknown path
	bookRead  = 2 * time.Second  // time limit of the reading itself
)

// registrations holds the registrations by the hashes of their paths, so that the time of a lookup reveals
// nothing about a path.
type registrations struct {
	opts Setup

	mu      sync.Mutex
	read    time.Time // when the last reading began
	known   bool      // the last reading succeeded
	byPath  map[string]hook
	reading chan struct{} // closed when the current reading ends; nil: there is none
}

func newBook(opts Setup) *registrations {
	return &registrations{opts: opts, byPath: map[string]hook{}}
}

// find returns the registration of a path. It also finds one that another process has just created:
// an unknown path waits for a new reading; a known one never waits. read is not set if an unknown
// path may be a registration's, because they could not be read.
func (b *registrations) find(ctx context.Context, path, query string) (found hook, known, read bool) {
	at := strings.LastIndexByte(path, '/') // before the secret comes the path of the public address
	if len(path) > maxPathLength || query != "" || at < 0 {
		return hook{}, false, true
	}
	hash := HashOf(path[at:])
	for range 2 { // the reading in progress may have begun before the registration was created
		found, known, reading, own := b.lookup(ctx, hash)
		if known {
			return found, true, true
		}
		if reading != nil {
			<-reading
		}
		if reading == nil || own {
			break
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	found, known = b.byPath[hash]
	return found, known, b.known
}

// lookup returns the registration of a path, if known, and the current reading. own is set if this
// call began the reading.
func (b *registrations) lookup(ctx context.Context,
	hash string,
) (found hook, known bool, reading <-chan struct{}, own bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	found, known = b.byPath[hash]
	now := b.opts.Now()
	if age := now.Sub(b.read); b.reading == nil && (age > bookLasts || age < 0 || !known && age > bookMiss) {
		// if they cannot be read, the known ones stay
		done := make(chan struct{})
		b.read, b.reading = now, done
		go func() {
			defer close(done)
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), bookRead)
			defer cancel()
			list, err := b.opts.Webhooks(ctx)
			if err != nil {
				b.opts.Fault("the registrations of webhooks cannot be read: those known before hold", err)
			}
			b.mu.Lock()
			defer b.mu.Unlock()
			b.reading, b.known = nil, err == nil
			if err == nil {
				out := make(map[string]hook, len(list))
				for _, w := range list {
					h := hook{Webhook: w}
					if n, err := hex.Decode(h.login[:], []byte(w.LoginHash)); err != nil || n != len(h.login) {
						continue
					}
					out[w.PathHash] = h
				}
				b.byPath = out
			}
		}()
		own = true
	}
	return found, known, b.reading, own
}

// close waits for the current reading.
func (b *registrations) close() {
	b.mu.Lock()
	reading := b.reading
	b.mu.Unlock()
	if reading != nil {
		<-reading
	}
}
