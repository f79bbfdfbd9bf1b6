package packagetest

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
)

// forwardingDLL returns a library for 64-bit Windows, of at most a page, whose one function is that of
// another library (LIBRARY.FUNCTION). It has no code, only the table that says so.
func forwardingDLL(name, function, to string) []byte {
	const (
		align   = 0x200  // of a section in the file
		page    = 0x1000 // of a section in memory: where ours begins
		headers = align
	)
	le := binary.LittleEndian
	// The export directory, the addresses of its three tables of one entry each, then the texts.
	const directory, tables = 40, 4 + 4 + 2
	texts := []string{name, function, to}
	at := make([]uint32, len(texts))
	var table bytes.Buffer
	for i, text := range texts {
		at[i] = page + directory + tables + uint32(table.Len())
		table.WriteString(text + "\x00")
	}
	var section []byte
	for _, v := range []uint32{0, 0, 0, at[0], 1, 1, 1, page + directory, page + directory + 4, page + directory + 8} {
		section = le.AppendUint32(section, v)
	}
	section = le.AppendUint32(section, at[2]) // within the directory: a forwarder
	section = le.AppendUint32(section, at[1])
	section = le.AppendUint16(section, 0)
	size := uint32(directory + tables + table.Len())
	section = slices.Concat(section, table.Bytes(), make([]byte, align-int(size)))

	file := make([]byte, 64)
	copy(file, "MZ")
	le.PutUint32(file[60:], 64)
	file = append(file, "PE\x00\x00"...)
	add := func(values ...any) {
		for _, v := range values {
			file, _ = binary.Append(file, le, v) // numbers of fixed size
		}
	}
	// x64, one section, the size of what follows, a library for executable use
	add(uint16(0x8664), uint16(1), uint32(0), uint32(0), uint32(0), uint16(240), uint16(0x2022))
	// PE32+, sizes of code and data, no entry, base
	add(uint16(0x20b), uint16(0), uint32(0), uint32(align), uint32(0), uint32(0), uint32(page))
	add(uint64(0x180000000), uint32(page), uint32(align), uint16(6), uint16(0), uint32(0), uint16(6), uint16(0))
	// size in memory and of the headers, a console's subsystem, stack and heap, 16 directories
	add(uint32(0), uint32(2*page), uint32(headers), uint32(0), uint16(3), uint16(0x100))
	add(uint64(0x100000), uint64(0x1000), uint64(0x100000), uint64(0x1000), uint32(0), uint32(16))
	add(uint32(page), size, [15 * 2]uint32{}) // the first directory is that of the exports
	add([8]byte([]byte(".edata\x00\x00")), size, uint32(page), uint32(align), uint32(headers))
	add(uint32(0), uint32(0), uint32(0), uint32(0x40000040)) // initialised data that can be read
	return append(append(file, make([]byte, headers-len(file))...), section...)
}

// desk is a desk with Windows, of Wine: its drive C is a folder here.
type desk struct {
	t       *testing.T
	env     []string
	drive   string
	program string
}

const wine = "/usr/lib/wine/wine64"

// newDesk makes a desk with what an archive has, unpacked to C:\safrasync-windows.
func newDesk(t *testing.T, archive string) *desk {
	t.Helper()
	prefix := t.TempDir()
	d := &desk{t: t, drive: filepath.Join(prefix, "drive_c"), env: append(os.Environ(),
		"WINEPREFIX="+prefix, "WINEDEBUG=-all", "WINEDLLOVERRIDES=mscoree,mshtml=", "DISPLAY=", "LANG=pt_BR.UTF-8")}
	if _, err := os.Stat(wine); err != nil {
		t.Fatalf("%v: .ci/need-wine installs it", err)
	}
	d.must(wine, "wineboot", "--init")
	t.Cleanup(func() {
		end := exec.Command(strings.Replace(wine, "wine64", "wineserver64", 1), "--kill")
		end.Env = d.env
		_ = end.Run() // it may have ended by itself
	})
	// Go's programs ask this library for random bytes, and Wine 8 has no such one.
	library := forwardingDLL("bcryptprimitives.dll", "ProcessPrng", "ADVAPI32.SystemFunction036")
	into := filepath.Join(d.drive, "windows", "system32", "bcryptprimitives.dll")
	if _, err := os.Stat(into); errors.Is(err, fs.ErrNotExist) {
		must.Do(t, os.WriteFile(into, library, 0o644))
	}
	files := must.Get(zip.OpenReader(archive))(t)
	must.Do(t, os.CopyFS(d.drive, files), files.Close())
	d.program = filepath.Join(d.drive, "safrasync-windows", "safrasync.exe")
	return d
}

func (d *desk) must(name string, args ...string) {
	d.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = d.env
	if out, err := cmd.CombinedOutput(); err != nil {
		d.t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
}

// serve starts a command that serves until the test is over, and returns when it has said this. While it
// runs, other commands need not start Windows anew.
func (d *desk) serve(says string, args ...string) {
	d.t.Helper()
	cmd := exec.Command(wine, append([]string{d.program}, args...)...)
	cmd.Env, cmd.Dir = d.env, d.drive
	said := bufio.NewReader(must.Get(cmd.StdoutPipe())(d.t))
	must.Do(d.t, cmd.Start())
	d.t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()         // it was killed
	})
	line, err := said.ReadString('\n')
	if err != nil || !strings.Contains(line, says) {
		d.t.Fatalf("%s: %v: %s", cmd, err, line)
	}
}

// says runs a command, given as words, and returns what it printed. It must end with this code, and say
// all of that.
func (d *desk) says(code int, command string, parts ...string) string {
	d.t.Helper()
	cmd := exec.Command(wine, append([]string{d.program}, strings.Fields(command)...)...)
	cmd.Env, cmd.Dir = d.env, d.drive
	out, err := cmd.CombinedOutput()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		d.t.Fatalf("%s: %v", cmd, err)
	}
	said := strings.ReplaceAll(string(out), "\r\n", "\n")
	lacks := func(part string) bool { return !strings.Contains(said, part) }
	if got := cmd.ProcessState.ExitCode(); got != code || slices.ContainsFunc(parts, lacks) {
		d.t.Errorf("safrasync %s: exit code %d, want %d, and %q in\n%s", command, got, code, parts, said)
	}
	return said
}
