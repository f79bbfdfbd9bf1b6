// Package runs has the commands sync, resync and status, and the summary of a pass by its causes.
package runs
