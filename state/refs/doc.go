// Package refs stores the de-para tables, and the platform's answers to lookups by CPF or CNPJ
// under a keyed hash of the number; the number itself is not stored.
//
// Each change sets a new version of the references, by which the engine knows that rows must be
// mapped again.
package refs
