// Package sync is the engine: it discovers rows of the ERP, maps and checks them, submits those
// that may go, and settles the answers. Importers call it engine, so that it does not hide the
// standard library's sync.
//
// A pass first reads the ERP for all its jobs, parents first (order.go), then lets the jobs send in
// turns (pass.go has the stops and the end of a pass). pipeline.go shows the way of a row on one
// page; docs/concepts.md lists its functions. Each step is a package, which knows some of those
// above it in this list and none below it:
//
//	mapping    row → draft → record → request, or what is wrong; pure
//	outcome    what an answer proves; pure
//	identity   what is the same: may a row go, or because of which record not; pure
//	brakes     pauses a job before anything of it leaves
//	sending    rows read again, what was sent already held; intents, requests, answers, settlement
//	discovery  reads the ERP and records what is new; sweeps
//
// Beside a pass: dryrun computes what a run would do, but stores and sends nothing; acts holds
// the actions of people on rows and jobs; events acts on the platform's webhook events; cluster
// shares jobs among instances; reconcile makes the reconciliation report; pending lists what waits
// for people. run is what the stages share: the run of one job, and the interfaces to storage, ERP
// and API (run/ports.go).
//
// The service: scheduler.go is its loop, with the housekeeping, due.go decides which jobs run now,
// circuit.go decides what waits after a stop and what ends the wait, follow.go adds jobs to the pass
// as they become due, takeover.go takes over the jobs of dead instances.
//
// # Invariants
//
// The numbers are cited in comments and tests.
//
//   - I1 Intent before bytes. No byte of a POST leaves before its intent (payload, hash, attempt,
//     owner) is durable on disk.
//   - I2 Outcome by evidence. After a POST an entry is accepted, rejected, held, pending again
//     (only on proof that nothing was created), or in doubt. Never a guess. The status decides,
//     and a refusal proves something only in a form that the API alone uses (package outcome). What
//     something else on the way may have answered is in doubt.
//   - I3 Never twice without a person. At most one POST for each entry and generation may have an
//     outcome other than "certainly not created".
//   - I4 Discovered, not delivered. The read cursor moves in the transaction that records the rows
//     found; it does not mean that they were sent.
//   - I5 No row is lost. Rows that commit late, with old, equal, future or missing timestamps are
//     still found; the sweep proves it.
//   - I6 Money is exact. Decimals from the database to the JSON text; no float, no exponent, no
//     rounding unless configured.
//   - I7 Dates are dates. order_date and its like never pass through a time zone.
//   - I8 The ERP is read-only, with a statement timeout; no read transaction on it is open while an
//     entry of the run is sending. Before their intents the keys are read again in one short query:
//     changed rows are mapped again, rows that are gone are held.
//   - I9 It adds up. After a sweep: keys in the ERP = sum of all states − gone, in counts and
//     quantities; a run that does not add up is an error.
//   - I10 Secrets and personal data stay in. No key, document, name, price or body in a log line or
//     error text.
//   - I11 Doubt is bounded. kill -9 or the loss of the host leave at most max_in_flight entries in
//     doubt, because an intent is made durable only for a free slot.
//   - I12 One reader and sender per job. Discovery, sweep, cursors and intents run under the job's
//     lease, fenced by its epoch; the result of an attempt is fenced only by the attempt itself, so
//     that a former owner's definite answer counts. Several instances share the jobs, and take over
//     a dead one's.
//   - I13 A send window. If more than 10 s pass between an intent and its first byte, on a clock
//     that counts suspended time, the attempt is given up unsent. The 10 s start before the commit.
//   - I14 A quarantine. Nobody can order a second sending before every time-out involved is over;
//     no wall clock shortens it, and no clock of another boot or time namespace counts.
//
// # What is the same
//
// Package identity answers it, for everybody who asks, from rows and records alone: what was sent
// under a key never goes again under it; what was sent, or is in doubt, goes under another key only
// if the ERP has one more row with it at that moment. For each content there are never more records
// than rows that existed at the same time, unless a person ordered it. Package sending reads what it
// needs.
//
// # The order of writes
//
// Around one POST: see package sending. Around a reading of the ERP: see package discovery. In one
// transaction of the ledger: see state/group.go.
package sync
