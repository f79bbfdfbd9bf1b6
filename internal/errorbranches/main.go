package main

import (
	"bufio"
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// span is a part of a file, from its first to its last line and column.
type span struct{ line, col, endLine, endCol int }

// block is one line of a profile: the statements of a file that are executed together.
type block struct {
	file string
	span
}

const module = "github.com/safrasync/safrasync/"

func main() {
	flag.Parse()
	if err := run(os.Stdout, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "errorbranches:", err)
		os.Exit(1)
	}
}

// run adds up the profiles, and lists what none of them has executed.
func run(w io.Writer, profiles []string) error {
	counts := map[block]int{}
	for _, name := range profiles {
		if err := readProfile(name, counts); err != nil {
			return err
		}
	}
	files := map[string][]block{}
	for b := range counts {
		files[b.file] = append(files[b.file], b)
	}
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	total, executed := map[string]int{}, map[string]int{}
	var folders []string
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("the source of a profile, to be read from the folder of the module: %w", err)
		}
		branches, err := errorBranches(name, text)
		if err != nil {
			return err
		}
		folder := name[:strings.LastIndex(name, "/")]
		if !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
		lines := strings.Split(string(text), "\n")
		blocks := files[name]
		slices.SortFunc(blocks, func(a, b block) int { return cmp.Or(a.line-b.line, a.col-b.col) })
		for _, b := range blocks {
			if !slices.ContainsFunc(branches, func(s span) bool { return s.holds(b.span) }) {
				continue
			}
			total[folder]++
			if counts[b] > 0 {
				executed[folder]++
				continue
			}
			fmt.Fprintf(w, "%s:%d: %s\n", name, b.line, strings.TrimSpace(lines[b.line-1]))
		}
	}
	for _, folder := range folders {
		fmt.Fprintf(w, "%s: %d of %d error branches were executed (%.1f %%)\n", folder, executed[folder], total[folder], 100*float64(executed[folder])/float64(total[folder]))
	}
	return nil
}

// readProfile adds one file of `go test -coverprofile` to the counts.
func readProfile(name string, counts map[block]int) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "mode:") {
			continue
		}
		file, rest, ok := strings.Cut(line, ":")
		var b block
		var statements, count int
		if _, err := fmt.Sscanf(rest, "%d.%d,%d.%d %d %d", &b.line, &b.col, &b.endLine, &b.endCol, &statements, &count); !ok || err != nil {
			return fmt.Errorf("%s is not a coverage profile: %q", name, line)
		}
		b.file = strings.TrimPrefix(file, module)
		counts[b] += count
	}
	return lines.Err()
}

// holds tells whether b lies in s.
func (s span) holds(b span) bool {
	return cmp.Or(s.line-b.line, s.col-b.col) <= 0 && cmp.Or(b.endLine-s.endLine, b.endCol-s.endCol) <= 0
}
