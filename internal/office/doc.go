// Package office has the questions and the orders of people: what waits and why, one row and all
// about it, the state of the jobs, de-para tables and their files, closings, alerts; and what is done
// about them, with the acts of the engine. The command line, the console and the HTTP API ask here
// and print, so that no question has two answers and no order two rules.
//
// It works on a ledger that is open and, for what needs one, on an engine. It knows neither who asks
// nor how an answer is shown: roles of the console are checked before it is asked, the consent of
// other people by the acts themselves.
package office
