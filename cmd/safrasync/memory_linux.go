package main

import (
	"bufio"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// dropStart gives back the pages of the program's own file that only its start has needed: the initializers of some 600 packages stand all over the file, and Linux maps 64 KiB around each
// place that is touched, 28 MiB before main begins. They stay in the kernel's cache of files, from which the work maps again what it needs, a few hundred times. Where this cannot be done
// nothing else changes.
func dropStart() {
	for _, p := range ownPages() {
		// The system call itself, because x/sys wants a slice: this is no memory of Go's.
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, p.begin, p.end-p.begin, unix.MADV_DONTNEED)
	}
}

// ownPages finds the program's code and constants among what this process has mapped.
func ownPages() []pageRange {
	file, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return nil
	}
	smaps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return nil
	}
	defer func() { _ = smaps.Close() }()
	return unchanged(smaps, file)
}

// pageRange is a part of a file in the memory of this process.
type pageRange struct {
	begin, end uintptr
	resident   string // as the kernel writes it
}

// unchanged gives the parts of a file that may not be written and of which every page is still the file's (proc_pid_smaps(5)). What a dynamic loader changed before it took the right to
// write away, or a debugger's breakpoint, would be lost with its page, in memory or in swap space: such a part is left out.
func unchanged(smaps io.Reader, file string) (out []pageRange) {
	var p pageRange
	ours := false
	lines := bufio.NewScanner(smaps)
	for lines.Scan() {
		line := lines.Text()
		name, value, _ := strings.Cut(line, " ")
		value = strings.TrimLeft(value, " ")
		switch {
		case !strings.HasSuffix(name, ":"): // begin-end access offset device inode file
			ours = strings.HasSuffix(line, " "+file) && (strings.HasPrefix(value, "r--p ") || strings.HasPrefix(value, "r-xp ")) && p.parse(name)
		case ours && name == "Rss:":
			p.resident = value
		case ours && name == "Anonymous:":
			ours = value == "0 kB"
		case ours && name == "Swap:" && value == "0 kB": // which stands after it
			out = append(out, p)
		}
	}
	return out
}

func (p *pageRange) parse(text string) bool {
	begin, end, _ := strings.Cut(text, "-")
	from, err := strconv.ParseUint(begin, 16, 64)
	if err != nil {
		return false
	}
	to, err := strconv.ParseUint(end, 16, 64)
	p.begin, p.end = uintptr(from), uintptr(to)
	return err == nil
}
