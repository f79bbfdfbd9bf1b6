//go:build manpages

package main

import (
	"debug/buildinfo"
	"encoding/csv"
	"encoding/json"
	"io"
	"os"
	"strings"
)

// component is one part of a program, in CycloneDX's form.
type component struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl,omitempty"`
	Hashes  []hash `json:"hashes,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

// writeSBOM lists the parts of a program in CycloneDX's form: Go, the modules in its build
// information, and the third-party files in the console (from a table such as
// console/vendored.csv).
func writeSBOM(w io.Writer, program, vendored string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	file, err := os.Open(vendored)
	if err != nil {
		return err
	}
	defer file.Close()
	files, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return err
	}
	parts := []component{{"platform", "go", strings.TrimPrefix(info.GoVersion, "go"), "", nil}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		parts = append(parts, component{"library", m.Path, m.Version, "pkg:golang/" + m.Path + "@" + m.Version, nil})
	}
	for _, f := range files[1:] {
		purl := "pkg:npm/" + strings.Replace(f[1], "@", "%40", 1) + "@" + f[2]
		parts = append(parts, component{"file", f[1], f[2], purl, []hash{{"SHA-256", f[4]}}})
	}
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "components": parts,
		"metadata": map[string]any{"component": component{"application", "safrasync", version, "", nil}},
	})
}
