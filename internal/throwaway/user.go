package throwaway

import (
	"errors"
	"os"
	"os/user"
	"strconv"
	"strings"
	"syscall"
)

// User returns the user as whom a server runs. It is nil for the current user. If that is root, it
// is the first of these names and "nobody" that exists, because servers refuse to run as root.
func User(names ...string) (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	names = append(names, "nobody")
	for _, name := range names {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(u.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(u.Gid, 10, 32)
		if uidErr == nil && gidErr == nil {
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
		}
	}
	return nil, errors.New("the server does not run as root, and there is none of the users " +
		strings.Join(names, ", ") +
		": create one, or run the tests as an ordinary user")
}
