// Command errorbranches reads coverage profiles and tells which error branches of the covered files no test has executed: `make error-branches`.
//
// An error branch is the body of an if, or a case, whose condition looks at an error (a name that is err or ends in Err, or errors.Is, errors.As and errors.AsType), or
// which itself returns an error made there (fmt.Errorf, errors.New, a literal of a type whose name ends in Error). Counted are blocks of the
// profile, so that a branch with a branch in it is two. A branch that cannot be executed says why at the end of its first line, after "// unreachable: ".
//
// Go adds up what the test's own process counts and what the same binary counts in processes that the tests start; one that a failpoint kills writes its counts before.
package main
