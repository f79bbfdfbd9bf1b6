package packagetest

import (
	"bufio"
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/safrasync/safrasync/internal/throwaway"
)

// root is a small Debian in a folder: the essential packages and systemd, as they are installed on
// this host, with their own entries in dpkg's database.
type root struct {
	t   *testing.T
	dir string
}

// basePackages are the packages of a root, in addition to the essential packages and the
// dependencies of all of them.
var basePackages = []string{"dpkg", "passwd", "procps", "systemd", "init-system-helpers", "mawk"}

// leftOut are folders that no script needs.
var leftOut = []string{
	"/usr/share/doc/", "/usr/share/man/", "/usr/share/locale/", "/usr/share/info/",
	"/usr/share/zoneinfo/", "/usr/share/i18n/", "/usr/lib/modules/", "/boot/",
}

// base is the root of which all others are copies; it is created once per process.
var base struct {
	once sync.Once
	dir  *throwaway.Dir
	err  error
}

// newDir creates a folder that a later run removes if this one is killed.
func newDir(prefix string) (*throwaway.Dir, error) {
	return throwaway.Kind{Prefix: prefix, StillServed: func(string) bool { return false }}.NewDir(nil)
}

// newRoot creates a root for a test, with /proc and a few devices.
func newRoot(t *testing.T) *root {
	t.Helper()
	base.once.Do(func() {
		base.dir, base.err = newDir("safrasync-base-")
		if base.err == nil {
			base.err = errors.Join(os.Chmod(base.dir.Path, 0o755), makeBase(base.dir.Path))
		}
	})
	if base.err != nil {
		t.Fatalf("the root could not be made from this host's Debian packages: %v", base.err)
	}
	dir := filepath.Join(t.TempDir(), "root")
	if out, err := exec.Command("cp", "-a", "--reflink=auto", base.dir.Path, dir).CombinedOutput(); err != nil {
		t.Fatalf("cp: %v\n%s", err, out)
	}
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil { // the service's user must be able to enter it
		t.Fatal(err)
	}
	r := &root{t, dir}
	if err := syscall.Mount("proc", r.path("/proc"), "proc", 0, ""); err != nil {
		t.Fatalf("mounting /proc: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(r.path("/proc"), syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return r
}

// path returns the path of a file of the root, as this process sees it.
func (r *root) path(inside string) string { return filepath.Join(r.dir, inside) }

// command returns a command that runs in the root, as root.
func (r *root) command(env []string, args ...string) *exec.Cmd {
	cmd := exec.Command("/usr/sbin/chroot", append([]string{r.dir}, args...)...)
	cmd.Env = append([]string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin", "LANG=C.UTF-8", "HOME=/root",
		"DEBIAN_FRONTEND=noninteractive",
	}, env...)
	return cmd
}

// run runs a program in the root and returns its output and exit code.
func (r *root) run(env []string, args ...string) (output string, code int) {
	r.t.Helper()
	return r.outcome(r.command(env, args...))
}

// outside runs a program of this host that enters the root by itself.
func (r *root) outside(env []string, args ...string) (output string, code int) {
	r.t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append([]string{"PATH=/usr/sbin:/usr/bin", "LANG=C.UTF-8", "HOME=/root"}, env...)
	return r.outcome(cmd)
}

func (r *root) outcome(cmd *exec.Cmd) (output string, code int) {
	r.t.Helper()
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		r.t.Fatalf("%s: %v", cmd, err)
	}
	if exit != nil {
		code = exit.ExitCode()
	}
	return string(out), code
}

// must runs a program in the root. It must succeed.
func (r *root) must(args ...string) string {
	r.t.Helper()
	out, code := r.run(nil, args...)
	if code != 0 {
		r.t.Fatalf("%q ended with %d:\n%s", args, code, out)
	}
	return out
}

// bring copies a package into the root and returns its path there.
func (r *root) bring(file string) string {
	r.t.Helper()
	inside := "/root/" + filepath.Base(file)
	text, err := os.ReadFile(file)
	if err != nil {
		r.t.Fatal(err)
	}
	r.write(inside, string(text), 0o644)
	return inside
}

func (r *root) write(inside, text string, mode os.FileMode) {
	r.t.Helper()
	err := os.WriteFile(r.path(inside), []byte(text), mode)
	if err == nil {
		err = os.Chmod(r.path(inside), mode)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *root) read(inside string) string {
	r.t.Helper()
	text, err := os.ReadFile(r.path(inside))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(text)
}

func (r *root) exists(inside string) bool {
	_, err := os.Lstat(r.path(inside))
	return err == nil
}

// debian is a package in dpkg's database.
type debian struct {
	name, stanza    string
	essential       bool
	depends, offers []string // a dependency is a list of alternatives, joined with |
}

// makeBase creates a root in a folder.
func makeBase(dir string) error {
	installed, err := readStatus("/var/lib/dpkg/status")
	if err != nil {
		return err
	}
	var status bytes.Buffer
	for _, folder := range []string{
		"dev", "proc", "sys", "run", "tmp", "root", "var/log", "var/tmp", "etc/safrasync",
		"var/lib/dpkg/info", "var/lib/dpkg/updates", "var/lib/dpkg/triggers",
	} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			return err
		}
	}
	for _, link := range []string{"bin", "sbin", "lib", "lib32", "lib64", "libx32"} { // merged into /usr
		if target, err := os.Readlink("/" + link); err == nil {
			err := errors.Join(os.MkdirAll(filepath.Join(dir, target), 0o755),
				os.Symlink(target, filepath.Join(dir, link)))
			if err != nil {
				return err
			}
		}
	}
	for _, p := range closure(installed, basePackages) {
		if err := copyPackage(dir, p); err != nil {
			return err
		}
		status.WriteString(p.stanza + "\n\n")
	}
	if err := os.Remove(filepath.Join(dir, "etc/safrasync")); err != nil {
		return err
	}
	for name, text := range map[string]string{
		"var/lib/dpkg/status": status.String(), "var/lib/dpkg/available": "",
		"etc/machine-id": strings.Repeat("5a", 16) + "\n", "etc/shells": "/bin/sh\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	// What pam-auth-update writes, for runuser.
	for _, name := range []string{"auth", "account", "password", "session", "session-noninteractive"} {
		if err := os.WriteFile(filepath.Join(dir, "etc/pam.d/common-"+name),
			[]byte(strings.TrimSuffix(name, "-noninteractive")+" required pam_permit.so\n"), 0o644); err != nil {
			return err
		}
	}
	for _, name := range []string{"passwd", "group"} {
		text, err := os.ReadFile("/usr/share/base-passwd/" + name + ".master")
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "etc", name), text, 0o644)
		}
		if err != nil {
			return err
		}
	}
	if err := os.Symlink("/usr/bin/mawk", filepath.Join(dir, "usr/bin/awk")); err != nil {
		return err
	}
	for name, minor := range map[string]int{"null": 3, "zero": 5, "random": 8, "urandom": 9} {
		device := filepath.Join(dir, "dev", name)
		if err := syscall.Mknod(device, syscall.S_IFCHR|0o666, 1<<8|minor); err != nil {
			return err
		}
		if err := os.Chmod(device, 0o666); err != nil {
			return err
		}
	}
	for link, target := range map[string]string{
		"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0",
		"stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2",
	} {
		if err := os.Symlink(target, filepath.Join(dir, "dev", link)); err != nil {
			return err
		}
	}
	return os.Chmod(filepath.Join(dir, "tmp"), 0o777|os.ModeSticky)
}

// copyPackage copies a package's files, and dpkg's data about it.
func copyPackage(dir string, p debian) error {
	lists, err := filepath.Glob("/var/lib/dpkg/info/" + p.name + "[.:]*")
	if err != nil {
		return err
	}
	for _, file := range lists {
		if name, _, _ := strings.Cut(filepath.Base(file), ":"); name != p.name &&
			!strings.HasPrefix(filepath.Base(file), p.name+".") {
			continue
		}
		if err := copyFile(dir, file); err != nil {
			return err
		}
		if filepath.Ext(file) != ".list" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSuffix(line, "\n")
			if line == "/." || slices.ContainsFunc(leftOut,
				func(f string) bool { return strings.HasPrefix(line+"/", f) }) {
				continue
			}
			// An administrator may have removed a file.
			if err := copyFile(dir, line); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// copyFile copies a file, folder or link of this host to the same place under dir.
func copyFile(dir, file string) error {
	info, err := os.Lstat(file)
	if err != nil {
		return err
	}
	to := filepath.Join(dir, file)
	if _, err := os.Lstat(to); err == nil {
		return nil // a folder that several packages have, or a link in place of one
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	switch {
	case info.IsDir():
		err = os.Mkdir(to, 0o755)
	case info.Mode()&os.ModeSymlink != 0:
		target, readErr := os.Readlink(file)
		if readErr != nil {
			return readErr
		}
		return os.Symlink(target, to)
	case info.Mode().IsRegular():
		text, readErr := os.ReadFile(file)
		if readErr != nil {
			return readErr
		}
		err = os.WriteFile(to, text, 0o600)
	default:
		return nil
	}
	if err != nil {
		return err
	}
	return os.Chmod(to, info.Mode().Perm()|info.Mode()&(os.ModeSticky|os.ModeSetuid|os.ModeSetgid))
}

// readStatus reads the installed packages of dpkg's database, by name and by what they provide.
func readStatus(file string) (map[string]debian, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	out := map[string]debian{}
	for stanza := range strings.SplitSeq(string(text), "\n\n") {
		p := debian{stanza: stanza}
		good := false
		lines := bufio.NewScanner(strings.NewReader(stanza))
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			key, value, _ := strings.Cut(lines.Text(), ": ")
			switch key {
			case "Package":
				p.name = value
			case "Status":
				good = value == "install ok installed" || value == "hold ok installed"
			case "Essential":
				p.essential = value == "yes"
			case "Depends", "Pre-Depends":
				p.depends = append(p.depends, strings.Split(value, ",")...)
			case "Provides":
				p.offers = strings.Split(value, ",")
			}
		}
		if err := lines.Err(); err != nil {
			return nil, err
		}
		if good {
			out[p.name] = p
		}
	}
	for _, name := range slices.Sorted(maps.Keys(out)) {
		for _, offer := range out[name].offers {
			offer = packageName(offer)
			if out[offer].name == "" {
				out[offer] = out[name]
			}
		}
	}
	return out, nil
}

// packageName returns the name in "libc6:amd64 (>= 2.36)".
func packageName(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), " ")
	text, _, _ = strings.Cut(text, ":")
	return text
}

// closure returns the essential packages, the named ones, and all their dependencies.
func closure(installed map[string]debian, names []string) []debian {
	found := map[string]debian{}
	var add func(name string)
	add = func(name string) {
		p, ok := installed[name]
		if _, known := found[p.name]; !ok || known {
			return
		}
		found[p.name] = p
		for _, dependency := range p.depends {
			for alternative := range strings.SplitSeq(dependency, "|") {
				if _, ok := installed[packageName(alternative)]; ok {
					add(packageName(alternative))
					break
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(installed)) {
		if installed[name].essential {
			add(name)
		}
	}
	for _, name := range names {
		add(name)
	}
	out := make([]debian, 0, len(found))
	for _, name := range slices.Sorted(maps.Keys(found)) {
		out = append(out, found[name])
	}
	return out
}
