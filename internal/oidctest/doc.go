// Package oidctest is an OpenID Connect provider for tests. It is small, strict about the requests
// of clients, and can be told to answer wrongly.
//
// The console must read tokens that others sign, so its tests need a provider that lies on demand.
// The package is written from the specification alone, signs its tokens itself, and shares no code
// with the console's verification: two readings must agree. Only tests may import it (see
// internal/importrules).
package oidctest
