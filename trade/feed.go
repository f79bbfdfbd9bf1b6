package trade

// FeedPlace is a place in the order of all changes.
type FeedPlace struct {
	Feed string // which order; another one after a restored or rebuilt ledger
	Seq  int64
}
