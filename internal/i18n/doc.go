// Package i18n holds the sentences that people read, in Portuguese (pt-BR.json) and in English
// (en.json). The code refers to a sentence by its part and key, such as "cli" and "act.plan.adopt".
//
// The part "said" of pt-BR.json translates sentences of package phrase, fixed texts such as help of
// flags, and what the code asks of any part by its English sentence instead of a key. Its keys are the
// English sentences. A cause that comes from elsewhere is quoted.
//
// To change a sentence, or to translate all of them, edit only the two files. A text of several
// lines may be written as a list of its lines. What reads the same in both languages, such as an
// example of a command, stands in pt-BR.json alone; where several keys have the same sentence, en.json
// has the keys, and part "said" its Portuguese once. The tests check that a text has the same verbs (%s)
// and placeholders ({job}) in both files, that none is empty, and that the keys in the files are
// exactly those that the code uses.
package i18n
