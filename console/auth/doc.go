// Package auth identifies the person behind a request to the console, and handles log-in and
// log-out: by a password of the ledger, or by the OpenID Connect provider of the cooperative.
//
// The ledger stores logins as hashes (sessions.go) and passwords as argon2id (password.go).
// Whatever is wrong with a login, the answer is the same and takes the same time. Failed tries are
// slowed down, but nobody can lock out another person (login.go). A login ends when it has not been
// used for a time, at its longest duration, and with each change of its user. A person whom the
// issuer names gets in only if a claim gives that person a role (openid_visitor.go). What may
// double a record requires the password again.
package auth
