// Package pages has the console's pages: the state of every row, its reason, and what can be done
// about it; the report; the de-para, the audit, approvals, and files of decisions.
//
// A page is one file with its routes, handlers and data, and one template of the same name in
// console/view. It asks internal/office, and orders there: people's acts run the same code as on the
// command line, and do no more than the plan that was shown. No page computes an answer or changes
// the ledger itself; what is made here is how an answer looks.
package pages
