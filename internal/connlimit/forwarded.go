package connlimit

import (
	"net/http"
	"net/netip"
	"strings"
)

// Forwarded returns the address that a proxy appended to X-Forwarded-For, with or without a port:
// the last one, as anything before it may be forged. ok is false if there is none.
func Forwarded(header http.Header) (address netip.Addr, ok bool) {
	told := header.Values("X-Forwarded-For")
	if len(told) == 0 {
		return address, false
	}
	last := told[len(told)-1]
	last = strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:])
	if len(last) > longestAddress {
		return address, false
	}
	if with, err := netip.ParseAddrPort(last); err == nil {
		return with.Addr().Unmap().WithZone(""), true
	}
	if strings.HasPrefix(last, "[") && strings.HasSuffix(last, "]") {
		last = last[1 : len(last)-1]
	}
	address, err := netip.ParseAddr(last)
	return address.Unmap().WithZone(""), err == nil // any text may stand as the zone
}

// longestAddress is the most characters of an address with brackets, zone and port.
const longestAddress = 60
