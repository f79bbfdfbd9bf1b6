// Package marks keeps, for one process, which of its requests may have left and what was answered,
// in a file that is written without being flushed. What is written there outlives the process (kill
// -9, a panic, the OOM killer), because the kernel has it; it does not outlive the kernel. So the
// file stands on a tmpfs, which is exactly as durable as the kernel and can never come back older,
// and it is believed only under the boot under which it was written, and only of a process that has
// certainly ended: the file is locked as long as the process runs, whichever container or user it
// runs in.
//
// With it a restart knows of each durable intent whether a byte of it can have left, and often how
// it ended, without a flush for each request.
//
// # On disk
//
// A head of 4,096 bytes (one line of JSON: who writes it; in its last 256 bytes the record of the
// journal up to which places were given back) and slots of 256 bytes, each with a CRC32C. A slot
// holds one request from just before its first byte until its outcome is in the ledger; then
// another takes its place, so that the file is as long as the most requests that were open at once.
//
// # What is promised
//
//   - A request that Sent returned without an error for is found by Read, or Read says that a slot
//     is torn; then nothing is known of any request that is not found.
//   - A request that Read does not find, in a file without a torn slot, had not been begun, or its
//     outcome is in a ledger that has the record Freed of its journal. A ledger that lacks that
//     record came back older, and nothing is known of the request.
//   - A file that is not found proves nothing.
//   - An answer is what Answered was told of the same request, or none.
package marks
