// Package view writes the console's pages: templates with the frame around them, numbers, dates and
// sentences in the person's language, and the files that browsers fetch beside them.
//
// It knows no request, no ledger and no engine. html/template keeps what the ERP wrote from being
// more than text; Mask keeps documents of persons from being shown.
package view
