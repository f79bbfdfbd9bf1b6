package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/internal/phrase"
)

// Secret is a value that may contain a credential. Printed, logged or encoded in any way, it is
// [secret]; only Reveal returns it.
type Secret struct {
	value   string // resolved
	written string // as written in the file
}

// Reveal returns the value, for the one place that needs it.
func (s Secret) Reveal() string { return s.value }

// IsZero reports whether there is no value.
func (s Secret) IsZero() bool { return s.value == "" }

// String hides the value.
func (Secret) String() string { return SecretMask }

// GoString hides the value.
func (Secret) GoString() string { return SecretMask }

// Format hides the value from every verb of package fmt.
func (Secret) Format(w fmt.State, _ rune) { _, _ = io.WriteString(w, SecretMask) }

// MarshalText hides the value, also from JSON, YAML and XML.
func (Secret) MarshalText() ([]byte, error) { return []byte(SecretMask), nil }

// LogValue hides the value from log/slog.
func (Secret) LogValue() slog.Value { return slog.StringValue(SecretMask) }

// shown returns what `config show` prints: a reference, or a value that check has found to contain
// no password.
func (s Secret) shown() string { return s.written }

// Decode reads a secret and resolves its references.
func (s *Secret) Decode(d *Decoder, e Entry) {
	value, ok := d.word(e)
	if !ok {
		return
	}
	written, _ := ScalarText(e.Value)
	*s = Secret{value: value, written: written}
}

// secretResolver replaces ${env:NAME} and ${file:PATH}.
type secretResolver struct {
	env  func(string) (string, bool)
	base string // path of the configuration; relative files are beside it

	placeholder bool // an unresolved reference is no fault: nothing will connect
	// stale collects the files that have another text by now than the copy that the service manager
	// made of them at the start of the service; nil: nobody asks.
	stale *[]string
}

// noteStale notes a file whose copy by the service manager is no longer its text. What this process
// cannot read it cannot compare.
func (r secretResolver) noteStale(name, path, text string) {
	beside := filepath.Join(filepath.Dir(r.base), name)
	if r.stale == nil || filepath.IsAbs(name) || path == beside || slices.Contains(*r.stale, name) {
		return
	}
	now, err := os.ReadFile(beside)
	if err == nil && strings.TrimRight(string(now), "\r\n") != text {
		*r.stale = append(*r.stale, name)
	}
}

// EnvironmentOrFile matches a text that is exactly one reference.
var EnvironmentOrFile = regexp.MustCompile(`^\$\{(env|file):[^${}]+\}$`)

// reference matches each ${…}; text of this form that is no valid reference is refused.
var reference = regexp.MustCompile(`\$\{([^${}]*)\}?`)

// resolve returns the text with its references replaced. Its errors name the reference, never a
// value.
func (r secretResolver) resolve(text string) (string, error) {
	var out strings.Builder
	rest := text
	for {
		at := reference.FindStringSubmatchIndex(rest)
		if at == nil {
			out.WriteString(rest)
			break
		}
		out.WriteString(rest[:at[0]])
		if !strings.HasSuffix(rest[at[0]:at[1]], "}") {
			return "", errors.New("has a ${ without its }; references are ${env:NAME} and ${file:PATH}")
		}
		value, err := r.lookUp(rest[at[2]:at[3]])
		if err != nil && r.placeholder && EnvironmentOrFile.MatchString(rest[at[0]:at[1]]) {
			value, err = "not-set", nil
			if EnvironmentOrFile.MatchString(text) { // which may be an address
				value = "https://not-set.invalid"
			}
		}
		if err != nil {
			return "", err
		}
		out.WriteString(value)
		rest = rest[at[1]:]
	}
	if strings.ContainsAny(out.String(), "\n\r\x00") {
		return "", errors.New("has more than one line after its references were replaced; a secret is one line")
	}
	return out.String(), nil
}

// environmentName keeps an API key that was put into ${env:…} by mistake out of the error text.
var environmentName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (r secretResolver) lookUp(inside string) (string, error) {
	kind, name, _ := strings.Cut(inside, ":")
	switch {
	case kind == "env" && environmentName.MatchString(name):
		value, ok := r.env(name)
		if !ok {
			return "", phrase.Errorf("the environment variable %s is not set", name)
		}
		if value == "" {
			return "", phrase.Errorf("the environment variable %s is empty", name)
		}
		return value, nil
	case kind == "file" && name != "":
		return r.readFile(name)
	}
	return "", errors.New("has a ${…} that is no reference; references are ${env:NAME} and ${file:PATH}")
}

// maxSecretBytes is more than any key or DSN needs.
const maxSecretBytes = 64 << 10

func (r secretResolver) readFile(name string) (value string, err error) {
	path := r.place(name)
	unread := func(err error) (string, error) {
		return "", phrase.Errorf("the file %s cannot be read: %s", name, PlainReason(err))
	}
	if info, err := os.Stat(path); err != nil {
		return unread(err)
	} else if !info.Mode().IsRegular() { // a pipe would block the start for ever
		return "", phrase.Errorf("%s is no regular file", name)
	}
	f, err := os.Open(path)
	if err != nil {
		return unread(err)
	}
	defer phrase.Join(&err, f.Close)
	info, err := f.Stat() // of the open file, which may not be the one stat'ed before
	if err != nil {
		return unread(err)
	}
	if err := r.checkMode(name, path, info); err != nil {
		return "", err
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxSecretBytes+1))
	if err != nil {
		return unread(err)
	}
	text := strings.TrimRight(string(raw), "\r\n")
	switch {
	case len(raw) > maxSecretBytes:
		return "", phrase.Errorf("the file %s is larger than 64 KiB, which is no secret", name)
	case text == "":
		return "", phrase.Errorf("the file %s is empty", name)
	}
	r.noteStale(name, path, text)
	return text, nil
}

// place returns the path of a file of ${file:…}. A relative name is the service manager's
// credential of that name, if this process has one; otherwise it is relative to the folder of the
// configuration. So one configuration serves the service and the commands that people run. In a
// credential's name _ replaces /, as systemd names the files of a folder
// (LoadCredential=credentials:/etc/safrasync/credentials).
func (r secretResolver) place(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	if dir, ok := r.env("CREDENTIALS_DIRECTORY"); ok && filepath.IsAbs(dir) && filepath.IsLocal(name) {
		credential := filepath.Join(dir, strings.ReplaceAll(filepath.ToSlash(filepath.Clean(name)), "/", "_"))
		if _, err := os.Lstat(credential); err == nil {
			return credential
		}
	}
	return filepath.Join(filepath.Dir(r.base), name)
}

// checkMode refuses a secret that others can read. Files in $CREDENTIALS_DIRECTORY are protected by
// that directory.
func (r secretResolver) checkMode(name, path string, info fs.FileInfo) error {
	if runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	if dir, ok := r.env("CREDENTIALS_DIRECTORY"); ok && filepath.IsAbs(dir) {
		if rel, err := filepath.Rel(filepath.Clean(dir), filepath.Clean(path)); err == nil && filepath.IsLocal(rel) {
			return nil
		}
	}
	return phrase.Errorf("the file %s may be read by others than its owner (mode %04o); run: chmod 600 %s", name,
		info.Mode().Perm(), name)
}

var passwordPair = regexp.MustCompile(
	`(?i)(?:^|[\s?&;])\w*(?:pass|pwd|senha|secret|token)\w*\s*=\s*('[^']*'?|[^\s&;]*)`)

// ContainsPassword reports whether a DSN, as written, contains a password that is not a reference.
func ContainsPassword(written string) bool {
	const placeholder = "\x00"
	dsn := reference.ReplaceAllString(written, placeholder)
	for _, m := range passwordPair.FindAllStringSubmatch(dsn, -1) {
		if p := strings.Trim(m[1], "'"); p != "" && p != placeholder {
			return true
		}
	}
	_, rest, isURL := strings.Cut(dsn, "://")
	at := strings.LastIndex(rest, "@") // the last one: an unescaped password may contain @
	if !isURL || at < 0 {
		return false
	}
	_, password, has := strings.Cut(rest[:at], ":")
	return has && password != "" && password != placeholder
}

// ResolveSecret resolves each ${…} of a text from outside the configuration. A relative file is
// relative to the folder of base.
func ResolveSecret(env func(string) (string, bool), base, text string) (string, error) {
	return secretResolver{env: env, base: base}.resolve(text)
}
