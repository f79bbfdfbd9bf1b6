// Package manual holds no program code. Its tests read docs/ and what refers to it. Every link and
// every mention must lead to a file that exists, and the pages must stay few and short. What
// concepts.md and json.md state about states, flags and causes must match the program, and the ways
// through the code in concepts.md must name functions that there are.
package manual
