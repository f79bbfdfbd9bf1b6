// Package people stores who may use the console: users, their logins and saved filters, and the
// heartbeat of the service that the console shows.
//
// Passwords are stored as hashes only; every change is an act in the audit.
package people
