// Package runs has the commands sync and resync, which make passes, and status; and the summary of
// a pass by its causes.
package runs
