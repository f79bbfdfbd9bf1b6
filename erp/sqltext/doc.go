// Package sqltext reads a little of SQL: just enough to know what is text and what is code, to wrap
// a query in parentheses, and to take a plain SELECT apart at its conditions. It asks no database.
//
// It guarantees that a [Statement] is one single query, and that nothing in it breaks out of the
// parentheses that [Statement.Wrap] puts around it. What it does not understand it leaves alone.
// How a database writes SQL is data, a [Syntax]; each engine has its own.
package sqltext
