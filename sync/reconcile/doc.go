// Package reconcile makes the report "Conciliação ERP × Plataforma" from the ledger: what
// accountants compare each month.
//
// [Take] goes through the ledger once, page by page, and writes one [Row] for each entry into a
// [Snapshot], a compressed temporary file with a [Head]. Everything else reads the snapshot, any
// number of times. So all sections and formats of a report have figures of the same moment, and
// memory does not grow with the rows. What a report must look up or sort (the contract of a
// delivery, deliveries against their contracts) is in a SQLite database in a temporary file. Memory
// holds a line of totals for each producer, season and place, and the sum of each over-delivered
// contract. [Snapshot.Report] writes the sections of a report through a [Writer]: CSV, XLSX, JSON
// lines or a page for printing; the command line and the console have writers of their own.
//
// # Three kinds of figures
//
//   - now: at the moment when the snapshot was taken.
//   - closed: a person has closed a cut-off ([Freeze]). The snapshot is stored in the ledger, with
//     a hash, and a reprint ([OpenClosed]) reads it. Neither later changes of the rows nor
//     retention change it.
//   - derived: of a past day that nobody closed. The state of each row at the end of that day is
//     derived from its attempts and the audit; if they do not show it, the row counts as unknown,
//     and the heading states how many rows are.
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
