// Bento is a yardstick of `make bench`: Bento reads the rows of the ERP that were not sent yet, POSTs each, and writes the platform's id back.
//
// It is a module of its own, so that nothing of it gets into the program. The components are picked by hand: all that Bento can do is some hundred megabytes.
package main

import (
	"context"

	_ "github.com/lib/pq" // the driver of the pipeline's sql components
	"github.com/warpstreamlabs/bento/public/service"

	_ "github.com/warpstreamlabs/bento/public/components/io"       // http processor
	_ "github.com/warpstreamlabs/bento/public/components/pure"     // mapping, drop
	_ "github.com/warpstreamlabs/bento/public/components/sql/base" // sql_raw
)

func main() { service.RunCLI(context.Background()) }
