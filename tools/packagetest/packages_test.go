package packagetest

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
)

// The same commit leads to the same packages, byte for byte, wherever they are built.
func TestThePackagesAreReproducible(t *testing.T) {
	t.Parallel()
	here := this(t)
	there := packages(t, "elsewhere", thisVersion, func(string) error { return nil })
	for a, b := range map[string]string{here.deb: there.deb, here.rpm: there.rpm, here.zip: there.zip} {
		one := must.Get(os.ReadFile(a))(t)
		other := must.Get(os.ReadFile(b))(t)
		if !bytes.Equal(one, other) {
			t.Errorf("%s and %s differ", a, b)
		}
	}
}

// Beside the packages stands the list by which whoever installs one by hand compares it.
func TestTheListOfHashesIsThatOfThePackages(t *testing.T) {
	t.Parallel()
	here := this(t)
	check := exec.Command("sha256sum", "--check", "--strict", "SHA256SUMS")
	check.Dir = filepath.Dir(here.deb)
	out, err := check.CombinedOutput()
	want := filepath.Base(here.deb) + ": OK\n" + filepath.Base(here.rpm) + ": OK\n" + filepath.Base(here.zip) + ": OK\n"
	if err != nil || string(out) != want {
		t.Errorf("sha256sum --check: %v\n%swant\n%s", err, out, want)
	}
}

// Who publishes packages signs the list; without a key there is no signature, and none of an earlier list.
func TestTheListOfHashesIsSignedByTheKeyThatIsGiven(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	home := must.Get(os.MkdirTemp("", "gpg"))(t) // a short name: the agent has a socket there
	run := func(key, program string, args ...string) error {
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Env = folder, append(os.Environ(), "GNUPGHOME="+home, "SIGN_KEY="+key)
		out, err := cmd.CombinedOutput()
		t.Logf("%s %q: %v\n%s", program, args, err, out)
		return err
	}
	t.Cleanup(func() {
		_ = run("", "gpgconf", "--kill", "gpg-agent")
		_ = os.RemoveAll(home)
	})
	sign, list := must.Get(filepath.Abs(repository+"/.ci/sign"))(t), filepath.Join(folder, "SHA256SUMS")
	verify := func() error { return run("", "gpg", "--batch", "--verify", "SHA256SUMS.asc", "SHA256SUMS") }
	const key = "packager@example.com"
	must.Do(t, run("", "gpg", "--batch", "--passphrase", "", "--quick-generate-key", key))
	must.Do(t, os.WriteFile(list, []byte("00  one.deb\n"), 0o600))
	must.Do(t, run(key, sign, folder))
	must.Do(t, verify())
	must.Do(t, os.WriteFile(list, []byte("11  one.deb\n"), 0o600))
	if verify() == nil {
		t.Error("the signature holds for another list")
	}
	must.Do(t, run("", sign, folder))
	if _, err := os.Stat(list + ".asc"); err == nil {
		t.Error("the signature of an earlier list stays")
	}
}

// A desk with Windows gets the program, what explains it, and the licences.
func TestTheZipForWindowsHasWhatADeskNeeds(t *testing.T) {
	t.Parallel()
	archive := must.Get(zip.OpenReader(this(t).zip))(t)
	defer archive.Close()
	begins := map[string]string{
		"safrasync.exe": "MZ", "LEIA-ME.txt": "safrasync", "config.example.yaml": "#", "CHANGELOG.md": "## ",
		"copyright": "", "third-party-licences.gz": "\x1f\x8b",
	}
	for _, f := range archive.File {
		name := strings.TrimPrefix(f.Name, "safrasync-windows/")
		want, known := begins[name]
		delete(begins, name)
		text := must.Get(io.ReadAll(must.Get(f.Open())(t)))(t)
		if !known || !bytes.HasPrefix(text, []byte(want)) || name == "safrasync.exe" && len(text) < 10<<20 {
			t.Errorf("%s with %d bytes", f.Name, len(text))
		}
	}
	if len(begins) > 0 {
		t.Errorf("it lacks %v", begins)
	}
}

func TestLintianFindsNoError(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("lintian", "--allow-root", "--no-cfg", "--profile", "debian", "--fail-on", "error",
		"--tag-display-limit", "0", this(t).deb).CombinedOutput()
	if err != nil {
		t.Errorf("lintian: %v\n%s", err, out)
	}
	overrides := must.Get(os.ReadFile(repository + "/deploy/lintian-overrides"))(t)
	before := ""
	for line := range strings.Lines(string(overrides)) {
		if strings.HasPrefix(line, "safrasync:") && !strings.HasPrefix(before, "#") {
			t.Errorf("deploy/lintian-overrides: %q has no reason above it", line)
		}
		before = line
	}
}

// The program is one static file: nothing of the machine is needed to run it.
func TestTheProgramIsStatic(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if out, err := exec.Command("dpkg-deb", "-x", this(t).deb, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text := must.Get(os.ReadFile(filepath.Join(dir, "usr/bin/safrasync")))(t)
	if bytes.Contains(text, []byte("ld-linux")) {
		t.Error("the program asks for a dynamic linker")
	}
	out, err := exec.Command(filepath.Join(dir, "usr/bin/safrasync"), "--version").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "safrasync "+thisVersion+" (") {
		t.Errorf("version: %q, %v", out, err)
	}
}

// systemd knows every setting of the unit, and rates how exposed the machine is to the service:
// from 0 (nothing) to 10 (everything).
func TestTheUnitIsCleanAndHardened(t *testing.T) {
	t.Parallel()
	r := newRoot(t)
	r.must("dpkg", "-i", r.bring(this(t).deb))
	verify := exec.Command("systemd-analyze", "--root="+r.dir, "--man=no", "verify", "safrasync.service",
		"safrasync-backup.service", "safrasync-backup.timer")
	if out, err := verify.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
	for _, name := range []string{"safrasync.service", "safrasync-backup.service"} {
		security := exec.Command("systemd-analyze", "--root="+r.dir, "--offline=yes", "--no-pager", "--threshold=15",
			"security", name)
		out, err := security.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "Overall exposure level for "+name+": ") {
			t.Errorf("systemd-analyze security: %v\n%s", err, out)
		}
		t.Log(lastLine(string(out)))
	}
	// The drop-in that people copy from, with everything in it enabled.
	example := regexp.MustCompile(`(?m)^#([A-Z][A-Za-z]+=)`).ReplaceAllString(
		r.read("/usr/share/doc/safrasync/examples/safrasync.service.d/local.conf"), "$1")
	must.Do(t, os.MkdirAll(r.path("/etc/systemd/system/safrasync.service.d"), 0o755))
	r.write("/etc/systemd/system/safrasync.service.d/local.conf", example, 0o644)
	verify = exec.Command("systemd-analyze", "--root="+r.dir, "--man=no", "verify", "safrasync.service")
	if out, err := verify.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("the example of a drop-in: %v\n%s", err, out)
	}
}

// The nightly copy is noted in the ledger, and so in its journal: also in the one on the disk that the
// installation page names.
func TestTheNightlyCopyMayBeNotedInTheJournal(t *testing.T) {
	t.Parallel()
	page := string(must.Get(os.ReadFile(filepath.Join(repository, "docs/install.md")))(t))
	journal := regexp.MustCompile("state\\.journal: (/[^`]+)").FindStringSubmatch(page)
	unit := deployed(t, "systemd/safrasync-backup.service")
	may := regexp.MustCompile("(?m)^ReadWritePaths=-(/.+)$").FindStringSubmatch(unit)
	if journal == nil || may == nil || !strings.HasPrefix(journal[1], may[1]+"/") {
		t.Errorf("the journal is %q, and the unit may write to %q", journal, may)
	}
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// Both packages have the same files, except those that only one kind has; every command has its
// manual page, in both languages, and each shell its completions.
func TestThePackagesHavePagesAndCompletions(t *testing.T) {
	t.Parallel()
	list := func(name string, args ...string) []string {
		t.Helper()
		out := must.Get(exec.Command(name, args...).Output())(t)
		var files []string
		for line := range strings.Lines(string(out)) {
			if fields := strings.Fields(line); !strings.HasPrefix(line, "d") {
				files = append(files, strings.TrimPrefix(fields[len(fields)-1], "."))
			}
		}
		slices.Sort(files)
		return files
	}
	deb := list("dpkg-deb", "-c", this(t).deb)
	rpm := list("rpm", "-qp", "--queryformat", `[%{FILEMODES:perms} %{FILENAMES}\n]`, this(t).rpm)
	own := []string{
		"/usr/share/lintian/overrides/safrasync", "/usr/share/doc/safrasync/changelog.Debian.gz",
		"/usr/share/zsh/vendor-completions/_safrasync", "/usr/share/zsh/site-functions/_safrasync",
	}
	for _, file := range rpm {
		if !slices.Contains(deb, file) && !slices.Contains(own, file) {
			t.Errorf("only the .rpm has %s", file)
		}
	}
	for _, file := range deb {
		if !slices.Contains(rpm, file) && !slices.Contains(own, file) {
			t.Errorf("only the .deb has %s", file)
		}
	}
	for _, file := range []string{
		"/usr/share/man/man1/safrasync.1.gz", "/usr/share/man/pt_BR/man1/safrasync.1.gz",
		"/usr/share/man/man1/safrasync-run.1.gz",
		"/usr/share/man/pt_BR/man1/safrasync-refs-set.1.gz", "/usr/share/bash-completion/completions/safrasync",
		"/usr/share/zsh/vendor-completions/_safrasync",
		"/usr/share/fish/vendor_completions.d/safrasync.fish", "/usr/share/doc/safrasync/install.pt-BR.md",
		"/usr/share/doc/safrasync/third-party-licences.gz",
		"/usr/share/doc/safrasync/examples/modern.yaml", "/usr/share/doc/safrasync/config.example.yaml",
		"/usr/lib/sysusers.d/safrasync.conf",
	} {
		if !slices.Contains(deb, file) {
			t.Errorf("the .deb has no %s", file)
		}
	}
	english, portuguese := 0, 0
	for _, file := range deb {
		switch {
		case strings.HasPrefix(file, "/usr/share/man/man1/"):
			english++
		case strings.HasPrefix(file, "/usr/share/man/pt_BR/man1/"):
			portuguese++
		}
	}
	if english == 0 || english != portuguese {
		t.Errorf("%d English pages and %d Portuguese ones", english, portuguese)
	}
}

// The pages of the package can be read without the source: each link and picture leads to a file
// beside them.
func TestThePagesOfThePackageLeadToFilesOfThePackage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if out, err := exec.Command("dpkg-deb", "-x", this(t).deb, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	doc := filepath.Join(dir, "usr/share/doc/safrasync")
	pages := must.Get(filepath.Glob(filepath.Join(doc, "*.md")))(t)
	links := 0
	for _, page := range pages {
		text := must.Get(os.ReadFile(page))(t)
		for _, link := range regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`).FindAllStringSubmatch(string(text), -1) {
			links++
			if _, err := os.Stat(filepath.Join(doc, link[1])); err != nil || strings.HasPrefix(link[1], "..") {
				t.Errorf("%s leads to %s, which is not in the package", filepath.Base(page), link[1])
			}
		}
	}
	if len(pages) < 10 || links < 20 {
		t.Errorf("%d pages with %d links were found", len(pages), links)
	}
}
