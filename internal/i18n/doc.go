// Package i18n holds the sentences that people read, in English and in Portuguese. The English sentence
// stands in the code or template that says it; pt-BR.json has the Portuguese under it, in "said".
//
// A sentence has a code where something that is stored or printed as JSON chooses it (a state, an act, a
// refusal), where one English sentence has two in Portuguese, and where it is too long for a line of a
// template. In "codes", pt-BR.json has the English and the Portuguese of each, or one text if both are the
// same, by the part of the program that says it.
//
// To change a sentence of "said", change it in the code and in the file. The tests check that a text
// has the same verbs (%s) and placeholders ({job}) in both languages, that none is empty, and that the file
// has what the code says, and nothing else. A cause that comes from elsewhere is quoted.
package i18n
