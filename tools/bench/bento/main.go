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
