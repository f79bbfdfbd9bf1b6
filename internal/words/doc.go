// Package words says in a person's language what the program has found: why a row or a job stands
// still, what is known to exist, what has changed since it was sent, what went wrong. The command
// line, the console, the alerts and the files say it with the same words.
//
// A Voice is the language and the time zone of one reader. No text of the ERP, of the platform or of
// a person can steer a terminal: each argument becomes one line of printable characters.
package words
