// Package reconcile makes the report "Conciliação ERP × Plataforma" from the ledger: what
// accountants compare each month.
//
// [Take] makes a [Snapshot] of a ledger that stands still: a Moment of state.Store, which is one
// transaction that reads. All sections and formats of a report therefore have figures of the same
// moment, and nobody is held up. The rows are read page by page from the ledger, once for the sums
// and once for the sections that list rows; a page of deliveries looks up its contracts. Memory holds
// a line of totals for each producer, season and place, the weight delivered on each contract, and
// the numbers of the rows with a divergence. [Snapshot.Report] writes the sections of a report
// through a [Writer]: CSV, XLSX, JSON lines or a page for printing; the command line and the console
// have writers of their own. The platform is asked before ([AskEach]): it may take long.
//
// # Two kinds of figures
//
//   - now: at the moment when the snapshot was taken.
//   - closed: a person has closed a cut-off ([Freeze]). Its head and rows are stored in the ledger,
//     with a hash, and a reprint ([OpenClosed]) reads them. Neither later changes of the rows nor
//     retention change it. Of a past day that nobody closed there are no figures.
//
// # How figures are computed
//
//   - Contracted is COMPRA + A_FIXAR; fixed is COMPRA + FIXACAO_*; to fix is A_FIXAR −
//     FIXACAO_COMPRA, since a fixation from deposit is not grain of a contract to be fixed. A
//     contract to be fixed and its fixations are the same grain: no figure adds the two.
//   - Weights are exact decimals in kilograms; sacas are of 60 kg. Products and currencies are
//     never added to each other.
//   - Rows whose record was moved to the row under its new key are in no sum except the line that
//     counts them.
//   - The summary's difference compares the last complete sweep, and what came since, with the rows
//     in the ledger. It is not zero by construction.
package reconcile
