// Package main makes docs/ a small static site (`make site`): a page for each page of docs/, in
// English and Portuguese, with a search in each language. It needs no server and asks nobody: pages,
// styles, pictures and the index of the search are files beside each other, and the only script is
// that of the two search pages.
//
// Usage: site ROOT OUT, the top folder of the repository and the folder of the site.
package main
