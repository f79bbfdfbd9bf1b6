// Package auth knows who asks the console, and lets people in and out: by a password of the
// ledger, or by the OpenID Connect provider of the cooperative.
//
// Logins stand in the ledger as hashes (sessions.go), passwords as argon2id (password.go). Whatever
// is wrong with a login, the answer is the same and takes as long; tries are slowed down, but
// nobody can lock somebody else out (tries.go). A login ends when it is not used, after its longest
// time, and with each change of its user. Who the issuer names gets in only with a role that its
// claim gives (openid_visitor.go). What may double a record asks for the password again.
package auth
