package packagetest

import (
	"debug/buildinfo"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
)

func TestThePackageSaysWhatTheProgramIsMadeOf(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if out, err := exec.Command("dpkg-deb", "-x", this(t).deb, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text := must.Get(os.ReadFile(filepath.Join(dir, "usr/share/doc/safrasync/sbom.cdx.json")))(t)
	var sbom struct {
		BOMFormat  string
		Components []struct{ Name, Version string }
		Metadata   struct {
			Component struct{ Name, Version string }
		}
	}
	if err := json.Unmarshal(text, &sbom); err != nil || sbom.BOMFormat != "CycloneDX" ||
		sbom.Metadata.Component.Version != thisVersion {
		t.Fatalf("%v: %s", err, text)
	}
	listed := map[string]string{}
	for _, c := range sbom.Components {
		listed[c.Name] = c.Version
	}
	info := must.Get(buildinfo.ReadFile(filepath.Join(dir, "usr/bin/safrasync")))(t)
	for _, m := range info.Deps {
		if listed[m.Path] != m.Version {
			t.Errorf("%s %s is listed as %q", m.Path, m.Version, listed[m.Path])
		}
	}
	if listed["htmx.org"] == "" || listed["go"] == "" {
		t.Errorf("not listed: %v", listed)
	}
}
