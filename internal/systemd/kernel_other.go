//go:build !linux

package systemd

import (
	"os"
	"time"
)

// streamOf returns "": there is no journal here.
func streamOf(*os.File) string { return "" }

func monotonic() time.Duration { return 0 }
