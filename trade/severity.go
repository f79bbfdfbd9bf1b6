package trade

// Severity gives what the check of a name under `checks:` does to a row; an unset one refuses.
func (c Checks) Severity(name string) Severity { return c.of(name) }
