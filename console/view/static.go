package view

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"path"
	"strings"

	"github.com/safrasync/safrasync/trade"
)

//go:embed static
var static embed.FS

// Assets returns the paths of static files by its method Of. A path changes with the content, so
// that browsers may cache the file.
type Assets struct {
	Version string // of all files together
}

// Asset is the Assets of the files in this program.
var Asset = func() Assets {
	h := sha256.New()
	err := fs.WalkDir(static, "static", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := static.ReadFile(name)
		_, _ = h.Write(content) // a hash never fails to write
		return err
	})
	if err != nil {
		panic(err)
	}
	return Assets{hex.EncodeToString(h.Sum(nil))[:12]}
}()

// Of returns the path of a file of static/.
func (a Assets) Of(name string) string { return "/static/" + a.Version + "/" + name }

// File returns a file of static/ and its content type; ok is false if there is none.
func File(name string) (content []byte, kind string, ok bool) {
	name = path.Clean("static/" + name)
	content, err := static.ReadFile(name)
	if err != nil || !strings.HasPrefix(name, "static/") {
		return nil, "", false
	}
	kind, ok = kinds[path.Ext(name)]
	if !ok {
		kind = mime.TypeByExtension(path.Ext(name))
	}
	return content, kind, true
}

// kinds are the content types that do not depend on the host.
var kinds = map[string]string{
	".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml",
	".txt": "text/plain; charset=utf-8",
}

// Licences returns the names of the licence files of the third-party parts of the pages.
func Licences() ([]string, error) {
	names, err := fs.Glob(static, "static/licences/*.txt")
	return trade.Map(names, path.Base), err
}
