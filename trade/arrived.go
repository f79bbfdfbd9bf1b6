package trade

// ArrivedDay is how many rows of a branch the ERP had for the first time on a day.
type ArrivedDay struct {
	Branch string // "" = the rows tell none
	Day    Date
	Rows   int
	Kg     Decimal // of those with a readable weight
}
