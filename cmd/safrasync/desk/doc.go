// Package desk implements the interfaces of package console: jobs, causes, acts, references and
// reports, on the ledger and the engine of a Host.
package desk
