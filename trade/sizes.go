package trade

// Sizes are the bytes of the ledger's parts.
type Sizes struct {
	Ledger  int64 // the SQLite file, or what the PostgreSQL database holds
	WAL     int64 // the write-ahead log beside a SQLite file
	Journal int64 // the files of this host's journal
}
