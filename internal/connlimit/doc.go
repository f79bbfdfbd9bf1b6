// Package connlimit serves addresses that strangers reach. It bounds how many connections a listener
// has open, in total and for each sender, so that no stranger exhausts the places, or the file
// descriptors, of others.
//
// It guarantees that a sender never has more than its share, and that a connection's place is free
// again when the connection is closed. An IPv6 host is one sender, whatever address it chooses.
package connlimit
