package limits

// An exception allows one function to have up to lines lines.
type exception struct {
	lines  int
	reason string
}

// exceptions names the functions that are longer than functionMost, as "sync/run.Run.Close".
var exceptions = map[string]exception{}
