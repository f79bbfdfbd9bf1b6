package english

import (
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Literals returns the texts that the Go files of a pattern, tests aside, have in quotes.
func Literals(pattern string) (out []string, err error) {
	names, err := filepath.Glob(pattern)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var s scanner.Scanner
		files := token.NewFileSet()
		s.Init(files.AddFile(name, -1, len(source)), source, nil, 0)
		for {
			_, kind, text := s.Scan()
			if kind == token.EOF {
				break
			}
			if literal, err := strconv.Unquote(text); kind == token.STRING && err == nil {
				out = append(out, literal)
			}
		}
	}
	return out, err
}
