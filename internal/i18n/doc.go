// Package i18n has the sentences that people read, in Portuguese (pt-BR.json) and in English
// (en.json). The program's code names a sentence by its part and key, such as "cli" and "sync.dry".
//
// The part "said" of pt-BR.json tells what the code says in English: its keys are those sentences.
//
// To change a sentence, or to translate all of them, edit the two files: nothing else. A text of
// several lines may be written as a list of its lines. The tests hold that both files have the same
// keys with the same verbs (%s) and placeholders ({job}), that no text is empty, that each key that
// the code names exists, and that the code names each key that exists.
package i18n
