// Package phrase has the sentences of the code that reach people: errors, hints and the like. A
// sentence keeps its English format, which is its code, and what was put into it, so that whoever
// reads it can make it anew in another language. The translations are in "said" of package
// i18n, whose Tell makes them.
//
// An error that only developers and logs see is an ordinary one.
package phrase
