package report

// auditShown is how many records are printed without --limit; --json prints all.
const auditShown = 50
