// Package torture kills the real program on both ledgers, and lets several machines on one ledger
// meet every fault (`make torture`). What starts the program and judges it is in internal/torture,
// for `safrasync selftest` has it too.
//
// Several machines (machines.go, host.go, network.go): each is a
// network namespace with a cable to the database and one to the platform and the ERP, in which the
// program has a host name, a machine id, process numbers and a wall clock of its own.
package torture
