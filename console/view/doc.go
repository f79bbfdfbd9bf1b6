// Package view writes the console's pages: templates with the frame around them, numbers, dates and
// sentences in the person's language, and the static files.
//
// It imports no request, ledger or engine. html/template makes texts of the ERP appear as text
// only; Mask masks documents of persons.
package view
