package pgtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// binDirEnv names the folder with initdb and postgres, for machines where several versions are
// installed.
const binDirEnv = "SAFRASYNC_TEST_PG_BIN"

// debianBinDirs matches the folders in which Debian and Ubuntu install the server programs; they
// are not in PATH there.
const debianBinDirs = "/usr/lib/postgresql/*/bin"

var errNoPostgres = errors.New("PostgreSQL's programs initdb and postgres were not found in $" + binDirEnv +
	", in PATH or in " + debianBinDirs + ": run `make test`, which installs them, or set " + binDirEnv)

// findBinDir returns the folder that holds both initdb and postgres.
func findBinDir() (string, error) {
	if dir := os.Getenv(binDirEnv); dir != "" {
		if !hasServer(dir) {
			return "", fmt.Errorf("$%s is %s, which lacks initdb or postgres: correct or unset it", binDirEnv, dir)
		}
		return dir, nil
	}
	if initdb, err := exec.LookPath("initdb"); err == nil {
		if resolved, err := filepath.EvalSymlinks(initdb); err == nil && hasServer(filepath.Dir(resolved)) {
			return filepath.Dir(resolved), nil
		}
	}
	dirs, err := filepath.Glob(debianBinDirs)
	if err != nil {
		return "", err
	}
	if dir := newest(dirs); dir != "" {
		return dir, nil
	}
	return "", errNoPostgres
}

// newest returns the folder of the highest version that contains a server; versions compare as
// numbers (9.6 < 15).
func newest(dirs []string) string {
	best, bestVersion := "", 0.0
	for _, dir := range dirs {
		version, err := strconv.ParseFloat(filepath.Base(filepath.Dir(dir)), 64)
		if err == nil && version > bestVersion && hasServer(dir) {
			best, bestVersion = dir, version
		}
	}
	return best
}

func hasServer(dir string) bool {
	for _, name := range []string{"initdb", "postgres"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.IsDir() {
			return false
		}
	}
	return true
}
