package limits

// An exception allows one function to have up to lines lines.
type exception struct {
	lines  int
	reason string
}

// exceptions names the functions that are longer than functionMost, as "sync/run.Run.Close".
var exceptions = map[string]exception{
	"state.Store.begin":                 {66, "what an opening looks at, in its order"},
	"console/pages.readFilter":          {61, "each parameter of the list, once"},
	"console/pages.rowsRoutes.showRows": {65, "what the list asks, in its order"},
}
