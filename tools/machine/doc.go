// Package machine is machines for tests that judge the program from outside: each is a set of
// namespaces of this host, with its own process ids, host name and machine id, so that nobody
// outside can know whether a process in it runs. They need root, or sudo without a password.
package machine
