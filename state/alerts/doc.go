// Package alerts keeps what people were told, or will be told when it lasts, and each message to
// one address until it is delivered or given up.
//
// One topic and subject is open at most once.
package alerts
