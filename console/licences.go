package console

import (
	"io/fs"
	"net/http"
	"path"
)

var licencesRoutes = []route{{method: http.MethodGet, path: "/licences", open: true, handle: showLicences}}

// showLicences lists the licences of what the pages are made of.
func showLicences(q *request) error {
	names, err := fs.Glob(static, "static/licences/*.txt")
	if err != nil {
		return err
	}
	for i, name := range names {
		names[i] = path.Base(name)
	}
	return q.page(http.StatusOK, "licences", names)
}
