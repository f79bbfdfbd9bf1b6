package limits

// An exception allows one thing to pass a limit up to size.
type exception struct {
	size   int
	reason string
}

// exceptions may only get fewer and smaller: the test fails where one allows more than is needed.
var exceptions = map[string]exception{
	"fields apiclient.exchange":          {21, "all that is known of one call, for its one reader"},
	"fields apiclient/sandbox.Server":    {33, "what the platform keeps, under one lock"},
	"fields cmd/safrasync/config.Config": {22, "the keys of the configuration's top level"},
	"fields internal/torture.Verdict":    {22, "a record of figures, written as JSON"},
	"fields state/ledger.AttemptRow":     {23, "a row of the table attempt"},
	"fields state/ledger.EntryRow":       {37, "a row of the table entry"},
	"fields trade.Attempt":               {22, "what the ledger tells of an attempt"},
	"fields trade.Entry":                 {36, "what the ledger tells of an entry"},
	"fields trade.RunReport":             {22, "the counts of a run, written as JSON"},
	"fields trade.words":                 {27, "one word for each thing that is named, in one language"},
	"lines apiclient/sandbox": {
		4940,
		"the platform as the document tells it; a cut would have no reason but the number",
	},
	"methods apiclient/sandbox.Server": {95, "one handler for each call of the document"},
}
