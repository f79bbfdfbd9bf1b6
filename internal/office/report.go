package office

import (
	"io"

	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/sync/reconcile/paper"
)

// ReportWriter returns the writer of a format.
func ReportWriter(format string, o reconcile.Options, to io.Writer) reconcile.Writer {
	switch format {
	case "csv":
		return reconcile.NewCSV(to, len(o.Sections))
	case "xlsx":
		return reconcile.NewXLSX(to)
	case "html":
		return paper.NewHTML(to)
	}
	return reconcile.NewJSON(to)
}
