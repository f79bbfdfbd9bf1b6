package packagetest

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/safrasync/safrasync/internal/must"
)

// image is what buildah reports of an image in Docker's form.
type image struct {
	Architecture string `json:"architecture"`
	Config       struct {
		User        string   `json:"User"`
		Env         []string `json:"Env"`
		Entrypoint  []string `json:"Entrypoint"`
		Cmd         []string `json:"Cmd"`
		WorkingDir  string   `json:"WorkingDir"`
		StopSignal  string   `json:"StopSignal"`
		Volumes     map[string]any
		Healthcheck struct{ Test []string }
	} `json:"config"`
}

// compose holds the parts of deploy/compose.yaml that the tests check.
type compose struct {
	Services map[string]struct {
		Image       string            `yaml:"image"`
		User        string            `yaml:"user"`
		ReadOnly    bool              `yaml:"read_only"`
		CapDrop     []string          `yaml:"cap_drop"`
		SecurityOpt []string          `yaml:"security_opt"`
		Grace       string            `yaml:"stop_grace_period"`
		Memory      string            `yaml:"mem_limit"`
		Pids        int               `yaml:"pids_limit"`
		Ulimits     map[string]int    `yaml:"ulimits"`
		Volumes     []string          `yaml:"volumes"`
		Tmpfs       []string          `yaml:"tmpfs"`
		Privileged  bool              `yaml:"privileged"`
		CapAdd      []string          `yaml:"cap_add"`
		Environment map[string]string `yaml:"environment"`
	} `yaml:"services"`
	Volumes map[string]any `yaml:"volumes"`
}

func deployed(t *testing.T, name string) string {
	t.Helper()
	text := must.Get(os.ReadFile(filepath.Join(repository, "deploy", name)))(t)
	return string(text)
}

// instruction returns the value of an instruction that appears once in the Containerfile.
func instruction(t *testing.T, text, name string) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^`+name+` (.*)$`).FindAllStringSubmatch(text, -1)
	if len(found) != 1 {
		t.Fatalf("the Containerfile has %s %d times", name, len(found))
	}
	return found[0][1]
}

// The container may do what the unit allows the service, and no more: the same folders, limits and
// time to stop; not root, no capabilities, no other writable folders.
func TestTheContainerIsBoundAsTheUnitIs(t *testing.T) {
	t.Parallel()
	file := deployed(t, "Containerfile")
	var c compose
	must.Do(t, yaml.Unmarshal([]byte(deployed(t, "compose.yaml")), &c))
	u := readUnit(t, &root{t: t, dir: unitAsInstalled(t)}, "safrasync.service")
	s := c.Services["safrasync"]
	state := "/var/lib/" + u.one(t, "StateDirectory")
	for _, same := range []struct{ what, unit, container string }{
		{"user", s.User, instruction(t, file, "USER")},
		{"working folder", u.one(t, "WorkingDirectory"), instruction(t, file, "WORKDIR")},
		{"program", u.one(t, "ExecStart"), "/usr/bin/safrasync run"},
		{"time to stop", u.one(t, "TimeoutStopSec"), s.Grace},
		{"memory", u.one(t, "MemoryMax"), strings.ToUpper(s.Memory)},
		{"tasks", u.one(t, "TasksMax"), strconv.Itoa(s.Pids)},
		{"files", u.one(t, "LimitNOFILE"), strconv.Itoa(s.Ulimits["nofile"])},
		{"core dumps", u.one(t, "LimitCORE"), strconv.Itoa(s.Ulimits["core"])},
		{"new privileges", u.one(t, "NoNewPrivileges"), "yes"},
		{"writable root", u.one(t, "ProtectSystem"), "strict"},
	} {
		if same.unit != same.container {
			t.Errorf("%s: the unit has %q, the container %q", same.what, same.unit, same.container)
		}
	}
	if !strings.Contains(instruction(t, file, "ENV"), u.one(t, "Environment")) {
		t.Errorf("the image does not have %s", u.one(t, "Environment"))
	}
	if !strings.Contains(file, "--start-period="+strings.TrimSuffix(u.one(t, "TimeoutStartSec"), "in")+" ") {
		t.Errorf("the health check does not give the program %s to start", u.one(t, "TimeoutStartSec"))
	}
	if strings.HasPrefix(s.User, "0") || !s.ReadOnly || s.Privileged || len(s.CapAdd) > 0 ||
		!slices.Equal(s.CapDrop, []string{"ALL"}) || !slices.Contains(s.SecurityOpt, "no-new-privileges:true") {
		t.Errorf("the container may do more than the unit: %+v", s)
	}
	var writable []string
	for _, volume := range s.Volumes {
		if !strings.HasSuffix(volume, ":ro") {
			name, place, _ := strings.Cut(volume, ":")
			if _, named := c.Volumes[name]; !named {
				t.Errorf("the volume %s has no name", volume)
			}
			writable = append(writable, place)
		}
	}
	for _, tmpfs := range s.Tmpfs {
		place, options, _ := strings.Cut(tmpfs, ":")
		if owner := "uid=" + strings.Replace(s.User, ":", ",gid=", 1); !strings.Contains(options, owner+",mode=0700") {
			t.Errorf("%s is not the program's own", tmpfs)
		}
		writable = append(writable, place)
	}
	want := []string{state, "/srv/safrasync-journal", "/tmp"}
	if !slices.Equal(writable, want) {
		t.Errorf("the container writes to %v, want %v", writable, want)
	}
}

// unitAsInstalled returns a folder in which the unit is where a package installs it.
func unitAsInstalled(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	folder := filepath.Join(dir, "usr/lib/systemd/system")
	must.Do(t, os.MkdirAll(folder, 0o755))
	text := deployed(t, "systemd/safrasync.service")
	must.Do(t, os.WriteFile(filepath.Join(folder, "safrasync.service"), []byte(text), 0o644))
	return dir
}

// builtImage builds the image of `make image`, by buildah in a separate store. It returns the image
// and a folder with its files.
func builtImage(t *testing.T) (made image, files string) {
	t.Helper()
	dir := t.TempDir()
	config := filepath.Join(dir, "storage.conf")
	own := append(os.Environ(), "STORAGE_DRIVER=vfs", "CONTAINERS_STORAGE_CONF="+config)
	buildah := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("buildah", args...)
		cmd.Env = own
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s (installed by .ci/need-buildah): %v\n%s", cmd, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	store := "[storage]\ndriver = \"vfs\"\ngraphroot = \"" + filepath.Join(dir, "store") + "\"\nrunroot = \"" +
		filepath.Join(dir, "run") + "\"\n"
	must.Do(t, os.WriteFile(config, []byte(store), 0o600))
	build := exec.Command(filepath.Join(repository, ".ci", "image"), "amd64")
	build.Env = append(own, "VERSION="+thisVersion, "SOURCE_DATE_EPOCH=1795000000", "GOFLAGS=", "BUILDER=buildah")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", build, err, out)
	}
	var report struct{ Docker image }
	text := buildah("inspect", "--type", "image", "safrasync:"+thisVersion)
	must.Do(t, json.Unmarshal([]byte(text), &report))
	container := buildah("from", "--pull-never", "safrasync:latest")
	files = buildah("mount", container)
	t.Cleanup(func() {
		buildah("umount", container)
		buildah("rm", container)
	})
	return report.Docker, files
}

// box is the image's file system as in a container: read-only, with its writable folders.
type box struct {
	t        *testing.T
	dir      string
	uid, gid uint32
}

func newBox(t *testing.T, files string, uid int) *box {
	t.Helper()
	b := &box{t: t, dir: files, uid: uint32(uid), gid: uint32(uid)}
	mount := func(source, place, kind string, flags uintptr, data string) {
		t.Helper()
		if err := syscall.Mount(source, place, kind, flags, data); err != nil {
			t.Fatalf("mounting %s: %v", place, err)
		}
		t.Cleanup(func() { must.Do(t, syscall.Unmount(place, syscall.MNT_DETACH)) })
	}
	b.dir = filepath.Join(t.TempDir(), "root")
	must.Do(t, os.Mkdir(b.dir, 0o755))
	mount(files, b.dir, "", syscall.MS_BIND, "")
	must.Do(t, syscall.Mount("", b.dir, "", syscall.MS_REMOUNT|syscall.MS_BIND|syscall.MS_RDONLY, ""))
	own := "uid=" + strconv.Itoa(uid) + ",gid=" + strconv.Itoa(uid) + ",mode=0700"
	for _, folder := range []string{"/var/lib/safrasync", "/srv/safrasync-journal", "/tmp"} {
		mount("tmpfs", filepath.Join(b.dir, folder), "tmpfs", 0, own)
	}
	mount("tmpfs", filepath.Join(b.dir, "/etc/safrasync"), "tmpfs", 0, own)
	return b
}

// command returns a command that runs the image's program, as its user.
func (b *box) command(made image, args ...string) *exec.Cmd {
	cmd := exec.Command(made.Config.Entrypoint[0], args...)
	cmd.Err = nil // it is in the box, not here
	cmd.Env, cmd.Dir = append(slices.Clone(made.Config.Env), "LANG=en_US.UTF-8"), made.Config.WorkingDir
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Chroot: b.dir, Credential: &syscall.Credential{Uid: b.uid, Gid: b.gid, NoSetGroups: false},
		Pdeathsig: syscall.SIGKILL,
	}
	return cmd
}

func (b *box) must(code int, made image, args ...string) string {
	b.t.Helper()
	cmd := b.command(made, args...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != code {
		b.t.Fatalf("%v: %v, want exit code %d\n%s", args, err, code, out)
	}
	return string(out)
}

// The built image has what the program needs and nothing else. In it, read-only, a user other than
// root creates a ledger and serves it, and the health check reports success.
func TestTheImageRunsReadOnlyAndNotAsRoot(t *testing.T) {
	t.Parallel()
	made, files := builtImage(t)
	user, _, _ := strings.Cut(made.Config.User, ":")
	uid, err := strconv.Atoi(user)
	if err != nil || uid == 0 {
		t.Fatalf("the image runs as %q", made.Config.User)
	}
	if made.Config.StopSignal != "SIGTERM" || len(made.Config.Volumes) > 0 ||
		!slices.Equal(made.Config.Cmd, []string{"run"}) {
		t.Errorf("the image is %+v", made)
	}
	found := must.Get(exec.Command("find", files, "-type", "f", "-printf", "%P %m %U\n").Output())(t)
	want := []string{
		"etc/group 644 0", "etc/passwd 644 0", "etc/ssl/certs/ca-certificates.crt 644 0", "usr/bin/safrasync 755 0",
		"usr/share/doc/safrasync/copyright 644 0", "usr/share/doc/safrasync/third-party-licences.gz 644 0",
	}
	have := strings.Split(strings.TrimSpace(string(found)), "\n")
	if slices.Sort(have); !slices.Equal(have, want) {
		t.Errorf("the image has the files %v", have)
	}

	b := newBox(t, files, uid)
	if out := b.must(0, made, "--version"); !strings.HasPrefix(out, "safrasync "+thisVersion+" ") {
		t.Errorf("version: %q", out)
	}
	b.must(0, made, "demo", "--dir", "/var/lib/safrasync/coop") // with the time zones in the program
	config := []string{"--config", "/var/lib/safrasync/coop/config.yaml"}
	check := slices.Concat(made.Config.Healthcheck.Test[2:], config)
	b.must(1, made, check...)
	service := b.command(made, slices.Concat(made.Config.Cmd, config)...)
	log := must.Get(service.StderrPipe())(t)
	must.Do(t, service.Start())
	lines := bufio.NewScanner(log)
	started := false
	for !started && lines.Scan() {
		started = strings.Contains(lines.Text(), `"msg":"start"`)
	}
	if !started {
		t.Fatalf("the program did not start: %v, %v", lines.Err(), service.Wait())
	}
	if out := b.must(0, made, check...); !strings.Contains(out, thisVersion) {
		t.Errorf("the health check says %q", out)
	}
	must.Do(t, service.Process.Signal(syscall.SIGTERM))
	for lines.Scan() {
		t.Log(lines.Text())
	}
	if err := service.Wait(); err != nil {
		t.Errorf("the program ended with %v", err)
	}
	b.must(1, made, check...)
}
