// Package sqltext parses a little of SQL: just enough to distinguish text from code, to wrap a
// query in parentheses, and to split a plain SELECT at its conditions. It queries no database.
//
// It guarantees that a [Statement] is one single query, and that nothing in it breaks out of the
// parentheses that [Statement.Wrap] puts around it. What it does not understand it leaves
// unchanged. How a database writes SQL is data, a [Syntax]; each engine has its own.
package sqltext
