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

// Login is what a registration needs besides its event: a path that nobody can guess and
// credentials. They are in memory and in flight only; what is kept are their hashes.
type Login struct {
	Path string // with its slash
	User string
	Word string // the password
}

// NewLogin makes a login from the system's randomness.
func NewLogin() Login {
	return Login{Path: "/" + random(), User: "safrasync", Word: random()}
}

func random() string {
	b := make([]byte, secretBytes)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// Basic is user:password.
func (l Login) Basic() string { return l.User + ":" + l.Word }

// String tells nothing.
func (l Login) String() string { return "[secret]" }

// GoString tells nothing.
func (l Login) GoString() string { return "[secret]" }

// HashOf is how a path or a user:password is kept. What is random in them has 256 bits, so that a
// hash without salt or cost tells nothing.
func HashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// hook is a registration whose calls are taken.
type hook struct {
	trade.Webhook
	login [sha256.Size]byte
}

const (
	bookLasts = 15 * time.Second // after which registrations are read again
	bookMiss  = time.Second      // the same, after a path that is not among them
	bookRead  = 2 * time.Second  // for the reading itself
)

// book knows the registrations by the hashes of their paths: looking one up tells nothing of the
// path by its time.
type book struct {
	opts Options

	mu      sync.Mutex
	read    time.Time // when the last reading began
	byPath  map[string]hook
	reading chan struct{} // closed when the reading that is on its way ends; nil: none is
}

func newBook(opts Options) *book { return &book{opts: opts, byPath: map[string]hook{}} }

// find returns the registration of a path. One that another process has just made is found too; for
// that a path waits that is not known, and no other.
func (b *book) find(ctx context.Context, path, query string) (hook, bool) {
	at := strings.LastIndexByte(path, '/') // what stands before the secret is the public address's
	if len(path) > maxPathLength || query != "" || at < 0 {
		return hook{}, false
	}
	hash := HashOf(path[at:])
	for range 2 { // the reading that was waited for may have begun before the registration was made
		found, known, reading, own := b.look(ctx, hash)
		if known || reading == nil {
			return found, known
		}
		<-reading
		if own {
			break
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	found, ok := b.byPath[hash]
	return found, ok
}

// look returns what is known of a path, and the reading that is on its way, which is its own when
// it began it.
func (b *book) look(ctx context.Context, hash string) (found hook, known bool, reading <-chan struct{}, own bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	found, known = b.byPath[hash]
	now := b.opts.Now()
	if age := now.Sub(b.read); b.reading == nil && (age > bookLasts || age < 0 || !known && age > bookMiss) {
		b.refresh(ctx, now)
		own = true
	}
	return found, known, b.reading, own
}

// refresh begins to read the registrations, with the lock held; those that are known stay when they
// cannot be read.
func (b *book) refresh(ctx context.Context, now time.Time) {
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
		b.reading = nil
		if err == nil {
			b.byPath = hooksOf(list)
		}
	}()
}

func hooksOf(list []trade.Webhook) map[string]hook {
	out := make(map[string]hook, len(list))
	for _, w := range list {
		h := hook{Webhook: w}
		if n, err := hex.Decode(h.login[:], []byte(w.LoginHash)); err != nil || n != len(h.login) {
			continue
		}
		out[w.PathHash] = h
	}
	return out
}

// close waits for a reading that is on its way.
func (b *book) close() {
	b.mu.Lock()
	reading := b.reading
	b.mu.Unlock()
	if reading != nil {
		<-reading
	}
}
