// Package failpoint lets tests fail the program at its own steps. With the build tag failpoint, the
// variable SAFRASYNC_FAILPOINT names one step and what happens there; without the tag, which is how
// every release is built, Hit is an empty function that the compiler removes: no name, no variable,
// no branch is left.
package failpoint
