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

// unreachable begins the comment, at the end of a branch's first line, that says why it cannot be executed.
const unreachable = "// unreachable: "

func main() {
	all := flag.Bool("all", false, "fail when a branch was not executed and does not say why it cannot be")
	flag.Parse()
	if err := run(os.Stdout, flag.Args(), *all); err != nil {
		fmt.Fprintln(os.Stderr, "errorbranches:", err)
		os.Exit(1)
	}
}

// tally is what became of the branches of a folder.
type tally struct{ total, executed, explained int }

// run adds up the profiles, and lists what none of them has executed. With all, a branch that is left is an error, and so is one that was executed and says that it cannot be.
func run(w io.Writer, profiles []string, all bool) error {
	counts := map[block]int{}
	files := map[string][]block{}
	for _, name := range profiles {
		one := map[block]int{}
		if err := readProfile(name, one); err != nil {
			return err
		}
		if err := addTo(counts, files, one); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	tallies := map[string]*tally{}
	var folders []string
	left, wrong := 0, 0
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
			tallies[folder] = &tally{}
		}
		sum := tallies[folder]
		lines := strings.Split(string(text), "\n")
		blocks := files[name]
		slices.SortFunc(blocks, func(a, b block) int { return cmp.Or(a.line-b.line, a.col-b.col) })
		for _, b := range blocks {
			if !slices.ContainsFunc(branches, func(s span) bool { return s.holds(b.span) }) {
				continue
			}
			sum.total++
			line := strings.TrimSpace(lines[b.line-1])
			explained := strings.Contains(line, unreachable)
			switch {
			case counts[b] > 0 && explained:
				wrong++
				fmt.Fprintf(w, "%s:%d was executed: %s\n", name, b.line, line)
				fallthrough
			case counts[b] > 0:
				sum.executed++
			case explained:
				sum.explained++
			default:
				left++
				fmt.Fprintf(w, "%s:%d: %s\n", name, b.line, line)
			}
		}
	}
	for _, folder := range folders {
		sum := tallies[folder]
		fmt.Fprintf(w, "%s: %d of %d error branches were executed (%.1f %%), %d more say why they cannot be, %d are left\n",
			folder, sum.executed, sum.total, 100*float64(sum.executed)/float64(sum.total), sum.explained, sum.total-sum.executed-sum.explained)
	}
	if all && left+wrong > 0 {
		return fmt.Errorf("%d error branches have no test and do not say why, %d were executed that say they cannot be; write the test, or end the first line of the branch with %q and the reason", left, wrong, unreachable)
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

// addTo adds the counts of one profile to those of the others. All must be of one version of the source, and name the same blocks of a file: a branch that has moved would be looked for where
// another stands now.
func addTo(counts map[block]int, files map[string][]block, one map[block]int) error {
	mine := map[string][]block{}
	for b := range one {
		mine[b.file] = append(mine[b.file], b)
	}
	for file, blocks := range mine {
		if files[file] == nil {
			files[file] = blocks
		} else if len(blocks) != len(files[file]) || slices.ContainsFunc(blocks, func(b block) bool { _, known := counts[b]; return !known }) {
			return fmt.Errorf("%s was another one when the profile was made: make all of them again", file)
		}
		for _, b := range blocks {
			counts[b] += one[b]
		}
	}
	return nil
}

// holds tells whether b lies in s.
func (s span) holds(b span) bool {
	return cmp.Or(s.line-b.line, s.col-b.col) <= 0 && cmp.Or(b.endLine-s.endLine, b.endCol-s.endCol) <= 0
}
