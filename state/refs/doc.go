// Package refs keeps the de-para tables, and what the platform answered to questions by CPF or CNPJ
// under a keyed hash of the number: the number itself is nowhere.
//
// Each change of them gives the references another version, by which the engine knows that rows
// must be mapped again.
package refs
