// Package inbox stores what the platform reported by events: each event once, by the hash of event
// and body, with the time when it is next processed; what the events report about records, and
// which of these records no row of ours has. Such candidates are evidence for doubts; this package
// decides no doubt.
package inbox
