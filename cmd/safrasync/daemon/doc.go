// Package daemon has the command run: it runs the jobs on their schedules, serves the console,
// metrics, the HTTP API and the platform's webhooks, and reloads its configuration on SIGHUP. On
// SIGTERM it ends when the requests in flight have been answered. A reload with a faulty
// configuration changes nothing.
//
// A generation is everything that is built from one reading of the configuration. The ledger and
// the listeners outlive it.
package daemon
