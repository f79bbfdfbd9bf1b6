// Package people keeps who may use the console: users, their logins and saved filters, and the sign
// of life of the service for them.
//
// Passwords are kept as hashes only; every change is an act in the audit.
package people
