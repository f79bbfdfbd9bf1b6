// Package oidctest is an OpenID Connect provider for tests: a small one that is strict about what
// clients ask, and that can be told to answer wrongly.
//
// The console must read what strangers sign, so its tests need a provider that lies on demand. It
// is written from the specification alone, signs its tokens itself, and shares no code with what
// the console uses to read them: two readings must agree. May be imported by tests only (see
// internal/importrules).
package oidctest
