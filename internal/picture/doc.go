// Package picture computes pictures: where bars, lines and cells stand. It knows no page, no ledger
// and no language. In the console templates/pictures.html draws what it returns, with a table or a
// legend beside it. Amounts come in as decimals with the words that a person reads of them.
//
// All coordinates are whole units of a picture that is Wide units wide. The browser stretches it to
// its place, so that only shapes are drawn in it; words stand beside it.
package picture
