// Package systemd tells the service manager the state of the daemon: ready, reloading, stopping,
// alive, and a sentence for `systemctl status`. It is a thin wrapper of coreos/go-systemd. Without
// a manager (NOTIFY_SOCKET is not set) every call does nothing.
package systemd
