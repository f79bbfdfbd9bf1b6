// Package systemd tells the service manager how the daemon does: ready, reloading, stopping, alive,
// and a sentence for `systemctl status`. It is a thin use of coreos/go-systemd. Where no manager
// listens (NOTIFY_SOCKET is not set) every call does nothing.
package systemd
