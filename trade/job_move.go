package trade

// JobMove is what giving a job another name would change or has changed.
type JobMove struct {
	From    string        `json:"from"`
	To      string        `json:"to"`
	Sends   Kind          `json:"sends"`   // "" = the ledger has no entries of From
	Entries int           `json:"entries"` // that are moved
	States  map[State]int `json:"states"`  // their states
	Paused  bool          `json:"paused"`  // To is paused afterwards
	Taken   bool          `json:"-"`       // the ledger has entries or records of To: nothing is moved
}
