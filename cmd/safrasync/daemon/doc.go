// Package daemon has the command run: it keeps the schedules, serves the console, metrics and the
// platform's events, reloads its configuration on SIGHUP and ends on SIGTERM when the requests on
// the wire have been answered. A reload that is not right changes nothing.
//
// A generation is what one reading of the configuration made. The ledger and the listeners outlive
// it.
package daemon
