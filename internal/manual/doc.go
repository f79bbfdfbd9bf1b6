// Package manual holds no program code. Its tests read docs/ and what refers to it: every link and
// every mention leads to a file that exists, the pages stay few and short, what concepts.md and
// json.md say of states, flags and causes is what the program has, and the ways through the code
// that concepts.md names are those that the code goes.
package manual
