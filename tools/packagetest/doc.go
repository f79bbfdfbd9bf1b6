// Package packagetest tests the packages: they are built, installed into small roots made from this
// host's own Debian packages, upgraded while the service runs, refused, removed and purged, and the
// service is started as its unit defines. The tests simulate systemd (service.go, systemctl.go),
// because there is none in a chroot. They need root, or sudo.
package packagetest
