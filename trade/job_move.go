package trade

// JobMove says what it means that the entries of a job go to another one, which is the same job under its new name.
type JobMove struct {
	From    string        `json:"from"`
	To      string        `json:"to"`
	Sends   Kind          `json:"sends"`   // "" = the ledger has no entries of From
	Entries int           `json:"entries"` // that go
	States  map[State]int `json:"states"`  // where they stand
	// Keys that both jobs have. Of two rows that were never sent, and one that was, the one that was not gives way: it stays in the ledger, under From, as withdrawn.
	Replaced int `json:"replaced"` // rows of To that give way
	Left     int `json:"left"`     // rows of From that give way
	// Collisions are keys that both have sent, may have sent, or of which a person has decided; while there are any, nothing goes.
	Collisions int      `json:"collisions"`
	Samples    []string `json:"samples"` // a few of those
	Paused     bool     `json:"paused"`  // To is paused afterwards
}
