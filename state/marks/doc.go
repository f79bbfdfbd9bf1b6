// Package marks records, for one process, which of its requests may have left and how they were
// answered, in a file that is written without a flush. What is written outlives the process (kill
// -9, a panic, the OOM killer), because the kernel has it; it does not outlive the kernel.
// Therefore the file is on a tmpfs, which is exactly as durable as the kernel and is never restored
// from an older state. The file is believed only under the boot under which it was written, and
// only if its process has certainly ended: the file is locked as long as the process runs,
// whichever container or user it runs in.
//
// With it a restart knows for each durable intent whether a byte of it can have left, and often how
// it ended, without a flush for each request.
//
// # On disk
//
// A head of 4,096 bytes and slots of 256 bytes, each with a CRC32C. The head is one line of JSON
// that names the writer; its last 256 bytes hold the record of the journal up to which slots were
// freed. A slot holds one request from just before its first byte until its outcome is in the
// ledger; then another request reuses it. So the file has as many slots as requests were open at
// once.
//
// # What is guaranteed
//
//   - A request for which Sent returned without an error is found by Read, or Read reports that a
//     slot is torn; then nothing is known of any request that is not found.
//   - A request that Read does not find, in a file without a torn slot, had not been begun, or its
//     outcome is in a ledger that has the record Freed of its journal. A ledger that lacks that
//     record is an older copy, and nothing is known of the request.
//   - A file that is not found proves nothing.
//   - An answer is what was passed to Answered for the same request, or none.
package marks
