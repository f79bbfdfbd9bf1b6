// Package failpoint lets tests fail the program at its own steps. With the build tag failpoint, the
// variable SAFRASYNC_FAILPOINT names one step and what happens there. Without the tag, as in every
// release, Hit is an empty function that the compiler removes: no name, variable or branch is left.
package failpoint
