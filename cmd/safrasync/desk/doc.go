// Package desk gives the console what it shows and orders: jobs, causes, acts, references and
// reports, on the ledger and the engine of a Host. It implements the interfaces of package
// console.
package desk
