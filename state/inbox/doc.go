// Package inbox keeps what the platform told by events: each once, by the hash of event and body,
// with when it is looked at again; what the events say of records, and which of these no row of
// ours has. Such candidates are evidence for doubts; nothing here decides one.
package inbox
