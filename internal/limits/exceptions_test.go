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
	"fields cmd/safrasync/report.Flags":  {21, "the flags of one command"},
	"fields erp.language":                {25, "what differs between the dialects of SQL, as data"},
	"fields internal/torture.Verdict":    {22, "a record of figures, written as JSON"},
	"fields state/ledger.AttemptRow":     {23, "a row of the table attempt"},
	"fields state/ledger.EntryRow":       {37, "a row of the table entry"},
	"fields sync/reconcile.Row":          {35, "the columns of the report"},
	"fields trade.Attempt":               {22, "what the ledger tells of an attempt"},
	"fields trade.Entry":                 {36, "what the ledger tells of an entry"},
	"fields trade.RunReport":             {22, "the counts of a run, written as JSON"},
	"fields trade.words":                 {27, "one word for each thing that is named, in one language"},
	"files console": {
		44,
		"sign-in, pages and what they show still stand in one package",
	},
	"files erp": {
		49,
		"the engines still stand beside the reader; each is to have a folder of its own",
	},
	"function apiclient.Client.receive":             {75, "one sequence of steps; longer than we like"},
	"function cmd/safrasync/report.closeReport":     {78, "one sequence of steps; longer than we like"},
	"function cmd/safrasync/api.getConsents":        {61, "one sequence of steps; longer than we like"},
	"function cmd/safrasync/care.purgeProducer":     {94, "one sequence of steps; longer than we like"},
	"function console.request.enter":                {74, "one sequence of steps; longer than we like"},
	"function console.request.rowPage":              {77, "one sequence of steps; longer than we like"},
	"function erp.parseMoment":                      {61, "one sequence of steps; longer than we like"},
	"function erp.splitSelect":                      {70, "one sequence of steps; longer than we like"},
	"function internal/metrics.ledgerCollector.job": {64, "one sequence of steps; longer than we like"},
	"function state.doctor.diagnoseRows":            {68, "one sequence of steps; longer than we like"},
	"function state/ledger.ActOnEntries":            {61, "one sequence of steps; longer than we like"},
	"function state/ledger.GroupTx.Settle": {
		104,
		"one list of statements in the order in which they must be written",
	},
	"function state/ledger.GroupTx.claim": {
		66,
		"one list of statements in the order in which they must be written",
	},
	"function state/ledger.Ledger.RestoreSums":        {81, "one statement for each sum"},
	"function sync/discovery.Discoverer.markReplaced": {63, "one sequence of steps; longer than we like"},
	"function sync/discovery.Discoverer.read":         {67, "one sequence of steps; longer than we like"},
	"function sync/discovery.pager.flush":             {78, "one sequence of steps; longer than we like"},
	"function sync/mapping.fieldMapping.applyParent":  {68, "one sequence of steps; longer than we like"},
	"function sync/reconcile.printer.summary":         {65, "one sequence of steps; longer than we like"},
	"interface console.Desk":                          {14, "asked by several pages or commands; to be cut by use"},
	"interface console.Ledger":                        {19, "asked by several pages or commands; to be cut by use"},
	"interface console.People":                        {15, "asked by several pages or commands; to be cut by use"},
	"interface console.Work":                          {10, "asked by several pages or commands; to be cut by use"},
	"interface erp.dialect": {
		14,
		"all that a database engine must answer; there is one interface for an engine",
	},
	"interface erp.salvageTx":           {11, "all of its methods are used together by one caller"},
	"interface internal/alert.Book":     {9, "all of its methods are used together by one caller"},
	"interface internal/alert.Ledger":   {21, "all of its methods are used together by one caller"},
	"interface internal/metrics.Ledger": {9, "all of its methods are used together by one caller"},
	"interface sync/acts.Desk":          {9, "all of its methods are used together by one caller"},
	"interface sync/events.Inbox":       {19, "reads and writes of one inbox; to be cut by use"},
	"interface sync/run.Ledger": {
		52,
		"the sum of the ports, for those who build the engine; no stage sees it",
	},
	"lines apiclient": {
		4764,
		"the document's types and calls; a cut would have no reason but the number",
	},
	"lines apiclient/sandbox": {
		4951,
		"the platform as the document tells it; a cut would have no reason but the number",
	},
	"lines console": {
		6430,
		"sign-in, pages and what they show still stand in one package",
	},
	"lines erp": {
		7337,
		"the engines still stand beside the reader; each is to have a folder of its own",
	},
	"methods apiclient/sandbox.Server": {100, "one handler for each call of the document"},
	"methods console.request":          {74, "one place for what a request may ask"},
	"lines sync/reconcile": {
		4671,
		"one report in five forms of output; its comments are a tenth of it",
	},
	"function console.OpenID.visitor":           {65, "one sequence of steps; longer than we like"},
	"function erp.postgres.serverProblem":       {61, "one sequence of steps; longer than we like"},
	"function internal/alert.connectionFault":   {61, "one sequence of steps; longer than we like"},
	"function state.rebuild":                    {62, "one sequence of steps; longer than we like"},
	"function state/recovery.Journals.weigh":    {62, "one sequence of steps; longer than we like"},
	"function state/recovery.Rebuilding.states": {62, "one sequence of steps; longer than we like"},
}
