// Package connlimit bounds how many connections a listener has open, in all and for each address,
// so that no stranger takes the places, or the file descriptors, of others.
//
// It guarantees that a sender never has more than its share, and that the places of a connection
// are free again when it is closed. An IPv6 host is one sender whatever address it chooses.
package connlimit
