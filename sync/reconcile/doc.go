// Package reconcile makes the report "Conciliação ERP × Plataforma" from the ledger: what
// accountants compare each month.
//
// The data's way: [Take] goes through the ledger once, page by page, and writes one [Row] for each
// entry into a [Snapshot], a compressed temporary file with a [Head]. Everything else reads the
// snapshot, as often as it likes: so all sections of a report, and all its formats, are of the same
// moment, and memory does not grow with the rows. What a report looks up or sorts (by which
// contract a delivery is, and deliveries against their contracts) is in a SQLite database in a
// temporary file. What is in memory is a line of totals for each producer, season and place, and
// the sum of each contract on which too much was delivered.
// [Snapshot.Report] writes the sections of a report through a [Writer]: CSV, XLSX, JSON lines or a
// page for printing; the command line and the console have writers of their own.
//
// # Three kinds of numbers
//
//   - now: of the moment at which the snapshot was taken.
//   - closed: a person has closed a cut-off ([Freeze]); the snapshot is kept in the ledger, with a
//     hash, and a reprint ([OpenClosed]) reads it. Nothing that happens to the rows later, and no
//     retention, changes it.
//   - derived: of a past day that nobody closed. What is known of each row at the end of that day
//     is found in its attempts and in the audit; where that does not tell, the row counts as
//     unknown, and the heading says how many those are.
//
// # What is counted how
//
//   - Contracted is COMPRA + A_FIXAR; fixed is COMPRA + FIXACAO_*; to fix is A_FIXAR −
//     FIXACAO_COMPRA, since a fixation from deposit is grain that no contract to be fixed had. A
//     contract to be fixed and its fixations are the same grain: no figure adds the two.
//   - Weights are exact decimals in kilograms; sacas are of 60 kg. Products and currencies are
//     never added to each other.
//   - Rows whose record went to the row under its new key (moved) are in no sum but the line that
//     counts them.
//   - The summary's difference holds the last complete sweep and what came since against the rows
//     that are there: it is not zero by its making.
package reconcile
