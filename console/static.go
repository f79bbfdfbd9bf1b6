package console

import (
	"net/http"

	"github.com/safrasync/safrasync/console/view"
)

var staticRoutes = []route{
	{method: http.MethodGet, path: "/static/{version}/{file...}", open: true, free: true, handle: serveStatic},
	{method: http.MethodGet, path: "/licences", open: true, handle: showLicences},
}

func serveStatic(q *request) error {
	content, kind, ok := view.File(q.PathValue("file"))
	if !ok {
		return errNotFound
	}
	q.wrote = true
	h := q.w.Header()
	h.Set("Content-Type", kind)
	if q.PathValue("version") == view.Asset.Version {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	if q.Method != http.MethodHead {
		_, _ = q.w.Write(content)
	}
	return nil
}

// showLicences lists the licences of what the pages are made of.
func showLicences(q *request) error {
	names, err := view.Licences()
	if err != nil {
		return err
	}
	return q.page(http.StatusOK, "licences", names)
}
