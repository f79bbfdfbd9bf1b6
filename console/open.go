package console

import (
	"net/http"

	"github.com/safrasync/safrasync/console/view"
	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/trade"
)

// openRoutes are the routes that need no login, beside those of the login itself.
var openRoutes = []web.Route{
	{Method: http.MethodGet, Path: "/static/{version}/{file...}", Open: true, Free: true, Handle: serveStatic},
	{Method: http.MethodGet, Path: "/licences", Open: true, Handle: showLicences},
	{Method: http.MethodPost, Path: "/preferences", Open: true, Handle: setPreferences},
}

func serveStatic(q *web.Request) error {
	content, kind, ok := view.File(q.PathValue("file"))
	if !ok {
		return web.ErrNotFound
	}
	q.Answered = true
	h := q.Writer.Header()
	h.Set("Content-Type", kind)
	if q.PathValue("version") == view.Asset.Version {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	if q.Method != http.MethodHead {
		_, _ = q.Writer.Write(content)
	}
	return nil
}

// showLicences lists the licences of the third-party parts of the pages.
func showLicences(q *web.Request) error {
	names, err := view.Licences()
	return q.Show("licences", names, err)
}

// setPreferences stores the language and the appearance in the browser.
func setPreferences(q *web.Request) error {
	q.Prefer(trade.Lang(q.PostForm.Get("lang")), q.PostForm.Get("theme"))
	return q.Redirect(web.Local(q.PostForm.Get("next")))
}
