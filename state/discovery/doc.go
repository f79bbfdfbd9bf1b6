// Package discovery stores what a reading of the ERP found: a page of new and changed rows with the
// cursor, in one transaction (I4). It answers what a reading must know before that: what is known
// of keys and of parents, which contents were already sent, and everything that a sweep compares.
package discovery
