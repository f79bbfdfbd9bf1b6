package console

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
)

//go:embed static
var static embed.FS

// assets give the path of a file, which changes with its content: a browser may keep it.
type assets struct{ version string }

var asset = func() assets {
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
	return assets{hex.EncodeToString(h.Sum(nil))[:12]}
}()

// Of gives the path of a file of static/.
func (a assets) Of(name string) string { return "/static/" + a.version + "/" + name }

var staticRoutes = []route{{
	method: http.MethodGet, path: "/static/{version}/{file...}", open: true, free: true,
	handle: serveStatic,
}}

func serveStatic(q *request) error {
	name := path.Clean("static/" + q.PathValue("file"))
	content, err := static.ReadFile(name)
	if err != nil || !strings.HasPrefix(name, "static/") {
		return errNotFound
	}
	q.wrote = true
	h := q.w.Header()
	h.Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	switch path.Ext(name) {
	case ".js":
		h.Set("Content-Type", "text/javascript; charset=utf-8")
	case ".css":
		h.Set("Content-Type", "text/css; charset=utf-8")
	case ".svg":
		h.Set("Content-Type", "image/svg+xml")
	case ".txt":
		h.Set("Content-Type", "text/plain; charset=utf-8")
	}
	if q.PathValue("version") == asset.version {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	if q.Method != http.MethodHead {
		_, _ = q.w.Write(content)
	}
	return nil
}
