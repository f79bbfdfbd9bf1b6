package packagetest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/safrasync/safrasync/internal/throwaway"
)

// The versions of the packages. thisVersion is built from this tree, and again from a copy in
// another folder; nextVersion is this tree with one more migration of the ledger.
const (
	thisVersion = "1.0.0"
	nextVersion = "1.1.0"
)

// built holds the packages of one build.
type built struct{ deb, rpm, zip string }

var builds struct {
	mu  sync.Mutex
	dir *throwaway.Dir
	of  map[string]builtOrNot
}

type builtOrNot struct {
	built
	err error
}

// packages builds the packages of a version, once per process. change modifies a copy of the tree,
// which is then built; if it is nil, the tree itself is built.
func packages(t *testing.T, name, version string, change func(tree string) error) built {
	t.Helper()
	builds.mu.Lock()
	defer builds.mu.Unlock()
	if b, ok := builds.of[name]; ok {
		if b.err != nil {
			t.Fatal(b.err)
		}
		return b.built
	}
	if builds.of == nil {
		builds.of = map[string]builtOrNot{}
		dir, err := newDir("safrasync-packages-")
		if err == nil {
			err = os.Chmod(dir.Path, 0o777) // the user who builds need not be root
		}
		if err != nil {
			t.Fatal(err)
		}
		builds.dir = dir
	}
	b, err := build(filepath.Join(builds.dir.Path, name), version, change)
	builds.of[name] = builtOrNot{b, err}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// this returns the packages of this tree.
func this(t *testing.T) built {
	t.Helper()
	return packages(t, "this", thisVersion, nil)
}

// next returns the packages of this tree with one more migration and another comment in the first
// configuration, as the next release may have.
func next(t *testing.T) built {
	t.Helper()
	return packages(t, "next", nextVersion, func(tree string) error {
		template := filepath.Join(tree, "deploy", "config.yaml")
		text, err := os.ReadFile(template)
		if err != nil {
			return err
		}
		text = append(text, "# A comment of the next release.\n"...)
		return errors.Join(os.WriteFile(template, text, 0o644), addMigration(tree))
	})
}

// addMigration adds a migration to the ledger of a tree: an index that nothing uses.
func addMigration(tree string) error {
	folder := filepath.Join(tree, "state", "sqldb", "migrations")
	files, err := filepath.Glob(filepath.Join(folder, "*.sql"))
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%05d_next.sql", len(files)+1)
	text := "CREATE INDEX of_the_next_release ON entry (updated_at);\n"
	return os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644)
}

const repository = "../.."

func build(dir, version string, change func(tree string) error) (built, error) {
	tree, err := filepath.Abs(repository)
	if err != nil {
		return built{}, err
	}
	nfpm := filepath.Join(tree, "bin", "nfpm")
	if err := os.Mkdir(dir, 0o777); err != nil {
		return built{}, err
	}
	if change != nil {
		tree = filepath.Join(dir, "tree")
		if err := copyTree(tree); err != nil {
			return built{}, err
		}
		if err := change(tree); err != nil {
			return built{}, err
		}
	}
	if err := exec.Command("chmod", "-R", "a+rwX", dir).Run(); err != nil {
		return built{}, err
	}
	out := filepath.Join(dir, "out")
	cmd := exec.Command(filepath.Join(tree, ".ci", "package"), out, "amd64")
	cmd.Env = append(os.Environ(), "VERSION="+version, "SOURCE_DATE_EPOCH=1795000000", "NFPM="+nfpm, "GOFLAGS=")
	if version == nextVersion { // whose program for Windows nobody installs
		cmd.Env = append(cmd.Env, "WINDOWS=no")
	}
	asCaller(cmd)
	if text, err := cmd.CombinedOutput(); err != nil {
		return built{}, fmt.Errorf("%s: %w\n%s", cmd, err, text)
	}
	return built{
		deb: filepath.Join(out, "safrasync_"+version+"-1_amd64.deb"),
		rpm: filepath.Join(out, "safrasync-"+version+"-1.x86_64.rpm"),
		zip: filepath.Join(out, "safrasync_"+version+"_windows_amd64.zip"),
	}, nil
}

// asCaller runs the build as the user who called sudo, so that Go's caches keep their owner.
func asCaller(cmd *exec.Cmd) {
	uid, uidErr := strconv.ParseUint(os.Getenv("SUDO_UID"), 10, 32)
	gid, gidErr := strconv.ParseUint(os.Getenv("SUDO_GID"), 10, 32)
	if uidErr == nil && gidErr == nil && uid != 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
}

// copyTree copies the source files, without what git or a build has created.
func copyTree(to string) error {
	return filepath.WalkDir(repository, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(repository, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if relative == ".git" || relative == "bin" || relative == "dist" || entry.Name() == "testdata" {
				return filepath.SkipDir
			}
			return os.MkdirAll(filepath.Join(to, relative), 0o777)
		}
		if !entry.Type().IsRegular() || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path) // a read, so that Go's test cache knows that this test depends on the file
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, relative), text, info.Mode().Perm()|0o200)
	})
}
